"""Searching, and reading what is then shown."""

from __future__ import annotations

from memvault.model.note import ChunkSize
from memvault.stores.vectors import VectorStore
from tests.chunk_hits import chunk_hits
from tests.contract.test_vectors import note, short, vector


def test_what_is_read_before_the_first_search_is_what_it_would_find(vectors: VectorStore) -> None:
    vectors.replace([note("a", "jetties and harbours", "harbour fees"), short("b", "jetties")])
    vectors.warm_up()
    bare = vectors.rank_keywords("jetties", 10).note_ids
    assert set(bare) == {note("a")[0].id, short("b", "")[0].id}
    vectors.remove([short("b", "")[0].id])
    assert set(vectors.rank_keywords("jetties", 10).note_ids) == {note("a")[0].id}


def test_hits_follow_what_was_written_since(vectors: VectorStore) -> None:
    vectors.replace([short("a", "tides"), short("b", "piers")])
    assert set(vectors.rank_dense(vector(1), 10).sizes) == {sum(size.bit for size in ChunkSize)}
    grown = note("a", "tides", "and more tides")
    vectors.replace([grown])
    vectors.remove([short("b", "")[0].id])
    found = vectors.rank_dense(vector(1), 10)
    assert dict(zip(found.chunk_ids, found.sizes, strict=True)) == {
        each.chunk.id: sum(size.bit for size in each.chunk.sizes) for each in grown[1]
    }


def test_chunks_are_read_by_id(vectors: VectorStore) -> None:
    written = note("a", "first", "second")
    vectors.replace([written])
    ids = [each.chunk.id for each in written[1]]
    gone = short("b", "never written")[1][0].chunk.id
    assert vectors.read([*ids, gone]) == {each.chunk.id: each.chunk for each in written[1]}
    assert vectors.read([]) == {}


def test_function_words_count_for_less_than_telling_ones(vectors: VectorStore) -> None:
    vectors.replace([short("a", "what did you do"), short("b", "boats sail"), short("c", "x")])
    assert chunk_hits(vectors, vectors.rank_keywords("what boats", 10))[0].text == "boats sail"


def test_passages_of_several_notes_are_read_in_order_and_nothing_else(
    vectors: VectorStore,
) -> None:
    longer, other = note("a", "first", "second"), short("b", "boats")
    vectors.replace([longer, other, short("c", "piers")])
    found = vectors.passages([longer[0].id, other[0].id])
    assert found == {
        memory.id: [each.chunk for each in chunks if ChunkSize.PASSAGE in each.chunk.sizes]
        for memory, chunks in (longer, other)
    }
    assert vectors.passages([]) == {}
