"""What a session's working set adds up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memvault.cognition.pulse import PulseMeter
from memvault.model.johari import JohariQuadrant, UTLState
from memvault.model.pulse import CognitivePulse


@dataclass(frozen=True, slots=True)
class SessionState:
    """``memories`` are those of the working set that the vault still has, most recent first, and
    ``quadrants`` how many of them stand in each quadrant."""

    memories: tuple[str, ...]
    pulse: CognitivePulse
    quadrants: Mapping[JohariQuadrant, int]

    @property
    def utl_state(self) -> UTLState:
        """Surprise is the entropy of the working set, coherence its coherence; affect and phase of
        a session are not known and stay neutral."""
        return UTLState(delta_s=self.pulse.entropy, delta_c=self.pulse.coherence, w_e=1.0, phi=0.0)


def pulse_of_session(meter: PulseMeter, working_set: Sequence[str]) -> CognitivePulse:
    """The pulse of a working set; of the whole vault while the set is empty."""
    there = [key for key in working_set if meter.landscape.is_memory(key)]
    return meter.of(there) if there else meter.of_vault()


def session_state(meter: PulseMeter, working_set: Sequence[str]) -> SessionState:
    """The state of a working set; an empty one has entropy 0 and coherence 0."""
    there = [key for key in working_set if meter.landscape.is_memory(key)]
    counts = Counter(state.quadrant for state in meter.states(there).values())
    return SessionState(
        tuple(there),
        meter.of(there),
        {quadrant: counts[quadrant] for quadrant in JohariQuadrant},
    )
