"""Counts of the vault, and its main concepts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

from mcp_server.answers.status import ConceptShape
from memvault.curation.operations.preferences import NAMESPACE as PREFERENCES
from memvault.model.errors import GraphQueryError, MemvaultError, StoreUnavailable
from memvault.model.memory import Memory

if TYPE_CHECKING:
    from indexer.indexer import Indexer
    from mcp_server.runtime.container import Container


TOP = 5


class VaultStats:
    """Counts the vault and finds its main concepts. Thread-safe."""

    def __init__(self, container: Callable[[], Container]) -> None:
        self._container = container
        self._connected: tuple[Indexer, int, list[ConceptShape]] | None = None

    def concepts(self) -> list[ConceptShape]:
        """The memories that answers showed most.

        Before any answer, the nodes with most relations; none if the graph is unreachable.
        """
        container = self._container()
        counted = ((-used.access_count, key) for key, used in container.activity.all().items())
        by_ids, best = container.live.catalogue.by_ids, list[tuple[int, Memory]]()
        used_keys = sorted((count, key) for count, key in counted if count)
        for negative_count, equal in groupby(used_keys, itemgetter(0)):
            memories = sorted(by_ids(key for _, key in equal), key=attrgetter("path"))
            best += [(-negative_count, memory) for memory in memories]
            if len(best) >= TOP:
                break
        if not best:
            return self._most_connected()
        return [
            ConceptShape(id=memory.id, name=memory.title, path=memory.path, access_count=count)
            for count, memory in best[:TOP]
        ]

    def counts(self) -> tuple[dict[str, int], dict[str, str]]:
        """Counts of notes, chunks, nodes and edges, as far as stores answer; and for each store
        "ok" or its error."""
        live = self._container().live
        counts, health = {"notes": len(live.catalogue)}, dict[str, str]()

        def chunks() -> None:
            counts["chunks"] = live.stores.vectors.count()

        def relations() -> None:
            counts["nodes"], counts["edges"] = live.stores.graph.counts()

        def values() -> None:
            live.stores.keyvalue.count(PREFERENCES)  # few; counting 10,000 notes takes 7 ms

        for store, query in (("vectors", chunks), ("graph", relations), ("keyvalue", values)):
            try:
                query()
                health[store] = "ok"
            except MemvaultError as error:
                health[store] = error.message
        return counts, health

    def _most_connected(self) -> list[ConceptShape]:
        container = self._container()
        indexer, edges = container.live.indexer, container.live.graph_view
        cached = self._connected
        if cached is not None and cached[:2] == (indexer, indexer.version):
            return cached[2]
        version = indexer.version
        degree: Counter[str] = Counter()
        try:
            for edge in edges.all():
                degree.update((edge.source, edge.target))
            best = sorted(degree.items(), key=lambda item: (-item[1], item[0]))[:TOP]
            nodes = [(edges.node(key), count) for key, count in best]
        except (StoreUnavailable, GraphQueryError):
            return []
        shapes = [
            ConceptShape(
                id=node.id, name=node.name, path=node.path, access_count=0, connections=count
            )
            for node, count in nodes
            if node is not None
        ]
        self._connected = (indexer, version, shapes)
        return shapes
