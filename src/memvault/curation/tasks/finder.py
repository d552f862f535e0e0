"""Finds the curation tasks of a vault, and updates them as notes change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from memvault.cognition.similarity_index import SimilarityIndex
from memvault.cognition.vector_rows import Rows
from memvault.curation.tasks.conflict_tasks import (
    NoteStatements,
    conflict_tasks,
    note_statements,
)
from memvault.curation.tasks.near_duplicates import Duplicates
from memvault.curation.tasks.note_tasks import (
    IndexedNote,
    Orphans,
    ages_from,
    finished_projects,
    missing_notes,
    orphan,
    outdated,
    promotion,
    unreadable_parts,
    unresolved,
    unverified,
)
from memvault.model.change import CurationTask, TaskType
from memvault.model.errors import MemvaultError
from memvault.model.memory import Memory, MemoryOf
from memvault.reasoning.conflicts import stated_conflicts
from memvault.stores.graph_view import GraphView
from memvault.vault.note_folders import NoteFolders
from memvault.vault.session_lines import is_captured
from memvault.verification.claims.claim_sources import outdated_notes

# After that, a note without links is meant to have none, and what a session decided is history.
ASKED_FOR = timedelta(days=30)
MAX_SUGGESTED = 20  # orphans with a suggested note: as many as are shown
# Kinds that are a guess: from a note's age or links, of a captured session, or by a dream. A vault
# that is new to memvault, or long in use, has many, and a person who sees dozens answers none.
GUESSED = frozenset(
    {
        TaskType.STALE_FACT, TaskType.ORPHAN, TaskType.UNRESOLVED_LINKS, TaskType.PROMOTION,
        TaskType.MISSING_LINK, TaskType.CLUSTER_SUMMARY, TaskType.OPEN_QUESTION,
        TaskType.ANSWERED_QUESTION,
    }
)  # fmt: skip
MAX_GUESSED = 5  # of each of these kinds that wait at a time


def few_of_each(tasks: Sequence[CurationTask], memory_of: MemoryOf) -> tuple[CurationTask, ...]:
    """The tasks in their order, but only the first few of each of the `GUESSED` kinds.

    Of the sessions the latest few: the person remembers them.
    """

    def created(task: CurationTask) -> float:
        memory = memory_of(task.target_nodes[0])
        return memory.created_at.timestamp() if memory is not None else 0.0

    of_kind: dict[TaskType, list[CurationTask]] = defaultdict(list)
    for task in tasks:
        of_kind[task.task_type].append(task)
    of_kind[TaskType.PROMOTION].sort(key=created, reverse=True)
    few = {kind: each[:MAX_GUESSED] for kind, each in of_kind.items() if kind in GUESSED}
    kept = {id(task) for of_this in (of_kind | few).values() for task in of_this}
    return tuple(task for task in tasks if id(task) in kept)


@dataclass(frozen=True, slots=True)
class _NoteTasks:
    """The tasks and statements of one note, as of its last change.

    ``confirmed`` is the day from which its age counts; None if it cannot go stale.
    """

    facts: IndexedNote
    tasks: tuple[CurationTask, ...]
    confirmed: datetime | None
    missing: tuple[str, ...]
    stated: NoteStatements


@dataclass(eq=False)
class TaskFinder:
    """Finds the tasks of one generation of indexes. Not thread-safe.

    Tasks about a single note are found again only when it changes, those about several notes on
    each call.

    Attributes:
        edges, similarity_index: those of that generation.
        read: gives a note's bytes, by path.
        go_on: called between steps; may pause, and raises to stop.
        note_folders: where memvault writes new notes.
    """

    edges: GraphView
    similarity_index: SimilarityIndex
    read: Callable[[str], bytes]
    go_on: Callable[[], None]
    note_folders: NoteFolders

    def __post_init__(self) -> None:
        self._duplicates = Duplicates(self.read, self.go_on)
        self._orphans = Orphans(self.edges)
        self._by_note: dict[str, _NoteTasks] = {}
        self._ids_at: dict[str, str] = {}
        self._stale: dict[str, tuple[_NoteTasks, int, CurationTask]] = {}  # with its age in days

    def find(
        self, notes: Iterable[IndexedNote], changed: Collection[str] | None, now: datetime
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
        changed_ids = self._changed_ids(memories, changed)
        saved = {key for key, note in self._by_note.items() if by_id.get(key) is not note.facts}
        for key in changed_ids | saved:
            self.go_on()
            self._by_note.pop(key, None)
            if key in by_id:
                self._by_note[key] = self._read(by_id[key], now)
        self.go_on()
        tasks = [task for note in self._by_note.values() for task in note.tasks]
        tasks += self._stale_tasks(memories.get, now)
        tasks += finished_projects(by_id.values(), now, self.note_folders)
        tasks += [
            unresolved(memories[key], note.missing)
            for key, note in self._by_note.items()
            if note.missing
        ]
        self.go_on()
        rows = self.similarity_index.rows(sorted(memories))
        tasks += self._orphan_tasks(memories, changed_ids, rows, now)
        self.go_on()
        tasks += conflict_tasks(
            [note.stated for note in self._by_note.values() if note.stated],
            self.edges,
            memories.get,
        )
        self.go_on()
        tasks += self._duplicates.tasks(memories, changed_ids, rows)
        return sorted(tasks, key=lambda task: task.order)

    def _changed_ids(
        self, memories: Mapping[str, Memory], changed: Collection[str] | None
    ) -> set[str]:
        before, self._ids_at = self._ids_at, {m.path: key for key, m in memories.items()}
        if changed is None:
            return set(memories) | set(before.values())
        ids = {at[path] for at in (before, self._ids_at) for path in changed if path in at}
        return ids | (set(before.values()) - memories.keys())

    def _read(self, facts: IndexedNote, now: datetime) -> _NoteTasks:
        memory = facts.memory
        tasks = [*unreadable_parts(facts), unverified(facts), self._promotion(memory, now)]
        stated = note_statements(memory, self.edges)
        return _NoteTasks(
            facts,
            tuple(task for task in tasks if task is not None),
            ages_from(facts, self.note_folders, states_value=bool(stated.triples)),
            missing_notes(memory.id, self.edges),
            stated,
        )

    def _promotion(self, memory: Memory, now: datetime) -> CurationTask | None:
        # A session is read with the checks for text from clients, which take some 20 ms.
        if not is_captured(memory) or now - memory.created_at > ASKED_FOR:
            return None
        sources = {edge.source for edge in self.edges.touching(memory.id)} - {memory.id}
        nodes = (self.edges.node(source) for source in sources)
        paths = [node.path for node in nodes if node is not None and node.path]
        try:
            return promotion(memory, self.read(memory.path), map(self.read, paths))
        except MemvaultError:
            return None  # just removed; that change is processed next

    def _stale_tasks(self, memory_of: MemoryOf, now: datetime) -> list[CurationTask]:
        before, self._stale = self._stale, {}
        for key, note in self._by_note.items():
            if note.confirmed is None:
                continue
            earlier, days = before.get(key), (now - note.confirmed).days
            if earlier is not None and earlier[0] is note and earlier[1] == days:
                self._stale[key] = earlier
            elif (task := outdated(note.facts.memory, note.confirmed, now)) is not None:
                self.go_on()
                self._stale[key] = note, days, task
        superseded = outdated_notes(stated_conflicts(self.edges, self._stale), memory_of)
        return [task for key, (_, _, task) in self._stale.items() if key not in superseded]

    def _orphan_tasks(
        self,
        memories: Mapping[str, Memory],
        changed_ids: Collection[str],
        rows: Rows,
        now: datetime,
    ) -> list[CurationTask]:
        """Tasks for notes without connections that were saved lately."""

        def is_asked_about(facts: IndexedNote) -> bool:
            # A note with unreadable properties cannot be edited, so no link is suggested for it.
            return facts.frontmatter_problem is None and now - facts.changed_at <= ASKED_FOR

        orphans = [
            memory
            for memory in self._orphans.find(memories, changed_ids)
            if memory.id not in self._by_note or is_asked_about(self._by_note[memory.id].facts)
        ]
        nearest = _nearest([memory.id for memory in orphans[:MAX_SUGGESTED]], rows)
        return [orphan(memory, memories.get(nearest.get(memory.id, ""))) for memory in orphans]


def _nearest(ids: Collection[str], rows: Rows) -> dict[str, str]:
    """The most similar other note of each note that has a vector."""
    wanted_ids = set(ids)
    wanted_rows = [index for index, key in enumerate(rows.ids) if key in wanted_ids]
    if not wanted_rows or len(rows.ids) < 2:
        return {}
    cosines = rows.matrix[wanted_rows] @ rows.matrix.T
    cosines[np.arange(len(wanted_rows)), wanted_rows] = -np.inf
    best = cosines.argmax(axis=1).tolist()
    return {rows.ids[row]: rows.ids[other] for row, other in zip(wanted_rows, best, strict=True)}
