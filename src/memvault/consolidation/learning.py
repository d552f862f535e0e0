"""Learns from how memories are used: appends signals to a journal and sums up their rewards.

Signals are appended in batches to ``.memvault/learning/``, where each device has its own files, so
that a sync tool never finds one file changed on two devices. The state is a sum over the set of
signals in these files, in any order, and changes only by reading appended entries. So the state in
memory always equals a rebuilt one, even after a crash. A checkpoint in the key-value store only
avoids reading all entries at the start.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from heapq import nlargest
from pathlib import Path
from types import MappingProxyType
from typing import Any

from filelock import FileLock
from pydantic import BaseModel, ValidationError

from memvault.consolidation.rewards import LearnedState, Reward, Signal, Use
from memvault.model.change import SYSTEM
from memvault.model.errors import InvalidParams, MemvaultError
from memvault.stores.keyvalue import KeyValueStore
from memvault.vault.files import Vault
from memvault.vault.journal import Actor, Journal, JournalEntry, file_of
from memvault.vault.write import storage_errors

logger = logging.getLogger(__name__)
FOLDER = Path(".memvault") / "learning"
NAMESPACE = "learning"
FORMAT = 1  # of checkpoints; other formats are not read
CHECKPOINT_EVERY = 200  # entries
SIGNALS_PER_ENTRY = 200
LOCK_SECONDS = 30.0
SATURATION = 1.0  # sum of rewards at which 76% of the greatest weight is reached (tanh)
MAX_UNANSWERED = 50
NO_FITS: Mapping[str, float] = MappingProxyType({})
LEARNED, RESET, RESET_UNDONE = "learned", "learning_reset", "learning_reset_undone"


class _Checkpoint(BaseModel):
    format: int
    marks: dict[str, int]
    numbers: dict[str, int]
    state: LearnedState


class Learning:
    """The rewards that one vault has learnt. Thread-safe.

    Args:
        device: distinguishes this computer's files from those of other computers.
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
        self._lock = threading.Lock()  # guards `_waiting`
        self._flushing = threading.Lock()
        self._reading = threading.Lock()
        self._marks: dict[str, int] = {}
        self._numbers: dict[str, int] = {}  # device → number of its last entry
        self._since_checkpoint = 0
        self._by_question: tuple[int, dict[str, dict[str, float]]] = (0, {})
        self.state = LearnedState()
        self._load_checkpoint()
        try:
            self.refresh()
        except MemvaultError as error:
            logger.warning("what was learnt is not read yet: %s", error.message)

    # -- learning -------------------------------------------------------------------------------

    def observe(self, signals: Iterable[Signal]) -> None:
        """Queue signals, which count from the next `flush`. Takes microseconds."""
        with self._lock:
            self._waiting += signals

    def flush(self) -> None:
        """Append and count the observed signals; waits for another thread that is doing so.

        Raises StorageError: they cannot be written, and stay queued for the next call.
        """
        with self._flushing:
            with self._lock:
                signals, self._waiting = self._waiting, []
            try:
                while signals:
                    batch = signals[:SIGNALS_PER_ENTRY]
                    rows = [each.model_dump(mode="json", exclude_defaults=True) for each in batch]
                    self._append(LEARNED, SYSTEM, {"signals": rows})
                    signals = signals[SIGNALS_PER_ENTRY:]
            finally:
                with self._lock:
                    self._waiting = signals + self._waiting

    def reset(self, actor: Actor) -> str:
        """Forget everything that was learnt; returns the id of this reset."""
        self.flush()
        latest = max(self._latest_signals(), default=self._clock())
        return self._append(RESET, actor, {"until": max(latest, self._clock()).isoformat()})

    def undo_reset(self, actor: Actor) -> None:
        """Undo the last reset.

        Raises InvalidParams: nothing was reset.
        """
        last = next(reversed(self.resets()), None)
        if last is None:
            raise InvalidParams("Nothing to undo: what was learnt was not reset")
        self._append(RESET_UNDONE, actor, {"reset": last.id})

    def resets(self) -> list[JournalEntry]:
        """The resets that were not undone, oldest first."""
        return _resets(list(self._journal.entries((RESET, RESET_UNDONE))))

    def _latest_signals(self) -> Iterator[datetime]:
        for question in list(self.state.questions.values()):
            yield from (at for at in (question.last, question.settled) if at is not None)
        for uses in (self.state.memories, self.state.edges):
            yield from (use.last for use in list(uses.values()) if use.last is not None)

    def _append(self, kind: str, actor: Actor, data: dict[str, Any]) -> str:
        """Append an entry with the number that follows the last, then read it back."""
        self._vault.check()  # else mkdir could create a missing vault's folder
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
        """Count the entries appended since, here or by another process or device."""
        with self._reading, storage_errors(FOLDER.as_posix()):
            sizes = self._journal.sizes()
            size_of = {file_of(name): size for name, size in sorted(sizes.items())}
            if any(size_of.get(file_of(key), -1) < mark for key, mark in self._marks.items()):
                self._read_all()
            elif sizes != self._marks:
                entries, marks = self._journal.entries_after(self._marks)
                if self._can_be_added(entries):
                    self._marks = marks
                    for entry in entries:
                        self._count(entry)
                else:
                    self._read_all()
            self._by_question = (0, {})

    def _can_be_added(self, entries: Sequence[JournalEntry]) -> bool:
        """Whether these entries can simply be added to the state.

        They must hold signals, and each must be the next entry of its device. Otherwise (a sync
        tool's copy, a late entry, a reset) everything must be read again.
        """
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
        for row in entry.listed("signals"):
            with suppress(ValidationError):  # a kind from a newer memvault
                (state or self.state).add(Signal.model_validate(row))

    def _load_checkpoint(self) -> None:
        with suppress(MemvaultError, ValidationError):  # then all files are read from the start
            data = self._keyvalue().get(NAMESPACE, self._device) if self._keyvalue else None
            checkpoint = _Checkpoint.model_validate_json(data) if data else None
            if checkpoint is not None and checkpoint.format == FORMAT:
                self._marks, self._numbers = checkpoint.marks, checkpoint.numbers
                self.state = checkpoint.state

    def write(self) -> None:
        """`flush` and `refresh`; writes a checkpoint if many entries were read since the last."""
        self.flush()
        self.refresh()
        if self._since_checkpoint >= CHECKPOINT_EVERY:
            self.checkpoint()

    def compress(self, before: datetime) -> Iterator[int]:
        """Compress this device's files; see `Journal.compress`."""
        return self._journal.compress(before)

    def checkpoint(self) -> None:
        """Save the state, so that the next start need not read all entries."""
        if self._keyvalue is None:
            return
        with self._reading:
            checkpoint = _Checkpoint(
                format=FORMAT, marks=self._marks, numbers=self._numbers, state=self.state
            )
            data = checkpoint.model_dump_json().encode()
            self._keyvalue().put(NAMESPACE, self._device, data)
            self._since_checkpoint = 0

    def close(self) -> None:
        """Flush the signals and save a checkpoint; never raises."""
        try:
            self.flush()
            self.checkpoint()
        except MemvaultError as error:
            logger.warning("what was learnt is not written: %s", error.message)

    # -- what was learnt ------------------------------------------------------------------------

    def utility(self, memory_id: str) -> float:
        """The sum of a memory's rewards, decayed by their age; 0 if it has none."""
        use = self.state.memories.get(memory_id)
        return use.utility(self._today()) if use is not None else 0.0

    def rewards_by_question(self, memory_id: str) -> dict[str, float]:
        """The sums of a memory's rewards by their question, decayed by their age."""
        today = self._today()
        if self._by_question[0] != today:
            self._by_question = (today, {})
        by_memory = self._by_question[1]
        if memory_id not in by_memory:
            contexts = list(self.state.contexts.get(memory_id, {}).items())
            by_memory[memory_id] = {question: use.utility(today) for question, use in contexts}
        return by_memory[memory_id]

    def weights(self, ids: Sequence[str], fits: Mapping[str, float] = NO_FITS) -> list[float]:
        """The learnt weights of memories for ranking, in (-1, 1); 0 without rewards.

        Args:
            fits: how well earlier questions fit the current one, in [0, 1]; rewards for a question
                count by its fit, rewards without a question fully.
        """
        return [
            math.tanh(
                sum(
                    worth * (fits.get(question, 0.0) if question else 1.0)
                    for question, worth in self.rewards_by_question(memory_id).items()
                )
                / SATURATION
            )
            for memory_id in ids
        ]

    def link_weight(self, source: str, target: str) -> float:
        """The learnt weight of a link, from the rewards of walking it, in (-1, 1)."""
        if not self.state.edges:
            return 0.0
        use = self.state.edges.get(" ".join(sorted((source, target))))
        return math.tanh(use.utility(self._today()) / SATURATION) if use is not None else 0.0

    def chains(self) -> list[tuple[tuple[str, ...], Use]]:
        """The chains of nodes that led to memories, with their use."""
        return [(tuple(key.split(" ")), use) for key, use in list(self.state.chains.items())]

    def together(self) -> list[tuple[str, str, Use]]:
        """The pairs of memories that were read in one session, with their use."""
        pairs = [(key.split(" "), use) for key, use in list(self.state.pairs.items())]
        return [(ids[0], ids[1], use) for ids, use in pairs]

    def unanswered(self) -> list[tuple[str, datetime, str]]:
        """The questions that found nothing, when they were last asked, and by which client.

        The latest come first; the client is empty for the person.
        """
        questions = list(self.state.questions.items())
        rows = [
            (text, question.last, question.client)
            for text, question in questions
            if question.last is not None and question.is_open
        ]
        return nlargest(MAX_UNANSWERED, rows, key=lambda row: (row[1], row[0]))

    def rewards(self, client: str, within: timedelta | None = None) -> list[Reward]:
        """The rewards that a client was credited with, oldest first."""
        rewards = list(self.state.rewards.get(client, ()))
        if within is None:
            return rewards
        since = self._clock() - within
        return [reward for reward in rewards if reward.at >= since]

    def _today(self) -> int:
        return self._clock().astimezone(UTC).toordinal()


def _resets(entries: Sequence[JournalEntry]) -> list[JournalEntry]:
    undone = {entry.data.get("reset") for entry in entries if entry.kind == RESET_UNDONE}
    return [entry for entry in entries if entry.kind == RESET and entry.id not in undone]


def _until(reset: JournalEntry) -> datetime:
    try:
        return datetime.fromisoformat(str(reset.data.get("until")))
    except ValueError:
        return reset.ts
