"""Edges that the graph leaves out, since what they end at was forgotten.

Which notes name a forgotten thing is kept beside the graph, so that what is restored finds its
way back without reading the whole vault. The record may name notes that no longer do: these are
then linked once more than needed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from memvault.model.graph import NoteGraph
from memvault.stores.keyvalue import KeyValueStore

NAMESPACE = "left_out"  # id of the forgotten thing, tab, path of a note that names it


class Hidden:
    """The edges of one generation of indexes that are left out.

    Args:
        forgotten: ids of the nodes without a note that are forgotten by now.
    """

    def __init__(self, store: KeyValueStore, forgotten: Callable[[], frozenset[str]]) -> None:
        self._store = store
        self.forgotten = forgotten

    def leave_out(self, graph: NoteGraph) -> NoteGraph:
        """The graph without what is forgotten; what that was is kept on record."""
        forgotten = self.forgotten()
        named = {edge.target for edge in graph.edges} & forgotten
        if not named:
            return graph
        self.record({target: {graph.node.path or ""} for target in named})
        return replace(
            graph,
            edges=tuple(edge for edge in graph.edges if edge.target not in named),
            entities=tuple(node for node in graph.entities if node.id not in named),
        )

    def record(self, naming: Mapping[str, Collection[str]]) -> None:
        """Keep in mind which notes, by path, name these things."""
        rows = {f"{key}\t{path}": b"" for key, paths in naming.items() for path in paths}
        if rows:
            self._store.put_many(NAMESPACE, rows)

    def returned(self) -> dict[str, set[str]]:
        """The things on record that are forgotten no longer, with the notes that may name them."""
        forgotten = self.forgotten()
        found: dict[str, set[str]] = defaultdict(set)
        for row, _ in self._store.items(NAMESPACE):
            key, _, path = row.partition("\t")
            if key not in forgotten:
                found[key].add(path)
        return dict(found)

    def drop(self, naming: Mapping[str, Collection[str]]) -> None:
        """Take these off the record."""
        rows = [f"{key}\t{path}" for key, paths in naming.items() for path in paths]
        self._store.delete(NAMESPACE, rows)
