"""Opens the three stores of a generation of indexes, each embedded or on a server."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import urlsplit

from pydantic import SecretStr

from memvault.config.settings import EMBEDDED, Settings
from memvault.model.errors import InvalidParams, StoreUnavailable
from memvault.model.json_text import json_value
from memvault.model.note import ChunkSize, Vector
from memvault.model.search import Ranking
from memvault.stores.graph import GraphStore
from memvault.stores.graph.ladybug import LadybugGraphStore
from memvault.stores.keyvalue import KeyValueStore
from memvault.stores.keyvalue.sqlite import SqliteKeyValueStore
from memvault.stores.server import Server, StoreNamespace
from memvault.stores.vectors import VectorStore
from memvault.stores.vectors.edge import EdgeVectorStore
from memvault.vault.write import storage_errors

if TYPE_CHECKING:
    from memvault.stores.graph.neo4j import Neo4jGraphStore
    from memvault.stores.keyvalue.redis import RedisKeyValueStore, RedisPointer
    from memvault.stores.vectors.qdrant import QdrantVectorStore

MODEL_FILE = "embedding.json"  # in a generation's folder: the id and dimension of its model


@dataclass(frozen=True, slots=True)
class Stores:
    vectors: VectorStore
    graph: GraphStore
    keyvalue: KeyValueStore
    servers: tuple[Server, ...] = ()  # of the stores that are not embedded
    outdated: bool = False  # the vectors are of another embedding model

    def unreachable(self) -> list[str]:
        """Names of the servers that did not answer the last call."""
        return [server.name for server in self.servers if server.unreachable]

    def full(self) -> list[str]:
        """Names of the servers that had no space for the last write."""
        return [server.name for server in self.servers if server.full]

    def problems(self) -> list[str]:
        """Why these servers failed, and what to do."""
        return [server.problem for server in self.servers if server.unreachable or server.full]

    def close(self) -> None:
        """Close all stores, even if closing one fails. Idempotent."""
        with ExitStack() as stack:
            for store in (self.keyvalue, self.graph, self.vectors):
                stack.callback(store.close)


def open_stores(settings: Settings, folder: Path, dimension: int, model: str = "") -> Stores:
    """Open the stores of the settings: embedded ones in ``folder``, servers under its name.

    A server that does not answer yet raises no error here, but on use. The first call records
    the embedding model in the folder. With another model, the stores are `Stores.outdated`: their
    vectors are not searched, since they are not comparable with those of the new model.

    Args:
        dimension: of the embedding model's vectors.
        model: id of the embedding model.

    Raises:
        InvalidParams: a server's URL is refused by its client, or that is not installed.
        StorageError: the files are damaged or contain vectors of another dimension.
        StoreUnavailable: another process has the files open.
        DiskFull: there is no space to create the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    namespace = namespace_of(settings, folder)
    made_for = _made_for(folder, _Model(model, dimension))
    outdated = made_for.id != model
    with ExitStack() as opened:
        vectors = _open_vectors(settings, folder, namespace, made_for.dimension)
        opened.callback(vectors.close)
        graph = _open_graph(settings, folder, namespace)
        opened.callback(graph.close)
        keyvalue = _open_keyvalue(settings, folder, namespace)
        opened.pop_all()
    servers = tuple(_servers(vectors, graph, keyvalue))
    if outdated:
        vectors = cast(VectorStore, _KeywordsOnly(vectors))
    return Stores(vectors, graph, keyvalue, servers, outdated)


class _Model(NamedTuple):
    """The embedding model that a generation's vectors are of."""

    id: str
    dimension: int


def _made_for(folder: Path, model: _Model) -> _Model:
    """The model recorded in the folder; records this one if there is none."""
    file = folder / MODEL_FILE
    try:
        return _Model(*json_value(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        with storage_errors(file.name):
            file.write_text(json.dumps(model), encoding="utf-8")
        return model


class _KeywordsOnly:
    """A vector store without its vectors, which are of another model."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def rank_dense(self, vector: Vector, limit: int, **options: Any) -> Ranking:
        return Ranking.of([])

    def vectors(self, note_ids: Collection[str], size: ChunkSize) -> dict[str, list[Vector]]:
        return {}


def shared_pointer(settings: Settings, state_name: str) -> RedisPointer | None:
    """The shared pointer to the live generation; None if the key-value store is not shared.

    Raises:
        InvalidParams: the URL is invalid.
    """
    if settings.keyvalue == EMBEDDED:
        return None
    with _installed("keyvalue"):
        from memvault.stores.keyvalue.redis import RedisPointer

    password = _secret(settings.redis_password)
    return RedisPointer(settings.keyvalue, settings.namespace or state_name, password)


def drop_from_servers(settings: Settings, folder: Path) -> None:
    """Delete the data of this folder's generation from all servers.

    Raises:
        StoreUnavailable: a server does not answer.
    """
    namespace = namespace_of(settings, folder)
    with ExitStack() as opened:
        servers: list[Neo4jGraphStore | RedisKeyValueStore | QdrantVectorStore] = []
        if settings.vectors != EMBEDDED:
            servers.append(_qdrant(settings, namespace, 1))
        if settings.graph != EMBEDDED:
            servers.append(_neo4j(settings, namespace))
        if settings.keyvalue != EMBEDDED:
            servers.append(_redis(settings, namespace))
        for store in servers:
            opened.callback(store.close)
        for store in servers:
            store.drop()


def open_keyvalue(settings: Settings, folder: Path) -> KeyValueStore:
    """The key-value store alone; see `open_stores`."""
    return _open_keyvalue(settings, folder, namespace_of(settings, folder))


def namespace_of(settings: Settings, folder: Path) -> StoreNamespace:
    """The namespace on servers of the generation in ``<state folder>/indexes/<generation>``."""
    return StoreNamespace(settings.namespace or folder.parent.parent.name, folder.name)


def without_password(url: str) -> str:
    """The scheme, host, port and path of a URL, for display: the other parts may be a password.

    Nothing but the scheme is shown if a slash in a password makes a part of it a path.
    """
    parts = urlsplit(url)
    if "@" in f"{parts.path}{parts.query}{parts.fragment}":
        return f"{parts.scheme}://…"
    netloc = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=netloc, query="", fragment="").geturl()


def _open_vectors(
    settings: Settings, folder: Path, namespace: StoreNamespace, dimension: int
) -> VectorStore:
    if settings.vectors == EMBEDDED:
        return EdgeVectorStore(folder / "vectors", dimension)
    store = _qdrant(settings, namespace, dimension)
    with suppress(StoreUnavailable):  # each later call checks it, too
        store.count()  # checks the dimension
    return store


def _open_graph(settings: Settings, folder: Path, namespace: StoreNamespace) -> GraphStore:
    if settings.graph == EMBEDDED:
        return LadybugGraphStore(folder / "graph.lbug")
    return _neo4j(settings, namespace)


def _open_keyvalue(settings: Settings, folder: Path, namespace: StoreNamespace) -> KeyValueStore:
    if settings.keyvalue == EMBEDDED:
        return SqliteKeyValueStore(folder / "keyvalue.sqlite")
    return _redis(settings, namespace)


def _qdrant(settings: Settings, namespace: StoreNamespace, dimension: int) -> QdrantVectorStore:
    with _installed("vectors"):
        from memvault.stores.vectors import qdrant

    url, key = settings.vectors, _secret(settings.qdrant_api_key)
    return qdrant.QdrantVectorStore(
        lambda: qdrant.connect_to_server(url, key), namespace, dimension
    )


def _neo4j(settings: Settings, namespace: StoreNamespace) -> Neo4jGraphStore:
    with _installed("graph"):
        from memvault.stores.graph.neo4j import Neo4jGraphStore

    password = _secret(settings.neo4j_password)
    return Neo4jGraphStore(settings.graph, namespace, settings.neo4j_user, password)


def _redis(settings: Settings, namespace: StoreNamespace) -> RedisKeyValueStore:
    with _installed("keyvalue"):
        from memvault.stores.keyvalue.redis import RedisKeyValueStore

    return RedisKeyValueStore(settings.keyvalue, namespace, _secret(settings.redis_password))


def _servers(*stores: object) -> Iterator[Server]:
    for store in stores:
        server = getattr(store, "server", None)
        if isinstance(server, Server):
            yield server


@contextmanager
def _installed(role: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise InvalidParams(
            f"configuration: {role}: servers need more packages: pip install 'memvault[servers]'"
        ) from error


def _secret(value: SecretStr | None) -> str | None:
    return None if value is None else value.get_secret_value()
