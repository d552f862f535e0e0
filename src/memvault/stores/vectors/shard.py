"""The Qdrant Edge shard itself: how it is laid out, filled and read through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import qdrant_edge as qdrant

from memvault.model.chunk import EmbeddedChunk, Vector
from memvault.model.errors import StoreUnavailable
from memvault.model.memory import Memory
from memvault.stores import faults
from memvault.stores.vectors import bm25
from memvault.stores.vectors.payload import (
    CREATED,
    IMPORTANCE,
    LABELS,
    AnyLabel,
    Conditions,
    payloads,
    point_id,
)
from memvault.stores.vectors.points import DENSE, POINTS_PER_CALL, SPARSE, searchable

_WITHOUT_HNSW = 1_000_000_000  # KB of vectors that are still scanned
_INDEXES: dict[str, Any] = {
    LABELS: qdrant.TextIndexParams(
        tokenizer=qdrant.TokenizerType.Whitespace, lowercase=False, enable_hnsw=False
    ),
    IMPORTANCE: qdrant.FloatIndexParams(enable_hnsw=False),
    CREATED: qdrant.FloatIndexParams(enable_hnsw=False),
}


def open_shard(folder: Path, dimension: int) -> qdrant.EdgeShard:
    """The shard of this folder, made if there is none.

    Raises:
        StorageError: the files are damaged or hold vectors of another dimension.
        StoreUnavailable: another process has the folder.
        DiskFull: there is no room for an empty shard.
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
        if faults.speaks_of_space(error) or faults.is_full(folder):
            raise faults.disk_full() from error
        raise faults.integrity_error() from error


def unflushed(folder: Path) -> Path:
    """A file that stands here while the log holds what the segments may lack: to load the shard
    is then to write as much again."""
    return folder / "unflushed"


def _size(folder: Path) -> int:
    """Bytes in use, where the system tells them apart from those reserved."""
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
    """Reads some of every kind of file, since damage shows only in what is read."""
    shard = qdrant.EdgeShard.load(str(folder), config)
    if set(shard.info().payload_schema) != set(_INDEXES):
        raise faults.integrity_error()
    shard.scroll(qdrant.ScrollRequest(limit=64, with_payload=True, with_vector=True))
    return shard


def is_engines(error: BaseException) -> bool:
    """The engine raises bare exceptions, and its panics are not even that."""
    return type(error) is Exception or type(error).__name__ == "PanicException"


def points(memory: Memory, chunks: Sequence[EmbeddedChunk]) -> list[qdrant.Point]:
    note = UUID(memory.id)
    own = payloads(memory, [embedded.chunk for embedded in chunks])
    return [
        qdrant.Point(
            point_id(note, embedded.chunk.size, embedded.chunk.ordinal),
            {
                DENSE: _floats(embedded.vector),
                SPARSE: bm25.document(searchable(embedded.chunk)),
            },
            payload,
        )
        for embedded, payload in zip(chunks, own, strict=True)
    ]


def _floats(vector: Vector) -> Any:
    """Converted by the engine twice as fast as a list of Python's."""
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
    """Every point wanted, a page at a time."""
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


def bearing(
    shard: qdrant.EdgeShard, term: int, limit: int, among: qdrant.Filter | None = None
) -> list[qdrant.ScoredPoint]:
    """Points whose text has the term, without their payload."""
    one = qdrant.Query.Nearest(qdrant.SparseVector([term], [1.0]), using=SPARSE)
    return shard.query(qdrant.QueryRequest(limit=limit, query=one, filter=among))
