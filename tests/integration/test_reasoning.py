"""Causes, generality, conflicts and surroundings, read from real notes in a real graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.indexer import Indexer
from memvault.model.search import Conflict, Insights
from memvault.reasoning.insights import insights
from memvault.reasoning.lead_sentences import LeadSentences
from memvault.reasoning.neighbours import neighbours
from memvault.stores.graph_view import GraphView

Write = Callable[..., Path]


class Vaulted:
    """A vault that has been indexed."""

    def __init__(self, write: Write, indexer: Indexer) -> None:
        self.write, self.indexer = write, indexer

    def notes(self, **texts: str) -> Vaulted:
        for name, text in texts.items():
            self.write(name.replace("_", " ") + ".md", text)
        return self

    def scan(self) -> Vaulted:
        self.indexer.scan()
        self.edges = GraphView(self.indexer.stores.graph, self.indexer.catalogue.by_id)
        return self

    def id(self, title: str) -> str:
        return next(m.id for m in self.indexer.catalogue.all() if m.title == title)

    def insights(self, *titles: str) -> Insights:
        ids = [self.id(title) for title in titles]
        by_id = self.indexer.catalogue.by_id
        read = LeadSentences(self.indexer.vault.read)
        return insights(ids, self.edges, by_id, lead_of=read.of)

    def causes(self, *titles: str) -> list[tuple[str, str]]:
        links = self.insights(*titles).causal_links
        return [(link.cause.name, link.effect.name) for link in links]

    def general(self, title: str) -> dict[str, str]:
        cones = self.insights(title).entailment_cones
        return {each.node.name: each.why for cone in cones for each in cone.general}

    def special(self, title: str) -> dict[str, str]:
        cones = self.insights(title).entailment_cones
        return {each.node.name: each.why for cone in cones for each in cone.special}

    def conflicts(self, *titles: str) -> tuple[Conflict, ...]:
        return self.insights(*titles).conflicts


@pytest.fixture
def vault(write: Write, indexer: Indexer) -> Vaulted:
    return Vaulted(write, indexer)


# -- causes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("caused by:: [[Storm]]", ("Storm", "Outage")),
        ("Root cause: [[Storm]]", ("Storm", "Outage")),
        ("causes:: [[Storm]]", ("Outage", "Storm")),
        ("It was caused by the [[Storm]].", ("Storm", "Outage")),
        ("The outage happened because of the [[Storm]].", ("Storm", "Outage")),
        ("The outage led to the [[Storm]].", ("Outage", "Storm")),
        ("---\ndepends_on: '[[Storm]]'\n---\nSee there.", ("Storm", "Outage")),
    ],
)
def test_a_stated_cause_goes_from_cause_to_effect(vault, text, ends):
    vault.notes(Outage=text, Storm="Wind and rain.").scan()
    assert vault.causes("Outage") == [ends]


@pytest.mark.parametrize(
    "text",
    [
        "It was not caused by the [[Storm]].",
        "Was it caused by the [[Storm]]?",
        "It may have been caused by the [[Storm]].",
        "If it was caused by the [[Storm]], we are insured.",
        "We stack building blocks [[Storm]] by hand.",
        "Talked about the [[Storm]].",
    ],
)
def test_what_is_denied_doubted_or_asked_is_no_cause(vault, text):
    vault.notes(Outage=text, Storm="Wind and rain.").scan()
    assert vault.causes("Outage") == []


def test_the_subject_of_a_passive_verb_is_the_effect(vault):
    vault.notes(
        Diary="[[Outage]] was caused by [[Storm]].", Outage="No light.", Storm="Wind."
    ).scan()
    for title in ("Outage", "Storm", "Diary"):
        assert vault.causes(title) == [("Storm", "Outage")]
    link = vault.insights("Outage").causal_links[0]
    assert (link.source.path, link.source.line) == ("Diary.md", 1)
    assert link.source.sentence == "Outage was caused by Storm."


def test_a_cause_between_two_of_the_memories_comes_before_one_with_another_note(vault):
    vault.notes(
        Outage="caused by:: [[Storm]]\n\ncauses:: [[Refund]]",
        Storm="Wind.",
        Refund="Money back.",
    ).scan()
    assert vault.causes("Refund", "Outage") == [("Outage", "Refund"), ("Storm", "Outage")]


# -- generality -------------------------------------------------------------------------------


def test_part_of_and_its_reverse_say_what_is_more_general(vault):
    vault.notes(
        Keel="part of:: [[Boat]]", Boat="contains:: [[Mast]]", Mast="Of spruce.", Harbour="[[Boat]]"
    ).scan()
    assert vault.general("Keel") == {"Boat": "part of"}
    assert vault.general("Mast") == {"Boat": "contains"}
    assert vault.special("Boat").keys() == {"Keel", "Mast"}
    assert vault.general("Harbour") == {}


def test_a_note_that_lists_others_is_more_general_than_they(vault):
    vault.notes(
        Birds="Seen so far:\n\n- [[Heron]]\n- [[Swift]]\n- [[Wren]]\n",
        Heron="Grey.",
        Swift="Fast.",
        Wren="Small.",
        Walk="We saw a [[Heron]] near the water and later a [[Swift]] over the old mill there.",
    ).scan()
    assert vault.general("Heron") == {"Birds": "listed"}
    assert vault.special("Birds").keys() == {"Heron", "Swift", "Wren"}
    assert vault.special("Walk") == {}


def test_a_folder_note_is_more_general_than_its_folder_and_a_tag_than_its_subtags(vault):
    vault.write("Sea/Sea.md", "All about the sea.")
    vault.write("Sea/Tides.md", "Twice a day. #nature/water")
    vault.scan()
    assert vault.general("Tides") == {
        "Sea": "note of the folder Sea",
        "nature": "#nature/water lies under #nature",
    }
    assert vault.special("Sea") == {"Tides": "in its folder Sea"}


def test_notes_that_are_part_of_each_other_are_neither_general_nor_special(vault):
    vault.notes(Hen="part of:: [[Egg]]", Egg="part of:: [[Hen]]").scan()
    assert vault.general("Hen") == {} and vault.special("Hen") == {}


# -- conflicts --------------------------------------------------------------------------------


def test_a_supersession_names_the_newer_side_first_with_both_texts(vault):
    vault.notes(
        New_plan="supersedes:: [[Old plan]]\n\nWe sail in May.", Old_plan="We sail in April."
    ).scan()
    for title in ("New plan", "Old plan"):
        (conflict,) = vault.conflicts(title)
        assert conflict.kind == "supersession"
        assert [side.node.name for side in conflict.sides] == ["New plan", "Old plan"]
        assert [side.path for side in conflict.sides] == ["New plan.md", "Old plan.md"]
        assert conflict.sides[1].text == "We sail in April." and conflict.sides[1].line == 1


def test_superseded_by_turns_the_sides_and_contradicts_is_a_contradiction(vault):
    vault.notes(
        Old="superseded by:: [[New]]", New="Now so.", Left="contradicts:: [[Right]]", Right="Is so."
    ).scan()
    assert [side.node.name for side in vault.conflicts("Old")[0].sides] == ["New", "Old"]
    assert vault.conflicts("Left")[0].kind == "contradiction"


def test_two_notes_that_give_one_project_two_leads_conflict(vault):
    vault.notes(
        Aurora="---\naliases: [Aurora X]\n---\nLead: [[Ada Berg]]",
        Minutes="about:: [[Aurora]]\n\nLead: [[Emil Roth]]",
        Ada_Berg="A person.",
        Emil_Roth="A person.",
    ).scan()
    (conflict,) = vault.conflicts("Aurora", "Minutes")
    assert (conflict.kind, conflict.about) == ("different_values", "lead")
    assert {side.text for side in conflict.sides} == {"Lead: Ada Berg", "Lead: Emil Roth"}
    assert {side.path for side in conflict.sides} == {"Aurora.md", "Minutes.md"}


def test_frontmatter_values_that_differ_conflict_and_equal_ones_do_not(vault):
    head = "---\ntype: project\nbudget: {}\nowner: Kim\n---\nThe hut."
    vault.write("a/Hut.md", head.format("900 EUR"))
    vault.write("b/Hut.md", head.format("1200 EUR"))
    vault.scan()
    ids = [m.id for m in vault.indexer.catalogue.all()]
    found = insights(ids, vault.edges, vault.indexer.catalogue.by_id).conflicts
    assert [conflict.about for conflict in found] == ["budget"]
    assert {side.text for side in found[0].sides} == {"budget: 900 EUR", "budget: 1200 EUR"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("date: 2025-01-06\nlocation: Oslo", "date: 2025-02-03\nlocation: Bergen"),  # two meetings
        ("project: kelp\nlocation: Oslo", "project: oven\nlocation: Bergen"),
        ("topic: wood", "topic: stone"),  # may well have several
    ],
)
def test_notes_of_one_title_about_different_subjects_do_not_conflict(vault, one, other):
    vault.write("a/Weekly.md", f"---\n{one}\n---\nWe met.")
    vault.write("b/Weekly.md", f"---\n{other}\n---\nWe met.")
    vault.scan()
    ids = [m.id for m in vault.indexer.catalogue.all()]
    assert insights(ids, vault.edges, vault.indexer.catalogue.by_id).conflicts == ()


def test_a_field_with_two_values_in_one_note_is_no_single_value(vault):
    vault.write("a/Hut.md", "Owner: [[Kim]], [[Lee]]")
    vault.write("b/Hut.md", "Owner: [[Max Moor]]")
    vault.scan()
    ids = [m.id for m in vault.indexer.catalogue.all()]
    assert insights(ids, vault.edges, vault.indexer.catalogue.by_id).conflicts == ()


# -- surroundings -----------------------------------------------------------------------------


def test_neighbours_come_by_strength_and_a_cycle_ends_where_it_began(vault):
    vault.notes(
        A="Lead: [[B]]\n\nWe also spoke of C there.",
        B="Next is [[C]].",
        C="Back to [[A]]. And on to [[D]].",
        D="The end.",
    ).scan()
    found = neighbours(vault.id("A"), vault.edges, hops=3)
    assert [each.node.name for each in found][:2] in (["B", "C"], ["C", "B"])
    assert {each.node.name: each.distance for each in found} == {"B": 1, "C": 1, "D": 2}
    weights = [each.weight for each in found]
    assert weights == sorted(weights, reverse=True) and 0 < weights[-1] < weights[0] <= 1
    last = found[-1]
    assert (last.via.name, last.source.path, last.source.sentence) == (
        "C",
        "C.md",
        "Back to A. And on to D.",
    )


def test_equals_are_ordered_by_relevance_and_what_is_refused_is_not_passed(vault):
    vault.notes(A="[[B]] and [[C]]", B="[[D]]", C="Nothing.", D="Far.").scan()
    names = {vault.id(title): title for title in "ABCD"}
    for first in "BC":
        found = neighbours(
            vault.id("A"), vault.edges, relevance=lambda _, first=first: {vault.id(first): 0.9}
        )
        assert names[found[0].node.id] == first
    refused = neighbours(
        vault.id("A"), vault.edges, hops=2, allowed=lambda key: names.get(key) != "B"
    )
    assert [each.node.name for each in refused] == ["C"]


def test_a_hub_costs_no_more_than_it_shows(vault):
    for number in range(400):
        vault.write(f"n/Note {number:03}.md", "Seen with [[Hub]].")
    vault.notes(Hub="Everybody.", Odd="Mentions [[Note 007]].").scan()
    assert len(vault.edges.of(vault.id("Hub"))) == 400
    near = neighbours(vault.id("Hub"), vault.edges, hops=2, limit=20)
    assert len(near) == 20 and all(each.distance == 1 for each in near)
    around = neighbours(vault.id("Odd"), vault.edges, hops=3, limit=100)
    assert {"Note 007", "Hub"} <= {each.node.name for each in around}
    through = [each for each in around if each.via.name == "Hub"]
    assert through and all(each.weight < around[0].weight / 8 for each in through)
