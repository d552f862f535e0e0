"""What a search of a vector store found, with its text."""

from __future__ import annotations

from memvault.model.search import ChunkHit, Ranking
from memvault.stores.vectors import VectorStore


def chunk_hits(store: VectorStore, ranking: Ranking) -> list[ChunkHit]:
    chunks = store.read([own.chunk_id for own in ranking.headers])
    return [
        ChunkHit(
            own.chunk_id, own.note_id, own.size, chunk.heading, chunk.lines, chunk.text, score
        )
        for own, score in zip(ranking.headers, ranking.scores.tolist(), strict=True)
        if (chunk := chunks.get(own.chunk_id)) is not None
    ]  # fmt: skip
