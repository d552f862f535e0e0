"""What a new memory changes: how new it is, and how well it joins what is known."""

from __future__ import annotations

from dataclasses import dataclass

from memvault.cognition.pulse import PulseMeter
from memvault.model.johari import UTLState

NEAREST = 5


@dataclass(frozen=True, slots=True)
class Learnt:
    """The memory's learning state, and the memories it stands among, nearest first."""

    state: UTLState
    among: tuple[str, ...]


def learnt(meter: PulseMeter, memory_id: str) -> Learnt:
    """The state of a memory that has just been indexed.

    ``delta_s`` (surprise) is 1 minus the cosine of the nearest other memory, ``delta_c`` the
    coherence of the memory among those it is linked with. Nothing is known yet of the affect and
    the phase of the call, so ``w_e`` and ``phi`` stay neutral.
    """
    vector = meter.landscape.vectors([memory_id])[memory_id]
    hits = meter.landscape.nearest(vector, NEAREST + 1) if vector is not None else []
    others = {hit.note_id: hit.score for hit in reversed(hits) if hit.note_id != memory_id}
    surprise = 1.0 - max(others.values(), default=0.0)
    joins = meter.states([memory_id])[memory_id].coherence
    state = UTLState(
        delta_s=round(min(1.0, max(0.0, surprise)), 3), delta_c=round(joins, 3), w_e=1.0, phi=0.0
    )
    return Learnt(state, tuple(sorted(others, key=lambda key: -others[key])))
