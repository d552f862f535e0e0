"""Lists the recent events of a vault: notes that were created, changed or accessed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest
from typing import Literal

from memvault.model.memory import Memory
from memvault.search.scope import SavedNote

Happening = Literal["created", "changed", "accessed"]


@dataclass(frozen=True, slots=True)
class RecentEvent:
    """The most important event of a memory in a period; ``at`` is its latest time."""

    memory: Memory
    what: Happening
    at: datetime
    in_working_set: bool = False


@dataclass(frozen=True, slots=True)
class RecentActivity:
    """The ``first`` events of a period, and the total number of events."""

    first: list[RecentEvent]
    total: int


def recent(
    saved: Collection[SavedNote],
    accessed: Mapping[str, datetime],
    since: datetime,
    limit: int,
    working_set: Sequence[str] = (),
) -> RecentActivity:
    """At most ``limit`` events since a moment.

    The session's working set comes first in its own order, whatever its age; then created and
    changed notes, most recently saved first; then notes that were only read.

    Args:
        accessed: by memory id, when the memory was last shown to a client.
    """
    accessed_ids = {key for key, at in accessed.items() if at >= since}
    in_set = set(working_set)
    working: dict[str, SavedNote] = {}
    written: list[SavedNote] = []
    only_read: list[SavedNote] = []
    for note in saved:
        memory = note.memory
        if memory.id in in_set:
            working[memory.id] = note
        elif note.changed_at >= since or memory.created_at >= since:
            written.append(note)
        elif memory.id in accessed_ids:
            only_read.append(note)
    ranked = [
        *(working[key] for key in working_set if key in working),
        *nlargest(limit, written, key=lambda note: (note.changed_at, note.memory.path)),
        *sorted(only_read, key=lambda note: accessed[note.memory.id], reverse=True),
    ]
    return RecentActivity(
        [
            _recent_event(note, accessed, since, in_working_set=note.memory.id in in_set)
            for note in ranked
        ][:limit],
        len(working) + len(written) + len(only_read),
    )


def _recent_event(
    saved: SavedNote, accessed: Mapping[str, datetime], since: datetime, *, in_working_set: bool
) -> RecentEvent:
    memory, changed = saved.memory, saved.changed_at
    used = accessed.get(memory.id)
    if memory.created_at >= since:
        return RecentEvent(memory, "created", max(memory.created_at, changed), in_working_set)
    if changed >= since or used is None:
        return RecentEvent(memory, "changed", changed, in_working_set)
    return RecentEvent(memory, "accessed", used, in_working_set)
