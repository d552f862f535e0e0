"""Chooses the data that upkeep removes (glymphatic clearance, graph-tools 4.3).

The engine removes it. None of the person's data is chosen: only data that can be rebuilt, and old
versions that nobody will need for an undo.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

NEARLY_FULL_SHARE, NEARLY_FULL_BYTES = 0.05, 2 * 1024**3  # free space below both
# Cached embeddings that are kept. A link has up to two texts: its sentence without the names, and
# the words around the link in it.
VECTORS_PER_CHUNK, VECTORS_PER_EDGE, MIN_VECTORS = 4, 2, 20_000


@dataclass(frozen=True, slots=True)
class UpkeepReport:
    """The result of one run.

    Attributes:
        seconds: its duration, without pauses.
        removed: number of removed items by kind, named in the plural.
    """

    at: datetime
    seconds: float
    removed: dict[str, int] = field(default_factory=dict)

    @property
    def removed_any(self) -> bool:
        return any(self.removed.values())

    def __str__(self) -> str:
        removed = ", ".join(f"{count:,} {kind}" for kind, count in self.removed.items() if count)
        return f"upkeep on {self.at:%Y-%m-%d at %H:%M} removed {removed or 'nothing'}"


def packs_to_drop(
    sizes: Mapping[str, int], made_at: Mapping[str, datetime], now: datetime, budget: int, days: int
) -> list[str]:
    """The changes whose old versions to delete so that the rest fits the budget, oldest first.

    A change that the journal lacks, or that is younger than ``days``, keeps its versions, even if
    they exceed the budget.

    Args:
        sizes: bytes of the versions of each change.
        made_at: when each change was made, in the order of the journal even if the clock was wrong
            (`Change.order`).
        budget: most bytes of all versions.
    """
    excess = sum(sizes.values()) - budget
    dated = (pack for pack in sizes if pack in made_at)
    chosen = []
    for pack in sorted(dated, key=lambda key: (made_at[key], key)):
        if excess <= 0 or now - made_at[pack] < timedelta(days=days):
            break
        chosen.append(pack)
        excess -= sizes[pack]
    return chosen


def is_nearly_full(free: int, total: int) -> bool:
    """Whether a disk has so little space that upkeep should free some now."""
    return free < NEARLY_FULL_BYTES and free < total * NEARLY_FULL_SHARE
