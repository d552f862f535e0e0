"""How a sentence is shown: with its list marker, task box, callout type or table heads."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from memvault.text.chunking import Unit

_QUOTE = r"[ \t]*(?:>[ \t]?)*"
_MARKER = re.compile(
    rf"{_QUOTE}(?P<indent>[ \t]*)"
    r"(?P<marker>(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?|\[![\w-]+\])?"
)
_DELIMITER = re.compile(
    rf"{_QUOTE}(?=.*[|])\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*"
)
_CELL = re.compile(r" \|(?= )")


def shown(pieces: Sequence[Unit], lines: Sequence[str]) -> list[str]:
    """Each piece as it is shown; a table's head is empty, since its rows repeat it.

    Args:
        pieces: of a note, in order.
        lines: all lines of its file.
    """
    heads = _table_heads(lines)
    head_texts = {piece.lines.first: piece.text for piece in pieces}
    found = []
    before = 0  # the line that the piece before began on
    for piece in pieces:
        line = piece.lines.first
        if line in heads.values():
            found.append("")
        elif line in heads:
            found.append(_row(piece.text, head_texts.get(heads[line], "")))
        else:
            source = lines[line - 1] if line <= len(lines) and line != before else ""
            found.append(_marked(piece.text, source))
        before = line
    return found


def _marked(text: str, source: str) -> str:
    match = _MARKER.match(source)
    if match is None or not match["marker"]:
        return text
    depth = len(match["indent"].replace("\t", "    ")) // 2
    return f"{'  ' * depth}{match['marker'].strip()} {text}"


def _row(text: str, head: str) -> str:
    """``Head: cell | Head: cell``, empty cells left out."""
    cells, heads = _cells(text), _cells(head)
    if len(cells) != len(heads):
        return text
    named = zip(heads, cells, strict=True)
    return " | ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in _CELL.split(f" {row} ")]


def _table_heads(lines: Sequence[str]) -> Mapping[int, int]:
    """For the line of each table row, the line of the table's head, both counted from 1."""
    heads: dict[int, int] = {}
    head = 0
    for number, line in enumerate(lines, 1):
        if head and not line.strip(" \t>"):
            head = 0
        elif head:
            heads[number] = head
        elif number > 1 and "|" in lines[number - 2] and _DELIMITER.fullmatch(line):
            head = number - 1
    return heads
