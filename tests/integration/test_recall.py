"""Hybrid recall over real notes in a real store."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memvault.model.search import Filters, Scope
from memvault.search.hybrid import Recall
from memvault.stores.vectors.edge import EdgeVectorStore
from memvault.text.chunking import chunk_notes
from memvault.text.embedding import Embedder
from memvault.vault.frontmatter.properties import memory_of
from memvault.vault.parse import parse_note

NOW = datetime(2026, 3, 1, tzinfo=UTC)
FILLER = " ".join(
    f"On day {i} the weather was mild and we walked along the shore." for i in range(60)
)

NOTES = {
    "permanent/Storage engine.md": "---\ntags: [db]\n---\n# Choice\n\nWe keep rows in SQLite.\n",
    "permanent/Heating.md": "The boiler is serviced each autumn by Mr. Olsen.\n",
    "permanent/XJ-4471.md": "Part number of the pump in the cellar.\n",
    "permanent/Holidays.md": f"# Diary\n\n{FILLER}\n\n## Loss\n\nMarta lost her passport in Lisbon.\n\n## Rest\n\n{FILLER}\n",
    "projects/aurora/Plan.md": "The rocket launch is planned for June.\n",
    "projects/borealis/Plan.md": "The rocket launch is planned for October.\n",
    "permanent/Rockets.md": "A rocket launch needs a permit.\n",
    "permanent/Empty.md": "",
}


@pytest.fixture(scope="module")
def store(
    embedder: Embedder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EdgeVectorStore]:
    vectors = EdgeVectorStore(tmp_path_factory.mktemp("recall"), embedder.dimension)
    parsed = [parse_note(path, text.encode()) for path, text in NOTES.items()]
    notes = [(note, memory_of(note, fallback_time=NOW)) for note in parsed]
    chunks = chunk_notes(notes, embedder)
    vectors.replace([(memory, own) for (_, memory), own in zip(notes, chunks, strict=True)])
    yield vectors
    vectors.close()


@pytest.fixture(scope="module")
def recall(store: EdgeVectorStore, embedder: Embedder) -> Recall:
    return Recall(store, embedder)


@pytest.fixture(scope="module")
def ids() -> dict[str, str]:
    parsed = [parse_note(path, text.encode()) for path, text in NOTES.items()]
    return {memory_of(note, fallback_time=NOW).id: note.path for note in parsed}


def paths(recall: Recall, ids: dict[str, str], query: str, scope: Scope | None = None) -> list[str]:
    return [ids[each.note_id] for each in recall.recall(query, 10, scope)]


def test_the_note_that_answers_comes_first_whatever_its_words(
    recall: Recall, ids: dict[str, str]
) -> None:
    assert paths(recall, ids, "Which database did we choose?")[0] == "permanent/Storage engine.md"
    assert paths(recall, ids, "who maintains the furnace")[0] == "permanent/Heating.md"


def test_a_rare_word_finds_the_note_that_is_named_by_it(
    recall: Recall, ids: dict[str, str]
) -> None:
    assert paths(recall, ids, "XJ-4471")[0] == "permanent/XJ-4471.md"


def test_a_long_note_is_found_once_and_shown_by_the_passage_that_answers(
    recall: Recall, ids: dict[str, str]
) -> None:
    found = recall.recall("Where did Marta lose her passport?", 5)
    assert ids[found[0].note_id] == "permanent/Holidays.md"
    assert "passport in Lisbon" in found[0].text
    assert found[0].heading.startswith("Diary")
    assert found[0].lines.first <= 7 <= found[0].lines.last
    notes = [each.note_id for each in found]
    assert len(set(notes)) == len(notes)


def test_relevance_falls_and_lies_in_0_to_1(recall: Recall) -> None:
    found = recall.recall("rocket launch in June", 100)
    relevances = [each.relevance for each in found]
    assert relevances == sorted(relevances, reverse=True)
    assert all(0.0 <= relevance <= 1.0 for relevance in relevances)
    assert len(found) == len(NOTES)


def test_a_good_match_is_more_relevant_than_the_best_of_bad_ones(recall: Recall) -> None:
    good = recall.recall("boiler serviced in autumn by Mr. Olsen", 1)[0].relevance
    bad = recall.recall("quantum chromodynamics lattice", 1)[0].relevance
    assert good > 2 * bad


def test_a_question_asked_in_a_project_sees_nothing_of_others(
    recall: Recall, ids: dict[str, str]
) -> None:
    found = paths(recall, ids, "rocket launch", Scope(project="aurora"))
    assert "projects/borealis/Plan.md" not in found
    assert {"projects/aurora/Plan.md", "permanent/Rockets.md"} <= set(found)


def test_filters_narrow_the_answer(recall: Recall, ids: dict[str, str]) -> None:
    scope = Scope(Filters(tags=["db"]))
    assert paths(recall, ids, "rocket launch", scope) == ["permanent/Storage engine.md"]
    assert recall.search_chunks("rocket launch", 10, Scope(Filters(tags=["none"]))) == []


@pytest.mark.parametrize("query", ["", "?!", "the of and", "🦊", "why " * 2000])
def test_any_question_is_answered(recall: Recall, query: str) -> None:
    assert len(recall.recall(query, 3)) == 3


def test_chunks_are_found_as_passages_best_first(recall: Recall, ids: dict[str, str]) -> None:
    hits = recall.search_chunks("Marta's passport", 50)
    assert "passport in Lisbon" in hits[0].text
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert len({hit.chunk_id for hit in hits}) == len(hits)
    assert sum(ids[hit.note_id] == "permanent/Holidays.md" for hit in hits) > 5
    assert len(recall.search_chunks("Marta's passport", 3)) == 3


def test_an_empty_store_answers_nothing(embedder: Embedder, tmp_path: Path) -> None:
    empty = EdgeVectorStore(tmp_path / "empty", embedder.dimension)
    assert Recall(empty, embedder).recall("anything", 5) == []
    assert Recall(empty, embedder).search_chunks("anything", 5) == []
    empty.close()
