"""What edges and nodes of the graph mean to a reader: things, and where something is stated."""

from __future__ import annotations

from memvault.model.graph import GraphEdge
from memvault.model.insights import Source, Thing
from memvault.stores.graph_view import GraphView


def thing_of(node_id: str, edges: GraphView) -> Thing:
    node = edges.node(node_id)
    return Thing(node_id, node.name, node.path) if node is not None else Thing(node_id, "")


def source_of(edge: GraphEdge, edges: GraphView) -> Source | None:
    """Where an edge is stated; None for a note that has just been removed."""
    node = edges.node(edge.source)
    if node is None or node.path is None:
        return None
    return Source(node.path, edge.line, edge.sentence)
