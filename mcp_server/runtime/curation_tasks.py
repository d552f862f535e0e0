"""Finds tasks for the person in the background."""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from memvault.consolidation.dreams.record import Discovery
from memvault.curation.changes.client_limits import ClientLimits
from memvault.curation.tasks.dismissed_tasks import DismissedTasks
from memvault.curation.tasks.dream_tasks import dream_tasks
from memvault.curation.tasks.finder import TaskFinder, few_of_each
from memvault.curation.tasks.note_tasks import client_tasks
from memvault.model.change import CurationTask, TaskType
from memvault.model.errors import MemvaultError, StorageError
from memvault.model.priority import make_way

if TYPE_CHECKING:
    from mcp_server.runtime.generations import Generation
    from mcp_server.runtime.worker import Worker

logger = logging.getLogger(__name__)
SETTLE_SECONDS = 0.5  # without a change, after which tasks are searched
LONGEST_WAIT = 30.0  # seconds after the first change, if changes never pause
STEP_SECONDS = 0.01  # of work, followed by a pause as long, so that calls are not slowed down
DAY_SECONDS = 24 * 3600.0
FIND, DAILY = "find curation tasks", "find curation tasks every day"
FIRST_PATIENCE = 2.0  # seconds that a call waits for the first search


class _SearchStopped(Exception):
    """Ends a search early, so that closing does not wait for it."""


@dataclass(frozen=True, slots=True)
class _PendingChanges:
    """The paths to check, or all; ``first`` and ``last`` are the times of changes (monotonic)."""

    paths: frozenset[str] = frozenset()
    everything: bool = False
    first: float = 0.0
    last: float = 0.0

    def __bool__(self) -> bool:
        return self.last > 0.0

    def due(self) -> float:
        return min(self.last + SETTLE_SECONDS, self.first + LONGEST_WAIT)


@dataclass(frozen=True, slots=True)
class _OpenTasks:
    """The tasks among those found that are not dismissed, and those that wait for the person."""

    found: tuple[CurationTask, ...]
    dismissed: Mapping[str, datetime] | None
    tasks: tuple[CurationTask, ...]
    waiting: tuple[CurationTask, ...]


@dataclass(eq=False)
class CurationTasks:
    """Finds the tasks of the live indexes after changes. Thread-safe.

    Attributes:
        live: returns the live generation.
        dismissed: tasks that the person dismissed.
        dream_proposals: returns the proposals of dreams.
        clock: the time, with a zone.
    """

    live: Callable[[], Generation]
    dismissed: DismissedTasks
    worker: Worker
    limits: ClientLimits
    dream_proposals: Callable[[], Sequence[Discovery]]
    clock: Callable[[], datetime]

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._pending = _PendingChanges()
        self._paused_at = 0.0
        self._awaited = 0  # calls that wait for the search, so it must not make way for them
        self._tasks: tuple[CurationTask, ...] | None = None
        self._open_cache: _OpenTasks | None = None
        self._kinds_cache: tuple[tuple[CurationTask, ...], dict[str, set[TaskType]]] | None = None
        self._finder: tuple[Generation, TaskFinder] | None = None

    def start(self) -> None:
        """Check all notes, now and every day."""
        self._add(frozenset(), everything=True)
        self.worker.run(DAILY, self._check_everything, after=DAY_SECONDS)

    def changed(self, paths: Collection[str]) -> None:
        """Check these notes once changes pause; returns at once."""
        self._add(frozenset(paths))

    def tasks(self) -> tuple[CurationTask, ...]:
        """The tasks that wait for the person, most urgent first: few of each kind that is a guess.
        Waits only for the first search."""
        return self._open_tasks(FIRST_PATIENCE).waiting

    def open_tasks(self) -> tuple[CurationTask, ...]:
        """All tasks that the person has not dismissed, most urgent first. Waits as `tasks` does."""
        return self._open_tasks(FIRST_PATIENCE).tasks

    @property
    def is_searched(self) -> bool:
        """Whether tasks were looked for since the start."""
        return self._tasks is not None

    def pending(self) -> int:
        """The number of tasks that wait for the person."""
        return len(self._open_tasks().waiting)

    def kinds(self, ids: Collection[str] | None) -> frozenset[TaskType]:
        """The kinds of open tasks about these memories; None for all.

        Every answer asks, so this does not look for what other processes dismissed since the last
        `tasks` or `pending`.
        """
        cached = self._open_cache
        if cached is not None and cached.found is (self._tasks or ()):
            tasks = cached.tasks
        else:
            tasks = self._open_tasks().tasks
        if ids is None:
            return frozenset(task.task_type for task in tasks)
        if self._kinds_cache is None or self._kinds_cache[0] is not tasks:
            by_node: dict[str, set[TaskType]] = defaultdict(set)
            for task in tasks:
                for key in task.target_nodes:
                    by_node[key].add(task.task_type)
            self._kinds_cache = (tasks, by_node)
        kinds = self._kinds_cache[1]
        return frozenset(kind for key in ids for kind in kinds.get(key, ()))

    def _open_tasks(self, patience: float = 0.0) -> _OpenTasks:
        """The open tasks; waits so many seconds for the first search."""
        if patience and self._tasks is None:
            self.wait(patience)
        found, cached, by_id = self._tasks or (), self._open_cache, self.live().catalogue.by_id
        try:
            dismissed = self.dismissed.by_key()
            if cached is None or cached.found is not found or cached.dismissed is not dismissed:
                tasks = self.dismissed.open_among(found, by_id)
                cached = _OpenTasks(found, dismissed, tasks, few_of_each(tasks, by_id))
                self._open_cache = cached
        except StorageError:  # no answer fails because the journal cannot be read for a moment
            return cached or _OpenTasks(found, None, found, few_of_each(found, by_id))
        return cached

    def waiting_dream_keys(self) -> set[str]:
        """The keys of dreams' proposals that wait for the person."""
        return {task.proposal for task in self._open_tasks().tasks if task.proposal}

    def wait(self, timeout: float) -> bool:
        """Wait until all changes are checked; False if that takes longer (seconds)."""
        with self._lock:
            self._awaited += 1
        try:
            return self.worker.wait(FIND, timeout)
        finally:
            with self._lock:
                self._awaited -= 1

    def _add(self, paths: frozenset[str], *, everything: bool = False) -> None:
        with self._lock:
            now, earlier = time.monotonic(), self._pending
            self._pending = _PendingChanges(
                earlier.paths | paths, earlier.everything or everything, earlier.first or now, now
            )
            after = self._pending.due() - now
        self.worker.run(FIND, self._find, after=max(0.0, after), patient=True)

    def _find(self) -> None:
        with self._lock:
            pending, self._pending = self._pending, _PendingChanges()
        if not pending:
            return
        try:
            self._search(pending)
        except _SearchStopped:
            return
        except MemvaultError:
            self._put_back(pending)
            raise
        except Exception:
            self._finder = None
            self._put_back(replace(pending, everything=True))
            raise

    def _put_back(self, pending: _PendingChanges) -> None:
        """Keep the paths for the next search, which the worker runs after a failure."""
        with self._lock:
            newer, now = self._pending, time.monotonic()
            self._pending = _PendingChanges(
                newer.paths | pending.paths, newer.everything or pending.everything, now, now
            )

    def _check_everything(self) -> float:
        """Check all notes again: some tasks come with time alone."""
        self._add(frozenset(), everything=True)
        return DAY_SECONDS

    def _search(self, pending: _PendingChanges) -> None:
        live = self.live()
        everything = pending.everything
        if self._finder is None or self._finder[0] is not live:
            finder = TaskFinder(
                live.graph_view,
                live.similarity_index,
                live.indexer.vault.read,
                self._pause,
                live.indexer.vault.folders,
            )
            self._finder, everything = (live, finder), True
        paths = None if everything else pending.paths
        tasks = self._finder[1].find(live.catalogue.records(), paths, self.clock())
        tasks += client_tasks(self.limits.excesses(), live.catalogue.by_path)
        tasks += dream_tasks(self.dream_proposals(), live.catalogue.by_id, live.graph_view)
        self._tasks = tuple(sorted(tasks, key=lambda task: task.order))

    def _pause(self) -> None:
        """Pause or stop the search; called between its steps."""
        if self.worker.stopped:
            raise _SearchStopped
        if not self._awaited:
            make_way()
        if time.monotonic() - self._paused_at >= STEP_SECONDS:
            time.sleep(STEP_SECONDS)
            self._paused_at = time.monotonic()
