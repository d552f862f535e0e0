"""Questions that have the title of a note, over real stores and the real model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from indexer.indexer import Indexer
from memvault.search.pipeline import Searcher
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


def test_a_title_of_one_word_is_no_name(searcher: Searcher) -> None:
    question = "Which harbour has a poster about its film?"
    assert searcher.search(question).hits[0].memory.title == "Posters"
