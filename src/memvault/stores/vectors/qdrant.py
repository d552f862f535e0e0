"""The vector store on a Qdrant server, over gRPC where it is offered, else over HTTP.

There is one collection per generation of a vault. Vectors are stored as float32 and searched
exactly up to `EXACT_KILOBYTES` per segment, through HNSW beyond. BM25 is computed as for Edge: term
weights here, idf by the server. The collection is created with the first call, and again if the
server lost it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import UUID

import grpc
import httpx
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from memvault.model.errors import DiskFull, InvalidParams, StorageError, StoreUnavailable
from memvault.model.memory import Memory
from memvault.model.note import EmbeddedChunk
from memvault.stores import faults
from memvault.stores.server import Server, StoreNamespace
from memvault.stores.vectors import bm25
from memvault.stores.vectors.payload import (
    CREATED,
    IMPORTANCE,
    LABELS,
    AnyLabel,
    Conditions,
    note_id_of,
    payloads,
)
from memvault.stores.vectors.points import (
    DENSE,
    SPARSE,
    Note,
    PointVectorStore,
    Terms,
    batches,
    language_of,
    parts,
    point_of,
    searchable,
)

TIMEOUT_SECONDS = 3
EXACT_KILOBYTES = 100_000  # of vectors; 65,000 of 384 dimensions take some 20 ms
POINTS_PER_PAGE = 2_000
HTTP_PORT = 6333
_INDEXES = {
    LABELS: models.PayloadSchemaType.KEYWORD,
    IMPORTANCE: models.PayloadSchemaType.FLOAT,
    CREATED: models.PayloadSchemaType.FLOAT,
}
_UNREACHABLE = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
)
# The default of two minutes is too long to notice that a server is back.
_CHANNEL = {"grpc.max_reconnect_backoff_ms": 2_000}
_REFUSED = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)
T = TypeVar("T")


class _Unreachable(Exception):
    """The server cannot be reached."""


class _TookTooLong(Exception):
    """The server did not answer in time."""


class _Missing(Exception):
    """The server has no such collection."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A point in the form that `PointVectorStore` reads."""

    id: int | str | UUID
    payload: dict[str, Any]
    score: float
    vector: Any


def connect(url: str, api_key: str | None) -> QdrantClient:
    """Connect to the server at this URL; gRPC is expected at the next higher port.

    Raises:
        InvalidParams: the URL is invalid.
        grpc.RpcError, ResponseHandlingException: the server does not answer.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or HTTP_PORT
        given: dict[str, Any] = {"url": url, "api_key": api_key, "timeout": TIMEOUT_SECONDS}
        fast = QdrantClient(
            **given,
            port=port,
            grpc_port=port + 1,
            prefer_grpc=True,
            grpc_options=_CHANNEL,
            check_compatibility=False,
        )
    except (ValueError, QdrantException) as error:
        raise InvalidParams(f"configuration: vectors: {error}") from error
    try:
        fast.get_collections()
    except grpc.RpcError as error:
        fast.close()
        if error.code() not in _UNREACHABLE:
            raise
    else:
        return fast
    plain = QdrantClient(**given, port=port, check_compatibility=False)
    plain.get_collections()
    return plain


class QdrantVectorStore(PointVectorStore):
    """One collection. ``open_client`` is called on first use.

    Every call raises StorageError if the collection contains vectors of another dimension.
    """

    def __init__(
        self, open_client: Callable[[], QdrantClient], place: StoreNamespace, dimension: int
    ) -> None:
        self._open_client = open_client
        self._collection = f"memvault_{place.vault}_{place.generation}"
        self._dimension = dimension
        self._client: QdrantClient | None = None
        self._prepared = False
        self._write_lock = threading.RLock()
        self._opening = threading.Lock()
        self.server = Server("Qdrant", timeouts=(_TookTooLong,), network=(_Unreachable,))
        self.calls = self.server.calls

    def replace(self, notes: Sequence[Note]) -> None:
        latest = {memory.id: (memory, chunks) for memory, chunks in notes}
        with self._write_lock:
            stale = self._ids_of(latest)
            for batch in batches(latest.values()):
                ids = self._free_ids(batch, stale)
                rest = iter(ids)
                made = [
                    point for memory, chunks in batch for point in _points(memory, chunks, rest)
                ]
                for part in parts(made):
                    self._ask(partial(self._upsert, part), writes=True)
                stale.difference_update(ids)
            self._delete(stale)
        self._written(latest.values())

    def remove(self, note_ids: Collection[str]) -> None:
        with self._write_lock:
            self._delete(self._ids_of(note_ids))

    def count(self) -> int:
        return self._count(())

    def _count(self, wanted: Conditions) -> int:
        return self._ask(
            lambda client: client.count(self._collection, _filter(wanted), exact=True).count
        )

    def flush(self) -> None:
        """Does nothing: the server has logged all completed writes."""

    def optimize(self) -> None:
        """Does nothing: the server optimises by itself."""

    def drop(self) -> None:
        """Delete the collection."""
        with self._write_lock:
            self.server.ask(
                lambda: _translated(lambda: self._opened().delete_collection(self._collection))
            )
            self._prepared = False

    def warm_up(self) -> None:
        """Does nothing: there is no cache."""

    def close(self) -> None:
        if self.server.close():
            with self._opening:
                if self._client is not None:
                    self._client.close()

    # -- the way to the engine ------------------------------------------------------------------

    def _nearest(
        self,
        query: list[float] | Terms,
        limit: int,
        allowed: Conditions,
        fields: list[str],
    ) -> Sequence[_Found]:
        dense = isinstance(query, list)
        answer = self._ask(
            lambda client: client.query_points(
                self._collection,
                query=query if isinstance(query, list) else _sparse(query),
                using=DENSE if dense else SPARSE,
                query_filter=_filter(allowed),
                limit=limit,
                with_payload=fields,
            )
        )
        return [_found(point) for point in answer.points]

    def _notes_with_term(self, term: int, limit: int) -> list[str]:
        one = models.SparseVector(indices=[term], values=[1.0])
        found = self._nearest(one, limit, (), [LABELS])
        return [note_id_of(point.payload) for point in found]

    def _retrieve(self, chunk_ids: Collection[int], fields: list[str]) -> Sequence[_Found]:
        if not chunk_ids:
            return []
        wanted = [point_of(each) for each in chunk_ids]
        found = self._ask(
            lambda client: client.retrieve(self._collection, wanted, with_payload=fields or False)
        )
        return [_found(record) for record in found]

    def _scroll(
        self, wanted: Conditions, fields: list[str], *, with_vector: bool = False
    ) -> Iterator[_Found]:
        def page(offset: Any, client: QdrantClient) -> tuple[list[models.Record], Any]:
            return client.scroll(
                self._collection,
                scroll_filter=_filter(wanted),
                limit=POINTS_PER_PAGE,
                offset=offset,
                with_payload=fields or False,
                with_vectors=[DENSE] if with_vector else False,
            )

        offset = None
        while True:
            records, offset = self._ask(partial(page, offset))
            yield from map(_found, records)
            if offset is None:
                return

    def _upsert(self, points: list[models.PointStruct], client: QdrantClient) -> None:
        client.upsert(self._collection, points, wait=True)

    def _delete(self, chunk_ids: Iterable[int]) -> None:
        for part in parts([point_of(each) for each in chunk_ids]):
            self._ask(partial(self._delete_part, models.PointIdsList(points=part)))

    def _delete_part(self, wanted: models.PointIdsList, client: QdrantClient) -> None:
        client.delete(self._collection, wanted, wait=True)

    def _ask(self, call: Callable[[QdrantClient], T], *, writes: bool = False) -> T:
        def attempt() -> T:
            client = self._opened()
            try:
                self._prepare(client)
                return _translated(lambda: call(client))
            except _Missing:  # the server came back empty
                self._prepared = False
                self._prepare(client)
                return _translated(lambda: call(client))

        return self.server.ask(attempt, writes=writes)

    def _opened(self) -> QdrantClient:
        with self._opening:
            if self._client is None:
                self._client = _translated(self._open_client)
            return self._client

    def _prepare(self, client: QdrantClient) -> None:
        """Create the collection if it does not exist."""
        with self._opening:
            if self._prepared:
                return
            if not _translated(lambda: client.collection_exists(self._collection)):
                _translated(lambda: self._create(client))
            config = _translated(lambda: client.get_collection(self._collection)).config
            vectors = config.params.vectors
            if not isinstance(vectors, dict) or vectors[DENSE].size != self._dimension:
                raise faults.integrity_error()
            self._prepared = True

    def _create(self, client: QdrantClient) -> None:
        client.create_collection(
            self._collection,
            vectors_config={
                DENSE: models.VectorParams(size=self._dimension, distance=models.Distance.COSINE)
            },
            sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            optimizers_config=models.OptimizersConfigDiff(indexing_threshold=EXACT_KILOBYTES),
        )
        for field, schema in _INDEXES.items():
            client.create_payload_index(self._collection, field, schema, wait=True)


def _points(
    memory: Memory, chunks: Sequence[EmbeddedChunk], ids: Iterator[int]
) -> list[models.PointStruct]:
    """One point per chunk; labels are a list, which the server indexes as keywords."""
    language = language_of(chunks)
    own = payloads(memory, [embedded.chunk for embedded in chunks], language)
    return [
        models.PointStruct(
            id=point_of(next(ids)),
            vector={
                DENSE: embedded.vector.tolist(),
                SPARSE: _sparse(bm25.document(searchable(embedded.chunk), language)),
            },
            payload={**payload, LABELS: payload[LABELS].split(" ")},
        )
        for embedded, payload in zip(chunks, own, strict=True)
    ]


def _sparse(terms: Terms) -> models.SparseVector:
    return models.SparseVector(indices=list(terms.indices), values=list(terms.values))


def _found(point: models.ScoredPoint | models.Record) -> _Found:
    payload = dict(point.payload or {})
    if LABELS in payload:
        payload[LABELS] = " ".join(payload[LABELS])
    score = point.score if isinstance(point, models.ScoredPoint) else 0.0
    return _Found(point.id, payload, score, point.vector)


def _filter(conditions: Conditions) -> models.Filter | None:
    must: list[Any] = []
    for condition in conditions:
        if isinstance(condition, AnyLabel):
            wanted = models.MatchAny(any=list(condition.labels))
            must.append(models.FieldCondition(key=LABELS, match=wanted))
        else:
            bounds = models.Range(gte=condition.least, lte=condition.most)
            must.append(models.FieldCondition(key=condition.field, range=bounds))
    return models.Filter(must=must) if must else None


def _translated(call: Callable[[], T]) -> T:
    """Run a call and translate the client's errors."""
    try:
        return call()
    except UnexpectedResponse as error:
        raise _of_status(error.status_code or 0, str(error.content)) from error
    except ResponseHandlingException as error:
        late = isinstance(error.source, httpx.TimeoutException)
        raise (_TookTooLong() if late else _Unreachable()) from error
    except grpc.RpcError as error:
        raise _of_code(error.code(), str(error.details())) from error
    except QdrantException as error:
        raise _Unreachable from error


def _of_status(status: int, message: str) -> Exception:
    if status == 404:
        return _Missing()
    if status in (401, 403):
        return _refused()
    if status in (408, 504):
        return _TookTooLong()
    if status in (429, 502, 503):
        return _Unreachable()
    return _failed(message)


def _of_code(code: grpc.StatusCode, message: str) -> Exception:
    if code is grpc.StatusCode.NOT_FOUND:
        return _Missing()
    if code in _REFUSED:
        return _refused()
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return _TookTooLong()
    if code in _UNREACHABLE:
        return _Unreachable()
    return _failed(message)


def _refused() -> StoreUnavailable:
    return StoreUnavailable("Qdrant refuses the key. Set MEMVAULT_QDRANT_API_KEY.")


def _failed(message: str) -> StorageError:
    if faults.reports_full_disk(Exception(message)):
        return DiskFull("Qdrant's disk is full. Free some space; no partial data was written.")
    return StorageError("Qdrant failed. Run `memvault rebuild`.")
