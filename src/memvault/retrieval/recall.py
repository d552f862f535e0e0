"""Hybrid recall: the notes nearest to a question in meaning and in words.

A note is searched at every size of its text at once. Its cosine and its BM25 score are the means
over the sizes of its best chunk's; together they make its relevance. Measured on dialogues, that
finds more than any one size, than the best chunk of any size, and than fusion of ranks.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from memvault.model.chunk import Chunk, ChunkSize, Vector
from memvault.model.query import ChunkHit, Recalled, Scope
from memvault.retrieval.fusion import (
    FusionSettings,
    ScoreList,
    best_first,
    chunk_relevances,
    note_relevances,
)
from memvault.stores.vectors import VectorStore
from memvault.text.embedding import Embedder


@dataclass(frozen=True, slots=True)
class _Found:
    """What both searches found."""

    dense: ScoreList
    keywords: ScoreList
    hits: Mapping[str, ChunkHit]


class Recall:
    """Searches the vector store; safe in any thread."""

    def __init__(
        self, vectors: VectorStore, embedder: Embedder, settings: FusionSettings | None = None
    ) -> None:
        self._vectors = vectors
        self._embedder = embedder
        self._settings = settings or FusionSettings()

    def recall(self, query: str, top_k: int, scope: Scope | None = None) -> list[Recalled]:
        """The ``top_k`` most relevant notes, best first, each once with its best passage.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        vector = self._embedder.embed_query(query)
        found = self._search(query, vector, max(self._settings.candidates, 10 * top_k), scope)
        relevance = note_relevances(found.dense, found.keywords, self._settings)
        ranked = list(best_first(relevance))[:top_k]
        passages = self._best_passages(found, set(ranked))
        chunks = self._vectors.read([passages[note] for note in ranked if note in passages])
        recalled = []
        for note in ranked:
            chunk = chunks.get(passages.get(note, "")) or self._nearest_passage(note, vector)
            if chunk is not None:
                shown = (chunk.heading, chunk.lines, chunk.text)
                recalled.append(Recalled(note, relevance[note], *shown))
        return recalled

    def search_chunks(self, query: str, top_k: int, scope: Scope | None = None) -> list[ChunkHit]:
        """The ``top_k`` most relevant passages, best first; scores are relevances in [0, 1].

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        vector = self._embedder.embed_query(query)
        limit = max(self._settings.candidates, 2 * top_k)
        found = self._search(query, vector, limit, scope, ChunkSize.PASSAGE)
        relevance = chunk_relevances(found.dense, found.keywords, self._settings)
        best = list(best_first(relevance))[:top_k]
        chunks = self._vectors.read(best)
        return [
            found.hits[key]._replace(
                score=relevance[key],
                heading=chunk.heading,
                lines=chunk.lines,
                text=chunk.text,
            )
            for key in best
            if (chunk := chunks.get(key)) is not None
        ]

    def _search(
        self,
        query: str,
        vector: Vector,
        limit: int,
        scope: Scope | None,
        size: ChunkSize | None = None,
    ) -> _Found:
        dense = self._vectors.search_dense(vector, limit, size=size, scope=scope, texts=False)
        keywords = self._vectors.search_keywords(query, limit, size=size, scope=scope, texts=False)
        return _Found(
            ScoreList.of(dense, limit),
            ScoreList.of(keywords, limit),
            {hit.chunk_id: hit for hit in (*dense, *keywords)},
        )

    def _best_passages(self, found: _Found, notes: Collection[str]) -> dict[str, str]:
        """For each of these notes the most relevant of its passages that were found."""
        scores = {
            hit.chunk_id: self._settings.relevance(
                found.dense.of_chunk(hit.chunk_id), found.keywords.of_chunk(hit.chunk_id)
            )
            for hit in found.hits.values()
            if hit.size is ChunkSize.PASSAGE and hit.note_id in notes
        }
        best: dict[str, str] = {}
        for key in best_first(scores):
            best.setdefault(found.hits[key].note_id, key)
        return best

    def _nearest_passage(self, note_id: str, vector: Vector) -> Chunk | None:
        """For a note that only its larger chunks brought up; None if it has just been removed."""
        own = [
            embedded
            for embedded in self._vectors.chunks(note_id)
            if embedded.chunk.size is ChunkSize.PASSAGE
        ]
        best = max(own, key=lambda embedded: float(embedded.vector @ vector), default=None)
        return None if best is None else best.chunk
