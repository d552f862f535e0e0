"""How a cache does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reads:
    """Of one cache, since the engine began."""

    hits: int = 0
    misses: int = 0
    evictions: int = 0

    @property
    def hit_rate(self) -> float:
        """In [0, 1]; 0 before the first read."""
        return self.hits / max(1, self.hits + self.misses)

    def __add__(self, other: Reads) -> Reads:
        return Reads(
            self.hits + other.hits,
            self.misses + other.misses,
            self.evictions + other.evictions,
        )
