"""The tasks that the person dismissed, as the journal records them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from memvault.model.change import CurationTask
from memvault.model.memory import MemoryOf
from memvault.vault.journal import Actor, Journal, JournalEntry
from memvault.vault.journal_reader import JournalReader

DISMISSED, REOPENED = "task_left", "task_taken_up"


class DismissedTasks(JournalReader):
    """The dismissed tasks of one vault. Thread-safe."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal, (DISMISSED, REOPENED))
        self._decisions: dict[str, JournalEntry] = {}  # the last one about each task
        self._dismissed: dict[str, datetime] = {}

    def by_key(self) -> Mapping[str, datetime]:
        """When each dismissed task was dismissed, by its key; the same object until that changes.

        Raises StorageError: the journal cannot be read.
        """
        with self._current():
            return self._dismissed

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

    def open_among(
        self, tasks: Sequence[CurationTask], memory_of: MemoryOf
    ) -> tuple[CurationTask, ...]:
        """These tasks without those that a person dismissed and whose notes are unchanged since.

        Raises StorageError: the journal cannot be read.
        """
        dismissed = self.by_key()
        if not dismissed:
            return tuple(tasks)
        return tuple(task for task in tasks if task_key(task, memory_of) not in dismissed)

    def last(self) -> tuple[str, datetime] | None:
        """The key of the task dismissed last, among those still dismissed, and when."""
        return max(self.by_key().items(), key=lambda item: item[1], default=None)

    def _write(
        self, kind: str, key: str, task: CurationTask | None, actor: Actor, now: datetime
    ) -> None:
        data = {"task": key}
        path = None
        if task is not None:
            data["detail"] = task.detail
            path = task.paths[0]
        with self._current():
            last = self._decisions.get(key)
            # A decision counts after the one that it follows, even if the clock was set back.
            at = now if last is None else max(now, last.ts + timedelta(microseconds=1))
            self._journal.append(JournalEntry(ts=at, kind=kind, actor=actor, path=path, data=data))

    def _take(self, entries: Sequence[JournalEntry]) -> None:
        for entry in entries:
            key = str(entry.data.get("task", ""))
            last = self._decisions.get(key)
            if last is None or last.ts <= entry.ts:
                self._decisions[key] = entry
        self._dismissed = {
            key: entry.ts for key, entry in self._decisions.items() if entry.kind == DISMISSED
        }


def task_key(task: CurationTask, memory_of: MemoryOf) -> str:
    """The key of a task: its type, its notes with their current hashes, and its subject.

    The key of a dream's proposal has no hashes: it stays dismissed when its notes change.
    """
    if task.proposal:
        return f"{task.task_type} {task.proposal}"
    memories = (memory_of(key) for key in task.target_nodes)
    notes = sorted(
        f"{memory.id}@{memory.content_hash}" for memory in memories if memory is not None
    )
    return " ".join([task.task_type, *notes, task.subject]).rstrip()
