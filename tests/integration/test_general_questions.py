"""What a client asks when a session starts, and questions to a vault of few short notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

from indexer.indexer import Indexer
from memvault.model.search import Scope
from memvault.search.pipeline import Searcher
from memvault.search.times.time_spans import Calendar
from memvault.text.encoders.embedding import Embedder
from tests.integration.searching import searcher_over

Write = Callable[..., Path]

FACTS = {  # by the day on which they were stored
    "2026-11-02T09:00:00Z": "Noor works as a paralegal at Brandt and Lowe; her manager is Ines.",
    "2026-11-03T09:00:00Z": "Noor is allergic to latex.",
    "2026-11-04T09:00:00Z": "The van is a 2017 Transit, inspection due in May, at Holm's garage.",
    "2026-11-05T09:00:00Z": "Noor's father Karim turns 65 in February; maybe a fishing rod.",
    "2026-11-06T09:00:00Z": "Noor trains for the river swim in July: twice a week, 2 km.",
    "2026-11-07T09:00:00Z": "The flat in Porto is booked from 3 to 10 April for 900 euros.",
}
IMPORTANT = "Noor is allergic to latex."


@pytest.fixture
def searcher(indexer: Indexer, embedder: Embedder, write: Write) -> Iterator[Searcher]:
    for created, fact in FACTS.items():
        level = "importance: critical\n" if fact == IMPORTANT else ""
        write(f"projects/{created[:10]}.md", f"---\ncreated: {created}\n{level}---\n{fact}\n")
    how = "---\ntype: preference\ncreated: 2026-10-01\n---\n- Answers: short, in British English\n"
    write("permanent/How to answer.md", how)
    party = "---\ncreated: 2026-10-20\ndate: 2027-03-05\n---\nThe spring party is in the barn.\n"
    write("projects/harbour/Party.md", party)
    indexer.scan()
    with searcher_over(indexer, embedder, lambda: Calendar(date(2026, 11, 18))) as one:
        yield one


def paths(searcher: Searcher, question: str, scope: Scope | None = None) -> list[str]:
    return [hit.memory.path for hit in searcher.search(question, scope=scope).hits]


def test_a_question_for_the_latest_gets_the_newest_notes_first(searcher: Searcher) -> None:
    for question in ("What did we talk about last time?", "Where did we leave off?", "What's new?"):
        found = paths(searcher, question)
        assert found[:3] == [f"projects/2026-11-0{day}.md" for day in (7, 6, 5)], question
        assert found[6] == "projects/harbour/Party.md", "as of when it was written"


def test_a_question_for_the_latest_stays_within_the_project(searcher: Searcher) -> None:
    found = searcher.search("What's new?", scope=Scope(project="harbour")).hits
    assert {hit.memory.project for hit in found} <= {"harbour", None}
    assert "projects/harbour/Party.md" in [hit.memory.path for hit in found]


def test_what_is_known_of_the_person_is_preferences_then_what_is_important(
    searcher: Searcher,
) -> None:
    for question in ("What do you know about me?", "Who am I?", "user profile"):
        found = paths(searcher, question)
        assert found[:2] == ["permanent/How to answer.md", "projects/2026-11-03.md"], question
        assert found[2] == "projects/2026-11-07.md", "then the newest"


def test_of_equally_important_notes_the_most_linked_say_more_of_the_person_than_todays(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    write("people/Ines.md", "---\ncreated: 2024-01-02T08:00:00Z\n---\nNoor's manager.\n")
    write("permanent/preferences.md", "# Preferences\n\n- Tea: green\n")
    write("daily/2026-11-17.md", "Lunch with [[Ines]].\n")
    indexer.scan()
    found = paths(searcher, "What do you know about me?")
    assert set(found[:2]) == {"permanent/How to answer.md", "permanent/preferences.md"}
    assert found[2:4] == ["projects/2026-11-03.md", "people/Ines.md"]


def test_an_answer_says_how_many_notes_a_list_has(searcher: Searcher) -> None:
    cut = searcher.search("What did I write down in November?", top_k=4)
    assert cut.notice == (
        "6 notes fit the question, and 4 of them are here. Ask for more results to see all."
    )
    assert searcher.search("What did I write down in November?", top_k=6).notice is None


def test_a_question_for_all_of_a_type_gets_them_and_no_others(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    for name in ("Roof", "Barn"):
        write(f"permanent/{name}.md", f"---\ntype: decision\n---\nThe {name} stays as it is.\n")
    write("permanent/Log.md", "Decisions, decisions: nobody likes making them.\n")
    indexer.scan()
    for question in ("List all decisions", "Any decisions we made?"):
        found = paths(searcher, question)
        assert sorted(found) == ["permanent/Barn.md", "permanent/Roof.md"], question
    write("permanent/Roof.md", "---\ntype: idea\n---\nThe roof may stay as it is.\n")
    indexer.scan()
    assert paths(searcher, "List all decisions") == ["permanent/Barn.md"]
    assert paths(searcher, "List all ideas") == ["permanent/Roof.md"]


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("Who is her boss?", 2),
        ("When does the car have to be checked?", 4),
        ("How much does the accommodation in Portugal cost?", 7),
    ],
)
def test_a_vault_of_few_short_notes_answers_in_other_words(
    searcher: Searcher, question: str, day: int
) -> None:
    result = searcher.search(question)
    assert f"projects/2026-11-0{day}.md" in [hit.memory.path for hit in result.hits[:2]]
    assert "No note surely answers this" in (result.notice or "")


def test_a_time_of_which_there_is_nothing_is_said(searcher: Searcher) -> None:
    assert "No note is of the time" in (searcher.search("What happened in May 2024?").notice or "")
    assert searcher.search("What happened on 6 November?").notice is None


def test_a_weekly_note_is_found_for_each_day_of_its_week(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    write("2026-W45.md", "# Week 45\n\n- Sat: repaired the gutter\n")
    indexer.scan()
    assert "2026-W45.md" in paths(searcher, "What did I do on 7 November 2026?")


def test_a_time_that_a_note_only_names_by_its_year_is_found(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    write("permanent/Mill.md", "# Mill\n\n- 1791: the wheel turns\n- 1912: the mill burns down\n")
    indexer.scan()
    for question in ("What happened in 1912?", "What happened before 1800?"):
        result = searcher.search(question)
        assert result.hits[0].memory.path == "permanent/Mill.md", question
        assert "No note is of the time" not in (result.notice or ""), question


def test_a_small_vault_says_what_it_does_not_know(searcher: Searcher) -> None:
    result = searcher.search("quantum chromodynamics on a lattice")
    assert result.hits == []
    assert result.notice is not None
    assert result.notice.count(".md)") == 3, "the nearest are named"


@pytest.mark.parametrize(
    "folder",
    ["20 Recipes", "10-19 Recipes", "03. recipes", "🍲 Recipes", f"Recipes {'9f8e7d6c' * 4}"],
)
def test_numbers_and_signs_that_sort_folders_are_no_part_of_their_names(
    searcher: Searcher, indexer: Indexer, write: Write, folder: str
) -> None:
    recipes = [f"{folder}/{name}.md" for name in ("Barley soup", "Plum cake")]
    for path in recipes:
        write(path, "For four.\n")
        write(f"03 March/{path[-8:]}", "The recipes are in the green book.\n")
    indexer.scan()
    assert sorted(paths(searcher, "List all recipes")) == recipes
    assert "march" not in indexer.catalogue.groups()


def test_a_question_for_all_of_a_folder_or_a_tag_gets_them(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    for name in ("Barley soup", "Plum cake"):
        write(f"Recipes/{name}.md", f"# {name}\n\nFor four.\n")
        write(f"permanent/Chair of {name}.md", "Sanded.\n\n#furniture\n")
    write("permanent/Cook.md", "Recipes are in the green book, and the furniture is old.\n")
    indexer.scan()
    recipes = ["Recipes/Barley soup.md", "Recipes/Plum cake.md"]
    assert sorted(paths(searcher, "List all recipes")) == recipes
    assert sorted(paths(searcher, "How many recipes do I have?")[:2]) == recipes
    chairs = ["permanent/Chair of Barley soup.md", "permanent/Chair of Plum cake.md"]
    assert sorted(paths(searcher, "Show me all furniture")) == chairs
    found = searcher.search("List all recipes", top_k=1)
    assert "There are 2 notes in the folder or with the tag 'recipes', and 1" in str(found.notice)
    assert len(paths(searcher, "recipes")) > 2, "a word alone gets other notes, too"


def test_a_question_for_nothing_but_a_folder_or_a_tag_gets_its_notes_first(
    indexer: Indexer, embedder: Embedder, write: Write
) -> None:
    write("Boats/Heron.md", "A dinghy, white, two sails.\n")
    write("Boats/Otter.md", "A barge that carries gravel. #rented\n")
    write("House/Roof.md", "The roof leaks where the boats hung. #rented\n")
    write("House/Stove.md", "The stove burns peat.\n")
    indexer.scan()
    with searcher_over(indexer, embedder, Calendar) as searcher:
        for question in ("boats", "my boats", "Tell me about the boats", "Überblick: boats"):
            assert set(paths(searcher, question)[:2]) == {"Boats/Heron.md", "Boats/Otter.md"}
            assert paths(searcher, question)[2:3] == ["House/Roof.md"], question
        for question in ("What do I have on rented?", "summarize rented"):
            assert set(paths(searcher, question)[:2]) == {"Boats/Otter.md", "House/Roof.md"}
        assert paths(searcher, "How do I paint boats?")[:1] != ["Boats/Otter.md"]
        assert paths(searcher, "boats that carry gravel")[:1] == ["Boats/Otter.md"]


def test_a_question_for_a_fact_or_for_a_note_of_that_name_gets_it_before_a_folder_or_tag(
    indexer: Indexer, embedder: Embedder, write: Write
) -> None:
    for number in range(8):
        write(f"Talks/{number}.md", f"Anna read page {number} for the wedding. #anna #wedding\n")
        write(f"Car/Service {number}.md", f"Oil, {number} litres, and new brakes.\n")
        write(f"Boats/Hull {number}.md", f"Painted plank {number}.\n")
    write("Anna.md", "My sister, a nurse.\n")
    write("Boats.md", "The fleet, by its age.\n")
    write("House/Garage.md", "The car is in the garage behind the school.\n")
    write("Family/Invitation.md", "The wedding is on 12 June 2027 in Porto.\n")
    indexer.scan()
    with searcher_over(indexer, embedder, Calendar) as searcher:
        for question in ("Anna", "Who is Anna?", "Tell me about Anna", "What do you know of Anna?"):
            assert paths(searcher, question)[0] == "Anna.md", question
        for question in ("Where is the car?", "Wo ist das car?", "¿Dónde está el car?"):
            assert paths(searcher, question)[0] == "House/Garage.md", question
        assert paths(searcher, "When is the wedding?")[0] == "Family/Invitation.md"
        own_note, *others = paths(searcher, "my boats")
        assert own_note == "Boats.md", "a folder's own note comes first"
        assert all(path.startswith("Boats/") for path in others[:6])


def test_a_large_folder_leaves_places_for_notes_elsewhere(
    indexer: Indexer, embedder: Embedder, write: Write
) -> None:
    for number in range(30):
        write(f"Recipes/Soup {number}.md", f"Boil {number} leeks.\n")
    write("House/Kitchen.md", "The book with the recipes stands in the kitchen.\n")
    indexer.scan()
    with searcher_over(indexer, embedder, Calendar) as searcher:
        found = searcher.search("my recipes", top_k=10).hits
        of_folder = [hit.memory.path.startswith("Recipes/") for hit in found]
        assert of_folder[:7] == [True] * 7
        assert found[7].memory.path == "House/Kitchen.md"


def test_a_name_in_a_question_for_a_number_is_no_kind_of_note(
    searcher: Searcher, indexer: Indexer, write: Write
) -> None:
    for name in ("Riding", "Teeth"):
        write(f"Olga/{name}.md", f"# {name}\n\nOlga has six lessons left.\n")
    indexer.scan()
    found = searcher.search("How many lessons does Olga have left?", top_k=1)
    assert found.notice is None
