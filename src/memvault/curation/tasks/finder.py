"""All curation tasks of one vault, kept true as notes change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from memvault.cognition.landscape import Landscape
from memvault.curation.tasks.conflicts import Stated, conflict_tasks, stated
from memvault.curation.tasks.duplicates import Duplicates
from memvault.curation.tasks.links import missing_notes, orphan, orphans, unresolved
from memvault.curation.tasks.noted import Noted, malformed
from memvault.curation.tasks.stale import stale
from memvault.curation.tasks.unverified import unverified
from memvault.model.curation import CurationTask
from memvault.model.memory import Memory
from memvault.reasoning.edges import EdgeIndex

MOST_SUGGESTED = 20  # orphans for which the closest note is looked up: as many as are shown


@dataclass(frozen=True, slots=True)
class _Own:
    """What one note's edges say, as of its last change."""

    missing: tuple[str, ...]
    stated: Stated


class TaskFinder:
    """Finds the tasks of one generation of indexes. Not thread-safe.

    Args:
        edges, landscape: of that generation.
        read: a note's bytes, by path.
        go_on: called between steps; may pause, and raises to stop.
    """

    def __init__(
        self,
        edges: EdgeIndex,
        landscape: Landscape,
        read: Callable[[str], bytes],
        go_on: Callable[[], None] = lambda: None,
    ) -> None:
        self._edges = edges
        self._landscape = landscape
        self._go_on = go_on
        self._duplicates = Duplicates(landscape.vectors, read, go_on)
        self._own: dict[str, _Own] = {}
        self._ids_at: dict[str, str] = {}

    def find(
        self, notes: Iterable[Noted], changed: Collection[str] | None, now: datetime
    ) -> list[CurationTask]:
        """Every task, most pressing first.

        Args:
            notes: all that are indexed.
            changed: paths that were written, linked anew or are gone since the last time; None
                to look at everything.

        Raises:
            StoreUnavailable, GraphQueryError: the graph does not answer.
        """
        notes = list(notes)
        memories = {noted.memory.id: noted.memory for noted in notes}
        again = self._changed_ids(memories, changed)
        for key in again:
            self._go_on()
            self._own.pop(key, None)
            if key in memories:
                missing = missing_notes(key, self._edges)
                own = stated(memories[key], self._edges)
                if missing or own:
                    self._own[key] = _Own(missing, own)
        tasks = [task for noted in notes for task in malformed(noted)]
        tasks += self._stale(notes, now)
        tasks += [task for noted in notes if (task := unverified(noted)) is not None]
        tasks += self._links(memories)
        tasks += conflict_tasks(
            [own.stated for own in self._own.values()], self._edges, memories.get
        )
        tasks += self._duplicates.tasks(memories, again)
        return sorted(tasks, key=lambda task: task.order)

    def _changed_ids(
        self, memories: Mapping[str, Memory], changed: Collection[str] | None
    ) -> set[str]:
        before, self._ids_at = self._ids_at, {m.path: key for key, m in memories.items()}
        if changed is None:
            return set(memories) | set(before.values())
        ids = {at[path] for at in (before, self._ids_at) for path in changed if path in at}
        return ids | (set(before.values()) - memories.keys())

    def _stale(self, notes: Iterable[Noted], now: datetime) -> list[CurationTask]:
        due: dict[str, CurationTask] = {}
        for noted in notes:
            self._go_on()
            if (task := stale(noted, now)) is not None:
                due[noted.memory.id] = task
        around = self._landscape.around(due)
        return [task for key, task in due.items() if not around[key].outdated_by]

    def _links(self, memories: Mapping[str, Memory]) -> list[CurationTask]:
        tasks = [
            unresolved(memories[key], own.missing) for key, own in self._own.items() if own.missing
        ]
        alone = sorted(orphans(memories.values(), self._edges), key=lambda each: each.path)
        for number, memory in enumerate(alone):
            nearest = self._nearest(memory, memories) if number < MOST_SUGGESTED else None
            tasks.append(orphan(memory, nearest))
        return tasks

    def _nearest(self, memory: Memory, memories: Mapping[str, Memory]) -> Memory | None:
        self._go_on()
        vector = self._landscape.vectors([memory.id])[memory.id]
        if vector is None:
            return None
        hits = self._landscape.nearest(vector, 2)
        return next((memories.get(hit.note_id) for hit in hits if hit.note_id != memory.id), None)
