"""Bringing the scores of several searches together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memvault.model.chunk import ChunkSize
from memvault.model.query import ChunkHit

_SIZES = len(ChunkSize)


@dataclass(frozen=True, slots=True)
class FusionSettings:
    """How dense and keyword scores become one relevance; chosen by measurement.

    Attributes:
        dense_weight: share of the cosine in the relevance, in [0, 1]; the rest is the keywords'.
        half_keywords: BM25 score that counts as half of the greatest possible.
        candidates: chunks asked of each search, at least.
    """

    dense_weight: float = 0.25
    half_keywords: float = 20.0
    candidates: int = 200

    def relevance(self, cosine: float, keywords: float) -> float:
        """In [0, 1], and comparable between queries: neither part depends on what else was found.

        BM25 is saturated as it saturates a term's frequency itself, s / (s + half).
        """
        named = keywords / (keywords + self.half_keywords)
        return self.dense_weight * min(cosine, 1.0) + (1.0 - self.dense_weight) * named


@dataclass(frozen=True, slots=True)
class ScoreList:
    """What one search found, and ``floor``, the most that anything else can have.

    Negative scores count as nothing.
    """

    chunks: Mapping[str, float]
    notes: Mapping[str, Mapping[ChunkSize, float]]  # each size's best chunk
    floor: float

    @classmethod
    def of(cls, hits: Sequence[ChunkHit], limit: int) -> ScoreList:
        """From hits, best first. A search that filled its limit may have left others just below
        its last hit; one that did not has left nothing."""
        notes: dict[str, dict[ChunkSize, float]] = {}
        chunks: dict[str, float] = {}
        for hit in hits:
            score = chunks[hit.chunk_id] = max(hit.score, 0.0)
            best = notes.setdefault(hit.note_id, {})
            best.setdefault(hit.size, score)
            for size in hit.covers:
                best.setdefault(size, score)
        floor = chunks[hits[-1].chunk_id] if hits and len(hits) >= limit else 0.0
        return cls(chunks, notes, floor)

    def of_chunk(self, chunk_id: str) -> float:
        return self.chunks.get(chunk_id, self.floor)

    def of_note(self, note_id: str) -> float:
        """The mean over the sizes of the note's best chunk of each."""
        best = self.notes.get(note_id)
        if best is None:
            return self.floor
        return (sum(best.values()) + (_SIZES - len(best)) * self.floor) / _SIZES


def note_relevances(
    dense: ScoreList, keywords: ScoreList, settings: FusionSettings
) -> dict[str, float]:
    """The relevance of every note that either search found."""
    return {
        note: settings.relevance(dense.of_note(note), keywords.of_note(note))
        for note in dense.notes.keys() | keywords.notes.keys()
    }


def chunk_relevances(
    dense: ScoreList, keywords: ScoreList, settings: FusionSettings
) -> dict[str, float]:
    """The relevance of every chunk that either search found."""
    return {
        chunk: settings.relevance(dense.of_chunk(chunk), keywords.of_chunk(chunk))
        for chunk in dense.chunks.keys() | keywords.chunks.keys()
    }


def best_first(relevances: Mapping[str, float]) -> Iterable[str]:
    """By relevance, ties by id."""
    return sorted(relevances, key=lambda key: (-relevances[key], key))
