"""Exports a map for D3, Graphviz and Mermaid."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

from memvault.model.verification import ConflictKind
from memvault.reasoning.memory_map import MapEdge, MemoryMap


def short_line(text: str, max_chars: int) -> str:
    """The text on one line, cut to at most ``max_chars`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"


def separate_conflicts(memory_map: MemoryMap) -> Iterator[tuple[str, str, str]]:
    """Conflicts that no edge states: the two nodes, and the field in which they differ."""
    for conflict in memory_map.conflicts:
        if conflict.kind is ConflictKind.DIFFERENT_VALUES:
            first, second = conflict.sides
            yield first.node.id, second.node.id, conflict.about


def d3(memory_map: MemoryMap, *, weights: bool = True) -> dict[str, Any]:
    """The map for D3: ``{nodes: [{id, name, group, …}], links: [{source, target, relation, …}]}``.

    Args:
        weights: give nodes and links a ``value`` in [0, 1].
    """
    in_conflict = memory_map.in_conflict
    nodes: list[dict[str, Any]] = []
    for node in memory_map.nodes:
        entry: dict[str, Any] = {"id": node.id, "name": node.name, "group": node.kind}
        if node.path is not None:
            entry["path"] = node.path
        if weights:
            entry["value"] = round(node.weight, 3)
        if node.id in in_conflict:
            entry["conflict"] = True
        nodes.append(entry)
    links: list[dict[str, Any]] = []
    for edge in memory_map.edges:
        link: dict[str, Any] = {
            "source": edge.source, "target": edge.target, "relation": edge.relation,
        }  # fmt: skip
        if weights:
            link["value"] = round(edge.weight, 3)
        if edge.contested:
            link["conflict"] = True
        links.append(link)
    for first, second, about in separate_conflicts(memory_map):
        links.append({"source": first, "target": second, "relation": about, "conflict": True})
    return {"nodes": nodes, "links": links}


GRAPHVIZ_CHARS = 60
THICKEST = 3.0  # width in points of an edge with the weight 1
RED = "#c62828"
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # categories of Unicode: controls, breaks
# A backslash begins an escape of DOT, "&" a reference of HTML, and quotes end the string.
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;", "<": "&lt;", ">": "&gt;"})


def graphviz(memory_map: MemoryMap, *, weights: bool = True) -> str:
    """The map as DOT code for Graphviz.

    Args:
        weights: write each edge's weight next to its relation, and draw strong edges thicker.
    """
    lines = [
        "digraph memory {",
        "  rankdir=LR; overlap=false;",
        '  node [shape=box, style="rounded,filled", fillcolor="#e8f0fe", fontname="sans-serif"];',
        '  edge [fontname="sans-serif", fontsize=10];',
        *_dot_nodes(memory_map),
        *_dot_edges(memory_map, weights),
        "}",
    ]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """The text as a DOT string, escaped so that it cannot end the string or act as markup."""
    visible = (" " if unicodedata.category(char) in _UNSEEN else char for char in text)
    return '"' + "".join(visible).translate(_ESCAPES) + '"'


def _dot_nodes(memory_map: MemoryMap) -> Iterator[str]:
    in_conflict = memory_map.in_conflict
    for number, node in enumerate(memory_map.nodes):
        attributes = [f"label={quoted(short_line(node.name, GRAPHVIZ_CHARS))}"]
        if node.path is None:
            attributes.append('fillcolor="#f5f0e6"')
        if node.is_given:
            attributes.append("penwidth=2")
        if node.id in in_conflict:
            attributes.append(f'color="{RED}"')
        yield f"  n{number} [{', '.join(attributes)}];"


def _dot_edges(memory_map: MemoryMap, weights: bool) -> Iterator[str]:
    names = _names(memory_map)
    for edge in memory_map.edges:
        attributes = [f"label={quoted(_label(edge, weights, GRAPHVIZ_CHARS))}"]
        if weights:
            attributes.append(f"penwidth={max(0.5, THICKEST * edge.weight):.1f}")
        if edge.contested:
            attributes.append(f'color="{RED}"')
        yield f"  {names[edge.source]} -> {names[edge.target]} [{', '.join(attributes)}];"
    for first, second, about in separate_conflicts(memory_map):
        label = quoted(short_line(f"{about} differs", GRAPHVIZ_CHARS))
        style = f'dir=none, style=dashed, color="{RED}"'
        yield f"  {names[first]} -> {names[second]} [label={label}, {style}];"


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


def mermaid(memory_map: MemoryMap, *, weights: bool = True) -> str:
    """The map as a Mermaid flowchart; beyond Mermaid's limits, the weakest edges are left out.

    Args:
        weights: write each edge's weight next to its relation.
    """
    lines = ["flowchart LR", *CLASSES]
    names = _names(memory_map)
    for node in memory_map.nodes:
        lines.append(f'    {names[node.id]}["{escaped(short_line(node.name, MERMAID_CHARS))}"]')
    room = MAX_CHARS - sum(len(line) + 1 for line in lines)
    styles = list(_styles(memory_map, names))
    room -= sum(len(line) + 1 for line in styles)
    red: list[int] = []
    for number, (line, is_red) in enumerate(_edge_lines(memory_map, names, weights)):
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


def _escaped(char: str) -> str:
    if unicodedata.category(char) in _UNSEEN:
        return " "
    if char == _LIGATURE or (char.isascii() and not char.isalnum() and char not in _PLAIN):
        return f"#{ord(char)};"
    return char


def _edge_lines(
    memory_map: MemoryMap, names: dict[str, str], weights: bool
) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is drawn in red."""
    for first, second, about in separate_conflicts(memory_map):
        label = escaped(short_line(f"{about} differs", EDGE_CHARS))
        yield f'    {names[first]} -.-|"{label}"| {names[second]}', True
    for edge in memory_map.edges:
        label = escaped(_label(edge, weights, EDGE_CHARS))
        line = f'    {names[edge.source]} -->|"{label}"| {names[edge.target]}'
        yield line, edge.contested


def _names(memory_map: MemoryMap) -> dict[str, str]:
    """The name of each node in the code of a drawing, by its id."""
    return {node.id: f"n{number}" for number, node in enumerate(memory_map.nodes)}


def _label(edge: MapEdge, weights: bool, max_chars: int) -> str:
    relation = short_line(edge.relation, max_chars)
    return f"{relation} {edge.weight:.2f}" if weights else relation


def _styles(memory_map: MemoryMap, names: dict[str, str]) -> Iterator[str]:
    in_conflict = memory_map.in_conflict
    groups = {
        "memory": [names[node.id] for node in memory_map.nodes if node.path],
        "concept": [names[node.id] for node in memory_map.nodes if not node.path],
        "asked": [names[node.id] for node in memory_map.nodes if node.is_given],
        "conflict": [names[node.id] for node in memory_map.nodes if node.id in in_conflict],
    }
    for name, members in groups.items():
        if members:
            yield f"    class {','.join(members)} {name}"
