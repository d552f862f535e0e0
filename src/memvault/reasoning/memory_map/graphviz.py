"""A map in Graphviz's DOT language (https://graphviz.org/doc/info/lang.html)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from memvault.reasoning.memory_map.choose import MemoryMap
from memvault.reasoning.memory_map.labels import separate_conflicts, shortened

NODE_CHARS = 60
THICKEST = 3.0  # points, of an edge whose weight is 1
RED = "#c62828"
# A backslash begins an escape of DOT, "&" a reference of HTML, and quotes end the string.
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # categories of Unicode: controls, breaks
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;", "<": "&lt;", ">": "&gt;"})


def graphviz(drawn: MemoryMap, *, weights: bool = True, highlight: bool = True) -> str:
    """The code, ready for ``dot``.

    Args:
        weights: write each edge's weight beside its relation, and draw strong ones thicker.
        highlight: draw what conflicts in red.
    """
    lines = [
        "digraph memory {",
        "  rankdir=LR; overlap=false;",
        '  node [shape=box, style="rounded,filled", fillcolor="#e8f0fe", fontname="sans-serif"];',
        '  edge [fontname="sans-serif", fontsize=10];',
        *_nodes(drawn, highlight),
        *_edges(drawn, weights, highlight),
        "}",
    ]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """The text as a string of DOT: it ends nothing and is no markup."""
    signs = (" " if unicodedata.category(sign) in _UNSEEN else sign for sign in text)
    return '"' + "".join(signs).translate(_ESCAPES) + '"'


def _nodes(drawn: MemoryMap, highlight: bool) -> Iterator[str]:
    clashing = {side.thing.id for each in drawn.conflicts for side in each.sides}
    for number, node in enumerate(drawn.nodes):
        attributes = [f"label={quoted(shortened(node.name, NODE_CHARS))}"]
        if node.path is None:
            attributes.append('fillcolor="#f5f0e6"')
        if node.asked:
            attributes.append("penwidth=2")
        if highlight and node.id in clashing:
            attributes.append(f'color="{RED}"')
        yield f"  n{number} [{', '.join(attributes)}];"


def _edges(drawn: MemoryMap, weights: bool, highlight: bool) -> Iterator[str]:
    names = {node.id: f"n{number}" for number, node in enumerate(drawn.nodes)}
    for edge in drawn.edges:
        relation = shortened(edge.relation, NODE_CHARS)
        label = f"{relation} {edge.weight:.2f}" if weights else relation
        attributes = [f"label={quoted(label)}"]
        if weights:
            attributes.append(f"penwidth={max(0.5, THICKEST * edge.weight):.1f}")
        if highlight and edge.contested:
            attributes.append(f'color="{RED}"')
        yield f"  {names[edge.source]} -> {names[edge.target]} [{', '.join(attributes)}];"
    for one, other, about in separate_conflicts(drawn) if highlight else ():
        label = quoted(shortened(f"{about} differs", NODE_CHARS))
        style = f'dir=none, style=dashed, color="{RED}"'
        yield f"  {names[one]} -> {names[other]} [label={label}, {style}];"
