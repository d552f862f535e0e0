"""Chunks, searched densely (cosine) and by keyword (BM25)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

from memvault.model.memory import Memory
from memvault.model.note import Chunk, ChunkSize, EmbeddedChunk, Vector
from memvault.model.search import ChunkHit, Scope
from memvault.stores.server import CallRecorder


class VectorStore(Protocol):
    """A collection of embedded chunks. Writes are durable against a killed process when a call
    returns and against power loss after `flush`. Every method may be called from any thread.

    Raises:
        StoreUnavailable: the engine does not answer.
        DiskFull: a write found no space; nothing of it is visible.
    """

    calls: CallRecorder

    def replace(self, notes: Sequence[tuple[Memory, Sequence[EmbeddedChunk]]]) -> None:
        """Make these the only chunks of each note given (deleting those it no longer has)."""
        ...

    def remove(self, note_ids: Collection[str]) -> None: ...

    def search_dense(
        self,
        vector: Vector,
        limit: int,
        *,
        size: ChunkSize | None = None,
        scope: Scope | None = None,
        texts: bool = True,
    ) -> list[ChunkHit]:
        """Nearest by cosine, best first. Without ``texts`` hits have no text, heading and lines,
        and come several times as fast; `read` gives what is then shown."""
        ...

    def search_keywords(
        self,
        query: str,
        limit: int,
        *,
        size: ChunkSize | None = None,
        scope: Scope | None = None,
        texts: bool = True,
    ) -> list[ChunkHit]:
        """Best by BM25 (Robertson and Zaragoza 2009) over context and text, best first."""
        ...

    def read(self, chunk_ids: Collection[str]) -> dict[str, Chunk]:
        """These chunks, of those that are still there."""
        ...

    def containing(self, phrases: Collection[str]) -> set[str]:
        """Ids of notes in which the words of at least one phrase stand side by side, whatever
        their case and what stands between them (a superset of those that contain the phrase)."""
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

    def count(self) -> int:
        """Number of chunks."""
        ...

    def flush(self) -> None: ...

    def optimize(self) -> None:
        """Let the engine tidy its segments; may take seconds."""
        ...

    def warm_up(self) -> None:
        """Read what searches need at hand now rather than with the first ones; may take
        seconds."""
        ...

    def close(self) -> None: ...
