"""The weight of a statement, the belief in it, and the interval around a probability.

A statement's weight is counted in ordinary sources:

    weight = recency x (0.5 + importance) x standing

``recency`` is 0.5 ** (age / half-life). Its age counts from the latest competing statement: a fact
does not become false because nobody repeats it, but because somebody states otherwise. An ordinary
note of importance 0.5 weighs 1; one that the person verified counts four times, and one that they
marked as not verified half.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time

from memvault.model.memory import Memory

VERIFIED = 4.0  # factor of a note that the person verified


REFUSED = 0.5  # factor of a note that they marked ``verified: false``


HALF_BELIEVED = 0.5  # weight at which the belief in a statement is one half


HEDGED = 0.25  # share of its weight that a hedged statement ("perhaps") keeps


REPLACED = 0.25  # share that a statement keeps after a later "was changed to" another value


Z95 = 1.959964  # standard normal quantile of a 95% interval


def moment_of(memory: Memory, told: date | None = None) -> datetime:
    """The day a statement refers to: the one its sentence names, else the note's own."""
    if told is not None:
        return datetime.combine(told, time.min, UTC)
    return memory.date or memory.created_at


def recency(moment: datetime, latest: datetime, half_life_days: float) -> float:
    """The recency factor, in (0, 1]; 1 for the latest statement."""
    age = max(0.0, (latest - moment).total_seconds() / 86_400)
    return math.exp2(-min(age / half_life_days, 1_000.0))


def weight(memory: Memory, recent: float) -> float:
    """The weight of one statement of a memory, in ordinary sources.

    Args:
        recent: its recency, in (0, 1].
    """
    standing = 1.0
    if memory.verified:
        standing = VERIFIED
    elif memory.metadata.get("verified") is False:
        standing = REFUSED
    return recent * (0.5 + memory.importance) * standing


def belief(sources: float) -> float:
    """Probability that a statement of this weight is informed: w / (w + 0.5).

    2/3 for one ordinary note, 8/9 for a verified one.
    """
    return sources / (sources + HALF_BELIEVED)


def wilson(probability: float, sources: float) -> tuple[float, float]:
    """The 95% score interval (Wilson, JASA 1927) of a probability estimated from ``sources``.

    ``sources`` may be fractional; without any, the interval is [0, 1]."""
    if sources <= 0.0:
        return 0.0, 1.0
    square = Z95 * Z95
    centre = probability + square / (2 * sources)
    spread = Z95 * math.sqrt(
        probability * (1 - probability) / sources + square / (4 * sources * sources)
    )
    below = 1 + square / sources
    return max(0.0, (centre - spread) / below), min(1.0, (centre + spread) / below)
