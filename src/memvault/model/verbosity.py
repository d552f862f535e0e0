"""How much an answer says (core REQ-CORE-005)."""

from __future__ import annotations

from enum import IntEnum


class VerbosityLevel(IntEnum):
    RAW_ONLY = 0  # about 100 tokens for a usual answer
    TEXT_AND_IDS = 1  # about 200; what an answer says unless asked
    FULL_INSIGHTS = 2  # about 800

    @classmethod
    def from_level(cls, level: int) -> VerbosityLevel:
        """The level of this number; ``TEXT_AND_IDS`` for one that is none."""
        try:
            return cls(level)
        except ValueError:
            return cls.TEXT_AND_IDS
