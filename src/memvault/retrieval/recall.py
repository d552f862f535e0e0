"""Hybrid recall: the notes whose chunks are nearest in meaning and in words."""

from __future__ import annotations

from memvault.model.query import ChunkHit, Recalled, Scope
from memvault.retrieval.fusion import FusionSettings, fused
from memvault.stores.vectors import VectorStore
from memvault.text.embedding import Embedder


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
        best: dict[str, Recalled] = {}
        for hit in self.search_chunks(query, max(self._settings.candidates, 5 * top_k), scope):
            if hit.note_id not in best:
                best[hit.note_id] = Recalled(
                    hit.note_id, hit.score, hit.heading, hit.lines, hit.text
                )
        return list(best.values())[:top_k]

    def search_chunks(self, query: str, top_k: int, scope: Scope | None = None) -> list[ChunkHit]:
        """The ``top_k`` most relevant chunks, best first; scores lie in [0, 1].

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        limit = max(self._settings.candidates, top_k)
        vector = self._embedder.embed_query(query)
        dense = self._vectors.search_dense(vector, limit, scope=scope)
        keywords = self._vectors.search_keywords(query, limit, scope=scope)
        hits = {hit.chunk_id: hit for hit in (*dense, *keywords)}
        scores = fused(
            {hit.chunk_id: hit.score for hit in dense},
            {hit.chunk_id: hit.score for hit in keywords},
            self._settings,
        )
        ranked = sorted(scores, key=lambda chunk: (-scores[chunk], chunk))
        return [_scored(hits[chunk], scores[chunk]) for chunk in ranked[:top_k]]


def _scored(hit: ChunkHit, score: float) -> ChunkHit:
    return ChunkHit(hit.chunk_id, hit.note_id, hit.size, hit.heading, hit.lines, hit.text, score)
