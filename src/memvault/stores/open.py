"""Opens the three stores of a vault's state folder."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from memvault.config.settings import Settings
from memvault.model.errors import InvalidParams
from memvault.stores.graph import GraphStore
from memvault.stores.graph.ladybug import LadybugGraphStore
from memvault.stores.keyvalue import KeyValueStore
from memvault.stores.keyvalue.sqlite import SqliteKeyValueStore
from memvault.stores.vectors import VectorStore
from memvault.stores.vectors.edge import EdgeVectorStore

EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True)
class Stores:
    vectors: VectorStore
    graph: GraphStore
    keyvalue: KeyValueStore

    def close(self) -> None:
        """Close all three, whatever one of them says; a second time does nothing."""
        with ExitStack() as stack:
            for store in (self.keyvalue, self.graph, self.vectors):
                stack.callback(store.close)


def open_stores(settings: Settings, folder: Path, dimension: int) -> Stores:
    """The stores that the settings name, those embedded within ``folder``.

    Raises:
        InvalidParams: a setting names an engine that there is no adapter for.
        StorageError: the files are damaged or were made for vectors of another dimension.
        StoreUnavailable: another process has the files open.
        DiskFull: there is no room to create them.
    """
    for role in ("vectors", "graph", "keyvalue"):
        if getattr(settings, role) != EMBEDDED:
            raise InvalidParams(f'configuration: {role}: only "{EMBEDDED}" is available so far')
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as opened:
        vectors = EdgeVectorStore(folder / "vectors", dimension)
        opened.callback(vectors.close)
        graph = LadybugGraphStore(folder / "graph.lbug")
        opened.callback(graph.close)
        keyvalue = SqliteKeyValueStore(folder / "keyvalue.sqlite")
        opened.pop_all()
    return Stores(vectors, graph, keyvalue)
