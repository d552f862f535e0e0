"""Finds the curation tasks of a vault, updates them as notes change, and records dismissals."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from memvault.cognition.similarity_index import Rows, SimilarityIndex
from memvault.curation.tasks.note_tasks import (
    NoteFacts,
    Orphans,
    ages_from,
    finished_projects,
    is_captured,
    malformed,
    missing_notes,
    orphan,
    outdated,
    promotion,
    unresolved,
    unverified,
)
from memvault.curation.tasks.pair_tasks import (
    Duplicates,
    NoteStatements,
    conflict_tasks,
    note_statements,
)
from memvault.model.change import CurationTask
from memvault.model.errors import MemvaultError
from memvault.model.memory import Memory
from memvault.stores.graph_view import GraphView
from memvault.vault.journal import Actor, Journal, JournalEntry

DISMISSED, REOPENED = "task_left", "task_taken_up"

logger = logging.getLogger(__name__)
MemoryOf = Callable[[str], Memory | None]


class DismissedTasks:
    """The dismissed tasks of one vault. Thread-safe."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lock = threading.Lock()
        self._keys: dict[str, datetime] = {}
        self.decided = 0  # number of dismissals and reopenings
        try:
            for entry in sorted(journal.entries((DISMISSED, REOPENED)), key=lambda each: each.ts):
                self._fold(entry)
        except OSError as error:
            logger.error("the journal cannot be read: %s", error.strerror)

    def dismiss(self, task: CurationTask, memory_of: MemoryOf, actor: Actor, now: datetime) -> str:
        """Dismiss a task; returns the key by which `reopen` undoes that.

        Raises StorageError, DiskFull: the journal cannot be written.
        """
        return self._write(DISMISSED, key_of(task, memory_of), task, actor, now)

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
        key = key_of(task, memory_of)
        with self._lock:
            return key in self._keys

    def last(self) -> tuple[str, datetime] | None:
        """The key of the task dismissed last, among those still dismissed, and when."""
        with self._lock:
            return max(self._keys.items(), key=lambda item: item[1], default=None)

    def _write(
        self, kind: str, key: str, task: CurationTask | None, actor: Actor, now: datetime
    ) -> str:
        data = {"task": key}
        path = None
        if task is not None:
            data["detail"] = task.detail
            path = task.paths[0]
        entry = JournalEntry(ts=now, kind=kind, actor=actor, path=path, data=data)
        self._journal.append(entry)
        self._fold(entry)
        return key

    def _fold(self, entry: JournalEntry) -> None:
        key = str(entry.data.get("task", ""))
        with self._lock:
            self.decided += 1
            if entry.kind == DISMISSED:
                self._keys[key] = entry.ts
            else:
                self._keys.pop(key, None)


def key_of(task: CurationTask, memory_of: MemoryOf) -> str:
    """The key of a task: its type, notes and their current hashes.

    The key of a dream's proposal has no hashes: it stays dismissed when its notes change.
    """
    if task.proposal:
        return f"{task.task_type} {task.proposal}"
    memories = (memory_of(key) for key in task.target_nodes)
    notes = sorted(f"{each.id}@{each.content_hash}" for each in memories if each is not None)
    return " ".join([task.task_type, *notes])


MAX_SUGGESTED = 20  # orphans with a suggested note: as many as are shown


@dataclass(frozen=True, slots=True)
class _Own:
    """The tasks and statements of one note, as of its last change.

    ``confirmed`` is the day from which its age counts; None if it cannot go stale.
    """

    facts: NoteFacts
    tasks: tuple[CurationTask, ...]
    confirmed: datetime | None
    missing: tuple[str, ...]
    stated: NoteStatements


class TaskFinder:
    """Finds the tasks of one generation of indexes. Not thread-safe.

    Tasks about a single note are found again only when it changes, those about several notes on
    each call.

    Args:
        edges, similarity_index: those of that generation.
        read: gives a note's bytes, by path.
        go_on: called between steps; may pause, and raises to stop.
    """

    def __init__(
        self,
        edges: GraphView,
        similarity_index: SimilarityIndex,
        read: Callable[[str], bytes],
        go_on: Callable[[], None] = lambda: None,
    ) -> None:
        self._edges = edges
        self._similarity_index = similarity_index
        self._go_on = go_on
        self._note = read
        self._duplicates = Duplicates(read, go_on)
        self._orphans = Orphans(edges)
        self._own: dict[str, _Own] = {}
        self._ids_at: dict[str, str] = {}
        self._stale: dict[str, tuple[_Own, int, CurationTask]] = {}  # with its age in days

    def find(
        self, notes: Iterable[NoteFacts], changed: Collection[str] | None, now: datetime
    ) -> list[CurationTask]:
        """All tasks, most urgent first.

        Args:
            notes: all indexed notes; for an unchanged note, the same object as in the last call.
            changed: paths that were written, relinked or removed since the last call; None for
                all notes.

        Raises:
            StoreUnavailable, GraphQueryError: the graph does not answer.
        """
        by_id = {facts.memory.id: facts for facts in notes}
        memories = {key: facts.memory for key, facts in by_id.items()}
        again = self._changed_ids(memories, changed)
        saved = {key for key, own in self._own.items() if by_id.get(key) is not own.facts}
        for key in again | saved:
            self._go_on()
            self._own.pop(key, None)
            if key in by_id:
                self._own[key] = self._read(by_id[key])
        self._go_on()
        tasks = [task for own in self._own.values() for task in own.tasks]
        tasks += self._stale_tasks(now)
        tasks += finished_projects(by_id.values(), now)
        tasks += [
            unresolved(memories[key], own.missing) for key, own in self._own.items() if own.missing
        ]
        self._go_on()
        rows = self._similarity_index.rows(sorted(memories))
        tasks += self._lonely(memories, again, rows)
        self._go_on()
        tasks += conflict_tasks(
            [own.stated for own in self._own.values() if own.stated], self._edges, memories.get
        )
        self._go_on()
        tasks += self._duplicates.tasks(memories, again, rows)
        return sorted(tasks, key=lambda task: task.order)

    def _changed_ids(
        self, memories: Mapping[str, Memory], changed: Collection[str] | None
    ) -> set[str]:
        before, self._ids_at = self._ids_at, {m.path: key for key, m in memories.items()}
        if changed is None:
            return set(memories) | set(before.values())
        ids = {at[path] for at in (before, self._ids_at) for path in changed if path in at}
        return ids | (set(before.values()) - memories.keys())

    def _read(self, facts: NoteFacts) -> _Own:
        memory = facts.memory
        found = [*malformed(facts), unverified(facts), self._promotion(memory)]
        stated = note_statements(memory, self._edges)
        return _Own(
            facts,
            tuple(task for task in found if task is not None),
            ages_from(facts, states_value=bool(stated.statements)),
            missing_notes(memory.id, self._edges),
            stated,
        )

    def _promotion(self, memory: Memory) -> CurationTask | None:
        if not is_captured(memory):
            return None
        sources = {edge.source for edge in self._edges.touching(memory.id)} - {memory.id}
        nodes = (self._edges.node(each) for each in sources)
        paths = [node.path for node in nodes if node is not None and node.path]
        try:
            return promotion(memory, self._note(memory.path), map(self._note, paths))
        except MemvaultError:
            return None  # just removed; that change is processed next

    def _stale_tasks(self, now: datetime) -> list[CurationTask]:
        before, self._stale = self._stale, {}
        for key, own in self._own.items():
            if own.confirmed is None:
                continue
            known, days = before.get(key), (now - own.confirmed).days
            if known is not None and known[0] is own and known[1] == days:
                self._stale[key] = known
            elif (task := outdated(own.facts.memory, own.confirmed, now)) is not None:
                self._go_on()
                self._stale[key] = own, days, task
        around = self._similarity_index.around(self._stale)
        return [task for key, (_, _, task) in self._stale.items() if not around[key].outdated_by]

    def _lonely(
        self, memories: Mapping[str, Memory], again: Collection[str], rows: Rows
    ) -> list[CurationTask]:
        # A note with unreadable properties cannot be edited, so no link is suggested for it.
        alone = [
            memory
            for memory in self._orphans.find(memories, again)
            if memory.id not in self._own or self._own[memory.id].facts.problem is None
        ]
        nearest = _nearest([memory.id for memory in alone[:MAX_SUGGESTED]], rows)
        return [orphan(memory, memories.get(nearest.get(memory.id, ""))) for memory in alone]


def _nearest(ids: Collection[str], rows: Rows) -> dict[str, str]:
    """The most similar other note of each note that has a vector."""
    wanted = set(ids)
    at = [place for place, key in enumerate(rows.ids) if key in wanted]
    if not at or len(rows.ids) < 2:
        return {}
    cosines = rows.matrix[at] @ rows.matrix.T
    cosines[np.arange(len(at)), at] = -np.inf
    best = cosines.argmax(axis=1).tolist()
    return {rows.ids[own]: rows.ids[other] for own, other in zip(at, best, strict=True)}
