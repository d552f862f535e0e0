"""How much a statement weighs, how far it is believed, and how sure that number is.

A statement's weight counts as so many sources:

    weight = recency x (0.5 + importance) x standing

``recency`` is 0.5 ** (age / half-life), its age counted from the latest statement that it stands
beside: a fact does not become false by nobody writing of it, but by somebody writing otherwise.
An ordinary note of importance 0.5 weighs 1; one that the person verified stands for four, one that
they marked as not verified for half.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time

from memvault.model.memory import Memory

VERIFIED = 4.0  # standing of a note that the person verified


REFUSED = 0.5  # of one that they marked ``verified: false``


HALF_BELIEVED = 0.5  # weight at which a statement is as likely right as not to be informed


HEDGED = 0.25  # share of its weight that "perhaps" leaves a statement


REPLACED = 0.25  # that a later "was changed to" leaves a statement of another value


Z95 = 1.959964  # standard normal quantile of a 95% interval


def moment_of(memory: Memory, told: date | None = None) -> datetime:
    """When what a memory says was true: the day that a sentence tells, else the note's own."""
    if told is not None:
        return datetime.combine(told, time.min, UTC)
    return memory.date or memory.created_at


def recency(moment: datetime, latest: datetime, half_life_days: float) -> float:
    """In (0, 1]; 1 for the latest."""
    age = max(0.0, (latest - moment).total_seconds() / 86_400)
    return math.exp2(-min(age / half_life_days, 1_000.0))


def weight(memory: Memory, recent: float) -> float:
    """Of one statement of a memory, in ordinary sources.

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
    """Probability that a statement of this weight is right for a reason: w / (w + 0.5).

    2/3 for one ordinary note, 8/9 for a verified one; what it is wrong about may still hold.
    """
    return sources / (sources + HALF_BELIEVED)


def wilson(probability: float, sources: float) -> tuple[float, float]:
    """The 95% score interval (Wilson, JASA 1927) around a probability that rests on this many
    sources, which need not be whole; everything where there are none."""
    if sources <= 0.0:
        return 0.0, 1.0
    square = Z95 * Z95
    centre = probability + square / (2 * sources)
    spread = Z95 * math.sqrt(
        probability * (1 - probability) / sources + square / (4 * sources * sources)
    )
    below = 1 + square / sources
    return max(0.0, (centre - spread) / below), min(1.0, (centre + spread) / below)
