"""The earlier paths of moved notes, as the history has them.

A note whose frontmatter states no id has an id derived from its path. If memvault moves it, it
keeps the id of its first path, so that what is known of it stays known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from memvault.curation.changes.history import History
from memvault.curation.changes.staging import is_in_trash
from memvault.model.change import Change
from memvault.model.memory import id_of_path


class _Paths(NamedTuple):
    """The earlier paths of each moved note and the id of its first one, after these changes."""

    changes: tuple[Change, ...]
    former: Mapping[str, tuple[str, ...]]
    ids: Mapping[str, str]


class MovedPaths:
    """The earlier paths of each moved note, as of the latest change. Thread-safe."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._paths = _Paths((), {}, {})

    def former(self, path: str) -> tuple[str, ...]:
        """The paths that the note at this path had before, the first one first."""
        return self._current().former.get(path, ())

    def inherited_id(self, path: str) -> str:
        """The id of the first path of the note at this path; "" if it was not moved."""
        return self.inherited_ids().get(path, "")

    def inherited_ids(self) -> Mapping[str, str]:
        """The id of its first path for the path of each moved note."""
        return self._current().ids

    def id_at(self, path: str) -> str:
        """The id of a note at this path whose frontmatter states none."""
        return self.inherited_id(path) or id_of_path(path)

    def _current(self) -> _Paths:
        changes, paths = self._history.all(), self._paths
        if changes is not paths.changes:
            count = len(changes) - len(paths.changes)
            if count >= 0 and changes[count:] == paths.changes:  # the others are older
                former = _folded(reversed(changes[:count]), paths.former)
            else:
                former = _folded(reversed(changes))
            ids = paths.ids
            if former != paths.former:
                ids = {path: id_of_path(earlier[0]) for path, earlier in former.items()}
            self._paths = paths = _Paths(changes, former, ids)
        return paths


def _folded(
    oldest_first: Iterable[Change], before: Mapping[str, tuple[str, ...]] = MappingProxyType({})
) -> dict[str, tuple[str, ...]]:
    """The earlier paths of each note; a note that is back at its first path has none.

    Args:
        before: those before these changes.
    """
    former = dict(before)
    for change in oldest_first:
        moved = {file.path: file.moved_to for file in change.files if file.moved_to}
        if not moved:
            continue
        earlier = {path: former.pop(path, ()) for path in moved}
        for path, target in moved.items():
            paths = tuple(dict.fromkeys((*earlier[path], path)))
            if is_in_trash(paths[0]):
                continue  # its path before is not recorded
            former.pop(target, None)
            if target != paths[0]:
                former[target] = paths
    return former
