"""Rewards and penalties for memories, and the state that sums them up.

A signal is one observation, such as "this memory was opened from an answer", with a reward in
[-1, 1]. The state is a sum over a set of signals, in any order.
"""

from __future__ import annotations

import math
from bisect import insort
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from itertools import pairwise

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

HALF_LIFE_DAYS = 30.0  # after which a reward counts half
NEGLIGIBLE_DAYS = 300  # a day this much older than the newest counts at most a thousandth of it
DAY_LIMIT = 1_000  # thousandths that one memory can gain or lose in a day
MAX_REWARDS = 500  # latest rewards that are listed per client
FULL = 1_000  # thousandths of a full reward


class SignalKind(StrEnum):
    """The kinds of observations; `REWARDS` has their rewards."""

    OPENED = "opened"  # returned by an answer and then read
    CITED = "cited"  # its citation was expanded
    IGNORED = "ignored"  # another memory of the same answer was read
    VERIFIED = "verified"
    KEPT = "kept"  # made permanent, restored or released
    MERGED = "merged"
    CONTRADICTED = "contradicted"  # marked as wrong
    UNDONE = "undone"  # the change that wrote it was undone, or it was forgotten
    NOVEL = "novel"  # stored, and unlike known memories
    COHERENT = "coherent"  # stored, and connected with known memories
    DUPLICATE = "duplicate"  # stored, and nearly the same as a known memory
    UNCONNECTED = "unconnected"  # stored, and connected with no memory
    EMITTED = "emitted"  # a client emitted it (`affective_emit_reward`)
    UNANSWERED = "unanswered"  # a question that found nothing; has no memory and no reward
    SETTLED = "settled"  # such a question found an answer, or the person took it off the list


REWARDS = {
    SignalKind.OPENED: 0.5,
    SignalKind.CITED: 1.0,
    SignalKind.IGNORED: -0.1,
    SignalKind.VERIFIED: 1.0,
    SignalKind.KEPT: 0.8,
    SignalKind.MERGED: 0.3,
    SignalKind.CONTRADICTED: -0.8,
    SignalKind.UNDONE: -1.0,
    SignalKind.NOVEL: 0.3,
    SignalKind.COHERENT: 0.3,
    SignalKind.DUPLICATE: -0.5,
    SignalKind.UNCONNECTED: -0.1,
}
USES = frozenset({SignalKind.OPENED, SignalKind.CITED})
OF_STORING = frozenset(
    {SignalKind.NOVEL, SignalKind.COHERENT, SignalKind.DUPLICATE, SignalKind.UNCONNECTED}
)
"""These reward only their client: no search ranks a memory higher because it was new."""
OF_QUESTIONS = frozenset({SignalKind.UNANSWERED, SignalKind.SETTLED})


class Signal(BaseModel):
    """One observation.

    Attributes:
        thousandths: the reward in [-1000, 1000].
        client: who gave it; empty for the person.
        author: the client that wrote in the memory; empty if only the person or an import did, or
            the person confirmed it.
        memory: the id of the memory.
        question: the question of the answer that showed the memory, if an answer did.
        route: ids of the nodes along which the memory was found, the memory included.
        beside: ids of the memories that were read in the same session before it.
        reward_id: the id of a reward that a client emitted.
    """

    model_config = ConfigDict(frozen=True)

    at: AwareDatetime
    kind: SignalKind
    thousandths: int = Field(ge=-FULL, le=FULL)
    client: str = ""
    session: str = ""
    author: str = ""
    memory: str = ""
    question: str = ""
    route: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    reward_id: str = ""

    @property
    def worth(self) -> int:
        """The reward that the memory gets, in thousandths.

        Clients choose their own names, so no client can reward a client's memory.
        """
        return 0 if self.author and self.client and self.thousandths > 0 else self.thousandths


class Reward(BaseModel):
    """A reward that a client was credited with."""

    model_config = ConfigDict(frozen=True)

    at: AwareDatetime
    kind: SignalKind
    thousandths: int
    memory: str = ""
    session: str = ""

    @property
    def value(self) -> float:
        return self.thousandths / FULL


@dataclass(slots=True)
class Use:
    """How a memory, an edge, a chain of edges or a pair of memories was used.

    Attributes:
        days: sum of rewards in thousandths, by the ordinal of the day (UTC). Days too old to count
            are dropped; the result does not depend on the order of the signals.
        times: how often it was used: opened, traversed, or used together.
        last: when it was last used.
    """

    days: dict[int, int] = field(default_factory=dict)
    times: int = 0
    last: datetime | None = None

    def add(self, signal: Signal, *, used: bool) -> None:
        day = signal.at.astimezone(UTC).toordinal()
        if day in self.days:
            self.days[day] += signal.worth
        else:
            self.days[day] = signal.worth
            least = max(self.days) - NEGLIGIBLE_DAYS
            for old in [earlier for earlier in self.days if earlier <= least]:
                del self.days[old]
        if not used:
            return
        self.times += 1
        self.last = max(self.last or signal.at, signal.at)

    def utility(self, today: int) -> float:
        """The sum of its rewards, each day's in [-1, 1] and halved every `HALF_LIFE_DAYS`."""
        days = list(self.days.items())  # a copy, since another thread may add a day
        bounded = ((day, max(-DAY_LIMIT, min(DAY_LIMIT, sum_))) for day, sum_ in days)
        faded = (sum_ * math.exp2(-max(0, today - day) / HALF_LIFE_DAYS) for day, sum_ in bounded)
        return sum(faded) / FULL


@dataclass(slots=True)
class UnansweredQuestion:
    """A question that found nothing: when and by whom it was last asked, when it was settled."""

    last: datetime | None = None
    client: str = ""
    settled: datetime | None = None

    def add(self, signal: Signal) -> None:
        if signal.kind is SignalKind.SETTLED:
            self.settled = max(self.settled or signal.at, signal.at)
        elif self.last is None or (self.last, self.client) < (signal.at, signal.client):
            self.last, self.client = signal.at, signal.client

    @property
    def is_open(self) -> bool:
        return self.last is not None and (self.settled is None or self.settled < self.last)


@dataclass(slots=True)
class LearnedState:
    """The sums of all signals, the same for any order of the signals.

    Attributes:
        memories: the rewards of each memory.
        contexts: the same by question, "" for rewards without one.
        edges, pairs: keyed by the ids of their two ends, sorted and joined by a space.
        chains: keyed by the ids of three or more nodes, as walked, joined by spaces.
        rewards: by client, oldest first.
        questions: those that found nothing.
    """

    memories: dict[str, Use] = field(default_factory=dict)
    contexts: dict[str, dict[str, Use]] = field(default_factory=dict)
    edges: dict[str, Use] = field(default_factory=dict)
    chains: dict[str, Use] = field(default_factory=dict)
    pairs: dict[str, Use] = field(default_factory=dict)
    rewards: dict[str, list[Reward]] = field(default_factory=dict)
    questions: dict[str, UnansweredQuestion] = field(default_factory=dict)
    since: datetime | None = None  # the last reset; earlier signals do not count
    signals: int = 0

    def add(self, signal: Signal) -> None:
        if self.since is not None and signal.at <= self.since:
            return
        self.signals += 1
        if signal.kind in OF_QUESTIONS:
            self.questions.setdefault(signal.question, UnansweredQuestion()).add(signal)
        if signal.author and signal.author != signal.client:
            self._credit(signal)
        if signal.kind in OF_STORING or not signal.memory:
            return
        is_use = signal.kind in USES
        self.memories.setdefault(signal.memory, Use()).add(signal, used=is_use)
        contexts = self.contexts.setdefault(signal.memory, {})
        contexts.setdefault(signal.question, Use()).add(signal, used=is_use)
        for step in pairwise(signal.route):
            self.edges.setdefault(" ".join(sorted(step)), Use()).add(signal, used=True)
        if len(signal.route) > 2:
            self.chains.setdefault(" ".join(signal.route), Use()).add(signal, used=True)
        for read_before in signal.beside:
            pair = " ".join(sorted((signal.memory, read_before)))
            self.pairs.setdefault(pair, Use()).add(signal, used=True)

    def _credit(self, signal: Signal) -> None:
        reward = Reward(
            at=signal.at, kind=signal.kind, thousandths=signal.thousandths,
            memory=signal.memory, session=signal.session,
        )  # fmt: skip
        rewards = self.rewards.setdefault(signal.author, [])
        insort(rewards, reward, key=lambda r: (r.at, r.kind, r.thousandths, r.memory, r.session))
        del rewards[:-MAX_REWARDS]
