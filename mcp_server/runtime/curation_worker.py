"""What waits for a person, looked for in the background, and the daily sweep of the trash."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memvault.curation.tasks.dismissed_tasks import LeftTasks
from memvault.curation.tasks.finder import TaskFinder
from memvault.curation.tasks.note_facts import Noted
from memvault.curation.trash.forget import Forgetter
from memvault.model.change import CurationTask
from memvault.model.errors import MemvaultError

if TYPE_CHECKING:
    from indexer.catalogue import NoteRecord
    from mcp_server.runtime.generations import Index

logger = logging.getLogger(__name__)
SETTLE_SECONDS = 0.5  # without a change
LONGEST_WAIT = 30.0  # seconds; under a stream of changes tasks are looked for at least this often
STEP_SECONDS = 0.01  # of work; then as long is left to those who ask
RETRY_SECONDS = 10.0  # after a store did not answer
DAY_SECONDS = 24 * 3600.0
FIRST_PATIENCE = 2.0  # seconds that a call waits where nothing was ever looked for


class _Stopping(Exception):
    """Raised in the middle of a search, so that closing need not wait for it."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Changed paths, or everything, since a moment of the monotonic clock."""

    paths: frozenset[str] = frozenset()
    everything: bool = False
    first: float = 0.0
    last: float = 0.0

    def __bool__(self) -> bool:
        return self.last > 0.0

    def due(self) -> float:
        return min(self.last + SETTLE_SECONDS, self.first + LONGEST_WAIT)


class Curation:
    """Finds the tasks of the live indexes after changes, in a thread of its own. Thread-safe.

    Args:
        index: the live generation.
        left: what a person left as it is, which is no task.
        clock: the time, with a zone.
    """

    def __init__(
        self,
        index: Callable[[], Index],
        forgetter: Forgetter,
        left: LeftTasks,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._index = index
        self._forgetter = forgetter
        self.left = left
        self._clock = clock
        self._condition = threading.Condition()
        self._waiting = _Waiting()
        self._looking = False
        self._stopped = False
        self._sweep_at = self._rested = 0.0
        self._tasks: tuple[CurationTask, ...] | None = None
        self._open: tuple[tuple[CurationTask, ...], int, tuple[CurationTask, ...]] | None = None
        self._finder: tuple[Index, TaskFinder] | None = None
        self._notes: dict[str, tuple[NoteRecord, Noted]] = {}  # by path, as they were last
        self._thread = threading.Thread(target=self._run, name="memvault-curation", daemon=True)

    def start(self) -> None:
        """Look at everything, and sweep the trash now and every day."""
        with self._condition:
            self._sweep_at = time.monotonic()
        self._add(frozenset(), everything=True)

    def changed(self, paths: Collection[str]) -> None:
        """Look at these notes when changes have settled; returns at once."""
        self._add(frozenset(paths))

    def tasks(self) -> tuple[CurationTask, ...]:
        """What was found last, most pressing first. Waits only where nothing ever was."""
        if self._tasks is None:
            self.wait(FIRST_PATIENCE)
        return self._still_open()

    def pending(self) -> int:
        """How many tasks were found last."""
        return len(self._still_open())

    def _still_open(self) -> tuple[CurationTask, ...]:
        """Every answer says how many there are, so they are sorted out once for each search and
        each decision of the person."""
        tasks, decided = self._tasks or (), self.left.decided
        if self._open is None or self._open[0] is not tasks or self._open[1] != decided:
            memory_of, still = self._index().indexer.catalogue.by_id, tasks
            if self.left.last() is not None:
                still = tuple(each for each in tasks if not self.left.holds(each, memory_of))
            self._open = (tasks, decided, still)
        return self._open[2]

    def wait(self, timeout: float) -> bool:
        """Wait until all changes are looked at; False when the time (seconds) ran out."""
        with self._condition:
            return self._condition.wait_for(
                lambda: self._stopped or not (self._waiting or self._looking), timeout
            )

    def ask_to_stop(self) -> None:
        """Begin nothing more; returns at once."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()

    def stop(self, timeout: float) -> None:
        """Stop, waiting for so many seconds at most."""
        self.ask_to_stop()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _add(self, paths: frozenset[str], *, everything: bool = False) -> None:
        with self._condition:
            if self._stopped:
                return
            now, known = time.monotonic(), self._waiting
            self._waiting = _Waiting(
                known.paths | paths, known.everything or everything, known.first or now, now
            )
            if self._thread.ident is None:
                self._thread.start()
            self._condition.notify_all()

    def _run(self) -> None:
        while (waiting := self._next()) is not None:
            try:
                self._sweep()
                self._look(waiting)
            except _Stopping:
                return
            except MemvaultError as error:
                if not self._stopped:
                    logger.warning("curation tasks are those of before: %s", error.message)
                    self._try_again(waiting)
            except Exception:
                if not self._stopped:
                    logger.exception("looking for curation tasks failed")
                    self._finder = None
                    self._try_again(replace(waiting, everything=True))
            finally:
                self._done()

    def _next(self) -> _Waiting | None:
        """What has settled, or nothing when a day has passed, which makes facts stale; None to
        stop."""
        with self._condition:
            while not self._stopped:
                now = time.monotonic()
                due = self._waiting.due() if self._waiting else self._sweep_at
                if due and now >= due:
                    waiting, self._waiting = self._waiting, _Waiting()
                    self._looking = True
                    return waiting
                self._condition.wait(due - now if due else None)
        return None

    def _sweep(self) -> None:
        """Once a day, delete what was forgotten thirty days ago."""
        with self._condition:
            due = bool(self._sweep_at) and time.monotonic() >= self._sweep_at
            self._sweep_at = time.monotonic() + DAY_SECONDS if due else self._sweep_at
        if due:
            for tombstone in self._forgetter.purge():
                logger.info("deleted for good after 30 days: %s", tombstone.path)

    def _look(self, waiting: _Waiting) -> None:
        index = self._index()
        everything = waiting.everything
        if self._finder is None or self._finder[0] is not index:
            finder = TaskFinder(
                index.edges, index.similarity_index, index.indexer.vault.read, self._go_on
            )
            self._finder, everything = (index, finder), True
        known, self._notes = self._notes, {}
        for record in index.indexer.catalogue.records():
            kept = known.get(record.memory.path)
            if kept is None or kept[0] is not record:
                kept = record, _noted(record)
            self._notes[record.memory.path] = kept
        notes = [noted for _, noted in self._notes.values()]
        paths = None if everything else waiting.paths
        self._tasks = tuple(self._finder[1].find(notes, paths, self._clock()))

    def _go_on(self) -> None:
        """Called between steps of a search."""
        if self._stopped:
            raise _Stopping
        if time.monotonic() - self._rested >= STEP_SECONDS:
            time.sleep(STEP_SECONDS)
            self._rested = time.monotonic()

    def _try_again(self, waiting: _Waiting) -> None:
        with self._condition:
            self._condition.wait_for(lambda: self._stopped, RETRY_SECONDS)
        self._add(waiting.paths, everything=waiting.everything)

    def _done(self) -> None:
        with self._condition:
            self._looking = False
            self._condition.notify_all()


def _noted(record: NoteRecord) -> Noted:
    saved = datetime.fromtimestamp(record.mtime_ns / 1e9, tz=UTC)
    return Noted(record.memory, saved, record.frontmatter_problem, record.warnings)
