"""The vector store: chunks, searched by vector (cosine) and by keyword (BM25)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

from memvault.model.memory import Memory
from memvault.model.note import Chunk, ChunkSize, EmbeddedChunk, Vector
from memvault.model.search import Ranking, Scope
from memvault.stores.server import CallRecorder


class VectorStore(Protocol):
    """A collection of embedded chunks. Thread-safe.

    A completed write survives a killed process, and after `flush` a power failure.

    Raises:
        StoreUnavailable: the engine does not answer.
        DiskFull: there is no space for a write; none of it is visible.
    """

    calls: CallRecorder

    def replace(self, notes: Sequence[tuple[Memory, Sequence[EmbeddedChunk]]]) -> None:
        """Replace the chunks of each of these notes."""
        ...

    def remove(self, note_ids: Collection[str]) -> None: ...

    def rank_dense(
        self,
        vector: Vector,
        limit: int,
        *,
        size: ChunkSize | None = None,
        scope: Scope | None = None,
    ) -> Ranking:
        """The nearest chunks by cosine, best first; `read` returns their texts."""
        ...

    def rank_keywords(
        self,
        query: str,
        limit: int,
        *,
        size: ChunkSize | None = None,
        scope: Scope | None = None,
        extra_words: Mapping[str, float] | None = None,
    ) -> Ranking:
        """The best chunks by BM25 (Robertson and Zaragoza 2009) over context and text.

        Args:
            extra_words: count too, with their weights; a word of the query has 1.
        """
        ...

    def read(self, chunk_ids: Collection[int]) -> dict[int, Chunk]:
        """The chunks with these ids that still exist."""
        ...

    def containing(self, phrases: Collection[str]) -> set[str]:
        """Ids of notes in which the words of at least one phrase are adjacent, ignoring case and
        punctuation: a superset of the notes that contain a phrase."""
        ...

    def language_of(self, query: str) -> str | None:
        """The language of a query, if it is not English and notes are in it; else None."""
        ...

    def main_language(self) -> str | None:
        """The language other than English that most chunks are in; None if there is none."""
        ...

    def frequent_languages(self) -> tuple[str, ...]:
        """The languages other than English that at least a tenth of the chunks are in, the
        commonest first."""
        ...

    def in_language(self, language: str | None, limit: int) -> list[Vector]:
        """The vectors of some notes in a language; None for any."""
        ...

    def passages_in_language(self, language: str, limit: int) -> list[str]:
        """The texts of some passages in a language."""
        ...

    def vectors(self, note_ids: Collection[str], size: ChunkSize) -> dict[str, list[Vector]]:
        """The vectors of these notes' chunks of one size, in order."""
        ...

    def chunks(self, note_id: str) -> list[EmbeddedChunk]:
        """A note's chunks, ordered by size and ordinal."""
        ...

    def passages(self, note_ids: Collection[str]) -> dict[str, list[Chunk]]:
        """The passages of these notes, in order, without their vectors."""
        ...

    def note_ids(self) -> Iterator[str]: ...

    def chunk_counts(self) -> Mapping[str, int]:
        """Number of chunks of each note, by its id."""
        ...

    def count(self) -> int:
        """Number of chunks."""
        ...

    def flush(self) -> None: ...

    def optimize(self) -> None:
        """Optimise the engine's storage; may take seconds."""
        ...

    def warm_up(self) -> None:
        """Fill the caches of searches in advance; may take seconds."""
        ...

    def close(self) -> None: ...
