"""What a note adds to the graph."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.model.graph import EdgeOrigin, GraphEdge, NoteGraph
from memvault.model.memory import Memory
from memvault.model.note import ParsedNote
from memvault.text.entities import FoundEntity
from memvault.text.marked_sentences import MAX_SENTENCE_CHARS, located_excerpt
from memvault.text.name_matcher import NameMatcher
from memvault.text.names import kind_of, names_of
from memvault.text.note_graph import ENTITY_WEIGHT, note_graph, with_entities
from memvault.vault.frontmatter.properties import memory_of
from memvault.vault.links import LinkIndex
from memvault.vault.parse import parse_note


class Notes:
    """A vault of texts by path, with all that a note is read against."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.links, self.names = LinkIndex(), NameMatcher()
        self.notes: dict[str, ParsedNote] = {}
        self.memories: dict[str, Memory] = {}
        for path, text in texts.items():
            self.add(path, text)

    def add(self, path: str, text: str) -> None:
        note = parse_note(path, text.encode())
        memory = memory_of(note, fallback_time=datetime(2026, 1, 1, tzinfo=UTC))
        self.notes[path], self.memories[path] = note, memory
        self.links.add(path, note.aliases)
        self.names.replace(memory.id, names_of(note, memory))

    def graph(self, path: str) -> NoteGraph:
        return note_graph(
            self.notes[path], self.memories[path], self.links, self.memories, self.names
        )

    def edges(self, path: str) -> list[GraphEdge]:
        return list(self.graph(path).edges)

    def title(self, graph: NoteGraph, id: str) -> str:
        shown = {memory.id: memory.title for memory in self.memories.values()}
        return (shown | {node.id: f"{node.kind}:{node.name}" for node in graph.entities})[id]

    def relations(self, path: str) -> list[tuple[str, str, str]]:
        graph = self.graph(path)
        return [(e.relation, self.title(graph, e.target), str(e.origin)) for e in graph.edges]


PEOPLE = {
    "people/Ada Berg.md": "---\ntype: person\n---\n",
    "people/Emil Castillo.md": "---\ntype: person\naliases: [Emil]\n---\n",
    "people/Greta Tanaka.md": "---\ntype: person\n---\n",
    "people/Helga Moe.md": "---\ntype: person\n---\n",
}


def test_a_plain_name_behind_a_label_is_a_name_in_other_notes_too():
    notes = Notes(
        {
            "Fernhill.md": "region:: Upper Vale",
            "Ada.md": "- Home: Port of Vale.\n- Motto: Never give up on a good plan.",
            "Emil.md": "Emil grew up in Upper Vale and never gave up on Port of Vale.",
        }
    )
    assert notes.relations("Fernhill.md") == [("region", "concept:Upper Vale", "field")]
    assert [name for _, name, _ in notes.relations("Emil.md")] == [
        "concept:Upper Vale",
        "concept:Port of Vale",
    ]
    assert not notes.names.knows("Never give up on a good plan")


def test_the_name_in_front_relates_links_and_unlinked_names_alike():
    notes = Notes(
        {**PEOPLE, "Plan.md": "Lead: [[Ada Berg]]. Team: [[Helga Moe|Helga]], Emil, Greta Tanaka."}
    )
    assert notes.relations("Plan.md") == [
        ("Lead", "Ada Berg", "field"),
        ("Team", "Helga Moe", "field"),
        ("Team", "Emil Castillo", "field"),
        ("Team", "Greta Tanaka", "field"),
    ]
    weights = [edge.weight for edge in notes.edges("Plan.md")]
    assert weights[0] == weights[1] == 1.0
    assert weights[2] == weights[3] == 0.8


def test_running_text_states_standard_relations_and_participles():
    notes = Notes(
        {
            **PEOPLE,
            "Plan.md": "Proposed by [[Ada Berg]]. It is part of the [[Emil Castillo]] story.",
        }
    )
    assert [edge.relation for edge in notes.edges("Plan.md")] == ["proposed by", "part of"]


@pytest.mark.parametrize(
    "text",
    [
        "Because [[Ada Berg]] was late, we waited.",
        "At [[Ada Berg]] we ate.",
        "`[[Note]]` displays as [[Ada Berg]].",
        "`owner` [[Ada Berg]]",
        "The code `lead:` [[Ada Berg]]",
        "See [[Ada Berg]].",
        "They had three children: [[Ada Berg]].",
        "For example: [[Ada Berg]].",
        "While not part of [[Ada Berg]], it helps.",
        "The building blocks [[Ada Berg]].",
        "| `^id` | [[Ada Berg]] |\n| --- | --- |\n| ![[x]] | [[Ada Berg]] |",
    ],
)
def test_the_words_and_the_code_of_a_sentence_are_no_relation(text: str):
    relations = Notes({**PEOPLE, "Plan.md": text}).relations("Plan.md")
    assert {relation for relation, target, _ in relations if target == "Ada Berg"} == {"links to"}


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("Because: [[Ada Berg]]", "Because"),
        ("Cared for by: [[Ada Berg]]", "Cared for by"),
        ("- **Lead:** [[Ada Berg]]", "Lead"),
        ("Leitung: [[Ada Berg]]", "Leitung"),
        ("担当：[[Ada Berg]]", "担当"),
        ("It was replaced by [[Ada Berg]].", "replaced by"),
        ("The delay was caused by [[Ada Berg]].", "caused by"),
        ("| Lead | [[Ada Berg]] |\n| --- | --- |\n| Owner | [[Ada Berg]] |", "Owner"),
    ],
)
def test_labels_fields_and_standard_verbs_are_relations(text: str, relation: str):
    relations = Notes({**PEOPLE, "Plan.md": text}).relations("Plan.md")
    assert relation in {found for found, target, _ in relations if target == "Ada Berg"}


WORDS = st.text("bcdfghkl", min_size=2, max_size=8)  # no words of a sentence


@given(st.lists(WORDS, min_size=1, max_size=6))
def test_words_in_front_never_become_a_relation_but_as_a_label(words: list[str]):
    front = " ".join(words).capitalize()
    prose = Notes({**PEOPLE, "Plan.md": f"{front} [[Ada Berg]]."}).relations("Plan.md")
    label = Notes({**PEOPLE, "Plan.md": f"{front}: [[Ada Berg]]."}).relations("Plan.md")
    assert [relation for relation, target, _ in prose if target == "Ada Berg"] == ["links to"]
    if len(words) <= 4 and len(front) <= 40:
        assert [relation for relation, target, _ in label if target == "Ada Berg"] == [front]


def test_a_relation_is_handed_on_along_a_list():
    notes = Notes(
        {
            **PEOPLE,
            "Chat.md": "Proposed by Ada Berg, [[Emil Castillo]] and Greta Tanaka about Helga Moe.",
        }
    )
    relations = {target: relation for relation, target, _ in notes.relations("Chat.md")}
    assert relations == {
        "Ada Berg": "proposed by",
        "Emil Castillo": "proposed by",
        "Greta Tanaka": "proposed by",
        "Helga Moe": "mentions",
    }


def test_many_words_in_front_are_no_relation():
    text = "After a long and winding walk we saw [[Ada Berg]]; and so did at long last his friend Helga Moe."
    relations = Notes({**PEOPLE, "Walk.md": text}).relations("Walk.md")
    assert relations == [("links to", "Ada Berg", "link"), ("mentions", "Helga Moe", "mention")]


def test_a_speaker_in_front_is_no_relation():
    notes = Notes({**PEOPLE, "Chat.md": "- **Emil:** hello Greta Tanaka, see [[Ada Berg]]\n"})
    assert notes.relations("Chat.md") == [
        ("links to", "Ada Berg", "link"),
        ("mentions", "Emil Castillo", "mention"),
        ("mentions", "Greta Tanaka", "mention"),
    ]


def test_inline_fields_relate_the_names_in_their_values():
    text = "supersedes:: [[Old plan]]\n\nSome (owner:: Ada Berg) and Emil.\n"
    notes = Notes({**PEOPLE, "Old plan.md": "", "Plan.md": text})
    assert notes.relations("Plan.md") == [
        ("supersedes", "Old plan", "field"),
        ("owner", "Ada Berg", "field"),
        ("mentions", "Emil Castillo", "mention"),
    ]


def test_frontmatter_relates_by_its_keys():
    text = '---\nsupports: "[[Old plan]]"\npeople: [Ada Berg, Zed Unknown]\nmotto: Emil Castillo\nstatus: active\n---\n'
    notes = Notes({**PEOPLE, "Old plan.md": "", "Active.md": "", "Plan.md": text})
    assert sorted(notes.relations("Plan.md")) == [
        ("motto", "Emil Castillo", "frontmatter"),
        ("people", "Ada Berg", "frontmatter"),
        ("people", "person:Zed Unknown", "frontmatter"),
        ("supports", "Old plan", "frontmatter"),
    ]


def test_an_unresolved_link_is_a_concept_and_a_missing_picture_is_not():
    notes = Notes(
        {"A.md": "On [[Entropy]] and ![[pie.png]].", "B.md": "More entropy, more Entropy."}
    )
    graph = notes.graph("A.md")
    assert [(node.kind, node.name, node.path) for node in graph.entities] == [
        ("concept", "Entropy", None)
    ]
    assert notes.edges("B.md")[0].target == graph.edges[0].target


def test_a_note_written_for_a_concept_takes_its_links_and_mentions():
    notes = Notes({"A.md": "On [[Entropy]].", "B.md": "Yes, Entropy."})
    notes.add("Entropy.md", "A measure.")
    expected = notes.memories["Entropy.md"].id
    assert [edge.target for path in ("A.md", "B.md") for edge in notes.edges(path)] == [
        expected
    ] * 2


def test_nested_tags_imply_the_tags_above():
    notes = Notes({"A.md": "A note #area/storage here."})
    assert notes.relations("A.md") == [
        ("tagged", "tag:area", "tag"),
        ("tagged", "tag:area/storage", "tag"),
    ]


def test_a_note_belongs_to_its_projects_note_or_else_to_its_name():
    notes = Notes({"projects/aurora/log.md": "Nothing."})
    assert notes.relations("projects/aurora/log.md") == [
        ("project", "project:aurora", "frontmatter")
    ]
    notes.add("projects/aurora/Aurora.md", "---\ntype: project\n---\n")
    assert notes.relations("projects/aurora/log.md") == [("project", "Aurora", "frontmatter")]
    assert notes.relations("projects/aurora/Aurora.md") == []


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("People/Lena Moor.md", "person"),
        ("40 Personen/Lena Moor.md", "person"),
        ("People/People.md", "note"),
        ("Friends/Trip to Rome.md", "note"),
        ("Friends/Ana de la Vega.md", "person"),
        ("Friends/Maria do Carmo.md", "person"),
        ("Friends/Will Moor.md", "person"),
        ("People/Trips/Lena Moor.md", "note"),
        ("People/Old Forge.md", "organisation"),
    ],
)
def test_a_note_in_a_folder_for_people_is_a_person_unless_it_says_what_it_is(path: str, kind: str):
    type = "---\ntype: company\n---\n" if kind == "organisation" else ""
    notes = Notes({path: f"{type}Sails."})
    assert notes.graph(path).node.kind == kind


def test_notes_in_a_folder_for_people_are_meant_by_their_given_names():
    notes = Notes({"People/Lena Moor.md": "Sails.", "log.md": "Paid Lena for the ropes."})
    assert notes.relations("log.md") == [("mentions", "Lena Moor", "mention")]


@pytest.mark.parametrize(
    ("type", "kind"),
    [
        ("Person", "person"),
        ("organization", "organisation"),
        ("org", "organisation"),
        ("recipe", "recipe"),
        ("", "note"),
    ],
)
def test_the_kind_of_a_node_is_the_type_of_its_note(type: str, kind: str):
    notes = Notes({"A.md": f"---\ntype: {type}\ndate: 2026-03-01\n---\n"})
    node = notes.graph("A.md").node
    assert (node.kind, node.date) == (kind, "2026-03-01")
    assert node.kind == kind_of(notes.memories["A.md"])


def test_a_note_has_no_edge_to_itself():
    notes = Notes({"Aurora.md": "# Aurora\n\nAurora is [[Aurora]], as is [[#Aurora]]."})
    assert notes.edges("Aurora.md") == []


def test_what_a_sentence_links_it_does_not_mention_too():
    notes = Notes(
        {**PEOPLE, "A.md": "Saw [[Ada Berg]]. Ada Berg saw [[Ada Berg|her]] and Ada Berg."}
    )
    assert [(e.origin, e.ordinal, e.sentence) for e in notes.edges("A.md")] == [
        (EdgeOrigin.LINK, 0, "Saw Ada Berg."),
        (EdgeOrigin.LINK, 1, "Ada Berg saw her and Ada Berg."),
    ]


def test_an_uncertain_capital_counts_only_next_to_a_certain_one():
    notes = Notes({"Search.md": "", "A.md": "Search it.", "B.md": "Search it. I like Search."})
    assert notes.edges("A.md") == []
    assert [edge.sentence for edge in notes.edges("B.md")] == ["Search it.", "I like Search."]


def test_edges_know_their_line_and_sentence():
    notes = Notes(
        {**PEOPLE, "A.md": "---\ntags: [x]\n---\n# Title\n\nFirst.\nThen [[Ada Berg]] came. End.\n"}
    )
    (edge,) = [e for e in notes.edges("A.md") if e.origin is EdgeOrigin.LINK]
    assert (edge.line, edge.sentence) == (7, "Then Ada Berg came.")


def test_names_in_headings_and_in_the_file_name_are_found():
    notes = Notes({**PEOPLE, "Call with Ada Berg.md": "## With Greta Tanaka\n\ntext\n"})
    assert [t for _, t, _ in notes.relations("Call with Ada Berg.md")] == [
        "Ada Berg",
        "Greta Tanaka",
    ]


def entity(
    name: str, sentence: str, kind: str = "place", relation: str | None = None
) -> FoundEntity:
    start = sentence.index(name)
    return FoundEntity(kind, name, start, start + len(name), sentence, 3, relation)


def test_entities_are_the_weakest_edges_and_carry_their_relation():
    notes = Notes({**PEOPLE, "A.md": "Based in Porto."})
    graph = with_entities(notes.graph("A.md"), [entity("Porto", "Based in Porto.")], notes.names)
    (edge,) = graph.edges
    assert (edge.relation, edge.origin, edge.weight) == (
        "based in",
        EdgeOrigin.ENTITY,
        ENTITY_WEIGHT,
    )
    assert [(node.kind, node.name) for node in graph.entities] == [("place", "Porto")]


def test_the_vaults_own_names_win_over_what_the_pipeline_finds():
    notes = Notes({**PEOPLE, "A.md": "We met Ada Berg in Oslo Street.", "Oslo Street.md": ""})
    sentence = "We met Ada Berg in Oslo Street."
    guesses = [
        entity("Ada Berg", sentence, "person"),
        entity("Oslo", sentence),
        entity("ada", sentence.lower()),
    ]
    graph = notes.graph("A.md")
    assert with_entities(graph, guesses, notes.names) == graph


def test_a_speaker_whom_the_pipeline_knows_is_no_relation():
    notes = Notes({"A.md": "Nadia: we go to Porto."})
    found = [
        entity("Nadia", "Nadia: we go to Porto.", "person", "Nadia"),
        entity("Porto", "Nadia: we go to Porto.", "place", "Nadia"),
    ]
    graph = with_entities(notes.graph("A.md"), found, notes.names)
    assert [edge.relation for edge in graph.edges] == ["mentions", "mentions"]


@given(st.text("ab ", min_size=0, max_size=900), st.data())
def test_an_excerpt_holds_what_it_is_about_and_stays_short(text: str, data: st.DataObject):
    start = data.draw(st.integers(0, max(0, len(text) - 5)))
    end = min(len(text), start + 5)
    cut = located_excerpt(text, start, end)[0]
    assert text[start:end] in cut
    assert len(cut) <= MAX_SENTENCE_CHARS + 2


PIECES = st.sampled_from(
    [
        "[[Ada Berg]]",
        "Emil",
        "Lead:",
        "[[Nowhere]]",
        "#tag/sub",
        "saw",
        "and",
        ".",
        "\n\n",
        "who:: Greta Tanaka\n",
        "Ada Berg's",
    ]
)


@settings(max_examples=40, deadline=None)
@given(st.lists(PIECES, max_size=25).map(" ".join))
def test_reading_twice_gives_the_same_distinct_edges(text: str):
    notes = Notes({**PEOPLE, "A.md": text})
    graph = notes.graph("A.md")
    assert graph == notes.graph("A.md")
    assert len({edge.id for edge in graph.edges}) == len(graph.edges)
    known = {memory.id for memory in notes.memories.values()} | {node.id for node in graph.entities}
    for edge in graph.edges:
        assert edge.source == graph.node.id != edge.target
        assert edge.target in known
        assert 1 <= edge.line <= notes.notes["A.md"].line_count
