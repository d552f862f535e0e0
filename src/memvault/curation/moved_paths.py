"""The earlier paths of moved notes, as the journal has them, and the ids that follow from them.

A note whose frontmatter states no id has an id derived from its path. If it is moved, by memvault
or in another program, it keeps the id of its first path, so that what is known of it stays known.
The next note at the path that it left gets another id.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import NamedTuple

from memvault.curation.changes.history import History
from memvault.curation.changes.staging import is_in_trash
from memvault.curation.outside_renames import OutsideRenames, Renames
from memvault.model.change import Change
from memvault.model.memory import id_of_path


class _Moves(NamedTuple):
    """Notes that were moved together.

    Attributes:
        new_paths: by the path that each note had.
        ids: by that path, which note was meant, if the move was noticed from outside: several
            computers may notice it, and of these moves only the first counts.
    """

    at: datetime
    new_paths: Mapping[str, str]
    ids: Mapping[str, str] = MappingProxyType({})


class _Origin(NamedTuple):
    """Where a note was first, and how many notes had left this path before."""

    path: str
    number: int

    @property
    def id(self) -> str:
        return id_of_path(self.path, self.number)


class PathIds(NamedTuple):
    """The ids that the note at a path may have.

    Attributes:
        inherited: if its frontmatter states none and it is not simply that of the path; else "".
        own: if another note has the id that it claims.
    """

    inherited: str
    own: str


class _Paths:
    """The earlier paths and the origins of notes, after these moves, the oldest first."""

    def __init__(self, all_moves: Iterable[_Moves]) -> None:
        self.former: dict[str, tuple[str, ...]] = {}
        self.inherited_ids: dict[str, str] = {}
        self._origins: dict[str, _Origin] = {}
        self._departed: dict[str, int] = {}  # how many notes that were first at a path left it
        for moves in all_moves:
            self._apply(moves)
        for path in self._origins.keys() | self._departed.keys():
            if (note_id := self.origin(path).id) != id_of_path(path):
                self.inherited_ids[path] = note_id

    def origin(self, path: str) -> _Origin:
        return self._origins.get(path) or self._newcomer(path)

    def own_id(self, path: str) -> str:
        """See `PathIds.own`."""
        origin = self.origin(path)
        return (origin if origin.path == path else self._newcomer(path)).id

    def _newcomer(self, path: str) -> _Origin:
        return _Origin(path, self._departed.get(path, 0))

    def _apply(self, moves: _Moves) -> None:
        new_paths = {
            path: target
            for path, target in moves.new_paths.items()
            if path not in moves.ids or moves.ids[path] == self.origin(path).id
        }
        leaving = {path: (self.origin(path), self.former.pop(path, ())) for path in new_paths}
        for path in leaving:
            self._origins.pop(path, None)
        for path, target in new_paths.items():
            origin, earlier = leaving[path]
            if is_in_trash(origin.path):
                continue  # its path before is not recorded
            if origin.path == path:
                self._departed[path] = max(self._departed.get(path, 0), origin.number + 1)
            self._origins[target] = origin
            self.former.pop(target, None)
            if target != origin.path:
                self.former[target] = tuple(dict.fromkeys((*earlier, path)))


class _Known(NamedTuple):
    """What follows from these changes and renames; one object, as several threads replace it."""

    changes: tuple[Change, ...]
    renames: tuple[Renames, ...]
    by_memvault: tuple[_Moves, ...]
    paths: _Paths


class MovedPaths:
    """The earlier paths of each moved note, as of the latest move. Thread-safe."""

    def __init__(self, history: History, outside: OutsideRenames) -> None:
        self._history = history
        self._outside = outside
        self._known = _Known((), (), (), _Paths(()))

    def former(self, path: str) -> tuple[str, ...]:
        """The paths that the note at this path had before, the first one first."""
        return self._current().former.get(path, ())

    def inherited_id(self, path: str) -> str:
        """See `PathIds.inherited`."""
        return self.inherited_ids().get(path, "")

    def inherited_ids(self) -> Mapping[str, str]:
        """The `inherited_id` of each path that has one."""
        return self._current().inherited_ids

    def id_at(self, path: str) -> str:
        """The id of a note at this path whose frontmatter states none."""
        return self._current().origin(path).id

    def ids_at(self, path: str) -> PathIds:
        paths = self._current()
        return PathIds(paths.inherited_ids.get(path, ""), paths.own_id(path))

    def record_renames(self, new_paths: Mapping[str, str], ids: Mapping[str, str]) -> None:
        """Record renames that were made outside memvault, of notes that had the ids of their paths.

        Args:
            new_paths, ids: by the path that each note had.

        Raises:
            StorageError, DiskFull: the journal cannot be written.
        """
        paths, changes = self._current(), self._history.all()
        ids = {path: ids[path] for path in new_paths if ids[path] == paths.origin(path).id}
        if not ids:
            return
        after = changes[0].order if changes else datetime.min.replace(tzinfo=UTC)
        self._outside.record({path: new_paths[path] for path in ids}, ids, after)

    def _current(self) -> _Paths:
        changes, renames, known = self._history.all(), self._outside.all(), self._known
        if changes is known.changes and renames is known.renames:
            return known.paths
        count = len(changes) - len(known.changes)
        if count >= 0 and changes[count:] == known.changes:  # the others are older
            by_memvault = known.by_memvault + _moves(changes[:count])
        else:
            by_memvault = _moves(changes)
        paths = known.paths
        if by_memvault != known.by_memvault or renames is not known.renames:
            outside = (_Moves(each.at, each.new_paths, each.ids) for each in renames)
            paths = _Paths(heapq.merge(by_memvault, outside, key=lambda moves: moves.at))
        self._known = _Known(changes, renames, by_memvault, paths)
        return paths


def _moves(changes: Iterable[Change]) -> tuple[_Moves, ...]:
    """The moves by these changes, which come newest first; the oldest move first."""
    moves = (
        _Moves(
            change.order,
            {file.path: file.moved_to for file in change.files if file.moved_to},
        )
        for change in changes
    )
    return tuple(each for each in moves if each.new_paths)[::-1]
