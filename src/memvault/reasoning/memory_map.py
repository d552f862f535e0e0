"""The map around some nodes of the graph, and its export for D3, Graphviz and Mermaid.

The given nodes come first, then their neighbourhood by the weight of the best path from any of them
(`reasoning.insights`). Weights fall along a path, so every shown node is connected through other
shown nodes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memvault.model.graph import GraphEdge
from memvault.model.search import Conflict, ConflictKind
from memvault.reasoning.conflicts import MemoryOf, conflicts
from memvault.reasoning.insights import neighbours
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
        asked: whether it is a given node.
    """

    id: str
    name: str
    kind: str
    path: str | None
    weight: float
    asked: bool


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


def memory_map(
    centres: Sequence[str],
    edges: GraphView,
    memory_of: MemoryOf,
    *,
    depth: int = 2,
    most: int = MAX_NODES,
) -> MemoryMap:
    """The neighbourhood of these nodes within ``depth`` relations, at most ``most`` nodes.

    Raises:
        StoreUnavailable, GraphQueryError: the graph does not answer.
    """
    nodes = _nodes(centres, edges, depth, most)
    shown = {node.id for node in nodes}
    found = conflicts([node.id for node in nodes], edges, memory_of, MAX_CONFLICTS)
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
            if near.node.id not in weights:
                around[near.node.id] = max(near.weight, around.get(near.node.id, 0.0))
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
    return one.node.id, other.node.id


def shortened(text: str, most: int) -> str:
    """The text on one line, cut to at most ``most`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def separate_conflicts(drawn: MemoryMap) -> Iterator[tuple[str, str, str]]:
    """Conflicts that no edge states: the two nodes, and the field in which they differ."""
    for each in drawn.conflicts:
        if each.kind is ConflictKind.DIFFERENT_VALUES:
            one, other = each.sides
            yield one.node.id, other.node.id, each.about


def d3(drawn: MemoryMap, *, weights: bool = True, highlight: bool = True) -> dict[str, Any]:
    """The map for D3: ``{nodes: [{id, name, group, …}], links: [{source, target, relation, …}]}``.

    Args:
        weights: give nodes and links a ``value`` in [0, 1].
        highlight: mark conflicts with ``conflict: true``.
    """
    clashing = {side.node.id for each in drawn.conflicts for side in each.sides}
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


GRAPHVIZ_CHARS = 60
THICKEST = 3.0  # width in points of an edge with the weight 1
RED = "#c62828"
# A backslash begins an escape of DOT, "&" a reference of HTML, and quotes end the string.
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # categories of Unicode: controls, breaks
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;", "<": "&lt;", ">": "&gt;"})


def graphviz(drawn: MemoryMap, *, weights: bool = True, highlight: bool = True) -> str:
    """The map as DOT code for Graphviz.

    Args:
        weights: write each edge's weight next to its relation, and draw strong edges thicker.
        highlight: draw conflicts in red.
    """
    lines = [
        "digraph memory {",
        "  rankdir=LR; overlap=false;",
        '  node [shape=box, style="rounded,filled", fillcolor="#e8f0fe", fontname="sans-serif"];',
        '  edge [fontname="sans-serif", fontsize=10];',
        *_dot_nodes(drawn, highlight),
        *_dot_edges(drawn, weights, highlight),
        "}",
    ]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """The text as a DOT string, escaped so that it cannot end the string or act as markup."""
    signs = (" " if unicodedata.category(sign) in _UNSEEN else sign for sign in text)
    return '"' + "".join(signs).translate(_ESCAPES) + '"'


def _dot_nodes(drawn: MemoryMap, highlight: bool) -> Iterator[str]:
    clashing = {side.node.id for each in drawn.conflicts for side in each.sides}
    for number, node in enumerate(drawn.nodes):
        attributes = [f"label={quoted(shortened(node.name, GRAPHVIZ_CHARS))}"]
        if node.path is None:
            attributes.append('fillcolor="#f5f0e6"')
        if node.asked:
            attributes.append("penwidth=2")
        if highlight and node.id in clashing:
            attributes.append(f'color="{RED}"')
        yield f"  n{number} [{', '.join(attributes)}];"


def _dot_edges(drawn: MemoryMap, weights: bool, highlight: bool) -> Iterator[str]:
    names = {node.id: f"n{number}" for number, node in enumerate(drawn.nodes)}
    for edge in drawn.edges:
        relation = shortened(edge.relation, GRAPHVIZ_CHARS)
        label = f"{relation} {edge.weight:.2f}" if weights else relation
        attributes = [f"label={quoted(label)}"]
        if weights:
            attributes.append(f"penwidth={max(0.5, THICKEST * edge.weight):.1f}")
        if highlight and edge.contested:
            attributes.append(f'color="{RED}"')
        yield f"  {names[edge.source]} -> {names[edge.target]} [{', '.join(attributes)}];"
    for one, other, about in separate_conflicts(drawn) if highlight else ():
        label = quoted(shortened(f"{about} differs", GRAPHVIZ_CHARS))
        style = f'dir=none, style=dashed, color="{RED}"'
        yield f"  {names[one]} -> {names[other]} [label={label}, {style}];"


MERMAID_CHARS = 40
EDGE_CHARS = 24
# Mermaid refuses to draw more than 50,000 characters, or more than 500 edges.
MAX_CHARS = 48_000
MAX_EDGES = 450
# All other ASCII punctuation is written as a character reference: quotes end a label, "#" begins a
# reference, "%%{" a directive, "<" a tag, "`" a text in Markdown.
_PLAIN = frozenset(" -_.,()!?/'+")
_LIGATURE = "ﬂ"  # with which Mermaid itself marks references while parsing
CLASSES = (
    "    classDef memory fill:#e8f0fe,stroke:#3b6fd4,color:#14213d",
    "    classDef concept fill:#f5f0e6,stroke:#b08d57,color:#3d2c14",
    "    classDef asked stroke-width:3px",
    "    classDef conflict stroke:#c62828,stroke-width:3px,stroke-dasharray:5 3",
)


def mermaid(drawn: MemoryMap, *, weights: bool = True, highlight: bool = True) -> str:
    """The map as a Mermaid flowchart; beyond Mermaid's limits, the weakest edges are left out.

    Args:
        weights: write each edge's weight next to its relation.
        highlight: draw conflicts in red.
    """
    lines = ["flowchart LR", *CLASSES]
    names = {node.id: f"n{number}" for number, node in enumerate(drawn.nodes)}
    for node in drawn.nodes:
        lines.append(f'    {names[node.id]}["{escaped(shortened(node.name, MERMAID_CHARS))}"]')
    room = MAX_CHARS - sum(len(line) + 1 for line in lines)
    styles = list(_styles(drawn, names, highlight))
    room -= sum(len(line) + 1 for line in styles)
    red: list[int] = []
    for number, (line, is_red) in enumerate(_edge_lines(drawn, names, weights, highlight)):
        room -= len(line) + 8  # with its number among the red ones
        if room < 0 or number == MAX_EDGES:
            break
        if is_red:
            red.append(number)
        lines.append(line)
    if red:
        lines.append(f"    linkStyle {','.join(map(str, red))} stroke:#c62828,stroke-width:3px")
    return "\n".join([*lines, *styles]) + "\n"


def escaped(text: str) -> str:
    """The text as a quoted Mermaid label, escaped so that it cannot end the label or run code."""
    return "".join(map(_escaped, text))


def _escaped(sign: str) -> str:
    if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return " "
    if sign == _LIGATURE or (sign.isascii() and not sign.isalnum() and sign not in _PLAIN):
        return f"#{ord(sign)};"
    return sign


def _edge_lines(
    drawn: MemoryMap, names: dict[str, str], weights: bool, highlight: bool
) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is drawn in red."""
    for one, other, about in separate_conflicts(drawn) if highlight else ():
        label = escaped(shortened(f"{about} differs", EDGE_CHARS))
        yield f'    {names[one]} -.-|"{label}"| {names[other]}', True
    for edge in drawn.edges:
        label = escaped(_label(edge, weights))
        line = f'    {names[edge.source]} -->|"{label}"| {names[edge.target]}'
        yield line, highlight and edge.contested


def _label(edge: MapEdge, weights: bool) -> str:
    relation = shortened(edge.relation, EDGE_CHARS)
    return f"{relation} {edge.weight:.2f}" if weights else relation


def _styles(drawn: MemoryMap, names: dict[str, str], highlight: bool) -> Iterator[str]:
    clashing = {side.node.id for each in drawn.conflicts for side in each.sides}
    groups = {
        "memory": [names[node.id] for node in drawn.nodes if node.path],
        "concept": [names[node.id] for node in drawn.nodes if not node.path],
        "asked": [names[node.id] for node in drawn.nodes if node.asked],
        "conflict": [names[node.id] for node in drawn.nodes if highlight and node.id in clashing],
    }
    for name, members in groups.items():
        if members:
            yield f"    class {','.join(members)} {name}"
