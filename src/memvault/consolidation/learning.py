"""What memvault learns from how memories are used: journalled rewards, and what they add up to.

A signal is one observation, such as "this memory was opened from an answer", with a reward in
[-1, 1]. Signals are appended in batches to ``.memvault/learning/``, where each device has files of
its own, so that a sync tool never finds one file changed on two devices. The state is a sum over
the set of signals in these files, in any order, and it changes only by reading what was appended.
So the kept state always equals the rebuilt one, after a crash too. A checkpoint in the key-value
store only lets reading start late.
"""

from __future__ import annotations

import logging
import math
import threading
from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from platform import node as host_name
from typing import Any

from filelock import FileLock
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from memvault.model.errors import InvalidParams, MemvaultError
from memvault.model.graph import EdgeLearning
from memvault.stores.keyvalue import KeyValueStore
from memvault.vault.files import Vault
from memvault.vault.journal import Actor, Journal, JournalEntry
from memvault.vault.write import storage_errors

logger = logging.getLogger(__name__)
FOLDER = Path(".memvault") / "learning"
NAMESPACE = "learning"
FORMAT = 1  # of checkpoints; an older one is not read
CHECKPOINT_EVERY = 200  # entries
SIGNALS_PER_ENTRY = 200
LOCK_SECONDS = 30.0
LEARNED, RESET, RESET_UNDONE = "learned", "learning_reset", "learning_reset_undone"

HALF_LIFE_DAYS = 30.0  # after which a reward counts half
DAY_LIMIT = 1_000  # thousandths; what one memory gains or loses in a day, however much it is used
SATURATION = 2.0  # full rewards at which 76% of the greatest weight is reached (tanh)
MOST_REWARDS = 500  # per client that are listed, the latest
FULL = 1_000  # thousandths of a full reward


class SignalKind(StrEnum):
    """What was observed, with its reward in `REWARDS`."""

    OPENED = "opened"  # returned by an answer and then read
    CITED = "cited"  # its citation was expanded
    IGNORED = "ignored"  # another memory of the same answer was read
    VERIFIED = "verified"
    KEPT = "kept"  # made permanent, restored or released
    MERGED = "merged"
    CONTRADICTED = "contradicted"  # marked as wrong
    UNDONE = "undone"  # the change that wrote it was taken back, or it was forgotten
    NOVEL = "novel"  # stored, and unlike what was known
    COHERENT = "coherent"  # stored, and connected with what was known
    DUPLICATE = "duplicate"  # stored, and nearly the same as a known memory
    UNCONNECTED = "unconnected"  # stored, and connected with nothing
    EMITTED = "emitted"  # a client said so (`affective_emit_reward`)


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
"""What only tells its client something: a memory is not better found for having been new."""


class Signal(BaseModel):
    """One observation.

    Attributes:
        thousandths: the reward in [-1000, 1000].
        client: who gave it; empty for the person.
        author: the client that wrote in the memory; empty where only the person or an import did,
            or the person confirmed it.
        memory: the memory concerned, by id.
        route: ids of the nodes along which the memory was found, the memory included.
        beside: ids of the memories that were read in the same session before it.
    """

    model_config = ConfigDict(frozen=True)

    at: AwareDatetime
    kind: SignalKind
    thousandths: int = Field(ge=-FULL, le=FULL)
    client: str = ""
    session: str = ""
    author: str = ""
    memory: str = ""
    route: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    @property
    def worth(self) -> int:
        """The reward that the memory gets. Clients name themselves, so none of them raises what a
        client wrote."""
        return 0 if self.author and self.client and self.thousandths > 0 else self.thousandths


class Reward(BaseModel):
    """What a client was credited with."""

    model_config = ConfigDict(frozen=True)

    at: AwareDatetime
    kind: SignalKind
    thousandths: int
    memory: str = ""
    session: str = ""

    @property
    def value(self) -> float:
        return self.thousandths / FULL

    def _order(self) -> tuple[Any, ...]:
        return self.at, self.kind, self.thousandths, self.memory, self.session

    def __lt__(self, other: Reward) -> bool:
        return self._order() < other._order()


@dataclass(slots=True)
class Use:
    """How a memory, an edge, a chain of edges or a pair of memories was used.

    Attributes:
        days: sum of rewards in thousandths, by the ordinal of the day (UTC).
        times: how often it was used: opened, traversed, or used together.
        last: when.
        latest: the last reward, in thousandths.
    """

    days: dict[int, int] = field(default_factory=dict)
    times: int = 0
    last: datetime | None = None
    latest: int = 0

    def add(self, signal: Signal, *, used: bool) -> None:
        day = signal.at.astimezone(UTC).toordinal()
        self.days[day] = self.days.get(day, 0) + signal.worth
        if not used:
            return
        self.times += 1
        if self.last is None or (self.last, self.latest) < (signal.at, signal.worth):
            self.last, self.latest = signal.at, signal.worth

    def utility(self, today: int, half_life: float = HALF_LIFE_DAYS) -> float:
        """The sum of its rewards, each day's at most 1, halved by every half-life of days."""
        bounded = ((day, max(-DAY_LIMIT, min(DAY_LIMIT, sum_))) for day, sum_ in self.days.items())
        faded = (sum_ * math.exp2(-max(0, today - day) / half_life) for day, sum_ in bounded)
        return sum(faded) / FULL


@dataclass(slots=True)
class LearnedState:
    """What all signals add up to. Reading signals in another order gives the same state.

    ``edges`` and ``pairs`` are keyed by the ids of their two ends, sorted, ``chains`` by the ids of
    three nodes or more as they were walked; ids are joined by spaces. ``rewards`` are by client,
    the oldest first.
    """

    memories: dict[str, Use] = field(default_factory=dict)
    edges: dict[str, Use] = field(default_factory=dict)
    chains: dict[str, Use] = field(default_factory=dict)
    pairs: dict[str, Use] = field(default_factory=dict)
    rewards: dict[str, list[Reward]] = field(default_factory=dict)
    since: datetime | None = None  # the last reset; earlier signals do not count
    signals: int = 0

    def add(self, signal: Signal) -> None:
        if self.since is not None and signal.at <= self.since:
            return
        self.signals += 1
        if signal.author and signal.author != signal.client:
            self._credit(signal)
        if signal.kind in OF_STORING or not signal.memory:
            return
        is_use = signal.kind in USES
        self.memories.setdefault(signal.memory, Use()).add(signal, used=is_use)
        for step in pairwise(signal.route):
            self.edges.setdefault(" ".join(sorted(step)), Use()).add(signal, used=True)
        if len(signal.route) > 2:
            self.chains.setdefault(" ".join(signal.route), Use()).add(signal, used=True)
        for other in signal.beside:
            pair = " ".join(sorted((signal.memory, other)))
            self.pairs.setdefault(pair, Use()).add(signal, used=True)

    def _credit(self, signal: Signal) -> None:
        earned = Reward(
            at=signal.at, kind=signal.kind, thousandths=signal.thousandths,
            memory=signal.memory, session=signal.session,
        )  # fmt: skip
        kept = self.rewards.setdefault(signal.author, [])
        insort(kept, earned)
        del kept[:-MOST_REWARDS]


class _Checkpoint(BaseModel):
    format: int
    marks: dict[str, int]
    numbers: dict[str, int]
    state: LearnedState


_CHECKPOINT = TypeAdapter(_Checkpoint)


class Learning:
    """What one vault has learnt. Thread-safe.

    Args:
        device: distinguishes this computer's files from those of others.
        keyvalue: gives the store for checkpoints.
        clock: the time, with a zone.
    """

    def __init__(
        self,
        vault: Vault,
        device: str,
        *,
        keyvalue: Callable[[], KeyValueStore] | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._vault = vault
        self._journal = Journal(vault, FOLDER, writer=device)
        self._folder = vault.root / FOLDER
        self._device = device
        self._keyvalue = keyvalue
        self._clock = clock
        self._waiting: list[Signal] = []
        self._lock = threading.Lock()  # of what waits
        self._reading = threading.Lock()
        self._marks: dict[str, int] = {}
        self._numbers: dict[str, int] = {}  # of the last entry, by device
        self._since_checkpoint = 0
        self._utilities: tuple[int, dict[str, float]] = (0, {})
        self.state = LearnedState()
        self._load_checkpoint()
        try:
            self.refresh()
        except MemvaultError as error:
            logger.warning("what was learnt is not read yet: %s", error.message)

    # -- learning -------------------------------------------------------------------------------

    def observe(self, signals: Iterable[Signal]) -> None:
        """Take these in; they count from the next `flush`. Takes microseconds."""
        with self._lock:
            self._waiting += signals

    def flush(self) -> None:
        """Append what was observed, and count it.

        Raises StorageError: it cannot be written, and waits for the next time.
        """
        with self._lock:
            taken, self._waiting = self._waiting, []
        done = 0
        try:
            while done < len(taken):
                some = taken[done : done + SIGNALS_PER_ENTRY]
                told = [each.model_dump(mode="json", exclude_defaults=True) for each in some]
                self._append(LEARNED, _SYSTEM, {"signals": told})
                done += len(some)
        finally:
            with self._lock:
                self._waiting = taken[done:] + self._waiting

    def reset(self, actor: Actor) -> str:
        """Forget everything that was learnt; the id of this reset, which `undo_reset` takes."""
        self.flush()
        latest = max(self._latest_signals(), default=self._clock())
        return self._append(RESET, actor, {"until": max(latest, self._clock()).isoformat()})

    def undo_reset(self, actor: Actor) -> None:
        """Take back the last reset.

        Raises InvalidParams: nothing was reset.
        """
        last = next(reversed(self.resets()), None)
        if last is None:
            raise InvalidParams("Nothing to undo: what was learnt was not reset")
        self._append(RESET_UNDONE, actor, {"reset": last.id})

    def resets(self) -> list[JournalEntry]:
        """The resets that were not taken back, oldest first."""
        return _resets(list(self._journal.entries((RESET, RESET_UNDONE))))

    def _latest_signals(self) -> Iterator[datetime]:
        for uses in (self.state.memories, self.state.edges):
            yield from (each.last for each in list(uses.values()) if each.last is not None)

    def _append(self, kind: str, actor: Actor, data: dict[str, Any]) -> str:
        """Append an entry with the number that follows the last, then read it back."""
        self._vault.check()  # a new folder would be mistaken for the vault
        with storage_errors(FOLDER.as_posix()):
            self._folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self._folder / ".writing", timeout=LOCK_SECONDS, poll_interval=0.005):
                self.refresh()
                number = self._numbers.get(self._device, 0) + 1
                entry = JournalEntry(
                    ts=self._clock(), kind=kind, actor=actor,
                    data={"device": self._device, "number": number, **data},
                )  # fmt: skip
                self._journal.append(entry)
                self.refresh()
        return entry.id

    # -- reading --------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Count what was appended since, here or by another process or device."""
        with self._reading, storage_errors(FOLDER.as_posix()):
            sizes = {file.name: file.stat().st_size for file in self._journal.files()}
            if any(sizes.get(name, -1) < mark for name, mark in self._marks.items()):
                self._read_all()
            elif sizes != self._marks:
                entries, marks = self._journal.entries_after(self._marks)
                if self._follow(entries):
                    self._marks = marks
                    for entry in entries:
                        self._count(entry)
                else:
                    self._read_all()
            self._utilities = (0, {})

    def _follow(self, entries: Sequence[JournalEntry]) -> bool:
        """Whether these are only signals, each the next one of its device. Others (a copy that a
        sync tool made, an entry that came late, a reset) need all to be read again."""
        numbers = dict(self._numbers)
        for entry in entries:
            device = str(entry.data.get("device"))
            if entry.kind != LEARNED or entry.data.get("number") != numbers.get(device, 0) + 1:
                return False
            numbers[device] = numbers.get(device, 0) + 1
        return True

    def _read_all(self) -> None:
        entries, self._marks = self._journal.entries_after({})
        distinct = {entry.id: entry for entry in entries}.values()
        resets = _resets([entry for entry in distinct if entry.kind != LEARNED])
        state = LearnedState(since=max(map(_until, resets), default=None))
        self._numbers = {}
        for entry in distinct:
            self._count(entry, state)
        self.state = state

    def _count(self, entry: JournalEntry, state: LearnedState | None = None) -> None:
        device, number = str(entry.data.get("device")), int(entry.data.get("number", 0))
        self._numbers[device] = max(self._numbers.get(device, 0), number)
        self._since_checkpoint += 1
        for told in entry.data.get("signals", ()):
            with suppress(ValidationError):  # a kind that a newer memvault knows
                (state or self.state).add(Signal.model_validate(told))

    def _load_checkpoint(self) -> None:
        with suppress(MemvaultError, ValidationError):
            data = self._keyvalue().get(NAMESPACE, self._device) if self._keyvalue else None
            found = _CHECKPOINT.validate_json(data) if data else None
            if found is not None and found.format == FORMAT:
                self._marks, self._numbers = found.marks, found.numbers
                self.state = found.state

    def write(self) -> None:
        """`flush`, and a checkpoint when many entries were read since the last one."""
        self.flush()
        if self._since_checkpoint >= CHECKPOINT_EVERY:
            self.checkpoint()

    def checkpoint(self) -> None:
        """Write the state down, so that the next start need not read everything."""
        if self._keyvalue is None:
            return
        with self._reading:
            found = _Checkpoint(
                format=FORMAT, marks=self._marks, numbers=self._numbers, state=self.state
            )
            self._keyvalue().put(NAMESPACE, self._device, _CHECKPOINT.dump_json(found))
            self._since_checkpoint = 0

    def close(self) -> None:
        """Write everything down; never raises."""
        try:
            self.flush()
            self.checkpoint()
        except MemvaultError as error:
            logger.warning("what was learnt is not written: %s", error.message)

    # -- what was learnt ------------------------------------------------------------------------

    def utility(self, memory_id: str) -> float:
        """The rewards of a memory, faded by their age; 0 if it has none."""
        found = self.state.memories.get(memory_id)
        return found.utility(self._today()) if found is not None else 0.0

    def weights(self, ids: Sequence[str]) -> list[float]:
        """What ranking may use, in (-1, 1), 0 for a memory without rewards."""
        today = self._today()
        if self._utilities[0] != today:
            self._utilities = (today, {})
        known = self._utilities[1]
        for each in ids:
            if each not in known:
                known[each] = math.tanh(self.utility(each) / SATURATION)
        return [known[each] for each in ids]

    def used(self, memory_id: str) -> tuple[int, datetime | None]:
        """How often a memory was opened or cited, and when last."""
        found = self.state.memories.get(memory_id)
        return (found.times, found.last) if found is not None else (0, None)

    def edge(self, source: str, target: str, initial: EdgeLearning) -> EdgeLearning:
        """What the edge between two nodes has learnt, starting from its domain's values."""
        found = self.state.edges.get(" ".join(sorted((source, target))))
        if found is None:
            return initial
        steered = initial.steered(found.latest / FULL)
        return steered.model_copy(
            update={"traversal_count": found.times, "last_traversed": found.last}
        )

    def chains(self) -> list[tuple[tuple[str, ...], Use]]:
        """Chains of nodes that led to memories, with how they were used."""
        return [(tuple(key.split(" ")), use) for key, use in list(self.state.chains.items())]

    def together(self) -> list[tuple[str, str, Use]]:
        """Pairs of memories that were read in one session."""
        pairs = [(key.split(" "), use) for key, use in list(self.state.pairs.items())]
        return [(ids[0], ids[1], use) for ids, use in pairs]

    def rewards(self, client: str, within: timedelta | None = None) -> list[Reward]:
        """What a client was credited with, oldest first."""
        found = list(self.state.rewards.get(client, ()))
        if within is None:
            return found
        since = self._clock() - within
        return [each for each in found if each.at >= since]

    def _today(self) -> int:
        return self._clock().astimezone(UTC).toordinal()


_SYSTEM = Actor(kind="system", name="memvault")


def _resets(entries: Sequence[JournalEntry]) -> list[JournalEntry]:
    undone = {entry.data.get("reset") for entry in entries if entry.kind == RESET_UNDONE}
    return [entry for entry in entries if entry.kind == RESET and entry.id not in undone]


def _until(reset: JournalEntry) -> datetime:
    try:
        return datetime.fromisoformat(str(reset.data.get("until")))
    except ValueError:
        return reset.ts


def device_of(state: Path) -> str:
    """A name for this computer's copy of a vault, by its state folder."""
    return blake2b(f"{host_name()}|{state}".encode(), digest_size=4).hexdigest()
