"""What upkeep removes (glymphatic clearance, graph-tools 4.3): chosen here, removed by the engine.

Nothing of a person's is chosen: only what can be made again, and versions that nobody undoes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

NEARLY_FULL_SHARE, NEARLY_FULL_BYTES = 0.05, 2 * 1024**3  # free space below both
# Cached embeddings that are kept. A link has up to two texts of its own: its whole sentence without
# the names in it, and the words next to its place there.
VECTORS_PER_CHUNK, VECTORS_PER_EDGE, MIN_VECTORS = 4, 2, 20_000


@dataclass(frozen=True, slots=True)
class UpkeepReport:
    """One run.

    Attributes:
        seconds: that it worked, without pauses.
        removed: how many of each kind were removed, by its name in the plural.
    """

    at: datetime
    seconds: float
    removed: dict[str, int] = field(default_factory=dict)

    @property
    def removed_any(self) -> bool:
        return any(self.removed.values())

    def __str__(self) -> str:
        done = ", ".join(f"{count:,} {what}" for what, count in self.removed.items() if count)
        return f"upkeep on {self.at:%Y-%m-%d at %H:%M} removed {done or 'nothing'}"


def packs_to_drop(
    sizes: Mapping[str, int], made: Mapping[str, datetime], now: datetime, budget: int, days: int
) -> list[str]:
    """The old versions to delete so that the rest fits the budget, those of the oldest change
    first.

    A change that the journal does not know, or that is younger than ``days``, keeps its versions,
    even if they exceed the budget.

    Args:
        sizes: bytes of the versions of each change.
        made: when each change was made.
        budget: bytes of all versions.
    """
    excess = sum(sizes.values()) - budget
    known = (each for each in sizes if each in made)
    chosen = []
    for pack in sorted(known, key=lambda each: (made[each], each)):
        if excess <= 0 or now - made[pack] < timedelta(days=days):
            break
        chosen.append(pack)
        excess -= sizes[pack]
    return chosen


def is_nearly_full(free: int, total: int) -> bool:
    """Whether a disk has so little space that upkeep should free some now."""
    return free < NEARLY_FULL_BYTES and free < total * NEARLY_FULL_SHARE
