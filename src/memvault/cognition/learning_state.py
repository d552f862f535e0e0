"""The learning state (`UTLState`) of a memory, and of the memories of a session or an answer."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from memvault.cognition.pulse import LOCAL, PulseMeter, measured_together
from memvault.cognition.similarity_index import SimilarityIndex
from memvault.model.memory import UTLState
from memvault.model.note import Vector, mean_vector

MAX_NEAREST = 5  # memories with which a new one is compared
_COMPARED = 20  # as some of the nearest may be left out


@dataclass(frozen=True, slots=True)
class NewMemoryState:
    """The learning state of a new memory, and the most similar other memories, nearest first."""

    state: UTLState
    nearest: tuple[str, ...]


def learning_state_of_new(
    meter: PulseMeter, memory_id: str, apart_from: Callable[[str], bool] = lambda _: False
) -> NewMemoryState:
    """The learning state of a newly indexed memory.

    ``delta_s`` (surprise) is 1 minus the cosine of the nearest other memory. ``delta_c`` is the
    change that the memory makes to the coherence of its related memories (of the nearest, if it has
    none). ``w_e`` is its weight, ``importance`` + 0.5. ``phi`` is the angle between the memory and
    the mean of these memories.

    Args:
        apart_from: whether the memory with an id is not compared with it.
    """
    index = meter.similarity_index
    vector = index.vectors([memory_id])[memory_id]
    hits = index.nearest(vector, _COMPARED) if vector is not None else []
    compared = [hit for hit in hits if hit[0] != memory_id and not apart_from(hit[0])]
    nearest = dict(compared[:MAX_NEAREST])
    group = index.related(memory_id, LOCAL) or list(nearest)
    state = UTLState(
        delta_s=round(min(1.0, max(0.0, 1.0 - max(nearest.values(), default=0.0))), 3),
        delta_c=round(_coherence_change(index, memory_id, group), 3),
        w_e=round(0.5 + index.importance(memory_id), 3),
        phi=round(_angle(index, memory_id, group), 3),
    )
    return NewMemoryState(state, tuple(sorted(nearest, key=lambda key: -nearest[key])))


def _coherence_change(index: SimilarityIndex, memory_id: str, group: Sequence[str]) -> float:
    if not group:
        return 0.0
    before = measured_together(index, group).coherence
    after = measured_together(index, [memory_id, *group]).coherence
    return min(1.0, abs(after - before))


def _angle(index: SimilarityIndex, memory_id: str, group: Sequence[str]) -> float:
    """The angle between a memory and the mean of a group, in [0, pi]; 0 without vectors."""
    vectors = index.vectors([memory_id, *group])
    own_vector = vectors.pop(memory_id)
    others = [vector for vector in vectors.values() if vector is not None]
    return 0.0 if own_vector is None else _mean_angle([own_vector], others)


def _mean_angle(vectors: Sequence[Vector], others: Sequence[Vector]) -> float:
    """The mean angle between vectors and the mean of others, in [0, pi]; 0 without any."""
    mean = mean_vector(others)
    if mean is None or not vectors:
        return 0.0
    return float(np.arccos(np.clip(np.stack(vectors) @ mean, -1.0, 1.0)).mean())


def learning_state_of_set(
    meter: PulseMeter, ids: Sequence[str], weights: Sequence[float] | None = None
) -> UTLState:
    """The learning state of the memories of a session or an answer.

    ``delta_s`` is their entropy. ``delta_c`` is their gain in coherence over the vault, as a share
    of 1 minus the vault's coherence. ``w_e`` is their mean weight, ``importance`` + 0.5. ``phi`` is
    the mean angle between each of them and the mean of all.
    """
    if not ids:
        return UTLState(delta_s=0.0, delta_c=0.0, w_e=1.0, phi=0.0)
    index, pulse, vault_pulse = meter.similarity_index, meter.of(ids, weights), meter.of_vault()
    lacking = 1.0 - vault_pulse.coherence
    gained = max(0.0, pulse.coherence - vault_pulse.coherence) / lacking if lacking > 0.0 else 0.0
    vectors = [vector for vector in index.vectors(ids).values() if vector is not None]
    return UTLState(
        delta_s=pulse.entropy,
        delta_c=round(gained, 3),
        w_e=round(0.5 + statistics.fmean(map(index.importance, ids)), 3),
        phi=round(_mean_angle(vectors, vectors), 3),
    )
