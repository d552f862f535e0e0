"""The vector store in a Qdrant Edge shard: the Qdrant engine within this process.

Every call of the engine holds the interpreter lock, so calls are kept short: large writes are
split into batches, and no HNSW graph is built (38 s for 50,000 chunks, in which nothing else would
run). Vectors are stored at 8 bits per dimension (TurboQuant): a full scan of 50,000 takes 3 ms, and
scores are within 0.001 of the exact cosine.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import qdrant_edge as qdrant

from memvault.model.errors import DiskFull, MemvaultError, StorageError, StoreUnavailable
from memvault.model.memory import Memory
from memvault.model.note import EmbeddedChunk, Vector
from memvault.model.priority import make_way
from memvault.model.search import Ranking
from memvault.stores import faults
from memvault.stores.server import CallRecorder
from memvault.stores.vectors import bm25
from memvault.stores.vectors.payload import (
    CREATED,
    IMPORTANCE,
    LABELS,
    MAX_KEPT,
    AnyLabel,
    Conditions,
    Header,
    Headers,
    header,
    payloads,
)
from memvault.stores.vectors.points import (
    DENSE,
    POINTS_PER_CALL,
    SPARSE,
    Note,
    Point,
    PointVectorStore,
    Scored,
    Terms,
    WithVector,
    batches,
    ids_of,
    language_of,
    parts,
    point_of,
    searchable,
)

_WITHOUT_HNSW = 1_000_000_000  # KB of vectors that are still scanned
_INDEXES: dict[str, Any] = {
    LABELS: qdrant.TextIndexParams(
        tokenizer=qdrant.TokenizerType.Whitespace, lowercase=False, enable_hnsw=False
    ),
    IMPORTANCE: qdrant.FloatIndexParams(enable_hnsw=False),
    CREATED: qdrant.FloatIndexParams(enable_hnsw=False),
}


def open_shard(folder: Path, dimension: int) -> qdrant.EdgeShard:
    """Open the shard of this folder; creates it if it does not exist.

    Raises:
        StorageError: the files are damaged or contain vectors of another dimension.
        StoreUnavailable: another process has locked the folder.
        DiskFull: there is no space for an empty shard.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config = _config(dimension)
    try:
        if any(folder.iterdir()):
            if unflushed(folder).exists():
                faults.ensure_space(folder, _size(folder / "wal"))
            return _load(folder, config)
        faults.ensure_space(folder, 0)
        return _create(folder, config)
    except BaseException as error:
        if not is_engines(error):
            raise
        if "WouldBlock" in str(error):
            raise StoreUnavailable("Another process has the indexes open.") from error
        if faults.reports_full_disk(error) or faults.is_disk_full(folder):
            raise faults.disk_full() from error
        raise faults.integrity_error() from error


def unflushed(folder: Path) -> Path:
    """A marker file that exists while the log has data that the segments may lack; loading the
    shard then writes this data again."""
    return folder / "unflushed"


def _size(folder: Path) -> int:
    """Allocated bytes, if the system reports them, else the file sizes."""
    known = [file.stat() for file in folder.rglob("*") if file.is_file()]
    return sum(getattr(each, "st_blocks", each.st_size // 512) * 512 for each in known)


def _config(dimension: int) -> qdrant.EdgeConfig:
    return qdrant.EdgeConfig(
        vectors={
            DENSE: qdrant.EdgeVectorParams(
                size=dimension,
                distance=qdrant.Distance.Cosine,
                datatype=qdrant.VectorStorageDatatype.Turbo8,
            )
        },
        sparse_vectors={SPARSE: qdrant.EdgeSparseVectorParams(modifier=qdrant.Modifier.Idf)},
        optimizers=qdrant.EdgeOptimizersConfig(indexing_threshold=_WITHOUT_HNSW),
        wal_enabled=True,
    )


def _create(folder: Path, config: qdrant.EdgeConfig) -> qdrant.EdgeShard:
    shard = qdrant.EdgeShard.create(str(folder), config)
    for field, schema in _INDEXES.items():
        shard.update(qdrant.UpdateOperation.create_field_index(field, schema))
    shard.flush()
    return shard


def _load(folder: Path, config: qdrant.EdgeConfig) -> qdrant.EdgeShard:
    """Load the shard and read some of its files of every kind, to detect damage."""
    shard = qdrant.EdgeShard.load(str(folder), config)
    if set(shard.info().payload_schema) != set(_INDEXES):
        raise faults.integrity_error()
    shard.scroll(qdrant.ScrollRequest(limit=64, with_payload=True, with_vector=True))
    _drop_mapped_pages(folder)
    return shard


def _drop_mapped_pages(folder: Path) -> None:
    """Take the shard's mapped files out of resident memory; pages that are used come back.

    The engine reserves up to 32 MB in each file and maps all of it when it loads a shard: 69 MB for
    the ten notes of the template.
    """
    if sys.platform != "linux":
        return
    madvise, dont_need = ctypes.CDLL(None).madvise, 4
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, access, *_, file = line.split(maxsplit=5)
        is_shared = access.endswith("s")  # nothing is lost: changed pages are the file's
        if is_shared and file.startswith(f"{folder.resolve()}/"):
            first, last = (int(end, 16) for end in addresses.split("-"))
            madvise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), dont_need)


def is_engines(error: BaseException) -> bool:
    """Whether the engine raised the error: a bare `Exception`, or a panic, which is no subclass."""
    return type(error) is Exception or type(error).__name__ == "PanicException"


def points(
    memory: Memory, chunks: Sequence[EmbeddedChunk], ids: Iterator[int]
) -> list[qdrant.Point]:
    """One point per chunk, with the next of these ids."""
    make_way()
    language = language_of(chunks)
    own = payloads(memory, [embedded.chunk for embedded in chunks], language)
    return [
        qdrant.Point(
            point_of(next(ids)),
            {
                DENSE: _floats(embedded.vector),
                SPARSE: bm25.document(searchable(embedded.chunk), language),
            },
            payload,
        )
        for embedded, payload in zip(chunks, own, strict=True)
    ]


def _floats(vector: Vector) -> Any:
    """A buffer, which the engine converts twice as fast as a list."""
    return np.ascontiguousarray(vector, np.float32).data


def filter_of(conditions: Conditions) -> qdrant.Filter | None:
    must: list[Any] = []
    for condition in conditions:
        if isinstance(condition, AnyLabel):
            wanted = qdrant.MatchTextAny(" ".join(condition.labels))
            must.append(qdrant.FieldCondition(LABELS, match=wanted))
        else:
            bounds = qdrant.RangeFloat(gte=condition.least, lte=condition.most)
            must.append(qdrant.FieldCondition(condition.field, range=bounds))
    return qdrant.Filter(must=must) if must else None


def scroll(
    shard: qdrant.EdgeShard,
    wanted: qdrant.Filter | None,
    payload: list[str] | bool,
    *,
    with_vector: bool = False,
) -> Iterator[qdrant.Record]:
    """All matching points, read page by page."""
    offset = None
    while True:
        request = qdrant.ScrollRequest(
            offset=offset,
            limit=POINTS_PER_CALL,
            filter=wanted,
            with_payload=payload,
            with_vector=[DENSE] if with_vector else False,
        )
        records, offset = shard.scroll(request)
        yield from records
        if offset is None:
            return


def points_with_term(shard: qdrant.EdgeShard, term: int, limit: int) -> list[qdrant.ScoredPoint]:
    """Points whose text contains the term, without their payload."""
    one = qdrant.Query.Nearest(qdrant.SparseVector([term], [1.0]), using=SPARSE)
    return shard.query(qdrant.QueryRequest(limit=limit, query=one))


_BYTES_PER_POINT = 8_192  # generous: vectors, indexes and what the log repeats
_BYTES_PER_CHARACTER = 12
_CLOSING_SECONDS = 10.0  # limit for running calls to finish
_PAUSE_SECONDS = 0.01


class EdgeVectorStore(PointVectorStore):
    """One shard in one folder, which it locks to this process; see `open_shard`."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self._folder = folder
        self.calls = CallRecorder()
        self._write_lock = threading.RLock()
        self._shard: qdrant.EdgeShard | None = open_shard(folder, dimension)
        self._readers = 0  # running calls, during which the engine must not be closed
        self._readers_changed = threading.Condition()
        self._headers = Headers(self._read_labels)

    def replace(self, notes: Sequence[Note]) -> None:
        latest = {memory.id: (memory, chunks) for memory, chunks in notes}
        size = sum(
            _BYTES_PER_POINT + _BYTES_PER_CHARACTER * len(embedded.chunk.text)
            for _, chunks in latest.values()
            for embedded in chunks
        )
        with self._writing(size) as shard:
            stale = self._ids_of(latest)
            for batch in batches(latest.values()):
                ids = self._free_ids(batch, stale)
                rest = iter(ids)
                made = [point for memory, chunks in batch for point in points(memory, chunks, rest)]
                for part in parts(made):
                    make_way()
                    shard.update(qdrant.UpdateOperation.upsert_points(part))
                self._headers.forget(ids)
                stale.difference_update(ids)
            self._delete(shard, stale)
        self._written(latest.values())

    def remove(self, note_ids: Collection[str]) -> None:
        with self._writing(0) as shard:
            self._delete(shard, self._ids_of(note_ids))

    def _nearest(
        self,
        query: list[float] | Terms,
        limit: int,
        allowed: Conditions,
        fields: list[str],
    ) -> Sequence[Scored]:
        using = DENSE if isinstance(query, list) else SPARSE
        near: Any = query
        request = qdrant.QueryRequest(
            limit=limit,
            query=qdrant.Query.Nearest(near, using=using),
            filter=filter_of(allowed),
            with_payload=fields or False,
        )
        with self._reading() as shard:
            return shard.query(request)

    def _ranked(self, query: list[float] | Terms, limit: int, allowed: Conditions) -> Ranking:
        found = self._nearest(query, limit, allowed, [])
        near = sorted(zip([-point.score for point in found], ids_of(found), strict=True))
        headers = zip(near, self._headers.of([key for _, key in near]), strict=True)
        return Ranking.of([(-score, key, own) for (score, key), own in headers if own is not None])

    def _notes_with_term(self, term: int, limit: int) -> list[str]:
        with self._reading() as shard:
            found = points_with_term(shard, term, limit)
        return [own[0] for own in self._headers.of(ids_of(found)) if own is not None]

    def _retrieve(self, chunk_ids: Collection[int], fields: list[str]) -> Sequence[Point]:
        wanted: list[Any] = [point_of(each) for each in chunk_ids]
        with self._reading() as shard:
            return shard.retrieve(wanted, fields or False, False)

    def _scroll(
        self, wanted: Conditions, fields: list[str], *, with_vector: bool = False
    ) -> Iterator[WithVector]:
        with self._reading() as shard:
            yield from scroll(shard, filter_of(wanted), fields or False, with_vector=with_vector)

    def _read_labels(self, chunk_ids: Collection[int]) -> dict[int, Header]:
        records = self._retrieve(chunk_ids, [LABELS])
        headers = (header(record.payload) for record in records)
        return dict(zip(ids_of(records), headers, strict=True))

    def count(self) -> int:
        return self._count(())

    def _count(self, wanted: Conditions) -> int:
        with self._reading() as shard:
            return shard.count(qdrant.CountRequest(filter=filter_of(wanted), exact=True))

    def flush(self) -> None:
        with self._write_lock, self._reading() as shard:
            if unflushed(self._folder).exists():  # else the last flush covered all writes
                self._flush(shard)

    def optimize(self) -> None:
        """Free deleted data, if it is at least a fifth of the stored data."""
        with self._writing(0) as shard:
            shard.optimize()
            self._flush(shard)

    def warm_up(self) -> None:
        """Fill the cache in small steps, because each holds the interpreter lock."""
        if self.count() > MAX_KEPT:
            return
        for some in parts(ids_of(self._scroll((), []))):
            self._headers.of(some)
            time.sleep(_PAUSE_SECONDS)

    def close(self) -> None:
        with self._write_lock:
            with self._readers_changed:
                shard, self._shard = self._shard, None
                self._readers_changed.wait_for(lambda: self._readers == 0, _CLOSING_SECONDS)
            if shard is not None:
                with self._faults():
                    self._flush(shard)
                    shard.close()

    def _delete(self, shard: qdrant.EdgeShard, chunk_ids: Iterable[int]) -> None:
        for part in parts(list(chunk_ids)):
            gone: list[Any] = [point_of(each) for each in part]
            shard.update(qdrant.UpdateOperation.delete_points(gone))
            self._headers.forget(part)

    def _flush(self, shard: qdrant.EdgeShard) -> None:
        shard.flush()
        unflushed(self._folder).unlink(missing_ok=True)

    @contextmanager
    def _writing(self, size: int) -> Iterator[qdrant.EdgeShard]:
        """Lock for a write of about this many bytes.

        If there is no space for it, earlier writes are flushed while that is still possible.
        """
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
        with self._readers_changed:
            shard = self._shard
            if shard is None:
                raise faults.closed()
            self._readers += 1
        try:
            with self.calls.timed(), self._faults():
                yield shard
        finally:
            with self._readers_changed:
                self._readers -= 1
                self._readers_changed.notify_all()

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            if isinstance(error, MemvaultError) or not is_engines(error):
                raise
            if faults.reports_full_disk(error) or faults.is_disk_full(self._folder):
                raise faults.disk_full() from error
            if self._shard is None:
                raise faults.closed() from error
            raise StorageError("The vector index failed. Run `memvault rebuild`.") from error
