"""The map around some nodes of the graph; `map_exports` draws it.

The given nodes come first, then their neighbourhood by the weight of the best path from any of them
(`reasoning.neighbours`). Weights fall along a path, so every shown node is connected through other
shown nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memvault.model.graph import GraphEdge
from memvault.model.memory import MemoryOf
from memvault.model.search import Conflict
from memvault.reasoning.conflicts import conflicts
from memvault.reasoning.neighbours import neighbours
from memvault.stores.graph_view import GraphView

MAX_NODES = 60  # a larger picture is unreadable
EDGES_PER_NODE = 3  # on average
MAX_CONFLICTS = 50


@dataclass(frozen=True, slots=True)
class MapNode:
    """A node of the map.

    Attributes:
        kind: for a note, its type.
        path: None for an entity without a note.
        weight: that of the best path from a given node, in [0, 1]; 1 for the given nodes.
        is_given: whether it is a given node.
    """

    id: str
    name: str
    kind: str
    path: str | None
    weight: float
    is_given: bool


@dataclass(frozen=True, slots=True)
class MapEdge:
    """A relation between two nodes of the map.

    Attributes:
        weight: that of the strongest statement, in [0, 1].
        stated: number of statements of this relation between the two nodes.
        contested: whether the two nodes contradict each other.
    """

    source: str
    target: str
    relation: str
    weight: float
    stated: int
    contested: bool


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """A map; ``left_out`` counts the edges between its nodes that are not among ``edges``."""

    nodes: tuple[MapNode, ...] = ()
    edges: tuple[MapEdge, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    left_out: int = 0

    @property
    def in_conflict(self) -> set[str]:
        """The ids of the nodes that contradict, supersede or differ from another."""
        return {side.node.id for conflict in self.conflicts for side in conflict.sides}

    def without_conflicts(self) -> MemoryMap:
        """The map with nothing that a drawing would highlight."""
        edges = tuple(replace(edge, contested=False) for edge in self.edges)
        return replace(self, edges=edges, conflicts=())


def memory_map(
    centres: Sequence[str],
    edges: GraphView,
    memory_of: MemoryOf,
    *,
    depth: int = 2,
    limit: int = MAX_NODES,
) -> MemoryMap:
    """The neighbourhood of these nodes within ``depth`` relations, at most ``limit`` nodes.

    Raises:
        StoreUnavailable, GraphQueryError: the graph does not answer.
    """
    nodes = _nodes(centres, edges, depth, limit)
    ids = {node.id for node in nodes}
    found = conflicts([node.id for node in nodes], edges, memory_of, MAX_CONFLICTS)
    inside = tuple(conflict for conflict in found if ids.issuperset(_ends(conflict)))
    contested = {frozenset(_ends(conflict)) for conflict in inside}
    ranked = _edges(ids, edges, contested)
    strongest = ranked[: EDGES_PER_NODE * max(limit, 1)]
    return MemoryMap(nodes, tuple(strongest), inside, len(ranked) - len(strongest))


def _nodes(centres: Sequence[str], edges: GraphView, depth: int, limit: int) -> tuple[MapNode, ...]:
    known = [key for key in dict.fromkeys(centres) if edges.node(key) is not None][:limit]
    weights = dict.fromkeys(known, 1.0)
    around: dict[str, float] = {}
    for key in known if len(known) < limit else ():
        for neighbour in neighbours(key, edges, hops=depth, limit=limit):
            node_id = neighbour.node.id
            if node_id not in weights:
                around[node_id] = max(neighbour.weight, around.get(node_id, 0.0))
    best = sorted(around.items(), key=lambda item: (-item[1], item[0]))[: limit - len(known)]
    weighted = ((edges.node(key), weight) for key, weight in (*weights.items(), *best))
    return tuple(
        MapNode(node.id, node.name, node.kind, node.path, weight, node.id in weights)
        for node, weight in weighted
        if node is not None
    )


def _edges(ids: set[str], edges: GraphView, contested: set[frozenset[str]]) -> list[MapEdge]:
    """The edges between these nodes: contradictions first, then the strongest."""
    grouped: dict[tuple[str, str, str], list[GraphEdge]] = {}
    for key in sorted(ids):
        for edge in edges.stated_by(key):
            if edge.target in ids and edge.target != edge.source:
                grouped.setdefault((edge.source, edge.target, edge.relation), []).append(edge)
    found = [
        MapEdge(
            *ends,
            weight=max(edge.effective_weight() for edge in statements),
            stated=len(statements),
            contested=frozenset(ends[:2]) in contested,
        )
        for ends, statements in grouped.items()
    ]
    return sorted(found, key=lambda e: (not e.contested, -e.weight, e.source, e.target, e.relation))


def _ends(conflict: Conflict) -> tuple[str, str]:
    first, second = conflict.sides
    return first.node.id, second.node.id
