"""The concepts that the graph omits (forgotten) or replaces (merged)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from memvault.model.graph import GraphEdge, GraphNode, NoteGraph
from memvault.stores.keyvalue import KeyValueStore

NAMESPACE = "left_out"  # rows: id of the omitted node, tab, path of a note that names it


@dataclass(frozen=True, slots=True)
class SuppressedNodes:
    """Concepts that the graph omits (forgotten) or replaces (merged), and the notes naming them.

    The notes are recorded, so that restoring a concept relinks only these.

    Attributes:
        forgotten: returns the ids of forgotten concepts.
        merged: maps the ids of merged concepts to the nodes that replace them.
    """

    store: KeyValueStore
    forgotten: Callable[[], frozenset[str]]
    merged: Callable[[], Mapping[str, GraphNode]]

    def suppress_in(self, graph: NoteGraph) -> NoteGraph:
        """The note's graph without forgotten concepts, and with merged ones replaced.

        Records both.
        """
        graph = self._replace_merged(graph)
        forgotten = self.forgotten()
        forgotten_targets = {edge.target for edge in graph.edges} & forgotten
        if not forgotten_targets:
            return graph
        self.record({target: {graph.node.path or ""} for target in forgotten_targets})
        return replace(
            graph,
            edges=tuple(edge for edge in graph.edges if edge.target not in forgotten_targets),
            entities=tuple(node for node in graph.entities if node.id not in forgotten_targets),
        )

    def _replace_merged(self, graph: NoteGraph) -> NoteGraph:
        merged = self.merged()
        merged_ids = {edge.target for edge in graph.edges} & merged.keys()
        if not merged_ids:
            return graph
        self.record({target: {graph.node.path or ""} for target in merged_ids})
        new = {merged[key].id: merged[key] for key in merged_ids}
        present = {node.id for node in graph.entities if node.id not in merged_ids}
        return replace(
            graph,
            edges=_renumbered(
                replace(edge, target=merged[edge.target].id) if edge.target in merged_ids else edge
                for edge in graph.edges
            ),
            entities=(
                *(node for node in graph.entities if node.id not in merged_ids),
                *(new[key] for key in sorted(new.keys() - present - {graph.node.id})),
            ),
        )

    def record(self, naming: Mapping[str, Collection[str]]) -> None:
        """Record which notes, by path, name these nodes."""
        rows = {f"{key}\t{path}": b"" for key, paths in naming.items() for path in paths}
        if rows:
            self.store.put_many(NAMESPACE, rows)

    def returned(self) -> dict[str, set[str]]:
        """The recorded nodes that are no longer forgotten or merged.

        Each comes with the paths of the notes that may name it.
        """
        suppressed = self.forgotten() | self.merged().keys()
        return self.recorded(lambda key: key not in suppressed)

    def recorded(self, which: Callable[[str], bool]) -> dict[str, set[str]]:
        """The recorded nodes whose ids ``which`` accepts.

        Each comes with the paths of the notes that may name it.
        """
        paths_of: dict[str, set[str]] = defaultdict(set)
        for row, _ in self.store.items(NAMESPACE):
            key, _, path = row.partition("\t")
            if which(key):
                paths_of[key].add(path)
        return dict(paths_of)

    def drop(self, naming: Mapping[str, Collection[str]]) -> None:
        """Delete these records."""
        rows = [f"{key}\t{path}" for key, paths in naming.items() for path in paths]
        self.store.delete(NAMESPACE, rows)


def _renumbered(edges: Iterable[GraphEdge]) -> tuple[GraphEdge, ...]:
    """The edges, with new ordinals for those that a merge made equal."""
    ids: set[str] = set()
    renumbered = []
    for edge in edges:
        while edge.id in ids:
            edge = replace(edge, ordinal=edge.ordinal + 1)  # noqa: PLW2901
        ids.add(edge.id)
        renumbered.append(edge)
    return tuple(renumbered)
