"""Edges that the graph leaves out, since what they end at was forgotten, or that end elsewhere,
since it was joined with another thing.

Which notes name such a thing is kept beside the graph, so that what is restored finds its way back
without reading the whole vault. The record may name notes that no longer do: these are then linked
once more than needed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from memvault.model.graph import GraphEdge, GraphNode, NoteGraph
from memvault.stores.keyvalue import KeyValueStore

NAMESPACE = "left_out"  # id of the forgotten thing, tab, path of a note that names it


class Hidden:
    """The edges of one generation of indexes that are left out.

    Args:
        forgotten: ids of the nodes without a note that are forgotten by now.
        joined: by the id of a node without a note that is no more, the one that it is now.
    """

    def __init__(
        self,
        store: KeyValueStore,
        forgotten: Callable[[], frozenset[str]],
        joined: Callable[[], Mapping[str, GraphNode]] = dict,
    ) -> None:
        self._store = store
        self.forgotten = forgotten
        self.joined = joined

    def leave_out(self, graph: NoteGraph) -> NoteGraph:
        """The graph without what is forgotten, and with what was joined as one; what that was is
        kept on record."""
        graph = self._join(graph)
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

    def _join(self, graph: NoteGraph) -> NoteGraph:
        joined = self.joined()
        ends = {edge.target for edge in graph.edges} & joined.keys() if joined else set()
        if not ends:
            return graph
        self.record({target: {graph.node.path or ""} for target in ends})
        new = {joined[end].id: joined[end] for end in ends}
        known = {node.id for node in graph.entities if node.id not in ends}
        return replace(
            graph,
            edges=_told_apart(
                replace(edge, target=joined[edge.target].id) if edge.target in ends else edge
                for edge in graph.edges
            ),
            entities=(
                *(node for node in graph.entities if node.id not in ends),
                *(new[key] for key in sorted(new.keys() - known - {graph.node.id})),
            ),
        )

    def record(self, naming: Mapping[str, Collection[str]]) -> None:
        """Keep in mind which notes, by path, name these things."""
        rows = {f"{key}\t{path}": b"" for key, paths in naming.items() for path in paths}
        if rows:
            self._store.put_many(NAMESPACE, rows)

    def returned(self) -> dict[str, set[str]]:
        """The things on record that are neither forgotten nor joined by now, with the notes that
        may name them."""
        return self.recorded(lambda key: key not in self.forgotten() and key not in self.joined())

    def recorded(self, which: Callable[[str], bool]) -> dict[str, set[str]]:
        """The things on record of these ids, with the notes that may name them."""
        found: dict[str, set[str]] = defaultdict(set)
        for row, _ in self._store.items(NAMESPACE):
            key, _, path = row.partition("\t")
            if which(key):
                found[key].add(path)
        return dict(found)

    def drop(self, naming: Mapping[str, Collection[str]]) -> None:
        """Take these off the record."""
        rows = [f"{key}\t{path}" for key, paths in naming.items() for path in paths]
        self._store.delete(NAMESPACE, rows)


def _told_apart(edges: Iterable[GraphEdge]) -> tuple[GraphEdge, ...]:
    """Edges that were of two things and are equal now, numbered anew."""
    taken: set[str] = set()
    apart = []
    for edge in edges:
        while edge.id in taken:
            edge = replace(edge, ordinal=edge.ordinal + 1)  # noqa: PLW2901
        taken.add(edge.id)
        apart.append(edge)
    return tuple(apart)
