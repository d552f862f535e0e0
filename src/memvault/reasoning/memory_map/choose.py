"""Selects the nodes and edges to show around some nodes of the graph.

The given nodes come first, then their neighbourhood by the weight of the best path from any of them
(`memvault.reasoning.neighbours`). Weights fall along a path, so every node shown is connected
through nodes that are shown, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memvault.model.graph import GraphEdge
from memvault.model.insights import Conflict
from memvault.reasoning.conflicts import MemoryOf, conflicts
from memvault.reasoning.neighbours import neighbours
from memvault.stores.graph_view import GraphView

MOST_NODES = 60  # a larger picture is unreadable
EDGES_PER_NODE = 3  # on average
MOST_CONFLICTS = 50


@dataclass(frozen=True, slots=True)
class MapNode:
    """``weight`` in [0, 1] is that of the best path from an ``asked`` node, whose own weight is 1.
    ``kind`` is a note's type; ``path`` is None for entities without a note."""

    id: str
    name: str
    kind: str
    path: str | None
    weight: float
    asked: bool


@dataclass(frozen=True, slots=True)
class MapEdge:
    """``stated`` counts the statements of this relation between the two; ``weight`` in [0, 1] is
    that of the strongest."""

    source: str
    target: str
    relation: str
    weight: float
    stated: int
    contested: bool  # the two ends contradict each other


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """``left_out`` counts the edges between these nodes that are not among ``edges``."""

    nodes: tuple[MapNode, ...] = ()
    edges: tuple[MapEdge, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    left_out: int = 0


def memory_map(
    centres: Sequence[str],
    edges: GraphView,
    memory_of: MemoryOf,
    *,
    depth: int = 2,
    most: int = MOST_NODES,
) -> MemoryMap:
    """The neighbourhood of these nodes within ``depth`` relations, at most ``most`` nodes.

    Raises:
        StoreUnavailable, GraphQueryError: the graph does not answer.
    """
    nodes = _nodes(centres, edges, depth, most)
    shown = {node.id for node in nodes}
    found = conflicts([node.id for node in nodes], edges, memory_of, MOST_CONFLICTS)
    clashes = tuple(each for each in found if shown.issuperset(_ends(each)))
    contested = {frozenset(_ends(each)) for each in clashes}
    drawn = _edges(shown, edges, contested)
    kept = drawn[: EDGES_PER_NODE * max(most, 1)]
    return MemoryMap(nodes, tuple(kept), clashes, len(drawn) - len(kept))


def _nodes(centres: Sequence[str], edges: GraphView, depth: int, most: int) -> tuple[MapNode, ...]:
    known = [key for key in dict.fromkeys(centres) if edges.node(key) is not None][:most]
    weights = dict.fromkeys(known, 1.0)
    around: dict[str, float] = {}
    for key in known if len(known) < most else ():
        for near in neighbours(key, edges, hops=depth, limit=most):
            if near.thing.id not in weights:
                around[near.thing.id] = max(near.weight, around.get(near.thing.id, 0.0))
    best = sorted(around.items(), key=lambda item: (-item[1], item[0]))[: most - len(known)]
    named = ((edges.node(key), weight) for key, weight in (*weights.items(), *best))
    return tuple(
        MapNode(node.id, node.name, node.kind, node.path, weight, node.id in weights)
        for node, weight in named
        if node is not None
    )


def _edges(shown: set[str], edges: GraphView, contested: set[frozenset[str]]) -> list[MapEdge]:
    """The edges between these nodes: contradictions first, then the strongest."""
    grouped: dict[tuple[str, str, str], list[GraphEdge]] = {}
    for key in sorted(shown):
        for edge in edges.stated_by(key):
            if edge.target in shown and edge.target != edge.source:
                grouped.setdefault((edge.source, edge.target, edge.relation), []).append(edge)
    found = [
        MapEdge(
            *ends,
            weight=max(edge.effective_weight() for edge in some),
            stated=len(some),
            contested=frozenset(ends[:2]) in contested,
        )
        for ends, some in grouped.items()
    ]
    return sorted(found, key=lambda e: (not e.contested, -e.weight, e.source, e.target, e.relation))


def _ends(conflict: Conflict) -> tuple[str, str]:
    one, other = conflict.sides
    return one.thing.id, other.thing.id
