"""Questions for what properties say, over real stores and the real model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from indexer.indexer import Indexer
from memvault.model.search import Filters, Scope
from memvault.search.pipeline import Searcher
from memvault.text.embedding import Embedder
from tests.integration.searching import searcher_over

FILMS = {
    "Paper Lanterns": ("director: Ito\nscore: 9\nwatched: true", "Long shots of a harbour."),
    "Salt Road": ("director: Brandt\nscore: 4\nwatched: true", "A caravan gets lost."),
    "Kites": ("director: Ito\nwatched: false", "Two brothers and a storm."),
}
OTHERS = {
    "Shopping": ("type: errand", "Soap, lamp oil, string."),
    "Brandt": ("type: person", "Runs the bakery by the bridge, closed on Mondays."),
    "Tides": ("type: note", "High water comes fifty minutes later every day."),
}


@pytest.fixture
def searcher(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder
) -> Iterator[Searcher]:
    for title, (properties, text) in FILMS.items():
        write(f"seen/{title}.md", f"---\ntype: film\n{properties}\n---\n{text}\n")
    for title, (properties, text) in OTHERS.items():
        write(f"other/{title}.md", f"---\n{properties}\n---\n{text}\n")
    indexer.scan()
    with searcher_over(indexer, embedder) as one:
        one.warm_up()
        yield one


@pytest.fixture
def ask(searcher: Searcher) -> Callable[[str], list[str]]:
    def asked(query: str) -> list[str]:
        hits = searcher.search(query, allow_unverified=True).hits
        return [hit.memory.title for hit in hits]

    return asked


def test_notes_are_found_by_their_type(ask: Callable[[str], list[str]]) -> None:
    assert set(ask("List all my films")[:3]) == set(FILMS)


def test_notes_are_found_by_a_property_that_their_text_does_not_say(
    ask: Callable[[str], list[str]],
) -> None:
    assert set(ask("films by Ito")[:2]) == {"Paper Lanterns", "Kites"}


def test_a_property_is_found_by_its_key(ask: Callable[[str], list[str]]) -> None:
    assert ask("Which film has a score of 9?")[0] == "Paper Lanterns"
    assert set(ask("Which of them have I watched?")[:2]) == {"Paper Lanterns", "Salt Road"}


def test_what_properties_say_counts_for_the_confidence(
    searcher: Searcher, ask: Callable[[str], list[str]]
) -> None:
    sure = {hit.memory.title: hit.confidence for hit in searcher.search("films by Ito").hits}
    assert sure["Paper Lanterns"] > 3 * sure["Salt Road"]


def test_what_no_property_says_is_not_known(ask: Callable[[str], list[str]]) -> None:
    assert ask("operas by Verdi") == []


def test_a_question_for_all_says_how_many_there_are(searcher: Searcher) -> None:
    some = searcher.search("List all my films", top_k=2)
    assert "There are 3 notes of type 'film', and 2 of them here" in str(some.notice)
    narrowed = Scope(filters=Filters(types=["film"]))
    all_of_them = searcher.search("List all my films", top_k=9, scope=narrowed)
    assert {hit.memory.title for hit in all_of_them.hits} == set(FILMS)
    assert all_of_them.notice is None
    assert searcher.search("Which films are by Ito?", top_k=2).notice is None
