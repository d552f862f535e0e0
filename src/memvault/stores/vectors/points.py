"""A note's chunks as points of a Qdrant engine: how they are written, read and identified."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from qdrant_edge import SparseVector

from memvault.model.memory import Memory
from memvault.model.note import EmbeddedChunk, Vector
from memvault.model.priority import make_way
from memvault.stores.vectors import bm25, languages
from memvault.stores.vectors.payload import payloads

DENSE, SPARSE = "dense", "bm25"
POINTS_PER_CALL = 500
NUMBERS = 2**64  # an engine's numeric ids are below this
Note = tuple[Memory, Sequence[EmbeddedChunk]]


class NewPoint(NamedTuple):
    """A point before it is converted for its engine."""

    chunk_id: int
    vector: Vector
    terms: SparseVector
    payload: dict[str, Any]


class Terms(Protocol):
    """A sparse vector."""

    @property
    def indices(self) -> list[int]: ...

    @property
    def values(self) -> list[float]: ...


class Point(Protocol):
    """A point as the engine returns it, with the requested payload fields."""

    @property
    def id(self) -> Any: ...

    @property
    def payload(self) -> Any: ...


class WithVector(Point, Protocol):
    @property
    def vector(self) -> Any: ...


def new_points(note: Note, chunk_ids: Iterator[int]) -> Iterator[NewPoint]:
    """One point per chunk, with the next of these ids."""
    make_way()
    memory, chunks = note
    language = note_language(chunks)
    note_payloads = payloads(memory, [embedded.chunk for embedded in chunks], language)
    for embedded, payload in zip(chunks, note_payloads, strict=True):
        text = f"{embedded.chunk.context}\n{embedded.chunk.text}"
        yield NewPoint(next(chunk_ids), embedded.vector, bm25.document(text, language), payload)


def note_language(chunks: Sequence[EmbeddedChunk]) -> str | None:
    """The language of a note, by the text of its longest chunk; see `languages.language_of`."""
    longest_text = max((embedded.chunk.text for embedded in chunks), key=len, default="")
    return languages.language_of(longest_text)


def batches(notes: Iterable[Note]) -> Iterator[list[Note]]:
    """Batches of whole notes for one call each, because the engine writes a call atomically."""
    batch: list[Note] = []
    size = 0
    for note in notes:
        if batch and size + len(note[1]) > POINTS_PER_CALL:
            yield batch
            batch, size = [], 0
        batch.append(note)
        size += len(note[1])
    if batch:
        yield batch


def ids_of(points: Iterable[Point]) -> list[int]:
    """The ids of chunks. Until format 15 of the indexes points had UUIDs: larger numbers."""
    ids = [point.id for point in points]
    if set(map(type, ids)) <= {int}:
        return ids
    return [point_id if isinstance(point_id, int) else UUID(str(point_id)).int for point_id in ids]


def point_of(chunk_id: int) -> int | UUID:
    """The id of a chunk as its engine knows it."""
    return chunk_id if chunk_id < NUMBERS else UUID(int=chunk_id)
