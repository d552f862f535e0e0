"""The neighbours of a node in the graph, by the weight of the best path to each.

A path's weight is the product of its edges' effective weights, each divided by ``log2(1 + degree)``
of the node it leaves (except the first), so that paths through hubs weigh less. Only a node's
strongest edges are followed, so a hub costs no more than any other node.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from memvault.model.graph import GraphEdge
from memvault.model.search import Neighbour
from memvault.stores.graph_view import GraphView, edge_source, node_ref

MAX_FIRST_EDGES = 120  # edges of the first node that are followed
MAX_FURTHER_EDGES = 40  # edges of each further node that are followed
MAX_FRONTIER = 20  # nodes expanded in each step, strongest first
DIGITS = 6  # to which weights are rounded; smaller differences count as equal
Relevance = Callable[[Collection[str]], Mapping[str, float]]


@dataclass(slots=True)
class _Reached:
    """A node with the best path to it: its weight, its last edge, and the node before it."""

    weight: float
    distance: int
    edge: GraphEdge
    via: str


def neighbours(
    node_id: str,
    edges: GraphView,
    *,
    hops: int = 1,
    limit: int = 20,
    relevance: Relevance = lambda _: {},
    allowed: Callable[[str], bool] = lambda _: True,
) -> tuple[Neighbour, ...]:
    """At most ``limit`` nodes within ``hops`` relations, by path weight, relevance, then distance.

    Args:
        relevance: maps node ids to numbers in [0, 1]; missing ids count as 0.
        allowed: nodes for which it is false are neither returned nor passed through.
    """
    reached = _walk(node_id, edges, hops, allowed)
    weights = sorted((path.weight for path in reached.values()), reverse=True)
    least = weights[:limit][-1] if weights else 0.0
    candidates = {key: path for key, path in reached.items() if path.weight >= least}
    relevances = relevance(candidates.keys())
    ranked = sorted(
        candidates.items(),
        key=lambda item: (
            -item[1].weight,
            -relevances.get(item[0], 0.0),
            item[1].distance,
            item[0],
        ),
    )
    listed = (
        _neighbour(key, path, relevances.get(key, 0.0), edges) for key, path in ranked[:limit]
    )
    return tuple(path for path in listed if path is not None)


def _walk(
    node_id: str, edges: GraphView, hops: int, allowed: Callable[[str], bool]
) -> dict[str, _Reached]:
    reached: dict[str, _Reached] = {}
    frontier: Sequence[str] = [node_id]
    for distance in range(1, hops + 1):
        improved: set[str] = set()
        for via in frontier:
            touching = edges.of(via)
            path_weight, max_edges = 1.0, MAX_FIRST_EDGES
            if via != node_id:
                path_weight = reached[via].weight / math.log2(1 + len(touching))
                max_edges = MAX_FURTHER_EDGES
            followed = (edge for edge in touching if allowed(_other_end(edge, via)))
            for edge in islice(followed, max_edges):
                end = _other_end(edge, via)
                weight = round(path_weight * edge.effective_weight(), DIGITS)
                if end != node_id and (end not in reached or weight > reached[end].weight):
                    reached[end] = _Reached(weight, distance, edge, via)
                    improved.add(end)
        frontier = sorted(improved, key=lambda key: (-reached[key].weight, key))[:MAX_FRONTIER]
    return reached


def _other_end(edge: GraphEdge, node_id: str) -> str:
    return edge.target if edge.source == node_id else edge.source


def _neighbour(key: str, path: _Reached, relevance: float, edges: GraphView) -> Neighbour | None:
    node, source = edges.node(key), edge_source(path.edge, edges)
    if node is None or source is None:
        return None
    return Neighbour(
        node=node_ref(key, edges),
        kind=node.kind,
        distance=path.distance,
        relation=path.edge.relation,
        outgoing=path.edge.source == path.via,
        via=node_ref(path.via, edges),
        weight=path.weight,
        relevance=relevance,
        source=source,
    )
