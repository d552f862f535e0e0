"""The vector store in a Qdrant Edge shard: the Qdrant engine within this process.

Every call of the engine holds the interpreter lock until it returns, so calls are kept short:
large writes go in batches, and no HNSW graph is ever built (38 s at 50,000 chunks, during which
nothing else would run). Vectors are stored as 8 bits a dimension (TurboQuant), of which a full
scan of 50,000 takes 3 ms; the scores are within 0.001 of the exact cosine.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

import qdrant_edge as qdrant

from memvault.model.chunk import Chunk, ChunkSize, EmbeddedChunk, Vector
from memvault.model.errors import DiskFull, MemvaultError, StorageError
from memvault.model.memory import Memory
from memvault.model.query import ChunkHit, Scope
from memvault.stores import faults
from memvault.stores.vectors import bm25
from memvault.stores.vectors.headers import Headers
from memvault.stores.vectors.payload import (
    BODY,
    LABELS,
    TEXT_GLUE,
    Parts,
    StoredChunk,
    note_id_of,
    of_notes,
    point_id,
    stored_chunk,
    visible,
    without_text,
)
from memvault.stores.vectors.shard import (
    DENSE,
    POINTS_PER_CALL,
    SPARSE,
    bearing,
    is_engines,
    open_shard,
    points,
    scroll,
    unflushed,
    vector_of,
)

RARE = 256  # a term found in no more chunks narrows a phrase down well enough
_ALL = 1_000_000_000
_BYTES_PER_POINT = 8_192  # generous: vectors, indexes and what the log repeats
_BYTES_PER_CHARACTER = 12


class EdgeVectorStore:
    """One shard in one folder, which it locks to this process; see `open_shard`."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self._folder = folder
        self._write_lock = threading.RLock()
        self._shard: qdrant.EdgeShard | None = open_shard(folder, dimension)
        self._headers = Headers(self._read_labels)

    def replace(self, notes: Sequence[tuple[Memory, Sequence[EmbeddedChunk]]]) -> None:
        latest = {memory.id: (memory, chunks) for memory, chunks in notes}
        size = sum(
            _BYTES_PER_POINT + _BYTES_PER_CHARACTER * len(embedded.chunk.text)
            for _, chunks in latest.values()
            for embedded in chunks
        )
        with self._writing(size) as shard:
            stale = self._point_ids(shard, latest)
            if stale:
                stale -= {UUID(own.chunk.id) for _, chunks in latest.values() for own in chunks}
            for batch in _batches(latest.values()):
                made = [point for memory, chunks in batch for point in points(memory, chunks)]
                for part in _parts(made):
                    shard.update(qdrant.UpdateOperation.upsert_points(part))
                self._headers.forget(point.id for point in made)
            self._delete(shard, stale)

    def remove(self, note_ids: Collection[str]) -> None:
        with self._writing(0) as shard:
            self._delete(shard, self._point_ids(shard, note_ids))

    def search_dense(
        self,
        vector: Vector,
        limit: int,
        *,
        size: ChunkSize | None = None,
        scope: Scope | None = None,
        texts: bool = True,
    ) -> list[ChunkHit]:
        return self._search(vector.tolist(), DENSE, limit, visible(size, scope), texts=texts)

    def search_keywords(
        self,
        query: str,
        limit: int,
        *,
        size: ChunkSize | None = None,
        scope: Scope | None = None,
        texts: bool = True,
    ) -> list[ChunkHit]:
        terms = bm25.query(query)
        if not terms.indices:
            return []
        return self._search(terms, SPARSE, limit, visible(size, scope), texts=texts)

    def _search(
        self,
        query: list[float] | qdrant.SparseVector,
        using: str,
        limit: int,
        allowed: qdrant.Filter | None,
        *,
        texts: bool,
    ) -> list[ChunkHit]:
        request = qdrant.QueryRequest(
            limit=limit,
            query=qdrant.Query.Nearest(query, using=using),
            filter=allowed,
            with_payload=[LABELS, BODY] if texts else False,
        )
        with self._reading() as shard:
            found = shard.query(request)
            hits = self._whole_hits(shard, found) if texts else self._bare_hits(found)
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))

    def _whole_hits(
        self, shard: qdrant.EdgeShard, found: Sequence[qdrant.ScoredPoint]
    ) -> list[ChunkHit]:
        chunks = self._with_texts(shard, [stored_chunk(point.payload) for point in found])
        return [
            ChunkHit(
                chunk_id=str(point.id),
                note_id=chunk.note_id,
                size=chunk.size,
                heading=chunk.heading,
                lines=chunk.lines,
                text=chunk.text,
                score=point.score,
                covers=chunk.covers,
            )
            for point, chunk in zip(found, chunks, strict=True)
        ]

    def _bare_hits(self, found: Sequence[qdrant.ScoredPoint]) -> list[ChunkHit]:
        scores = {point.id: point.score for point in found}
        headers = self._headers.of(scores)
        return [headers[key].hit(score) for key, score in scores.items() if key in headers]

    def _read_labels(self, point_ids: Collection[Any]) -> dict[Any, Chunk]:
        with self._reading() as shard:
            records = shard.retrieve(list(point_ids), [LABELS], False)
        return {record.id: without_text(record.payload) for record in records}

    def read(self, chunk_ids: Collection[str]) -> dict[str, Chunk]:
        with self._reading() as shard:
            wanted: list[Any] = [UUID(chunk_id) for chunk_id in chunk_ids]
            records = shard.retrieve(wanted, [LABELS, BODY], False)
            stored = [stored_chunk(record.payload) for record in records]
            chunks = self._with_texts(shard, stored)
        return {str(record.id): chunk for record, chunk in zip(records, chunks, strict=True)}

    def containing(self, phrases: Collection[str]) -> set[str]:
        """As the protocol says. The keyword index answers: a phrase without letters and digits
        may stand in any note."""
        known: dict[int, set[str]] = {}
        found: set[str] = set()
        with self._reading() as shard:
            for phrase in phrases:
                terms = bm25.terms(phrase)
                if not terms:
                    return set(self.note_ids())
                found |= self._with_all(shard, terms, known)
        return found

    def _with_all(
        self, shard: qdrant.EdgeShard, terms: list[int], known: dict[int, set[str]]
    ) -> set[str]:
        """Notes with all terms: the rare ones are looked up, the rest among what these leave."""
        common = []
        candidates: set[str] | None = None
        for term in terms:
            if term not in known:
                found = bearing(shard, term, RARE + 1)
                if len(found) > RARE:
                    common.append(term)
                    continue
                known[term] = {note_id_of(point.payload) for point in found}
            candidates = known[term] if candidates is None else candidates & known[term]
        for term in common:
            if candidates is not None and not candidates:
                break
            few = candidates is not None and len(candidates) <= RARE
            among = of_notes(candidates or ()) if few else None
            found = bearing(shard, term, _ALL, among)
            bearers = {note_id_of(point.payload) for point in found}
            candidates = bearers if candidates is None else candidates & bearers
        return candidates or set()

    def vectors(self, note_ids: Collection[str], size: ChunkSize) -> dict[str, list[Vector]]:
        """As the protocol says; in the order of the lines they stand for."""
        found: dict[str, list[tuple[StoredChunk, Vector]]] = {}
        wanted = of_notes(note_ids, size)
        with self._reading() as shard:
            for record in scroll(shard, wanted, [LABELS, BODY], with_vector=True):
                chunk = stored_chunk(record.payload)
                found.setdefault(chunk.note_id, []).append((chunk, vector_of(record)))
        return {
            note_id: [vector for _, vector in sorted(own, key=lambda pair: _place(pair[0]))]
            for note_id, own in found.items()
        }

    def chunks(self, note_id: str) -> list[EmbeddedChunk]:
        wanted = of_notes([note_id])
        with self._reading() as shard:
            records = list(scroll(shard, wanted, [LABELS, BODY], with_vector=True))
            stored = [stored_chunk(record.payload) for record in records]
            whole = self._with_texts(shard, stored)
        embedded = [
            EmbeddedChunk(chunk, vector_of(record))
            for chunk, record in zip(whole, records, strict=True)
        ]
        sizes = list(ChunkSize)
        return sorted(embedded, key=lambda own: (sizes.index(own.chunk.size), own.chunk.ordinal))

    def note_ids(self) -> Iterator[str]:
        with self._reading() as shard:
            found = {note_id_of(point.payload) for point in scroll(shard, None, [LABELS])}
        yield from found

    def count(self) -> int:
        with self._reading() as shard:
            return shard.count(qdrant.CountRequest(exact=True))

    def flush(self) -> None:
        with self._write_lock, self._reading() as shard:
            self._flush(shard)

    def optimize(self) -> None:
        """Sweeps up what was deleted, once that is a fifth of what is stored."""
        with self._writing(0) as shard:
            shard.optimize()
            self._flush(shard)

    def close(self) -> None:
        with self._write_lock:
            if self._shard is not None:
                shard, self._shard = self._shard, None
                with self._faults():
                    self._flush(shard)
                    shard.close()

    def _with_texts(self, shard: qdrant.EdgeShard, chunks: Sequence[StoredChunk]) -> list[Chunk]:
        """Puts together the texts that are kept as passages."""
        needed = {
            passage
            for chunk in chunks
            if not isinstance(chunk.text, str)
            for passage in _passage_ids(chunk, chunk.text)
        }
        texts: dict[Any, str] = {}
        if needed:
            for record in shard.retrieve(list(needed), [LABELS, BODY], False):
                texts[record.id] = str(stored_chunk(record.payload).text)
        return [chunk.with_text(_text(chunk, texts)) for chunk in chunks]

    def _point_ids(self, shard: qdrant.EdgeShard, note_ids: Iterable[str]) -> set[Any]:
        found: set[Any] = set()
        waiting = iter(note_ids)
        while some := list(islice(waiting, POINTS_PER_CALL)):
            wanted = of_notes(some)
            found.update(record.id for record in scroll(shard, wanted, False))
        return found

    def _delete(self, shard: qdrant.EdgeShard, point_ids: Iterable[Any]) -> None:
        for part in _parts(list(point_ids)):
            shard.update(qdrant.UpdateOperation.delete_points(part))
            self._headers.forget(part)

    def _flush(self, shard: qdrant.EdgeShard) -> None:
        shard.flush()
        unflushed(self._folder).unlink(missing_ok=True)

    @contextmanager
    def _writing(self, size: int) -> Iterator[qdrant.EdgeShard]:
        """For a write of about this many bytes. Where there is no room for it, what was written
        before is flushed, while there is still room for that."""
        with self._write_lock, self._reading() as shard:
            try:
                faults.ensure_space(self._folder, size)
            except DiskFull:
                self._flush(shard)
                raise
            unflushed(self._folder).touch()
            yield shard

    @contextmanager
    def _reading(self) -> Iterator[qdrant.EdgeShard]:
        shard = self._shard
        if shard is None:
            raise faults.closed()
        with self._faults():
            yield shard

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            if isinstance(error, MemvaultError) or not is_engines(error):
                raise
            if faults.speaks_of_space(error) or faults.is_full(self._folder):
                raise faults.disk_full() from error
            if self._shard is None:
                raise faults.closed() from error
            raise StorageError("The vector index failed. Run `memvault rebuild`.") from error


def _batches(
    notes: Iterable[tuple[Memory, Sequence[EmbeddedChunk]]],
) -> Iterator[list[tuple[Memory, Sequence[EmbeddedChunk]]]]:
    """Whole notes, as many as make up one call: the engine writes a call wholly or not at all."""
    batch: list[tuple[Memory, Sequence[EmbeddedChunk]]] = []
    size = 0
    for note in notes:
        if batch and size + len(note[1]) > POINTS_PER_CALL:
            yield batch
            batch, size = [], 0
        batch.append(note)
        size += len(note[1])
    if batch:
        yield batch


def _parts(points: Sequence[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(points), POINTS_PER_CALL):
        yield list(points[start : start + POINTS_PER_CALL])


def _place(chunk: StoredChunk) -> tuple[int, int, int]:
    return (*chunk.lines, chunk.ordinal)


def _passage_ids(chunk: StoredChunk, parts: Parts) -> list[UUID]:
    first, last = parts
    note = UUID(chunk.note_id)
    return [point_id(note, ChunkSize.PASSAGE, ordinal) for ordinal in range(first, last + 1)]


def _text(chunk: StoredChunk, texts: dict[Any, str]) -> str:
    if isinstance(chunk.text, str):
        return chunk.text
    return TEXT_GLUE.join(texts.get(each, "") for each in _passage_ids(chunk, chunk.text))
