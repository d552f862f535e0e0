"""The vector store on a Qdrant server, over gRPC where it is offered, else over HTTP.

There is one collection per generation of a vault. Vectors are stored as float32 and searched
exactly up to `EXACT_KILOBYTES` per segment, through HNSW beyond. BM25 is computed as for Edge: term
weights here, idf by the server. The collection is created with the first call, and again if the
server lost it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import UUID

import grpc
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException

from memvault.model.batched import batched
from memvault.model.search import Ranking
from memvault.stores import faults
from memvault.stores.server import Server, StoreNamespace, invalid_url
from memvault.stores.vectors.payload import (
    CREATED,
    IMPORTANCE,
    LABELS,
    AnyLabel,
    Conditions,
    header,
    note_id_of,
)
from memvault.stores.vectors.point_store import PointVectorStore
from memvault.stores.vectors.points import (
    DENSE,
    POINTS_PER_CALL,
    SPARSE,
    NewPoint,
    Note,
    Terms,
    ids_of,
    point_of,
)
from memvault.stores.vectors.qdrant_errors import (
    UNREACHABLE,
    CollectionMissing,
    TimedOut,
    Unreachable,
    translated,
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
# The default of two minutes is too long to notice that a server is back.
_CHANNEL = {"grpc.max_reconnect_backoff_ms": 2_000}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Point:
    """A point in the form that `PointVectorStore` reads."""

    id: int | str | UUID
    payload: dict[str, Any]
    score: float
    vector: Any


def connect_to_server(url: str, api_key: str | None) -> QdrantClient:
    """Connect to the server at this URL; gRPC is expected at the next higher port.

    Raises:
        InvalidParams: the URL is invalid.
        grpc.RpcError, ResponseHandlingException: the server does not answer.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or HTTP_PORT
        options: dict[str, Any] = {"url": url, "api_key": api_key, "timeout": TIMEOUT_SECONDS}
        over_grpc = QdrantClient(
            **options,
            port=port,
            grpc_port=port + 1,
            prefer_grpc=True,
            grpc_options=_CHANNEL,
            check_compatibility=False,
        )
    except (ValueError, QdrantException):
        raise invalid_url("vectors") from None
    try:
        over_grpc.get_collections()
    except grpc.RpcError as error:
        over_grpc.close()
        if error.code() not in UNREACHABLE:
            raise
    else:
        return over_grpc
    over_http = QdrantClient(**options, port=port, check_compatibility=False)
    over_http.get_collections()
    return over_http


class QdrantVectorStore(PointVectorStore):
    """One collection. ``open_client`` is called on first use.

    Every call raises StorageError if the collection contains vectors of another dimension.
    """

    def __init__(
        self, open_client: Callable[[], QdrantClient], namespace: StoreNamespace, dimension: int
    ) -> None:
        self._open_client = open_client
        self._collection = f"memvault_{namespace.vault}_{namespace.generation}"
        self._dimension = dimension
        self._client: QdrantClient | None = None
        self._prepared = False
        self._write_lock = threading.RLock()
        self._opening = threading.Lock()
        self.server = Server("Qdrant", timeouts=(TimedOut,), network=(Unreachable,))
        self.calls = self.server.calls

    def _writing(self, notes: Iterable[Note] = ()) -> AbstractContextManager[object]:
        return self._write_lock

    def _count(self, conditions: Conditions) -> int:
        return self._ask(
            lambda client: client.count(self._collection, _filter(conditions), exact=True).count
        )

    def flush(self) -> None:
        """Does nothing: the server has logged all completed writes."""

    def optimize(self) -> None:
        """Does nothing: the server optimises by itself."""

    def drop(self) -> None:
        """Delete the collection."""
        with self._write_lock:
            self.server.ask(
                lambda: translated(lambda: self._opened().delete_collection(self._collection))
            )
            self._prepared = False

    def warm_up(self) -> None:
        """Does nothing: there is no cache."""

    def close(self) -> None:
        if self.server.close():
            with self._opening:
                if self._client is not None:
                    self._client.close()

    # -- calls of the server --------------------------------------------------------------------

    def _ranked(self, query: list[float] | Terms, limit: int, allowed: Conditions) -> Ranking:
        points = self._nearest(query, limit, allowed)
        ranked = sorted(
            (-point.score, chunk_id, header(point.payload))
            for chunk_id, point in zip(ids_of(points), points, strict=True)
        )
        return Ranking.of([(-score, chunk_id, of_chunk) for score, chunk_id, of_chunk in ranked])

    def _nearest(
        self, query: list[float] | Terms, limit: int, allowed: Conditions
    ) -> Sequence[_Point]:
        """The nearest points, with their labels."""
        answer = self._ask(
            lambda client: client.query_points(
                self._collection,
                query=query if isinstance(query, list) else _sparse(query),
                using=DENSE if isinstance(query, list) else SPARSE,
                query_filter=_filter(allowed),
                limit=limit,
                with_payload=[LABELS],
            )
        )
        return [_point(point) for point in answer.points]

    def _notes_with_term(self, term: int, limit: int) -> list[str]:
        query = models.SparseVector(indices=[term], values=[1.0])
        points = self._nearest(query, limit, ())
        return [note_id_of(point.payload) for point in points]

    def _retrieve(self, chunk_ids: Collection[int], fields: list[str]) -> Sequence[_Point]:
        if not chunk_ids:
            return []
        ids = [point_of(chunk_id) for chunk_id in chunk_ids]
        records = self._ask(
            lambda client: client.retrieve(self._collection, ids, with_payload=fields or False)
        )
        return [_point(record) for record in records]

    def _scroll(
        self, conditions: Conditions, fields: list[str], *, with_vector: bool = False
    ) -> Iterator[_Point]:
        def page(offset: Any, client: QdrantClient) -> tuple[list[models.Record], Any]:
            return client.scroll(
                self._collection,
                scroll_filter=_filter(conditions),
                limit=POINTS_PER_PAGE,
                offset=offset,
                with_payload=fields or False,
                with_vectors=[DENSE] if with_vector else False,
            )

        offset = None
        while True:
            records, offset = self._ask(partial(page, offset))
            yield from map(_point, records)
            if offset is None:
                return

    def _upsert(self, points: Sequence[NewPoint]) -> None:
        rows = list(map(_point_struct, points))
        self._ask(lambda client: client.upsert(self._collection, rows, wait=True), writes=True)

    def _delete(self, chunk_ids: Iterable[int]) -> None:
        for part in batched(map(point_of, chunk_ids), POINTS_PER_CALL):
            self._delete_part(models.PointIdsList(points=list(part)))

    def _delete_part(self, ids: models.PointIdsList) -> None:
        self._ask(lambda client: client.delete(self._collection, ids, wait=True))

    def _ask(self, call: Callable[[QdrantClient], T], *, writes: bool = False) -> T:
        def attempt() -> T:
            client = self._opened()
            try:
                self._prepare(client)
                return translated(lambda: call(client))
            except CollectionMissing:  # the server came back empty
                self._prepared = False
                self._prepare(client)
                return translated(lambda: call(client))

        return self.server.ask(attempt, writes=writes)

    def _opened(self) -> QdrantClient:
        with self._opening:
            if self._client is None:
                self._client = translated(self._open_client)
            return self._client

    def _prepare(self, client: QdrantClient) -> None:
        """Create the collection if it does not exist."""
        with self._opening:
            if self._prepared:
                return
            if not translated(lambda: client.collection_exists(self._collection)):
                translated(lambda: self._create(client))
            config = translated(lambda: client.get_collection(self._collection)).config
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


def _point_struct(point: NewPoint) -> models.PointStruct:
    """A point whose labels are a list, which the server indexes as keywords."""
    return models.PointStruct(
        id=point_of(point.chunk_id),
        vector={DENSE: point.vector.tolist(), SPARSE: _sparse(point.terms)},
        payload={**point.payload, LABELS: point.payload[LABELS].split(" ")},
    )


def _sparse(terms: Terms) -> models.SparseVector:
    return models.SparseVector(indices=list(terms.indices), values=list(terms.values))


def _point(point: models.ScoredPoint | models.Record) -> _Point:
    payload = dict(point.payload or {})
    if LABELS in payload:
        payload[LABELS] = " ".join(payload[LABELS])
    score = point.score if isinstance(point, models.ScoredPoint) else 0.0
    return _Point(point.id, payload, score, point.vector)


def _filter(conditions: Conditions) -> models.Filter | None:
    must: list[Any] = []
    for condition in conditions:
        if isinstance(condition, AnyLabel):
            any_label = models.MatchAny(any=list(condition.labels))
            must.append(models.FieldCondition(key=LABELS, match=any_label))
        else:
            bounds = models.Range(gte=condition.minimum, lte=condition.maximum)
            must.append(models.FieldCondition(key=condition.field, range=bounds))
    return models.Filter(must=must) if must else None
