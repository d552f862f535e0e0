"""The case bank (REQ-AUTO-24, 25): questions, and the memories that answered them.

A case is the value of one memory as an answer to one question. It is not stored, but computed from
the learned state: the sum of the rewards and penalties for that question, which halve every 30
days. Cases are retrieved by similarity of their questions, or by value alone.

At most 10,000 are in use (EC-AUTO-14): cases worth more than 0.9 stay, then those that were used
latest. The signals of the others stay in ``.memvault/learning/`` and still count for their memory.
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
    """A question and a memory that was read, or passed over, for it; both are its key.

    Attributes:
        value: the sum of its rewards, decayed by their age (its Q-value).
        recorded: the day of the last reward.
    """

    question: str
    memory: str
    value: float
    recorded: date


def cases(state: LearnedState, today: int, capacity: int = CAPACITY) -> list[Case]:
    """The cases in use, the most valuable first.

    Args:
        today: the ordinal of the current day.
    """
    candidates = [
        Case(question, memory, use.utility(today), date.fromordinal(max(use.days)))
        for memory, contexts in list(state.contexts.items())
        for question, use in list(contexts.items())
        if question and use.days
    ]
    if len(candidates) > capacity:
        in_use = nlargest(
            capacity,
            candidates,
            key=lambda case: (case.value > NEVER_EVICTED, case.recorded, case.value, case.question),
        )
        oldest = min(case.recorded for case in in_use)
        logger.debug(  # each time that something was learnt
            "the case bank is full: %d cases up to %s are left out",
            len(candidates) - capacity,
            oldest,
        )
        candidates = in_use
    return sorted(candidates, key=lambda case: (-case.value, case.question, case.memory))


def by_value(best_first: Sequence[Case], most: int) -> list[Case]:
    """The cases with the greatest positive values, for any question."""
    return [case for case in best_first[:most] if case.value > 0.0]


def by_similarity(
    candidates: Sequence[Case],
    vectors: Mapping[str, Vector],
    question: Vector,
    least: float,
    most: int,
) -> list[Case]:
    """The cases of positive value with similar questions, by cosine times value.

    Args:
        vectors: by question, (dim,) L2-normalised; cases of other questions are left out.
        question: the vector of the current question, (dim,) L2-normalised.
        least: the least cosine.
    """
    comparable = [case for case in candidates if case.value > 0.0 and case.question in vectors]
    if not comparable:
        return []
    cosines = np.stack([vectors[case.question] for case in comparable]) @ question
    scored = [
        (float(cosine) * case.value, case)
        for cosine, case in zip(cosines, comparable, strict=True)
        if cosine >= least
    ]
    return [case for _, case in nlargest(most, scored, key=lambda pair: pair[0])]
