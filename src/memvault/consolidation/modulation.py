"""Adapts search and learning to the latest answers, rewards and stored memories.

Four levels in [0, 1], named after the transmitters of graph-tools phase 9, each set one parameter
(knob) of search or learning. At 0.5 a level changes nothing. With every answer it moves a fifth of
the way to its target, and within ten minutes half of the way back to 0.5.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from cachetools import LRUCache

from memvault.model.search import Tuning

REST = 0.5
# Share of the way to the target per answer; share of a reward added to dopamine (REQ-AUTO-26).
STEP = 0.2
HALF_LIFE_SECONDS = 600.0
TYPICAL_STEP = 0.05  # weight of a new value in the running means of entropy and reward
DIVERSITY_RANGE = 0.1
THRESHOLD_RANGE = 0.05
MIN_SEEDS, MAX_SEEDS = 2, 8  # the specification's range of top_k
MAX_SESSIONS = 1_000


class Transmitter(StrEnum):
    DOPAMINE = "dopamine"
    SEROTONIN = "serotonin"
    NORADRENALINE = "noradrenaline"
    ACETYLCHOLINE = "acetylcholine"


class RewardType(StrEnum):
    """Types of reward signals."""

    REWARD = "reward"
    PENALTY = "penalty"
    NOVELTY = "novelty"
    URGENCY = "urgency"
    CURIOSITY = "curiosity"
    FRUSTRATION = "frustration"
    NEUTRAL = "neutral"


WEIGHTS: Mapping[RewardType, float] = {
    RewardType.URGENCY: 1.0,
    RewardType.NOVELTY: 0.8,
    RewardType.CURIOSITY: 0.6,
    RewardType.REWARD: 0.7,
    RewardType.PENALTY: 0.7,
    RewardType.FRUSTRATION: 1.0,  # as for any type that stack 8.3 does not list
    RewardType.NEUTRAL: 0.0,
}
AFFECTIVE_WEIGHT = 0.3  # share of an emitted reward that memories get
DECAY_PER_TURN = 0.05
THRESHOLDS = {"urgency": 0.7, "novelty": 0.6, "curiosity": 0.5}
MAX_SIGNALS = 100  # per turn of a session


@dataclass(frozen=True, slots=True)
class RewardSignal:
    type: RewardType
    value: float  # in [-1, 1]


def prediction_error(actual: float, expected: float, *, conflict: bool = False) -> RewardSignal:
    """The reward prediction error (stack 8.5): the actual minus the expected reward.

    Args:
        conflict: the signal comes from a conflict between memories.
    """
    error = max(-1.0, min(1.0, actual - expected))
    if error > 0.0:
        return RewardSignal(RewardType.REWARD if expected else RewardType.NOVELTY, error)
    if error < 0.0:
        return RewardSignal(RewardType.FRUSTRATION if conflict else RewardType.PENALTY, error)
    return RewardSignal(RewardType.NEUTRAL, 0.0)


def combined(signals: Iterable[RewardSignal]) -> float:
    """The weighted sum of signals, in [-1, 1]; opposing signals cancel out (stack 8.5)."""
    raw = sum(signal.value * WEIGHTS[signal.type] for signal in signals)
    return raw / max(1.0, abs(raw))


@dataclass(slots=True)
class DriveState:
    """The drives of a session, each in [0, 1]; all start at 0."""

    urgency: float = 0.0
    novelty: float = 0.0
    curiosity: float = 0.0

    def update(self, signal: RewardSignal) -> None:
        if signal.type is RewardType.URGENCY:
            self.urgency = _bounded(self.urgency + signal.value * 0.3)
        elif signal.type is RewardType.NOVELTY:
            self.novelty = _bounded(self.novelty + signal.value * 0.2)
        elif signal.type is RewardType.CURIOSITY:
            self.curiosity = _bounded(self.curiosity + signal.value * 0.2)

    def decay(self) -> None:
        """Lower all drives by one turn's decay."""
        self.urgency = _bounded(self.urgency - DECAY_PER_TURN)
        self.novelty = _bounded(self.novelty - DECAY_PER_TURN)
        self.curiosity = _bounded(self.curiosity - DECAY_PER_TURN)

    def active(self) -> list[str]:
        """The drives above their thresholds."""
        return [name for name, least in THRESHOLDS.items() if getattr(self, name) >= least]


@dataclass(slots=True)
class _Session:
    drives: DriveState = field(default_factory=DriveState)
    turn: deque[RewardSignal] = field(default_factory=lambda: deque(maxlen=MAX_SIGNALS))
    expected: float = 0.0  # a running mean of its rewards


@dataclass(frozen=True, slots=True)
class Knob:
    """A parameter that a transmitter sets: its current value, in ``[least, most]``, and why."""

    transmitter: Transmitter
    level: float
    name: str
    value: float
    least: float
    most: float
    why: str


class Modulation:
    """The levels of one engine, and the drives of its sessions.

    Thread-safe; each call takes microseconds.

    Args:
        clock: a monotonic clock, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._levels = dict.fromkeys(Transmitter, REST)
        self._why = dict.fromkeys(Transmitter, "nothing moved it yet")
        self._at = clock()
        self._typical_entropy: float | None = None
        self._sessions: LRUCache[str, _Session] = LRUCache(MAX_SESSIONS)

    # -- what moves the levels ------------------------------------------------------------------

    def answered(self, session: str, entropy: float, found: int) -> None:
        """Record an answer, which ends a turn of a session.

        Args:
            entropy: the entropy of the memories in the answer, in [0, 1].
            found: number of memories in the answer.
        """
        with self._lock:
            self._rest()
            state = self._session(session)
            state.turn.clear()
            if found:
                state.drives.decay()
            else:
                state.drives.update(RewardSignal(RewardType.CURIOSITY, 1.0))
            drives = state.drives
            typical = entropy if self._typical_entropy is None else self._typical_entropy
            if found:
                self._typical_entropy = typical + TYPICAL_STEP * (entropy - typical)
            surplus = entropy - typical if found else 0.0
            self._move(
                Transmitter.NORADRENALINE,
                REST + surplus + drives.urgency / 2,
                f"entropy {surplus:+.2f} from the usual, urgency {drives.urgency:.2f}",
            )
            self._move(
                Transmitter.SEROTONIN,
                REST + (drives.curiosity - drives.urgency) / 2,
                f"curiosity {drives.curiosity:.2f}, urgency {drives.urgency:.2f}",
            )
            self._move(
                Transmitter.ACETYLCHOLINE,
                REST + drives.novelty / 2,
                f"novelty {drives.novelty:.2f}",
            )

    def rewarded(self, session: str, signal: RewardSignal) -> float:
        """Record a reward; returns the combined value of the session's signals in this turn."""
        with self._lock:
            self._rest()
            state = self._session(session)
            state.drives.update(signal)
            state.turn.append(signal)
            state.expected += TYPICAL_STEP * (signal.value - state.expected)
            if signal.type not in (RewardType.URGENCY, RewardType.CURIOSITY):
                level = self._levels[Transmitter.DOPAMINE] + STEP * signal.value
                self._levels[Transmitter.DOPAMINE] = _bounded(level)
                self._why[Transmitter.DOPAMINE] = (
                    f"the last reward was {signal.value:+.2f} ({signal.type})"
                )
            return combined(state.turn)

    def expected(self, session: str) -> float:
        """The reward that a session expects: a running mean of its rewards."""
        with self._lock:
            return self._session(session).expected

    def drives(self, session: str) -> DriveState:
        """A copy of a session's drives."""
        with self._lock:
            drives = self._session(session).drives
            return DriveState(drives.urgency, drives.novelty, drives.curiosity)

    # -- what the levels turn -------------------------------------------------------------------

    def tuning(self) -> Tuning:
        """The current parameters of search."""
        with self._lock:
            self._rest()
            return Tuning(
                self._value(Transmitter.DOPAMINE),
                round(self._value(Transmitter.SEROTONIN)),
                self._value(Transmitter.NORADRENALINE),
            )

    def learning_rate(self) -> float:
        """The factor of all rewards, in [0.5, 1.5]."""
        with self._lock:
            self._rest()
            return self._value(Transmitter.ACETYLCHOLINE)

    def knobs(self) -> list[Knob]:
        """The parameter that each transmitter sets, with its current value."""
        with self._lock:
            self._rest()
            return [
                Knob(
                    transmitter,
                    self._levels[transmitter],
                    name,
                    self._value(transmitter),
                    least,
                    most,
                    self._why[transmitter],
                )
                for transmitter, (name, least, most) in _KNOBS.items()
            ]

    def levels(self) -> dict[Transmitter, float]:
        with self._lock:
            self._rest()
            return dict(self._levels)

    def on_scales_of_specification(self) -> tuple[float, int, float]:
        """The parameters of search on the scales of graph-tools 3.5 and 4.1.

        Returns beta in [1, 5], which grows as search explores less; top_k in [2, 8]; and a
        temperature in [0.5, 2], which falls as the least confidence grows.
        """
        levels = self.levels()
        return (
            1.0 + 4.0 * levels[Transmitter.DOPAMINE],
            self.tuning().seeds,
            math.exp2(1.0 - 2.0 * levels[Transmitter.NORADRENALINE]),
        )

    def _value(self, transmitter: Transmitter) -> float:
        _, least, most = _KNOBS[transmitter]
        level = self._levels[transmitter]
        if transmitter is Transmitter.SEROTONIN:
            return round(least * math.pow(most / least, level))
        if transmitter is Transmitter.DOPAMINE:
            return most + level * (least - most)  # rewarded search explores less
        return least + level * (most - least)

    def _move(self, transmitter: Transmitter, target: float, why: str) -> None:
        level = self._levels[transmitter]
        self._levels[transmitter] = _bounded(level + STEP * (_bounded(target) - level))
        self._why[transmitter] = why

    def _rest(self) -> None:
        """Move the levels towards rest, according to the time that has passed."""
        now = self._clock()
        remaining = math.exp2((self._at - now) / HALF_LIFE_SECONDS)
        self._at = now
        for transmitter, level in self._levels.items():
            self._levels[transmitter] = REST + (level - REST) * remaining

    def _session(self, session: str) -> _Session:
        if session not in self._sessions:
            self._sessions[session] = _Session()
        return self._sessions[session]


_KNOBS: dict[Transmitter, tuple[str, float, float]] = {
    Transmitter.DOPAMINE: (
        "shift of the weight of novelty in planning and execution (maximal marginal relevance)",
        -DIVERSITY_RANGE,
        DIVERSITY_RANGE,
    ),
    Transmitter.SEROTONIN: ("best notes whose links are followed", MIN_SEEDS, MAX_SEEDS),
    Transmitter.NORADRENALINE: (
        "shift of the least confidence in planning and execution",
        -THRESHOLD_RANGE,
        THRESHOLD_RANGE,
    ),
    Transmitter.ACETYLCHOLINE: ("learning rate: what rewards are multiplied by", 0.5, 1.5),
}


def _bounded(value: float) -> float:
    return max(0.0, min(1.0, value))
