"""Questions that have the title of a note, or a name that no note has, over real stores and the
real model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from indexer.indexer import Indexer
from memvault.model.memory import Lifecycle, Memory
from memvault.search.pipeline import Searcher
from memvault.search.question_names import QuestionNames
from memvault.search.times.time_spans import Calendar
from memvault.text.encoders.embedding import Embedder
from tests.integration.searching import searcher_over


@pytest.fixture
def searcher(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder
) -> Iterator[Searcher]:
    write("Long Harbour (film).md", "---\naliases: [Sailors' Ballad]\n---\nIt came out in 1987.\n")
    write("Harbour.md", "It has a quay for boats, and a poster about them.\n")
    write("Posters.md", "Who directed a film by the harbour is on its poster, with the sailors.\n")
    indexer.scan()
    with searcher_over(indexer, embedder) as one:
        yield one


@pytest.fixture
def workshop(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder
) -> Iterator[Searcher]:
    write("Lease.md", "The lease of the workshop in Bremen ends in August 2027.\n")
    write("Kiln.md", "The kiln came from Otto Brand and needs a new lid.\n")
    indexer.scan()
    with searcher_over(indexer, embedder, lambda: Calendar(date(2026, 11, 18))) as one:
        yield one


@pytest.mark.parametrize(
    "question",
    [
        "Who directed the film Long Harbour?",  # without what tells it from others of the name
        "Who directed the long-harbour film?",  # another spelling
        "Who directed the film that is called Sailors' Ballad?",  # an alias
    ],
)
def test_the_note_that_a_question_names_comes_first(searcher: Searcher, question: str) -> None:
    assert searcher.search(question).hits[0].memory.title == "Long Harbour (film)"


def test_a_note_of_only_a_title_answers_no_unrelated_question(
    searcher: Searcher, write: Callable[..., Path], indexer: Indexer
) -> None:
    write("Untitled 3.md", "")
    write("The cabin key is under the slate.md", "")
    indexer.scan()
    titles = [hit.memory.title for hit in searcher.search("Who directed the film?").hits]
    assert titles and not {"Untitled 3", "The cabin key is under the slate"} & {*titles}
    found = searcher.search("Where is the key of the cabin?").hits
    assert found[0].memory.title == "The cabin key is under the slate"


@pytest.mark.parametrize(
    ("title", "is_named"),
    [
        ("book - Berg - Stones that speak", True),
        ("Stones that speak: a novel", True),
        ("book - Stones", False),  # one word is no name
        ("book - Stones that sleep", False),
        ("Stones that-speak", True),
    ],
)
def test_a_part_of_a_title_is_a_name(title: str, is_named: bool) -> None:
    memory = Memory(
        id="m",
        path="m.md",
        title=title,
        lifecycle=Lifecycle.PERMANENT,
        created_at=datetime(2026, 11, 18, tzinfo=UTC),
    )
    assert QuestionNames("Who wrote Stones That Speak?").has(memory) is is_named


def test_a_title_of_one_word_is_no_name(searcher: Searcher) -> None:
    question = "Which harbour has a poster about its film?"
    assert searcher.search(question).hits[0].memory.title == "Posters"


@pytest.mark.parametrize(
    "question", ["Who is Ingrid?", "Wer ist Ingrid?", "Ingrid 是谁？", "Tell me about Ingrid."]
)
def test_a_first_name_is_enough_where_nothing_else_is_asked(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder, question: str
) -> None:
    write("Ingrid Larsen.md", "My colleague from Bergen leads the survey and plays the cello.\n")
    write("Band.md", "Who plays what: Ingrid cello, Olaf drums. Ingrid is late.\n")
    write("Lunch.md", "Lunch with Ingrid. Ingrid is tired.\n")
    indexer.scan()
    with searcher_over(indexer, embedder) as searcher:
        first = searcher.search(question).hits[0]
    assert first.memory.path == "Ingrid Larsen.md"


@pytest.mark.parametrize(
    "copy",
    [
        "Boat (conflicted copy 2026-01-02).md",
        "Boat (Ada's conflicted copy 2026-01-02).md",
        "Boat.sync-conflict-20260102-101112-ABCDEFG.md",
    ],
)
def test_a_copy_that_a_sync_tool_made_comes_after_the_note(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder, copy: str
) -> None:
    write("Boat.md", "# Dinghy\n\nWe are at berth 14, since May. The engine was serviced.\n")
    write(copy, "# Dinghy\n\nThe dinghy is moored at berth 12.\n")
    write("Oars.md", "The dinghy has two oars, which are in the shed.\n")
    indexer.scan()
    with searcher_over(indexer, embedder) as searcher:
        paths = [hit.memory.path for hit in searcher.search("Where is the dinghy moored?").hits]
    assert paths[:2] == ["Boat.md", copy]


def test_a_name_that_no_note_has_is_said_and_makes_the_answer_less_sure(
    workshop: Searcher,
) -> None:
    known = workshop.search("When does the lease of the workshop in Bremen end?")
    other = workshop.search("When does the lease of the workshop in Genoa end?")
    assert known.notice is None
    assert "No note has 'Genoa'." in str(other.notice)
    assert other.hits[0].memory.title == "Lease"
    assert other.hits[0].confidence < 0.5 * known.hits[0].confidence


@pytest.mark.parametrize(
    "question",
    [
        "Which kiln did we get from Brand's?",  # a possessive
        "Where did the kiln come from last Saturday?",  # a time
        "Genoa or another place: where is the workshop?",  # the first word is none
        "WHERE DOES THE KILN COME FROM, GENOA?",  # all in capitals
        "Wann endet der Mietvertrag der Werkstatt?",  # German nouns
        "I think I've lost the lid of the kiln, haven't I?",
    ],
)
def test_other_words_with_a_capital_are_no_unseen_names(workshop: Searcher, question: str) -> None:
    assert "No note has" not in str(workshop.search(question).notice)


@pytest.mark.parametrize(
    "question",
    [
        "What is the ISBN of the book on kilns?",  # the key of a property
        "Which book on kilns is in Verona?",  # a folder
        "Which book on kilns is for Potters?",  # a tag
    ],
)
def test_what_only_properties_folders_and_tags_are_called_is_no_unseen_name(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder, question: str
) -> None:
    text = "---\nisbn: 978-3-16-148410-0\ntags: [potters]\n---\nA book on kilns and glazes.\n"
    write("Verona/Kilns.md", text)
    write("Verona/Lease.md", "The lease of the workshop ends in May.\n")
    indexer.scan()
    with searcher_over(indexer, embedder) as searcher:
        answer = searcher.search(question)
    assert answer.hits[0].memory.title == "Kilns"
    assert "No note has" not in str(answer.notice)


def test_a_short_name_may_have_another_ending_in_some_languages(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder
) -> None:
    write("Dílna.md", "Dílna je v Praze a má ji na starosti Otto, který se tu vyučil.\n")
    indexer.scan()
    with searcher_over(indexer, embedder, lambda: Calendar(date(2026, 11, 18))) as searcher:
        short = searcher.search("Kde je dílna, když není v Brně?")
        long = searcher.search("Kde je dílna, když není v Olomouci?")
    assert "No note has" not in str(short.notice)
    assert "No note has 'Olomouci'." in str(long.notice)
