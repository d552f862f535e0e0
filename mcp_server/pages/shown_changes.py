"""Changes as the pages show them: their author, their memories, and the lines that differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from memvault.curation.changes.change_text import author
from memvault.curation.changes.plan import LineChange, Plan, lines_changed
from memvault.model.change import Change, ChangeKind

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container

MAX_LINES = 200  # of a change that are shown
LOOKED_BACK = 20  # latest changes, in which the person's last one is searched
QUICK_UNDO = timedelta(days=1)  # age of a change until which one key undoes it


@dataclass(frozen=True, slots=True)
class ShownName:
    name: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class ShownChange:
    """A change with its author in words, its memories, and the lines that differ."""

    change: Change
    author: str
    names: tuple[ShownName, ...]
    lines: tuple[LineChange, ...] = ()

    @property
    def can_undo(self) -> bool:
        return self.change.undoable and self.change.undone_by is None


def last_of_person(container: Container) -> Change | None:
    """The person's newest change that can be undone; None if it is old or not among the latest."""
    oldest = container.now() - QUICK_UNDO
    for change in container.curator.history.changes(limit=LOOKED_BACK):
        is_own = change.actor.kind == "person" and change.kind is not ChangeKind.UNDONE
        if is_own and change.undone_by is None and change.undoable:
            return change if change.at >= oldest else None
    return None


def shown_changes(
    container: Container, changes: Sequence[Change], *, lines: bool
) -> list[ShownChange]:
    """The changes as pages show them; the lines are read from the kept versions."""
    return [
        ShownChange(
            change,
            author(change),
            _shown_names(container, change),
            tuple(_lines(container, change)) if lines else (),
        )
        for change in changes
    ]


def lines_by_path(plan: Plan) -> tuple[dict[str, list[LineChange]], bool]:
    """The first lines that a plan changes, by note, and whether there are more."""
    changed = plan.lines_changed(MAX_LINES + 1)
    by_path: dict[str, list[LineChange]] = {}
    for line in changed[:MAX_LINES]:
        by_path.setdefault(line.path, []).append(line)
    return by_path, len(changed) > MAX_LINES


def _shown_names(container: Container, change: Change) -> tuple[ShownName, ...]:
    memories = container.live.catalogue.by_ids(change.node_ids)
    titles = {memory.title for memory in memories}
    is_one = len(memories) == len(change.names) == 1  # perhaps with another title since
    names = () if is_one else change.names
    unlinked = tuple(ShownName(name) for name in names if name not in titles)
    linked = tuple(ShownName(memory.title, memory.id) for memory in memories)
    if linked or unlinked:
        return (*linked, *unlinked)
    return tuple(ShownName(path) for path in change.paths[:3])


def _lines(container: Container, change: Change) -> list[LineChange]:
    content = container.curator.history.content
    lines: list[LineChange] = []
    for file in change.files:
        is_only_moved = file.moved_to is not None and file.after is None
        if is_only_moved or len(lines) >= MAX_LINES:
            continue
        before, after = (content(key) if key else b"" for key in (file.before, file.after))
        if before is not None and after is not None:
            lines += lines_changed(file.path, before, after)
    return lines[:MAX_LINES]
