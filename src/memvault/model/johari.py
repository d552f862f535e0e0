"""The Johari window of a memory and its learning state (core REQ-CORE-002, -006)."""

from __future__ import annotations

import math
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class JohariQuadrant(StrEnum):
    OPEN = "open"  # low entropy, high coherence: direct recall
    BLIND = "blind"  # high entropy, low coherence: discovery zone
    HIDDEN = "hidden"  # low entropy, low coherence: private knowledge
    UNKNOWN = "unknown"  # high entropy, high coherence: exploration frontier

    @classmethod
    def from_metrics(cls, entropy: float, coherence: float) -> JohariQuadrant:
        """Low entropy is < 0.5, high coherence is > 0.5 (core, appendix A)."""
        low, high = entropy < 0.5, coherence > 0.5
        if low:
            return cls.OPEN if high else cls.HIDDEN
        return cls.UNKNOWN if high else cls.BLIND


class UTLState(BaseModel):
    """Learning state, L = f((delta_s x delta_c) . w_e . cos phi)."""

    model_config = ConfigDict(frozen=True)

    delta_s: float = Field(0.5, ge=0.0, le=1.0)
    delta_c: float = Field(0.5, ge=0.0, le=1.0)
    w_e: float = Field(1.0, ge=0.5, le=1.5)
    phi: float = Field(0.0, ge=0.0, le=math.pi)

    @property
    def learning_score(self) -> float:
        """L in [0, 1], with f(x) = sqrt(x) between 0 and 1: the geometric mean of the two deltas
        while affect and phase are neutral; 0 where the phase is against learning."""
        drive = self.delta_s * self.delta_c * self.w_e * math.cos(self.phi)
        return math.sqrt(min(1.0, max(0.0, drive)))
