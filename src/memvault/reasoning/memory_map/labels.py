"""What all drawings of a map have in common."""

from __future__ import annotations

from collections.abc import Iterator

from memvault.model.insights import ConflictKind
from memvault.reasoning.memory_map.choose import MemoryMap


def shortened(text: str, most: int) -> str:
    """The text on one line, in at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def separate_conflicts(drawn: MemoryMap) -> Iterator[tuple[str, str, str]]:
    """The two nodes, and what they differ in, of conflicts that no edge of the graph states."""
    for each in drawn.conflicts:
        if each.kind is ConflictKind.DIFFERENT_VALUES:
            one, other = each.sides
            yield one.thing.id, other.thing.id, each.about
