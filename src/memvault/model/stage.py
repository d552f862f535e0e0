"""How far a memory has grown (graph-tools 1.3, ``lifecycle`` of the pulse resource)."""

from __future__ import annotations

from enum import StrEnum

GROWTH_FROM, MATURITY_FROM = 50, 500  # notes; the document names the stages, not their borders


class Stage(StrEnum):
    INFANCY = "infancy"  # most that comes is new
    GROWTH = "growth"
    MATURITY = "maturity"  # most that comes joins what is there

    @classmethod
    def of(cls, notes: int) -> Stage:
        """The stage of a vault with so many notes."""
        if notes < GROWTH_FROM:
            return cls.INFANCY
        return cls.GROWTH if notes < MATURITY_FROM else cls.MATURITY
