"""A map as d3-force takes it: nodes, and links by the ids of their ends."""

from __future__ import annotations

from typing import Any

from memvault.reasoning.memory_map.choose import MemoryMap
from memvault.reasoning.memory_map.labels import separate_conflicts


def d3(drawn: MemoryMap, *, weights: bool = True, highlight: bool = True) -> dict[str, Any]:
    """``{nodes: [{id, name, group, …}], links: [{source, target, relation, …}]}``, as JSON.

    Args:
        weights: give nodes and links a ``value`` in [0, 1].
        highlight: mark what conflicts by ``conflict: true``.
    """
    clashing = {side.thing.id for each in drawn.conflicts for side in each.sides}
    nodes: list[dict[str, Any]] = []
    for node in drawn.nodes:
        shown: dict[str, Any] = {"id": node.id, "name": node.name, "group": node.kind}
        if node.path is not None:
            shown["path"] = node.path
        if weights:
            shown["value"] = round(node.weight, 3)
        if highlight and node.id in clashing:
            shown["conflict"] = True
        nodes.append(shown)
    links: list[dict[str, Any]] = []
    for edge in drawn.edges:
        link = {"source": edge.source, "target": edge.target, "relation": edge.relation}
        marked = {"conflict": True} if highlight and edge.contested else {}
        links.append({**link, **({"value": round(edge.weight, 3)} if weights else {}), **marked})
    for one, other, about in separate_conflicts(drawn) if highlight else ():
        links.append({"source": one, "target": other, "relation": about, "conflict": True})
    return {"nodes": nodes, "links": links}
