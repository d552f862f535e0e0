"""The case bank (REQ-AUTO-24, 25): questions, and the memories that answered them.

A case is what use said of one memory as an answer to one question. It is no record of its own, but
read from what was learnt: each reward and penalty for that question moves its value, which halves
every 30 days. Cases are retrieved by similarity of their questions, or by value alone.

At most 10,000 are in use (EC-AUTO-14): cases worth more than 0.9 stay, then those that were used
latest. The signals of the others stay in ``.memvault/learning/``, and count in the sum of their
memory.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from heapq import nlargest

import numpy as np

from memvault.consolidation.rewards import LearnedState
from memvault.model.note import Vector

logger = logging.getLogger(__name__)
CAPACITY = 10_000
NEVER_EVICTED = 0.9  # value above which a case stays


@dataclass(frozen=True, slots=True)
class Case:
    """One question and one memory that was read, or passed over, for it; both are its key.

    Attributes:
        value: the rewards for it, faded by their age (its Q-value).
        recorded: the day of the last one.
    """

    question: str
    memory: str
    value: float
    recorded: date


def cases(state: LearnedState, today: int, capacity: int = CAPACITY) -> list[Case]:
    """The cases in use, the most valuable first.

    Args:
        today: the ordinal of the day.
    """
    found = [
        Case(question, memory, use.utility(today), date.fromordinal(max(use.days)))
        for memory, contexts in list(state.contexts.items())
        for question, use in list(contexts.items())
        if question and use.days
    ]
    if len(found) > capacity:
        kept = nlargest(
            capacity,
            found,
            key=lambda case: (case.value > NEVER_EVICTED, case.recorded, case.value, case.question),
        )
        oldest = min(case.recorded for case in kept)
        logger.info(
            "the case bank is full: %d cases up to %s are left out", len(found) - capacity, oldest
        )
        found = kept
    return sorted(found, key=lambda case: (-case.value, case.question, case.memory))


def by_value(found: Sequence[Case], most: int) -> list[Case]:
    """The cases of greatest value, whatever they were asked."""
    return [case for case in found[:most] if case.value > 0.0]


def by_similarity(
    found: Sequence[Case], vectors: Mapping[str, Vector], asked: Vector, least: float, most: int
) -> list[Case]:
    """The cases of positive value whose questions are like this one, by cosine times value.

    Args:
        vectors: by question, (dim,) L2-normalised; cases of others are left out.
        least: cosine.
    """
    known = [case for case in found if case.value > 0.0 and case.question in vectors]
    if not known:
        return []
    cosines = np.stack([vectors[case.question] for case in known]) @ asked
    near = [
        (float(c) * case.value, case) for c, case in zip(cosines, known, strict=True) if c >= least
    ]
    return [case for _, case in nlargest(most, near, key=lambda each: each[0])]
