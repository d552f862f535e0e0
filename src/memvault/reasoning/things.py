"""Naming the ends of edges."""

from __future__ import annotations

from memvault.model.graph import GraphEdge
from memvault.model.insights import Source, Thing
from memvault.reasoning.edges import EdgeIndex


def thing_of(node_id: str, edges: EdgeIndex) -> Thing:
    node = edges.node(node_id)
    return Thing(node_id, node.name, node.path) if node is not None else Thing(node_id, "")


def source_of(edge: GraphEdge, edges: EdgeIndex) -> Source | None:
    """Where an edge is stated; None for a note that has just been removed."""
    node = edges.node(edge.source)
    if node is None or node.path is None:
        return None
    return Source(node.path, edge.line, edge.sentence)
