"""A map as a Mermaid flowchart (https://mermaid.js.org/syntax/flowchart.html)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from memvault.reasoning.memory_map.choose import MapEdge, MemoryMap
from memvault.reasoning.memory_map.labels import separate_conflicts, shortened

NODE_CHARS = 40
EDGE_CHARS = 24
# Mermaid refuses to draw more than 50,000 characters, or more than 500 edges.
MOST_CHARS = 48_000
MOST_EDGES = 450
# Every other sign of ASCII is written as a character reference: quotes end a label, "#" begins a
# reference, "%%{" a directive, "<" a tag, "`" a text in Markdown.
_PLAIN = frozenset(" -_.,()!?/'+")
_LIGATURE = "ﬂ"  # by which Mermaid itself marks references while it parses
CLASSES = (
    "    classDef memory fill:#e8f0fe,stroke:#3b6fd4,color:#14213d",
    "    classDef concept fill:#f5f0e6,stroke:#b08d57,color:#3d2c14",
    "    classDef asked stroke-width:3px",
    "    classDef conflict stroke:#c62828,stroke-width:3px,stroke-dasharray:5 3",
)


def mermaid(drawn: MemoryMap, *, weights: bool = True, highlight: bool = True) -> str:
    """The code, ready to be rendered. Whatever does not fit into what Mermaid draws is left out
    from the weakest edge on.

    Args:
        weights: write each edge's weight beside its relation.
        highlight: draw what conflicts in red.
    """
    lines = ["flowchart LR", *CLASSES]
    names = {node.id: f"n{number}" for number, node in enumerate(drawn.nodes)}
    for node in drawn.nodes:
        lines.append(f'    {names[node.id]}["{escaped(shortened(node.name, NODE_CHARS))}"]')
    room = MOST_CHARS - sum(len(line) + 1 for line in lines)
    styles = list(_styles(drawn, names, highlight))
    room -= sum(len(line) + 1 for line in styles)
    red: list[int] = []
    for number, (line, is_red) in enumerate(_edge_lines(drawn, names, weights, highlight)):
        room -= len(line) + 8  # with its number among the red ones
        if room < 0 or number == MOST_EDGES:
            break
        if is_red:
            red.append(number)
        lines.append(line)
    if red:
        lines.append(f"    linkStyle {','.join(map(str, red))} stroke:#c62828,stroke-width:3px")
    return "\n".join([*lines, *styles]) + "\n"


def escaped(text: str) -> str:
    """The text as a quoted label of Mermaid may hold it: it ends nothing and runs nothing."""
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
    clashing = {side.thing.id for each in drawn.conflicts for side in each.sides}
    groups = {
        "memory": [names[node.id] for node in drawn.nodes if node.path],
        "concept": [names[node.id] for node in drawn.nodes if not node.path],
        "asked": [names[node.id] for node in drawn.nodes if node.asked],
        "conflict": [names[node.id] for node in drawn.nodes if highlight and node.id in clashing],
    }
    for name, members in groups.items():
        if members:
            yield f"    class {','.join(members)} {name}"
