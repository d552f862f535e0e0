"""The tasks that the person dismissed, as the journal records them."""

from __future__ import annotations

import threading
from datetime import datetime

from memvault.model.change import CurationTask
from memvault.model.memory import MemoryOf
from memvault.vault.journal import Actor, Journal, JournalEntry

DISMISSED, REOPENED = "task_left", "task_taken_up"


class DismissedTasks:
    """The dismissed tasks of one vault. Thread-safe."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lock = threading.Lock()
        self._keys: dict[str, datetime] = {}
        self.decided = 0  # number of dismissals and reopenings
        for entry in sorted(journal.entries((DISMISSED, REOPENED)), key=lambda entry: entry.ts):
            self._apply(entry)

    def dismiss(self, task: CurationTask, memory_of: MemoryOf, actor: Actor, now: datetime) -> None:
        """Dismiss a task until one of its notes changes.

        Raises StorageError, DiskFull: the journal cannot be written.
        """
        self._write(DISMISSED, task_key(task, memory_of), task, actor, now)

    def reopen(self, key: str, actor: Actor, now: datetime) -> None:
        """Show a dismissed task again.

        Raises StorageError, DiskFull: the journal cannot be written.
        """
        self._write(REOPENED, key, None, actor, now)

    def holds(self, task: CurationTask, memory_of: MemoryOf) -> bool:
        """Whether a person dismissed this task and its notes are unchanged since."""
        with self._lock:
            if not self._keys:
                return False
        key = task_key(task, memory_of)
        with self._lock:
            return key in self._keys

    def last(self) -> tuple[str, datetime] | None:
        """The key of the task dismissed last, among those still dismissed, and when."""
        with self._lock:
            return max(self._keys.items(), key=lambda item: item[1], default=None)

    def _write(
        self, kind: str, key: str, task: CurationTask | None, actor: Actor, now: datetime
    ) -> None:
        data = {"task": key}
        path = None
        if task is not None:
            data["detail"] = task.detail
            path = task.paths[0]
        entry = JournalEntry(ts=now, kind=kind, actor=actor, path=path, data=data)
        self._journal.append(entry)
        self._apply(entry)

    def _apply(self, entry: JournalEntry) -> None:
        key = str(entry.data.get("task", ""))
        with self._lock:
            self.decided += 1
            if entry.kind == DISMISSED:
                self._keys[key] = entry.ts
            else:
                self._keys.pop(key, None)


def task_key(task: CurationTask, memory_of: MemoryOf) -> str:
    """The key of a task: its type, notes and their current hashes.

    The key of a dream's proposal has no hashes: it stays dismissed when its notes change.
    """
    if task.proposal:
        return f"{task.task_type} {task.proposal}"
    memories = (memory_of(key) for key in task.target_nodes)
    notes = sorted(
        f"{memory.id}@{memory.content_hash}" for memory in memories if memory is not None
    )
    return " ".join([task.task_type, *notes])
