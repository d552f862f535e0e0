"""The pulse of an answer, of one memory and of the whole vault."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

from memvault.cognition.coherence import Surroundings, coherence
from memvault.cognition.entropy import entropy, similarity
from memvault.cognition.landscape import IndexView, Landscape
from memvault.model.chunk import Vector
from memvault.model.errors import StoreUnavailable
from memvault.model.johari import JohariQuadrant
from memvault.model.pulse import CognitivePulse, suggest_action

LOCAL = 5  # linked memories that a memory is seen among; each costs a look into the stores
SAMPLE = 256  # memories that stand for a whole vault


@dataclass(frozen=True, slots=True)
class MemoryState:
    """Entropy and coherence of one memory among the memories it is linked with, in [0, 1].

    A memory linked to no other has neither spread nor connection: 0 and 0.
    """

    entropy: float
    coherence: float

    @property
    def quadrant(self) -> JohariQuadrant:
        return JohariQuadrant.from_metrics(self.entropy, self.coherence)


class PulseMeter:
    """Measures entropy and coherence from the vectors and the graph. Thread-safe.

    Args:
        view: gives the stores as they are now.
        curation_pending: whether tasks wait for a person.
    """

    def __init__(
        self, view: Callable[[], IndexView], curation_pending: Callable[[], bool] = lambda: False
    ) -> None:
        self.landscape = Landscape(view)
        self._curation_pending = curation_pending
        self._vault: tuple[IndexView, MemoryState] | None = None
        self._states_of: IndexView | None = None
        self._states: dict[str, MemoryState] = {}
        self._measuring: Future[None] | None = None
        self._lock = threading.Lock()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="pulse")

    def of(self, ids: Sequence[str], weights: Sequence[float] | None = None) -> CognitivePulse:
        """The pulse of an answer that rests on these memories, each named once; ``weights`` are
        their relevance.

        An answer that found nothing has entropy 0 and coherence 0, which suggests *explore*.
        """
        vectors = self.landscape.vectors(ids)
        kernel = similarity([vectors[key] for key in ids])
        around = self.landscape.around(ids)
        return self._pulse(
            MemoryState(entropy(kernel, weights), coherence(ids, kernel, around, weights))
        )

    def of_vault(self) -> CognitivePulse:
        """The pulse of everything indexed.

        It is measured in the calling thread once; when the index has changed since, what was
        measured last is given and measured anew meanwhile.
        """
        view = self.landscape.current()
        with self._lock:
            known = self._vault
            idle = self._measuring is None or self._measuring.done()
            if known is not None and known[0] != view and idle:
                self._measuring = self._worker.submit(self._measure_vault)
        if known is None:
            self._measure_vault()
            return self.of_vault()
        return self._pulse(known[1])

    def states(self, ids: Sequence[str]) -> dict[str, MemoryState]:
        """The state of each of these memories."""
        view = self.landscape.current()
        with self._lock:
            if self._states_of != view:
                self._states_of, self._states = view, {}
            known = self._states
        missing = [key for key in ids if key not in known]
        if missing:
            known.update(self._measure(missing))
        return {key: known[key] for key in ids}

    def _measure(self, ids: Sequence[str]) -> dict[str, MemoryState]:
        is_memory = self.landscape.current().is_memory
        around = self.landscape.around(ids)
        local = {
            key: [key, *islice(filter(is_memory, sorted(around[key].neighbours)), LOCAL)]
            for key in ids
        }
        everyone = {key for keys in local.values() for key in keys}
        vectors = self.landscape.vectors(everyone)
        around = self.landscape.around(everyone)
        return {key: _state(local[key], vectors, around) for key in ids}

    def close(self) -> None:
        self._worker.shutdown(wait=True, cancel_futures=True)

    def _measure_vault(self) -> None:
        view = self.landscape.current()
        try:
            every = sorted(view.vectors.note_ids())
        except StoreUnavailable:
            every = []
        sample = every[:: max(1, -(-len(every) // SAMPLE))]
        if sample:
            spread = entropy(similarity(list(self.landscape.vectors(sample).values())))
            holds = [state.coherence for state in self.states(sample).values()]
            state = MemoryState(spread, sum(holds) / len(holds))
        else:
            state = MemoryState(0.0, 0.0)
        with self._lock:
            self._vault = (view, state)

    def _pulse(self, state: MemoryState) -> CognitivePulse:
        action = suggest_action(
            state.entropy, state.coherence, curation_pending=self._curation_pending()
        )
        return CognitivePulse(
            entropy=round(state.entropy, 3),
            coherence=round(state.coherence, 3),
            suggested_action=action,
        )


def _state(
    ids: Sequence[str],
    vectors: Mapping[str, Vector | None],
    around: Mapping[str, Surroundings],
) -> MemoryState:
    if len(ids) < 2:
        return MemoryState(0.0, 0.0)
    kernel = similarity([vectors[key] for key in ids])
    return MemoryState(entropy(kernel), coherence(ids, kernel, around))
