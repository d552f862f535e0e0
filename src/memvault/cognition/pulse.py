"""Measures the pulse of an answer and of the whole vault, and the state of each memory."""

from __future__ import annotations

import statistics
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice

import numpy as np
from cachetools import LRUCache

from memvault.cognition.coherence import (
    Surroundings,
    coherence,
    coherences,
    entropies,
    entropy,
    shares,
    similarities,
    similarity,
)
from memvault.cognition.pulse_log import VISIBLE
from memvault.cognition.similarity_index import SimilarityIndex
from memvault.model.batched import batched
from memvault.model.change import TaskType
from memvault.model.memory import JohariQuadrant
from memvault.model.note import Vector
from memvault.model.priority import make_way
from memvault.model.search import Hit
from memvault.model.state import Background, CognitivePulse, SuggestedAction, suggest_action

LOCAL = 5  # memories with which a memory is measured; each costs a store lookup
SAMPLE = 256  # memories that represent the whole vault
# Tasks that epistemic_action asks the person about.
ASKED_ABOUT = frozenset(
    {TaskType.CONFLICTING_FACTS, TaskType.UNVERIFIED_CRITICAL, TaskType.STALE_FACT}
)
STEP = 4  # memories measured before questions get a chance to run
AT_ONCE = 16  # memories measured per background step
PAUSE_SECONDS = 0.005  # pause after a background step, in which calls can run
SETTLE_SECONDS = 0.01  # delay after a change, in which its caller is answered
MEASURE_VAULT, MEASURE_STATES = "measure the vault", "measure memories"
MAX_ANSWERS = 1_000  # answers whose pulse is cached while nothing changes

Version = tuple[SimilarityIndex, int, int]
AnswerKey = tuple[tuple[str, ...], tuple[float, ...] | None]  # ids and weights


@dataclass(frozen=True, slots=True)
class MemoryState:
    """Entropy and coherence, in [0, 1], of one memory and its most related memories.

    If it has no related memories, those nearest in meaning are used. Entropy measures how much they
    differ, coherence how densely they are linked without contradictions. Both are on the vault's
    own scale, on which 0.5 is the median. The quadrants are *open* (similar, many links), *unknown*
    (different, many links), *blind* (different, few links) and *hidden* (similar, few links). The
    specification sets the limit at 0.5 and leaves the scale open; on an absolute scale nearly all
    memories of a vault share a quadrant (`bench_quadrants`).
    """

    entropy: float
    coherence: float

    @property
    def quadrant(self) -> JohariQuadrant:
        return JohariQuadrant.from_metrics(self.entropy, self.coherence)

    def on_scale(self, median: MemoryState) -> MemoryState:
        """This state on the scale of a vault with this median.

        The median memory itself is open, and so are all memories if all are equal.
        """
        return MemoryState(
            _scaled(self.entropy, min(1.0, median.entropy + VISIBLE)),
            _scaled(self.coherence, max(0.0, median.coherence - VISIBLE)),
        )


def _scaled(value: float, middle: float) -> float:
    """The value mapped piecewise linearly: 0 to 0, the middle to 0.5, and 1 to 1."""
    if value <= middle:
        return 0.5 * value / middle if middle > 0.0 else 0.0
    return 0.5 + 0.5 * (value - middle) / (1.0 - middle)


@dataclass(frozen=True, slots=True)
class _Vault:
    """The measures of a vault at one version.

    They are the state of its memories as a set, the median of their own states, and the share of
    each quadrant.
    """

    version: Version
    state: MemoryState
    median: MemoryState
    quadrants: Mapping[JohariQuadrant, float]


class PulseMeter:
    """Measures entropy and coherence from the vectors and the graph. Thread-safe.

    Args:
        similarity_index: gives the index of the live generation.
        tasks: gives the kinds of the person's open tasks about any of these memories; None means
            all memories.
        offers: whether the calling client has a tool of this name.
        background: runs measurements in the background; without it only requested memories are
            measured.
    """

    def __init__(
        self,
        similarity_index: Callable[[], SimilarityIndex],
        *,
        tasks: Callable[[Collection[str] | None], Set[TaskType]] = lambda _: frozenset(),
        offers: Callable[[str], bool] = lambda _: True,
        background: Callable[[], Background | None] = lambda: None,
    ) -> None:
        self._similarity_index = similarity_index
        self._measured_index: SimilarityIndex | None = None
        self._tasks = tasks
        self._offers = offers
        self._vault: _Vault | None = None
        self._states: dict[str, MemoryState] = {}  # as measured, not on the vault's scale
        self._unrelated: set[str] = set()  # measured memories that any change may affect
        self._answers: LRUCache[AnswerKey, MemoryState] = LRUCache(MAX_ANSWERS)
        self._changes = 0
        self._background = background
        self._keeps_all = False  # once the states of all memories were wanted
        self._to_measure: dict[str, None] = {}
        self._lock = threading.Lock()

    @property
    def similarity_index(self) -> SimilarityIndex:
        """The similarity index of the live generation."""
        similarity_index = self._similarity_index()
        if similarity_index is not self._measured_index:
            with self._lock:
                if similarity_index is not self._measured_index:
                    similarity_index.on_change.append(self._forget)
                    self._measured_index, self._states, self._unrelated = (
                        similarity_index,
                        {},
                        set(),
                    )
                    self._answers.clear()
                    self._keeps_all = False
                    self._changes += 1
        return similarity_index

    def of(self, ids: Sequence[str], weights: Sequence[float] | None = None) -> CognitivePulse:
        """The pulse of an answer with these distinct memories; ``weights`` are their relevance.

        An answer without memories has entropy 0 and coherence 0, which suggests *explore*.
        """
        return self._pulse(self._together(ids, weights), ids)

    def of_hits(self, hits: Sequence[Hit]) -> CognitivePulse:
        """The pulse of an answer to a question, weighted by relevance.

        The notes of a list ("What did I do last week?") need have nothing in common.
        """
        pulse = self.of([hit.memory.id for hit in hits], [hit.relevance for hit in hits])
        if hits and all(hit.relevance == 1.0 for hit in hits):
            return pulse.model_copy(update={"suggested_action": SuggestedAction.READY})
        return pulse

    def _together(self, ids: Sequence[str], weights: Sequence[float] | None) -> MemoryState:
        similarity_index = self.similarity_index
        key = (tuple(ids), None if weights is None else tuple(weights))
        with self._lock:
            state, changes = self._answers.get(key), self._changes
        if state is None:
            state = measured_together(similarity_index, ids, weights)
            with self._lock:
                if changes == self._changes and similarity_index.is_loaded:
                    self._answers[key] = state
        return state

    def around(self, memory_id: str) -> CognitivePulse:
        """The pulse of a memory and those related to it, as one alone always has the same; the
        suggested action is about the memory."""
        related_ids = self.similarity_index.related(memory_id, LOCAL)
        return self._pulse(self._together([memory_id, *related_ids], None), [memory_id])

    def of_vault(self) -> CognitivePulse:
        """The pulse of everything indexed.

        The first call measures it in the calling thread. If the index changed since, the last pulse
        is returned and measured again in the background.
        """
        return self._pulse(self._vault_measures().state, None)

    def of_change(self) -> CognitivePulse:
        """The pulse of everything indexed, for the answer of a change or about no note; it suggests
        nothing, as what the vault needs has nothing to do with that."""
        return self.of_vault().model_copy(update={"suggested_action": SuggestedAction.READY})

    def states(self, ids: Sequence[str]) -> dict[str, MemoryState]:
        """The state of each of these memories.

        The first call for an unmeasured memory starts to measure all others in the background. From
        then on, changed memories are measured again there.
        """
        measured = self.measures(ids)
        median = self._vault_measures().median
        return {key: state.on_scale(median) for key, state in measured.items()}

    def measures(self, ids: Sequence[str]) -> dict[str, MemoryState]:
        """Like `states`, but not on the vault's scale."""
        states, is_new = self._look_up(ids)
        if is_new and not self._keeps_all and self.similarity_index.is_loaded:
            self.measure_all()
        return states

    def measured_vault(self) -> tuple[MemoryState, Mapping[JohariQuadrant, float]] | None:
        """The last measured state of everything indexed, and the share of each quadrant.

        None if it was not measured yet.
        """
        return None if self._vault is None else (self._vault.state, self._vault.quadrants)

    def measure_all(self) -> None:
        """Measure all unmeasured memories in the background, and from then on changed ones."""
        self._keeps_all = True
        self._measure_soon(self.similarity_index.memory_ids(), 0.0)

    def _look_up(self, ids: Sequence[str]) -> tuple[dict[str, MemoryState], bool]:
        """The states as measured, and whether some had to be measured now."""
        similarity_index = self.similarity_index
        with self._lock:
            states = {key: self._states[key] for key in ids if key in self._states}
            changes = self._changes
        missing = [key for key in ids if key not in states]
        if missing:
            related, measured = dict[str, Sequence[str]](), dict[str, MemoryState]()
            for batch in batched(missing, STEP):
                make_way()
                related_ids = {key: similarity_index.related(key, LOCAL) for key in batch}
                measured.update(_measured(similarity_index, related_ids))
                related.update(related_ids)
            states.update(measured)
            with self._lock:
                if changes == self._changes and similarity_index.is_loaded:
                    self._states.update(measured)
                    self._unrelated.update(key for key in missing if not related[key])
        return states, bool(missing)

    def _measure_soon(self, ids: Iterable[str], after: float) -> None:
        background = self._background()
        if background is not None:
            with self._lock:
                self._to_measure.update(dict.fromkeys(ids))
            background.run(MEASURE_STATES, self._measure_some, after=after, patient=True)

    def _measure_some(self) -> float | None:
        """Measure some of the queued memories; returns the pause before the next ones, if any."""
        with self._lock:
            ids = list(islice(self._to_measure, AT_ONCE))
            for key in ids:
                del self._to_measure[key]
        self._look_up([key for key in ids if self.similarity_index.is_memory(key)])
        return PAUSE_SECONDS if self._to_measure else None

    def _version(self, similarity_index: SimilarityIndex) -> Version:
        """A version that changes with the graph, and again once the similarity index follows."""
        return similarity_index, similarity_index.version, self._changes

    def _forget(self, ids: Collection[str]) -> None:
        with self._lock:
            self._changes += 1
            self._answers.clear()
            for key in {*ids, *self._unrelated}:
                self._states.pop(key, None)
            self._unrelated.clear()
        if self._keeps_all:
            self._measure_soon(ids, SETTLE_SECONDS)

    def _vault_measures(self) -> _Vault:
        """The last measures of the vault.

        The first call measures in the calling thread. If the index changed since, the vault is
        measured again in the background.
        """
        version = self._version(self.similarity_index)
        measures, background = self._vault, self._background()
        if measures is not None and measures.version != version and background is not None:
            background.run(MEASURE_VAULT, self._measure_vault, patient=True)
        elif measures is None or measures.version != version:
            measures = self._measure_vault_now()
        return measures

    def _measure_vault(self) -> None:
        if self._vault is None or self._vault.version != self._version(self.similarity_index):
            self._measure_vault_now()

    def _measure_vault_now(self) -> _Vault:
        similarity_index = self.similarity_index
        version = self._version(similarity_index)
        ids = similarity_index.memory_ids()
        sample = ids[:: max(1, -(-len(ids) // SAMPLE))]
        if not sample:
            nothing = MemoryState(0.0, 0.0)
            self._vault = _Vault(version, nothing, nothing, {})
            return self._vault
        state = measured_together(similarity_index, sample)
        states = self._look_up(sample)[0].values()
        median = MemoryState(
            statistics.median(memory.entropy for memory in states),
            statistics.median(memory.coherence for memory in states),
        )
        counts = Counter(memory.on_scale(median).quadrant for memory in states)
        quadrants = {quadrant: counts[quadrant] / len(sample) for quadrant in JohariQuadrant}
        self._vault = _Vault(version, state, median, quadrants)
        return self._vault

    def _pulse(self, state: MemoryState, ids: Collection[str] | None) -> CognitivePulse:
        """The pulse of a state, with a suggested action about these memories (all, if None)."""
        tasks = self._tasks(ids)
        action = suggest_action(
            state.entropy,
            state.coherence,
            curation_pending=bool(tasks),
            consolidation_due=TaskType.NEAR_DUPLICATES in tasks,
            question_open=not ASKED_ABOUT.isdisjoint(tasks),
            offers=self._offers,
        )
        return CognitivePulse(
            entropy=round(state.entropy, 3),
            coherence=round(state.coherence, 3),
            suggested_action=action,
        )


def measured_together(
    similarity_index: SimilarityIndex, ids: Sequence[str], weights: Sequence[float] | None = None
) -> MemoryState:
    """The entropy and coherence of these memories as a set, not on the vault's scale."""
    vectors = similarity_index.vectors(ids)
    kernel = similarity([vectors[key] for key in ids])
    around = similarity_index.around(ids)
    return MemoryState(entropy(kernel, weights), coherence(ids, kernel, around, weights))


def _measured(
    similarity_index: SimilarityIndex, related: Mapping[str, Sequence[str]]
) -> dict[str, MemoryState]:
    """The states of these memories, given the related memories of each."""
    around = similarity_index.around(related)
    local = {
        key: [key, *(related_ids or _nearest(similarity_index, key))]
        for key, related_ids in related.items()
    }
    everyone = {key for keys in local.values() for key in keys}
    vectors = similarity_index.vectors(everyone)
    around.update(similarity_index.around(everyone - around.keys()))
    by_size: dict[int, list[list[str]]] = {}
    for keys in local.values():
        by_size.setdefault(len(keys), []).append(keys)
    return {
        keys[0]: state
        for groups in by_size.values()
        for keys, state in zip(groups, _states(groups, vectors, around), strict=True)
    }


def _nearest(similarity_index: SimilarityIndex, memory_id: str) -> list[str]:
    """The memories nearest in meaning to a memory."""
    vector = similarity_index.vectors([memory_id])[memory_id]
    hits = similarity_index.nearest(vector, LOCAL + 1) if vector is not None else []
    return [key for key, _ in hits if key != memory_id][:LOCAL]


def _states(
    groups: Sequence[Sequence[str]],
    vectors: Mapping[str, Vector | None],
    around: Mapping[str, Surroundings],
) -> list[MemoryState]:
    """The states of groups of equal size, as measured.

    Only links count for coherence here, since entropy already measures similarity.
    """
    count = len(groups[0])
    if count < 2:
        return [MemoryState(0.0, 0.0)] * len(groups)
    kernels = similarities([[vectors[key] for key in keys] for keys in groups])
    share = shares(None, count)
    # The effective number of different memories (Vendi score, arXiv 2210.02410), scaled to [0, 1]:
    # plain entropy is above 0.5 if cosines are below 0.73, which is nearly always so.
    effective = np.exp(entropies(kernels, share) * np.log(count))
    spread = ((effective - 1.0) / (count - 1.0)).tolist()
    coherence_values = coherences(groups, np.zeros_like(kernels), around, share)
    return [MemoryState(*measures) for measures in zip(spread, coherence_values, strict=True)]
