"""All curation tasks of one vault, kept true as notes change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from memvault.cognition.similarity_index import Rows, SimilarityIndex
from memvault.curation.tasks.conflicts import Stated, conflict_tasks, stated
from memvault.curation.tasks.duplicates import Duplicates
from memvault.curation.tasks.links import Orphans, missing_notes, orphan, unresolved
from memvault.curation.tasks.note_facts import Noted, malformed
from memvault.curation.tasks.promotions import is_captured, promotion
from memvault.curation.tasks.stale import ages_from, outlived, unverified
from memvault.model.change import CurationTask
from memvault.model.errors import MemvaultError
from memvault.model.memory import Memory
from memvault.stores.graph_view import GraphView

MOST_SUGGESTED = 20  # orphans for which the closest note is looked up: as many as are shown


@dataclass(frozen=True, slots=True)
class _Own:
    """What a note and its edges say, as of its last change; ``held`` is the day from which it
    goes stale, if it does."""

    noted: Noted
    tasks: tuple[CurationTask, ...]
    held: datetime | None
    missing: tuple[str, ...]
    stated: Stated


class TaskFinder:
    """Finds the tasks of one generation of indexes. What one note asks for is worked out again
    when that note changes; only what notes are to each other is looked at each time. Not
    thread-safe.

    Args:
        edges, similarity_index: of that generation.
        read: a note's bytes, by path.
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
        self._stale: dict[str, tuple[_Own, int, CurationTask]] = {}  # with the days that it tells

    def find(
        self, notes: Iterable[Noted], changed: Collection[str] | None, now: datetime
    ) -> list[CurationTask]:
        """Every task, most pressing first.

        Args:
            notes: all that are indexed; the same object as the last time for one that was not
                even saved again.
            changed: paths that were written, linked anew or are gone since the last time; None
                to look at everything.

        Raises:
            StoreUnavailable, GraphQueryError: the graph does not answer.
        """
        by_id = {noted.memory.id: noted for noted in notes}
        memories = {key: noted.memory for key, noted in by_id.items()}
        again = self._changed_ids(memories, changed)
        saved = {key for key, own in self._own.items() if by_id.get(key) is not own.noted}
        for key in again | saved:
            self._go_on()
            self._own.pop(key, None)
            if key in by_id:
                self._own[key] = self._read(by_id[key])
        self._go_on()
        tasks = [task for own in self._own.values() for task in own.tasks]
        tasks += self._stale_tasks(now)
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

    def _read(self, noted: Noted) -> _Own:
        memory = noted.memory
        found = [*malformed(noted), unverified(noted), self._promotion(memory)]
        return _Own(
            noted,
            tuple(task for task in found if task is not None),
            ages_from(noted),
            missing_notes(memory.id, self._edges),
            stated(memory, self._edges),
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
            return None  # it went away a moment ago; its change comes next

    def _stale_tasks(self, now: datetime) -> list[CurationTask]:
        before, self._stale = self._stale, {}
        for key, own in self._own.items():
            if own.held is None:
                continue
            known, days = before.get(key), (now - own.held).days
            if known is not None and known[0] is own and known[1] == days:
                self._stale[key] = known
            elif (task := outlived(own.noted.memory, own.held, now)) is not None:
                self._go_on()
                self._stale[key] = own, days, task
        around = self._similarity_index.around(self._stale)
        return [task for key, (_, _, task) in self._stale.items() if not around[key].outdated_by]

    def _lonely(
        self, memories: Mapping[str, Memory], again: Collection[str], rows: Rows
    ) -> list[CurationTask]:
        alone = self._orphans.find(memories, again)
        nearest = _nearest([memory.id for memory in alone[:MOST_SUGGESTED]], rows)
        return [orphan(memory, memories.get(nearest.get(memory.id, ""))) for memory in alone]


def _nearest(ids: Collection[str], rows: Rows) -> dict[str, str]:
    """Of each that has a vector, the other whose vector is the closest."""
    wanted = set(ids)
    at = [place for place, key in enumerate(rows.ids) if key in wanted]
    if not at or len(rows.ids) < 2:
        return {}
    cosines = rows.matrix[at] @ rows.matrix.T
    cosines[np.arange(len(at)), at] = -np.inf
    best = cosines.argmax(axis=1).tolist()
    return {rows.ids[own]: rows.ids[other] for own, other in zip(at, best, strict=True)}
