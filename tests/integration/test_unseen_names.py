"""Questions that name what no note is about, over real stores and the real model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

from indexer.indexer import Indexer
from memvault.search.pipeline import Searcher
from memvault.search.times.time_spans import Calendar
from memvault.text.encoders.embedding import Embedder
from tests.integration.searching import searcher_over


@pytest.fixture
def searcher(
    write: Callable[..., Path], indexer: Indexer, embedder: Embedder
) -> Iterator[Searcher]:
    write("Lease.md", "The lease of the workshop in Bremen ends in August 2027.\n")
    write("Kiln.md", "The kiln came from Otto Brand and needs a new lid.\n")
    indexer.scan()
    with searcher_over(indexer, embedder, lambda: Calendar(date(2026, 11, 18))) as one:
        yield one


def test_a_name_that_no_note_has_is_said_and_makes_the_answer_less_sure(
    searcher: Searcher,
) -> None:
    known = searcher.search("When does the lease of the workshop in Bremen end?")
    other = searcher.search("When does the lease of the workshop in Genoa end?")
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
def test_other_words_with_a_capital_are_no_unseen_names(searcher: Searcher, question: str) -> None:
    assert "No note has" not in str(searcher.search(question).notice)


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
