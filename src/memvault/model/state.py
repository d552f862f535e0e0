"""The cognitive pulse, statistics of caches, and the protocol of the background worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from pydantic import BaseModel, Field

HIGH_ENTROPY, LOW_ENTROPY = 0.7, 0.4
GOOD_COHERENCE, LOW_COHERENCE = 0.5, 0.4


class SuggestedAction(StrEnum):
    """The next step that the pulse suggests to a client."""

    CONSOLIDATE = "consolidate"
    EXPLORE = "explore"
    CLARIFY = "clarify"
    CURATE = "curate"
    READY = "ready"
    EPISTEMIC_ACTION = "epistemic_action"
    TRIGGER_DREAM = "trigger_dream"


class CognitivePulse(BaseModel, frozen=True):
    """``entropy`` and ``coherence`` lie in [0, 1]; about 30 tokens when serialised."""

    entropy: float = Field(ge=0.0, le=1.0)
    coherence: float = Field(ge=0.0, le=1.0)
    suggested_action: SuggestedAction


def suggest_action(
    entropy: float,
    coherence: float,
    *,
    curation_pending: bool = False,
    consolidation_due: bool = False,
    question_open: bool = False,
    offers: Callable[[str], bool] = lambda _: True,
) -> SuggestedAction:
    """The action that entropy and coherence suggest (REQ-CORE-004).

    Two rules of the specification share the cell entropy > 0.7, coherence > 0.5: *consolidate*
    ("process pending consolidation tasks") is suggested there if such tasks are pending, else
    *epistemic_action* ("novel, adapting") if a question is open that a person could settle.
    *trigger_dream* (entropy > 0.7, coherence < 0.4) and *explore* (both below 0.4) are more
    specific than *clarify* (coherence < 0.4), so they take precedence over it. *curate* is
    suggested where no other rule applies and tasks wait, else *ready*.

    Args:
        offers: whether the client has a tool of this name; an action that is a tool of its own is
            suggested only then.
    """
    if entropy > HIGH_ENTROPY and coherence > GOOD_COHERENCE:
        if consolidation_due:
            return SuggestedAction.CONSOLIDATE
        if question_open and offers(SuggestedAction.EPISTEMIC_ACTION):
            return SuggestedAction.EPISTEMIC_ACTION
    if coherence < LOW_COHERENCE:
        if entropy > HIGH_ENTROPY and offers(SuggestedAction.TRIGGER_DREAM):
            return SuggestedAction.TRIGGER_DREAM
        return SuggestedAction.EXPLORE if entropy < LOW_ENTROPY else SuggestedAction.CLARIFY
    return SuggestedAction.CURATE if curation_pending else SuggestedAction.READY


@dataclass(frozen=True, slots=True)
class CacheStats:
    """Hits, misses and evictions of one cache since the engine started."""

    hits: int = 0
    misses: int = 0
    evictions: int = 0

    @property
    def hit_rate(self) -> float:
        """Hits per read in [0, 1]; 0 before the first read."""
        return self.hits / max(1, self.hits + self.misses)

    def __add__(self, other: CacheStats) -> CacheStats:
        return CacheStats(
            self.hits + other.hits,
            self.misses + other.misses,
            self.evictions + other.evictions,
        )


class Background(Protocol):
    """A worker that runs a job after so many seconds; it replaces a waiting job of the same name.

    A job that returns seconds runs again after them. A patient one waits while many notes are
    indexed, unless a call waits for it.
    """

    def run(
        self,
        name: str,
        job: Callable[[], float | None],
        *,
        after: float = 0.0,
        patient: bool = False,
    ) -> None: ...
