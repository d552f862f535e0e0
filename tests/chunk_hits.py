"""What a search of a vector store found, with its text."""

from __future__ import annotations

from typing import NamedTuple

from memvault.model.note import ChunkSize, LineRange
from memvault.model.search import Ranking
from memvault.stores.vectors import VectorStore


class ChunkHit(NamedTuple):
    chunk_id: int
    note_id: str
    size: ChunkSize
    heading: str
    lines: LineRange
    text: str
    score: float


def chunk_hits(store: VectorStore, ranking: Ranking) -> list[ChunkHit]:
    chunks = store.read(ranking.chunk_ids)
    return [
        ChunkHit(key, note_id, chunk.size, chunk.heading, chunk.lines, chunk.text, score)
        for key, note_id, score in zip(
            ranking.chunk_ids, ranking.note_ids, ranking.scores.tolist(), strict=True
        )
        if (chunk := chunks.get(key)) is not None
    ]
