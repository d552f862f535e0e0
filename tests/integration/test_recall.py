"""Hybrid recall over real notes in a real store."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memvault.model.search import Filters, Hit, Scope
from memvault.search.hybrid import HybridSearch
from memvault.stores.vectors.edge import EdgeVectorStore
from memvault.text.chunking import chunk_notes
from memvault.text.encoders.embedding import Embedder
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
    "permanent/Server.md": "Settings of the machine:\n\n```ini\nwork_mem = 32MB  # per sort\n```\n",
}
MEMORIES = {
    memory.id: memory
    for path, text in NOTES.items()
    for memory in [memory_of(parse_note(path, text.encode()), fallback_time=NOW)]
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
def hybrid(store: EdgeVectorStore, embedder: Embedder) -> HybridSearch:
    return HybridSearch(store, embedder, MEMORIES.get)


def found(
    hybrid: HybridSearch, query: str, limit: int = 10, scope: Scope | None = None
) -> list[Hit]:
    hits = hybrid.search(query, limit, scope)
    hybrid.read_passages(query, hits)
    return hits


def paths(hybrid: HybridSearch, query: str, scope: Scope | None = None) -> list[str]:
    return [hit.memory.path for hit in hybrid.search(query, 10, scope)]


def test_the_note_that_answers_comes_first_whatever_its_words(hybrid: HybridSearch) -> None:
    assert paths(hybrid, "Which database did we choose?")[0] == "permanent/Storage engine.md"
    assert paths(hybrid, "who maintains the furnace")[0] == "permanent/Heating.md"


def test_a_rare_word_finds_the_note_that_is_named_by_it(hybrid: HybridSearch) -> None:
    assert paths(hybrid, "XJ-4471")[0] == "permanent/XJ-4471.md"


def test_a_long_note_is_found_once_and_shown_by_the_passage_that_answers(
    hybrid: HybridSearch,
) -> None:
    hits = found(hybrid, "Where did Marta lose her passport?", 5)
    assert hits[0].memory.path == "permanent/Holidays.md"
    assert "passport in Lisbon" in hits[0].text
    assert hits[0].heading.startswith("Diary")
    assert hits[0].lines.first <= 7 <= hits[0].lines.last
    notes = [hit.memory.id for hit in hits]
    assert len(set(notes)) == len(notes)


def test_relevance_falls_and_lies_in_0_to_1(hybrid: HybridSearch) -> None:
    hits = hybrid.search("rocket launch in June", 100)
    relevances = [hit.relevance for hit in hits]
    assert relevances == sorted(relevances, reverse=True)
    assert all(0.0 <= relevance <= 1.0 for relevance in relevances)
    assert len(hits) == len(NOTES)


def test_a_good_match_is_more_relevant_than_the_best_of_bad_ones(hybrid: HybridSearch) -> None:
    good = hybrid.search("boiler serviced in autumn by Mr. Olsen", 1)[0].relevance
    bad = hybrid.search("quantum chromodynamics lattice", 1)[0].relevance
    assert good > 2 * bad


def test_a_question_asked_in_a_project_sees_nothing_of_others(hybrid: HybridSearch) -> None:
    seen = paths(hybrid, "rocket launch", Scope(project="aurora"))
    assert "projects/borealis/Plan.md" not in seen
    assert {"projects/aurora/Plan.md", "permanent/Rockets.md"} <= set(seen)


def test_filters_narrow_the_answer(hybrid: HybridSearch) -> None:
    scope = Scope(Filters(tags=["db"]))
    assert paths(hybrid, "rocket launch", scope) == ["permanent/Storage engine.md"]
    assert hybrid.search_passages("rocket launch", 10, Scope(Filters(tags=["none"]))) == []


@pytest.mark.parametrize("query", ["", "?!", "the of and", "🦊", "why " * 2000])
def test_any_question_is_answered(hybrid: HybridSearch, query: str) -> None:
    assert len(found(hybrid, query, 3)) == 3


def test_chunks_are_found_as_passages_best_first(hybrid: HybridSearch) -> None:
    hits = hybrid.search_passages("Marta's passport", 50)
    assert "passport in Lisbon" in hits[0].text
    scores = [hit.relevance for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert len({hit.chunk_id for hit in hits}) == len(hits)
    assert sum(hit.memory.path == "permanent/Holidays.md" for hit in hits) > 5
    assert len(hybrid.search_passages("Marta's passport", 3)) == 3


def test_an_empty_store_answers_nothing(embedder: Embedder, tmp_path: Path) -> None:
    empty = EdgeVectorStore(tmp_path / "empty", embedder.dimension)
    hybrid = HybridSearch(empty, embedder, MEMORIES.get)
    assert hybrid.search("anything", 5) == []
    assert hybrid.search_passages("anything", 5) == []
    empty.close()


def test_a_note_is_found_by_what_only_its_code_says(hybrid: HybridSearch) -> None:
    assert paths(hybrid, "what is work_mem set to?")[0] == "permanent/Server.md"


def test_of_two_notes_that_fit_alike_the_more_important_comes_first(
    embedder: Embedder, tmp_path: Path
) -> None:
    text = "---\nimportance: {}\n---\nThe spare key hangs behind the clock.\n"
    both = {"a.md": text.format("low"), "b.md": text.format("critical")}
    notes = [parse_note(path, each.encode()) for path, each in both.items()]
    memories = [memory_of(note, fallback_time=NOW) for note in notes]
    vectors = EdgeVectorStore(tmp_path / "alike", embedder.dimension)
    own = chunk_notes(list(zip(notes, memories, strict=True)), embedder)
    vectors.replace(list(zip(memories, map(list, own), strict=True)))
    by_id = {memory.id: memory for memory in memories}
    hits = HybridSearch(vectors, embedder, by_id.get).search("where is the spare key?", 2)
    assert [hit.memory.importance for hit in hits] == [1.0, 0.2]
    vectors.close()
