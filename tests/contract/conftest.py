"""The engines that the contract tests hold to one contract, each opened on a real folder, or on a
real server under a name made of the folder's.

The clients of servers are imported where they are used: the processes that `test_faults` starts
import this too, and should start soon.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memvault.stores.graph import GraphStore
from memvault.stores.graph.ladybug import LadybugGraphStore
from memvault.stores.keyvalue import KeyValueStore
from memvault.stores.keyvalue.sqlite import SqliteKeyValueStore
from memvault.stores.server import StoreNamespace
from memvault.stores.vectors import VectorStore
from memvault.stores.vectors.edge import EdgeVectorStore

DIMENSION = 16

QDRANT_URL = os.environ.get("QDRANT_URL")
VECTOR_ENGINES = ("edge", "qdrant-local", *(("qdrant-server",) if QDRANT_URL else ()))
GRAPH_ENGINES = ("ladybug", "neo4j")
KEYVALUE_ENGINES = ("sqlite", "redis")


def place(folder: Path) -> StoreNamespace:
    """What stands for the folder on a server."""
    return StoreNamespace("tests", hashlib.blake2b(str(folder).encode(), digest_size=6).hexdigest())


@pytest.fixture(params=VECTOR_ENGINES, scope="module")
def open_vectors(request: pytest.FixtureRequest) -> Callable[[Path], VectorStore]:
    if request.param == "edge":
        return lambda folder: EdgeVectorStore(folder / "vectors", DIMENSION)
    from memvault.stores.vectors.qdrant import QdrantVectorStore, connect_to_server
    from tests.servers.qdrant import LocalQdrant

    if request.param == "qdrant-local":
        local = LocalQdrant()
        return lambda folder: QdrantVectorStore(lambda: local, place(folder), DIMENSION)
    return lambda folder: QdrantVectorStore(
        lambda: connect_to_server(str(QDRANT_URL), os.environ.get("QDRANT_API_KEY")),
        place(folder),
        DIMENSION,
    )


@pytest.fixture(scope="module")
def kept_vectors(
    open_vectors: Callable[[Path], VectorStore], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[VectorStore]:
    """Making a shard flushes a dozen files, so a module's tests share one."""
    store = open_vectors(tmp_path_factory.mktemp("vectors"))
    yield store
    store.close()


@pytest.fixture
def vectors(kept_vectors: VectorStore) -> VectorStore:
    if not isinstance(kept_vectors, EdgeVectorStore):
        kept_vectors.drop()  # what is only removed slows the local mode down
    kept_vectors.remove(list(kept_vectors.note_ids()))
    return kept_vectors


@pytest.fixture(params=GRAPH_ENGINES)
def open_graph(request: pytest.FixtureRequest) -> Callable[[Path], GraphStore]:
    if request.param == "ladybug":
        return lambda folder: LadybugGraphStore(folder / "graph.lbug")
    from memvault.stores.graph import neo4j as graph_store
    from tests.servers import neo4j

    # How long a busy machine takes is not what these tests ask.
    request.getfixturevalue("monkeypatch").setattr(graph_store, "READ_SECONDS", 60.0)
    url = neo4j.url(request.getfixturevalue("neo4j_server"))
    return lambda folder: graph_store.Neo4jGraphStore(
        url, place(folder), neo4j.USER, neo4j.PASSWORD
    )


@pytest.fixture
def graph(open_graph: Callable[[Path], GraphStore], tmp_path: Path) -> Iterator[GraphStore]:
    store = open_graph(tmp_path)
    yield store
    store.close()


@pytest.fixture(params=KEYVALUE_ENGINES)
def open_keyvalue(request: pytest.FixtureRequest) -> Callable[[Path], KeyValueStore]:
    if request.param == "sqlite":
        return lambda folder: SqliteKeyValueStore(folder / "keyvalue.sqlite")
    from memvault.stores.keyvalue.redis import RedisKeyValueStore
    from tests.servers import redis

    url = redis.url(request.getfixturevalue("redis_server"))
    return lambda folder: RedisKeyValueStore(url, place(folder), redis.PASSWORD)


@pytest.fixture
def keyvalue(
    open_keyvalue: Callable[[Path], KeyValueStore], tmp_path: Path
) -> Iterator[KeyValueStore]:
    store = open_keyvalue(tmp_path)
    yield store
    store.close()
