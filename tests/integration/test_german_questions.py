"""Questions to a vault in German, which the embedding model hardly knows, over real stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

from indexer.indexer import Indexer
from memvault.search.notices import OTHER_LANGUAGE
from memvault.search.pipeline import Searcher
from memvault.search.times.time_spans import Calendar
from memvault.text.encoders.embedding import Embedder
from tests.integration.searching import searcher_over

NOTES = {
    "Werkstatt": "Die Hobelbank ist geölt.\n\n- [ ] Neue Sägeblätter bestellen\n",
    "Garten": "Die Rosen sind geschnitten, und der Kompost ist umgesetzt.\n\n- [x] Laub rechen\n",
    "Ofen": "Der Schornsteinfeger kommt am 27. November um neun Uhr.\n",
    "Brotteig": "---\ndate: 2026-01-05\ntype: backwerk\n---\nRoggen und Dinkel, über Nacht gehen lassen.\n",
    "Zwetschgendatschi": "---\ndate: 2026-01-05\ntype: backwerk\n---\nHefeteig und zwei Kilo Früchte.\n",
    "Imker": "Drei Völker sind eingewintert, das vierte war zu schwach für den Winter.\n",
}


@pytest.fixture
def searcher(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder
) -> Iterator[Searcher]:
    for title, text in NOTES.items():
        front = "" if text.startswith("---") else "---\ndate: 2026-01-05\n---\n"
        write(f"permanent/{title}.md", front + text)
    indexer.scan()
    with searcher_over(indexer, embedder, lambda: Calendar(date(2026, 11, 18))) as one:
        one.warm_up()
        yield one


@pytest.fixture
def ask(searcher: Searcher) -> Callable[[str], list[str]]:
    return lambda query: [hit.memory.title for hit in searcher.search(query).hits]


def test_tasks_are_found_by_whether_they_are_ticked(ask: Callable[[str], list[str]]) -> None:
    assert ask("Welche Aufgaben sind noch offen?")[0] == "Werkstatt"
    assert ask("Welche Aufgaben sind erledigt?")[0] == "Garten"


def test_plans_are_found(ask: Callable[[str], list[str]]) -> None:
    assert ask("Was steht nächste Woche an?") == ["Ofen"]


def test_what_is_to_do_by_a_day_is_before_the_coming_one(ask: Callable[[str], list[str]]) -> None:
    assert ask("Was muss ich bis 5. Dezember noch tun?") == ["Ofen", "Werkstatt"]


def test_notes_are_found_by_their_type(ask: Callable[[str], list[str]]) -> None:
    assert set(ask("Zeige alles Backwerk, das ich habe")[:2]) == {"Brotteig", "Zwetschgendatschi"}


def test_a_question_in_other_words_than_the_notes_gets_the_nearest_notes(
    ask: Callable[[str], list[str]],
) -> None:
    assert ask("Wie geht es meinen Bienen?")


def is_asked_again(searcher: Searcher, question: str) -> bool:
    """Whether the answer says to ask in the language of the notes."""
    return OTHER_LANGUAGE in (searcher.search(question).notice or "")


def test_a_question_in_another_language_than_the_notes_is_to_be_asked_again(
    searcher: Searcher,
) -> None:
    assert is_asked_again(searcher, "How are the bees of my neighbour?")
    assert is_asked_again(searcher, "¿Cuándo viene el limpiador de la chimenea?")
    assert not is_asked_again(searcher, "Wie geht es meinen Bienen?")
    assert not is_asked_again(searcher, "Imker"), "a name is of no language"
    assert not is_asked_again(searcher, "What is on next week?"), "it gets a list"


def test_an_english_question_that_finds_english_notes_is_not_asked_again(
    searcher: Searcher, write: Callable[..., Path], indexer: Indexer
) -> None:
    write("permanent/Bees.md", "The bees of my neighbour are ready for the winter, as are mine.\n")
    indexer.scan()
    assert not is_asked_again(searcher, "How are the bees of my neighbour?")


def test_a_question_to_a_vault_without_notes_is_not_to_be_asked_again(
    indexer: Indexer, embedder: Embedder
) -> None:
    with searcher_over(indexer, embedder) as searcher:
        assert not is_asked_again(searcher, "Wie geht es meinen Bienen?")


def test_a_german_question_to_english_notes_is_to_be_asked_again(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder
) -> None:
    write("permanent/Bees.md", "Three colonies are ready for the winter; the fourth is too weak.\n")
    write("permanent/Bank.md", "The work bench is oiled, and the saw blades are ordered.\n")
    indexer.scan()
    with searcher_over(indexer, embedder) as searcher:
        assert is_asked_again(searcher, "Wie geht es meinen Bienen?")
        assert is_asked_again(searcher, "蜂はどうですか")
        assert not is_asked_again(searcher, "How are my bees?")


def test_a_german_question_that_finds_a_german_note_first_is_not_to_be_asked_again(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder
) -> None:
    for number in range(40):
        write(f"permanent/Shelf {number}.md", f"The shelf of the shop is {number} feet long.\n")
    write("permanent/Zitronenbaum.md", "Im Winter steht der Zitronenbaum kühl und wird kaum "
          "gegossen.\n")  # fmt: skip
    indexer.scan()
    with searcher_over(indexer, embedder) as searcher:
        assert not is_asked_again(searcher, "Wie pflege ich den Zitronenbaum im Winter?")
        assert is_asked_again(searcher, "Wie geht es meinen Bienen?")
