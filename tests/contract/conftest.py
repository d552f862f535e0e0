"""The engines that the contract tests hold to one contract, each opened on a real folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memvault.stores.graph import GraphStore
from memvault.stores.graph.ladybug import LadybugGraphStore
from memvault.stores.keyvalue import KeyValueStore
from memvault.stores.keyvalue.sqlite import SqliteKeyValueStore
from memvault.stores.vectors import VectorStore
from memvault.stores.vectors.edge import EdgeVectorStore

DIMENSION = 16

VECTOR_ENGINES: dict[str, Callable[[Path], VectorStore]] = {
    "edge": lambda folder: EdgeVectorStore(folder / "vectors", DIMENSION),
}
GRAPH_ENGINES: dict[str, Callable[[Path], GraphStore]] = {
    "ladybug": lambda folder: LadybugGraphStore(folder / "graph.lbug"),
}
KEYVALUE_ENGINES: dict[str, Callable[[Path], KeyValueStore]] = {
    "sqlite": lambda folder: SqliteKeyValueStore(folder / "keyvalue.sqlite"),
}


@pytest.fixture(params=VECTOR_ENGINES, scope="module")
def open_vectors(request: pytest.FixtureRequest) -> Callable[[Path], VectorStore]:
    return VECTOR_ENGINES[request.param]


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
    kept_vectors.remove(list(kept_vectors.note_ids()))
    return kept_vectors


@pytest.fixture(params=GRAPH_ENGINES)
def open_graph(request: pytest.FixtureRequest) -> Callable[[Path], GraphStore]:
    return GRAPH_ENGINES[request.param]


@pytest.fixture
def graph(open_graph: Callable[[Path], GraphStore], tmp_path: Path) -> Iterator[GraphStore]:
    store = open_graph(tmp_path)
    yield store
    store.close()


@pytest.fixture(params=KEYVALUE_ENGINES)
def open_keyvalue(request: pytest.FixtureRequest) -> Callable[[Path], KeyValueStore]:
    return KEYVALUE_ENGINES[request.param]


@pytest.fixture
def keyvalue(
    open_keyvalue: Callable[[Path], KeyValueStore], tmp_path: Path
) -> Iterator[KeyValueStore]:
    store = open_keyvalue(tmp_path)
    yield store
    store.close()
