"""A Qdrant Edge shard on disk: opening it, and its points, filters and pages.

Every call of the engine holds the interpreter lock, so calls are kept short: large writes are
split into batches, and no HNSW graph is built (38 s for 50,000 chunks, in which nothing else would
run). Vectors are stored at 8 bits per dimension (TurboQuant): a full scan of 50,000 takes 3 ms, and
scores are within 0.001 of the exact cosine.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import qdrant_edge as qdrant

from memvault.model.errors import StoreUnavailable
from memvault.model.note import Vector
from memvault.stores import faults
from memvault.stores.vectors.payload import (
    CREATED,
    IMPORTANCE,
    LABELS,
    AnyLabel,
    Conditions,
)
from memvault.stores.vectors.points import (
    DENSE,
    POINTS_PER_CALL,
    SPARSE,
    NewPoint,
    point_of,
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
        if not is_engine_error(error):
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
    files = [file.stat() for file in folder.rglob("*") if file.is_file()]
    return sum(getattr(file, "st_blocks", file.st_size // 512) * 512 for file in files)


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
    without_labels = qdrant.Filter(must=[qdrant.IsEmptyCondition(LABELS)])
    if shard.count(qdrant.CountRequest(filter=without_labels, exact=True)):
        raise faults.integrity_error()
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


def is_engine_error(error: BaseException) -> bool:
    """Whether the engine raised the error: a bare `Exception`, or a panic, which is no subclass."""
    return type(error) is Exception or type(error).__name__ == "PanicException"


def engine_point(point: NewPoint) -> qdrant.Point:
    vectors = {DENSE: _floats(point.vector), SPARSE: point.terms}
    return qdrant.Point(point_of(point.chunk_id), vectors, point.payload)


def _floats(vector: Vector) -> Any:
    """A buffer, which the engine converts twice as fast as a list."""
    return np.ascontiguousarray(vector, np.float32).data


def filter_of(conditions: Conditions) -> qdrant.Filter | None:
    """The engine's filter for these conditions; None if there are none."""
    must: list[Any] = []
    for condition in conditions:
        if isinstance(condition, AnyLabel):
            any_label = qdrant.MatchTextAny(" ".join(condition.labels))
            must.append(qdrant.FieldCondition(LABELS, match=any_label))
        else:
            bounds = qdrant.RangeFloat(gte=condition.minimum, lte=condition.maximum)
            must.append(qdrant.FieldCondition(condition.field, range=bounds))
    return qdrant.Filter(must=must) if must else None


def scroll(
    shard: qdrant.EdgeShard,
    conditions: qdrant.Filter | None,
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
            filter=conditions,
            with_payload=payload,
            with_vector=[DENSE] if with_vector else False,
        )
        records, offset = shard.scroll(request)
        yield from records
        if offset is None:
            return
