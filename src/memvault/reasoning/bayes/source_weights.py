"""Weights of statements by the age, importance and verification of their notes.

The unit is an ordinary source: a new note of medium importance.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time

from memvault.model.memory import Memory

VERIFIED = 4.0  # factor of a note that the person verified
REFUSED = 0.5  # factor of a note that the person marked ``verified: false``
HALF_BELIEVED = 0.5  # weight at which the belief in a statement is one half
HEDGED = 0.25  # share of its weight that a hedged statement ("perhaps") keeps
REPLACED = 0.25  # share that a statement keeps after a later "was changed to" another value
Z95 = 1.959964  # standard normal quantile of a 95% interval


def moment_of(memory: Memory, day: date | None = None) -> datetime:
    """The day a statement refers to: the day named in its sentence, else the day of the note."""
    if day is not None:
        return datetime.combine(day, time.min, UTC)
    return memory.moment


def recency(moment: datetime, latest: datetime, half_life_days: float) -> float:
    """The recency factor of a statement, in (0, 1]; 1 for the latest statement."""
    age = max(0.0, (latest - moment).total_seconds() / 86_400)
    return math.exp2(-min(age / half_life_days, 1_000.0))


def weight(memory: Memory, recent: float) -> float:
    """The weight of one statement of a memory, in ordinary sources.

    Args:
        recent: its recency, in (0, 1].
    """
    trust = 1.0
    if memory.verified:
        trust = VERIFIED
    elif memory.metadata.get("verified") is False:
        trust = REFUSED
    return recent * (0.5 + memory.importance) * trust


def belief(sources: float) -> float:
    """Probability that a statement of this weight is informed: w / (w + 0.5).

    2/3 for one ordinary note, 8/9 for a verified one.
    """
    return sources / (sources + HALF_BELIEVED)


def wilson(probability: float, sources: float) -> tuple[float, float]:
    """The 95% score interval (Wilson, JASA 1927) of a probability estimated from ``sources``.

    ``sources`` may be fractional; without any, the interval is [0, 1].
    """
    if sources <= 0.0:
        return 0.0, 1.0
    square = Z95 * Z95
    centre = probability + square / (2 * sources)
    spread = Z95 * math.sqrt(
        probability * (1 - probability) / sources + square / (4 * sources * sources)
    )
    below = 1 + square / sources
    return max(0.0, (centre - spread) / below), min(1.0, (centre + spread) / below)
