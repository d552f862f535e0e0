"""Searching without texts, and reading what is then shown."""

from __future__ import annotations

import pytest

from memvault.model.note import ChunkSize, LineRange
from memvault.stores.vectors import VectorStore
from tests.contract.test_vectors import note, short, vector


def test_hits_without_texts_are_the_same_hits(vectors: VectorStore) -> None:
    vectors.replace([note("a", "boats and harbours", "harbour fees"), short("b", "boats")])
    full = vectors.search_dense(vector(1), 10)
    bare = vectors.search_dense(vector(1), 10, texts=False)
    # An engine may sum a dot product in another order at each call: the last digits differ.
    nothing = {"heading": "", "lines": LineRange(0, 0), "text": "", "score": 0.0}
    assert [hit._replace(score=0.0) for hit in bare] == [hit._replace(**nothing) for hit in full]
    assert [hit.score for hit in bare] == pytest.approx([hit.score for hit in full], abs=1e-6)
    assert any(hit.covers for hit in bare)
    ranked = vectors.rank_dense(vector(1), 10)
    assert [(own.chunk_id, own.note_id, own.size, own.covers) for own in ranked.headers] == [
        (hit.chunk_id, hit.note_id, hit.size, hit.covers) for hit in full
    ]
    assert ranked.scores == pytest.approx([hit.score for hit in full], abs=1e-6)
    named = vectors.search_keywords("boats", 10, texts=False)
    assert [hit.chunk_id for hit in named] == [
        hit.chunk_id for hit in vectors.search_keywords("boats", 10)
    ]


def test_what_is_read_before_the_first_search_is_what_it_would_find(vectors: VectorStore) -> None:
    vectors.replace([note("a", "jetties and harbours", "harbour fees"), short("b", "jetties")])
    vectors.warm_up()
    bare = vectors.search_keywords("jetties", 10, texts=False)
    assert {hit.note_id for hit in bare} == {note("a")[0].id, short("b", "")[0].id}
    vectors.remove([short("b", "")[0].id])
    assert {hit.note_id for hit in vectors.search_keywords("jetties", 10, texts=False)} == {
        note("a")[0].id
    }


def test_hits_without_texts_follow_what_was_written_since(vectors: VectorStore) -> None:
    vectors.replace([short("a", "tides"), short("b", "piers")])
    assert {hit.sizes for hit in vectors.search_dense(vector(1), 10, texts=False)} == {
        (ChunkSize.PASSAGE, ChunkSize.SECTION, ChunkSize.NOTE)
    }
    grown = note("a", "tides", "and more tides")
    vectors.replace([grown])
    vectors.remove([short("b", "")[0].id])
    found = {hit.chunk_id: hit for hit in vectors.search_dense(vector(1), 10, texts=False)}
    assert found.keys() == {each.chunk.id for each in grown[1]}
    assert all(found[each.chunk.id].sizes == each.chunk.sizes for each in grown[1])


def test_chunks_are_read_by_id(vectors: VectorStore) -> None:
    written = note("a", "first", "second")
    vectors.replace([written])
    ids = [each.chunk.id for each in written[1]]
    gone = short("b", "never written")[1][0].chunk.id
    assert vectors.read([*ids, gone]) == {each.chunk.id: each.chunk for each in written[1]}
    assert vectors.read([]) == {}


def test_function_words_count_for_less_than_telling_ones(vectors: VectorStore) -> None:
    vectors.replace([short("a", "what did you do"), short("b", "boats sail"), short("c", "x")])
    assert vectors.search_keywords("what boats", 10)[0].text == "boats sail"


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
