"""The vector store in a Qdrant Edge shard: the Qdrant engine within this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import qdrant_edge as qdrant

from memvault.model.batched import batched
from memvault.model.errors import DiskFull, MemvaultError, StorageError
from memvault.model.search import Ranking
from memvault.stores import faults
from memvault.stores.server import CallRecorder
from memvault.stores.vectors.edge_shard import (
    engine_point,
    filter_of,
    is_engine_error,
    open_shard,
    scroll,
    unflushed,
)
from memvault.stores.vectors.payload import (
    LABELS,
    MAX_CACHED,
    Conditions,
    Header,
    Headers,
    header,
)
from memvault.stores.vectors.point_store import PointVectorStore
from memvault.stores.vectors.points import (
    DENSE,
    POINTS_PER_CALL,
    SPARSE,
    NewPoint,
    Note,
    Point,
    Terms,
    WithVector,
    ids_of,
    point_of,
)

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

    def _upsert(self, points: Sequence[NewPoint]) -> None:
        with self._reading() as shard:
            shard.update(qdrant.UpdateOperation.upsert_points(list(map(engine_point, points))))
        self._headers.forget(point.chunk_id for point in points)

    def _nearest(
        self, query: list[float] | Terms, limit: int, allowed: Conditions
    ) -> list[qdrant.ScoredPoint]:
        """The nearest points, without their payload."""
        using = DENSE if isinstance(query, list) else SPARSE
        vector: Any = query
        nearest = qdrant.Query.Nearest(vector, using=using)
        request = qdrant.QueryRequest(
            limit=limit, query=nearest, filter=filter_of(allowed), with_payload=False
        )
        with self._reading() as shard:
            return shard.query(request)

    def _ranked(self, query: list[float] | Terms, limit: int, allowed: Conditions) -> Ranking:
        points = self._nearest(query, limit, allowed)
        scored = sorted(zip([-point.score for point in points], ids_of(points), strict=True))
        headers = self._headers.of([chunk_id for _, chunk_id in scored])
        return Ranking.of(
            [
                (-score, chunk_id, header)
                for (score, chunk_id), header in zip(scored, headers, strict=True)
                if header is not None
            ]
        )

    def _notes_with_term(self, term: int, limit: int) -> list[str]:
        points = self._nearest(qdrant.SparseVector([term], [1.0]), limit, ())
        return [header[0] for header in self._headers.of(ids_of(points)) if header is not None]

    def _retrieve(self, chunk_ids: Collection[int], fields: list[str]) -> Sequence[Point]:
        ids: list[Any] = [point_of(chunk_id) for chunk_id in chunk_ids]
        with self._reading() as shard:
            return shard.retrieve(ids, fields or False, False)

    def _scroll(
        self, conditions: Conditions, fields: list[str], *, with_vector: bool = False
    ) -> Iterator[WithVector]:
        with self._reading() as shard:
            matching = filter_of(conditions)
            yield from scroll(shard, matching, fields or False, with_vector=with_vector)

    def _read_labels(self, chunk_ids: Collection[int]) -> dict[int, Header]:
        records = self._retrieve(chunk_ids, [LABELS])
        headers = (header(record.payload) for record in records)
        return dict(zip(ids_of(records), headers, strict=True))

    def _count(self, conditions: Conditions) -> int:
        with self._reading() as shard:
            return shard.count(qdrant.CountRequest(filter=filter_of(conditions), exact=True))

    def flush(self) -> None:
        with self._write_lock, self._reading() as shard:
            if unflushed(self._folder).exists():  # else the last flush covered all writes
                self._flush(shard)

    def optimize(self) -> None:
        """Free deleted data, if it is at least a fifth of the stored data."""
        with self._writing() as shard:
            shard.optimize()
            self._flush(shard)

    def warm_up(self) -> None:
        """Fill the cache in small steps, because each holds the interpreter lock."""
        if self.count() > MAX_CACHED:
            return
        for part in batched(ids_of(self._scroll((), [])), POINTS_PER_CALL):
            self._headers.of(part)
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

    def _delete(self, chunk_ids: Iterable[int]) -> None:
        for part in batched(chunk_ids, POINTS_PER_CALL):
            ids: list[Any] = [point_of(chunk_id) for chunk_id in part]
            with self._reading() as shard:
                shard.update(qdrant.UpdateOperation.delete_points(ids))
            self._headers.forget(part)

    def _flush(self, shard: qdrant.EdgeShard) -> None:
        shard.flush()
        unflushed(self._folder).unlink(missing_ok=True)

    @contextmanager
    def _writing(self, notes: Iterable[Note] = ()) -> Iterator[qdrant.EdgeShard]:
        """Lock for a write.

        If there is no space for it, earlier writes are flushed while that is still possible.
        """
        size = sum(
            _BYTES_PER_POINT + _BYTES_PER_CHARACTER * len(embedded.chunk.text)
            for _, chunks in notes
            for embedded in chunks
        )
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
                raise faults.store_closed()
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
            if isinstance(error, MemvaultError) or not is_engine_error(error):
                raise
            if faults.reports_full_disk(error) or faults.is_disk_full(self._folder):
                raise faults.disk_full() from error
            if self._shard is None:
                raise faults.store_closed() from error
            raise StorageError("The vector index failed. Run `memvault rebuild`.") from error
