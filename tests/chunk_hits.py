"""What a search of a vector store found, with its text."""

from __future__ import annotations

from memvault.model.search import ChunkHit, Ranking
from memvault.stores.vectors import VectorStore


def chunk_hits(store: VectorStore, ranking: Ranking) -> list[ChunkHit]:
    chunks = store.read(ranking.chunk_ids)
    return [
        ChunkHit(key, note_id, chunk.size, chunk.heading, chunk.lines, chunk.text, score)
        for key, note_id, score in zip(
            ranking.chunk_ids, ranking.note_ids, ranking.scores.tolist(), strict=True
        )
        if (chunk := chunks.get(key)) is not None
    ]
