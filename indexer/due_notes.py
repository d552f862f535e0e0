"""Which change indexes each note: the newest reading of a note is written, older ones are not."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from indexer.change_set import ChangeSet
from memvault.model.priority import AwaitedLock
from memvault.vault.walk import NoteStat

LOOK_SECONDS = 0.01  # between two checks whether other changes are done


class DueNotes:
    """The notes that running changes index, each with its newest change.

    Args:
        lock: guards this object, and is held in every method that does not take it itself.
    """

    def __init__(self, lock: AwaitedLock) -> None:
        self._lock = lock
        self._running = 0  # changes
        self._due: dict[str, ChangeSet] = {}  # the newest change of each note to be indexed

    @property
    def is_any_running(self) -> bool:
        return self._running > 0

    def wait_until_none_runs(self, timeout: float) -> bool:
        """Wait for the running changes; False after ``timeout`` seconds."""
        end = time.monotonic() + timeout
        while self._lock.acquire(timeout=max(0.0, end - time.monotonic())):
            is_idle = not self.is_any_running
            self._lock.release()
            if is_idle or time.monotonic() >= end:
                return is_idle
            time.sleep(LOOK_SECONDS)
        return False

    def __contains__(self, path: str) -> bool:
        return path in self._due

    def paths(self) -> Collection[str]:
        return self._due.keys()

    def stat(self, path: str, default: NoteStat) -> NoteStat | None:
        """The note's file when its newest change read it; the default if it was not read yet."""
        return self._due[path].stats.get(path, default)

    def paths_of(self, changes: ChangeSet) -> set[str]:
        """Paths of the notes that this change still has to index."""
        return {path for path, due in self._due.items() if due is changes}

    def assign(self, paths: Collection[str], changes: ChangeSet) -> None:
        """Let this change index these notes, instead of earlier changes."""
        self._due.update(dict.fromkeys(paths, changes))

    def release(self, changes: ChangeSet) -> bool:
        """Remove the change's notes; returns whether no other notes are due."""
        with self._lock:
            for path in self.paths_of(changes):
                del self._due[path]
            return not self._due

    @contextmanager
    def taken_over(self, changes: ChangeSet, paths: Collection[str]) -> Iterator[set[str]]:
        """Take over these notes from earlier changes while the block runs.

        Then waits until notes that later changes took over are indexed, too. Yields those of the
        notes that were taken from earlier changes: write these even if they look unchanged.
        """
        with self._lock:
            self._running += 1
            taken = self._due.keys() & paths
            self.assign(paths, changes)
        try:
            yield taken
        finally:
            with self._lock:
                self.release(changes)
                self._running -= 1
        while not self._lock.is_held:
            with self._lock:
                if not self._due.keys() & paths:
                    return
            time.sleep(LOOK_SECONDS)
