"""The case bank (REQ-AUTO-24, 25): questions, and the memories that answered them.

A case is the value of one memory as an answer to one question. It is not stored, but computed from
the learned state: the sum of the rewards and penalties for that question, which halve every 30
days. Cases are retrieved by similarity of their questions, or by value alone.

At most 10,000 are in use (EC-AUTO-14): cases worth more than 0.9 stay, then those that were used
latest. The signals of the others stay in ``.memvault/learning/`` and still count for their memory.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from heapq import nlargest
from itertools import islice

import numpy as np

from memvault.consolidation.learning import Learning
from memvault.consolidation.rewards import LearnedState
from memvault.model.batched import batched
from memvault.model.errors import DiskFull, MemvaultError
from memvault.model.note import Vector
from memvault.text.encoders.embedding import Embedder

logger = logging.getLogger(__name__)
CAPACITY = 10_000
EMBEDDED_AT_A_TIME, EMBEDDED_TOGETHER = 500, 50  # questions
SAME_QUESTION = 0.7  # cosine from which two questions ask nearly the same
# Rewards for another question count not at all up to the first cosine, and fully from the second.
NO_FIT, FULL_FIT = 0.5, 0.9
NO_CASES = "Case retrieval failure: unable to find relevant cases for current context"
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


class CaseBank:
    """The cases in use, with the vectors of their questions. Thread-safe.

    Args:
        clock: the time, with a zone.
    """

    def __init__(self, learnt: Learning, embedder: Embedder, clock: Callable[[], datetime]) -> None:
        self._learnt = learnt
        self._embedder = embedder
        self._clock = clock
        self._vectors: dict[str, Vector] = {}  # by question, about 2 kB each
        self._cached: tuple[LearnedState | None, tuple[int, int], list[Case]] = (None, (0, 0), [])

    def in_use(self) -> list[Case]:
        """Questions with the memories that were read or skipped for them, most valuable first."""
        state, today = self._learnt.state, self._clock().astimezone(UTC).toordinal()
        cached_state, cached_version, in_use = self._cached
        version = (state.signals, today)
        if cached_state is not state or cached_version != version:
            in_use = cases(state, today)
            self._cached = state, version, in_use
        return in_use

    def like(self, question: str, most: int) -> list[Case]:
        """Cases of earlier questions like this one; none if the question cannot be embedded."""
        try:
            vector = self._embedder.embed_query(question)
        except MemvaultError as error:
            logger.warning("%s: %s", NO_CASES, error.message)
            return []
        return by_similarity(self.in_use(), self._vectors, vector, SAME_QUESTION, most)

    def preference(self, question: str, ids: Sequence[str]) -> list[float] | None:
        """The preference that use gives each memory as an answer to a question, in (-1, 1); None
        before anything was learnt."""
        if not self._learnt.state.memories:
            return None
        questions = {
            earlier for memory_id in ids for earlier in self._learnt.rewards_by_question(memory_id)
        }
        embedded = [earlier for earlier in questions if earlier in self._vectors]
        if not embedded:
            return self._learnt.weights(ids)
        vector = self._embedder.embed_query(question)
        cosines = np.stack([self._vectors[earlier] for earlier in embedded]) @ vector
        fits = np.clip((cosines - NO_FIT) / (FULL_FIT - NO_FIT), 0.0, 1.0)
        return self._learnt.weights(ids, dict(zip(embedded, map(float, fits), strict=True)))

    def embed_some(self) -> None:
        """Embed some questions of cases that are not embedded yet."""
        waiting = (case.question for case in self.in_use() if case.question not in self._vectors)
        if questions := list(dict.fromkeys(islice(waiting, EMBEDDED_AT_A_TIME))):
            self._vectors.update(zip(questions, self._vectors_of(questions), strict=True))
        if len(self._vectors) > CAPACITY:
            of_cases = {case.question for case in self.in_use()}
            self._vectors = {q: v for q, v in self._vectors.items() if q in of_cases}

    def _vectors_of(self, questions: Sequence[str]) -> Iterable[Vector]:
        """The vectors of these questions, cached for the next start unless the disk is full."""
        try:
            return self._embedder.embed(questions)
        except DiskFull:
            few = batched(questions, EMBEDDED_TOGETHER)
            return [vector for each in few for vector in self._embedder.embed_few(each)]
