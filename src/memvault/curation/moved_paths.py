"""The earlier paths and times of notes, as the journal has them, and the ids that follow.

A note whose frontmatter states no id has an id derived from its path. If it is moved, by memvault
or in another program, it keeps the id of its first path, so that what is known of it stays known.
The next note at the path that it left gets another id.

A rename in another program is no change by memvault, so there is nothing to undo.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from memvault.curation.changes.change_entries import JournalPhase
from memvault.curation.changes.staging import is_in_trash
from memvault.model.change import SYSTEM, Change
from memvault.model.memory import id_of_path
from memvault.vault.files import Rename
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.journal_reader import JournalReader

RENAMED = "renamed_outside"  # kind of journal entry
NEW_PATHS, IDS, VERSIONS = "new_paths", "ids", "versions"  # keys of its data; each by former path


class _Origin(NamedTuple):
    """Where a note was first, and how many notes had left this path before."""

    path: str
    number: int

    @property
    def id(self) -> str:
        return id_of_path(self.path, self.number)


class _MovedNote(NamedTuple):
    """A note that was moved.

    Attributes:
        former: its earlier paths, the first one first.
        version: the hash of the bytes with which it came to its path.
    """

    origin: _Origin
    former: tuple[str, ...] = ()
    version: str = ""


class PathIds(NamedTuple):
    """The ids that the note at a path may have.

    Attributes:
        inherited: if its frontmatter states none and it is not simply that of the path; else "".
        own: if another note has the id that it claims.
    """

    inherited: str
    own: str


class MovedPaths(JournalReader):
    """The earlier paths of each moved note, as of the latest move. Thread-safe."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal, (JournalPhase.BEGUN, JournalPhase.DONE, RENAMED))

    def _restart(self) -> bool:
        self._begun: dict[str, list[Rename]] = {}  # by the reversal hash of the change
        self._notes: dict[str, _MovedNote] = {}  # by the path at which they are now
        # Path or id of a note → when it was saved before memvault first changed it, in ns.
        self._saved: dict[str, int] = {}
        self._departed: dict[str, int] = {}  # how many notes that were first at a path left it
        self._inherited: Mapping[str, str] = {}
        self._places: Mapping[str, list[str]] | None = None  # by former path; None to be made
        return True

    def former(self, path: str) -> tuple[str, ...]:
        """The paths that the note at this path had before, the first one first."""
        return self.former_of([path])[0]

    def former_of(self, paths: Iterable[str]) -> list[tuple[str, ...]]:
        """`former` of each path, with one look at the journal."""
        with self._current():
            return [self._note_at(path).former for path in paths]

    def places_of(self, path: str) -> list[str]:
        """The paths of the notes that were once at this path."""
        with self._current():
            if self._places is None:
                places = defaultdict[str, list[str]](list)
                for place, note in self._notes.items():
                    for each in note.former:
                        places[each].append(place)
                self._places = dict(places)
            return self._places.get(path, [])

    def saved_first(self, path: str, note_id: str) -> int | None:
        """When the note was saved before memvault first changed it, in ns; None if it did not.

        Args:
            note_id: the id in its frontmatter; "" if it has none.
        """
        with self._current():
            return min(
                (self._saved[key] for key in (path, note_id) if key in self._saved), default=None
            )

    def inherited_ids(self) -> Mapping[str, str]:
        """`PathIds.inherited` of each path that has one, which later moves leave as it is."""
        with self._current():
            return self._inherited

    def id_at(self, path: str) -> str:
        """The id of a note at this path whose frontmatter states none."""
        with self._current():
            return self._note_at(path).origin.id

    def ids_at(self, path: str) -> PathIds:
        with self._current():
            origin = self._note_at(path).origin
            own = origin if origin.path == path else self._newcomer(path)
            return PathIds(self._inherited.get(path, ""), own.id)

    def record_renames(self, renames: Iterable[Rename]) -> None:
        """Record renames that were made outside memvault, of notes that had the ids of their paths.

        The journal may have one already: a sync tool may bring it before the files.

        Raises:
            StorageError, DiskFull: the journal cannot be written.
        """
        with self._current():
            new = [
                each
                for each in renames
                if each.note_id == self._note_at(each.path).origin.id
                and each.version != self._note_at(each.new_path).version
            ]
            if not new:
                return
            data = {
                NEW_PATHS: {each.path: each.new_path for each in new},
                IDS: {each.path: each.note_id for each in new},
                VERSIONS: {each.path: each.version for each in new},
            }
            entry = JournalEntry(ts=self._moment(), kind=RENAMED, actor=SYSTEM, data=data)
            self._journal.append(entry)
            self._refresh()

    def _take(self, entries: Sequence[JournalEntry]) -> None:
        inherited, self._places = dict(self._inherited), None
        for entry in entries:
            moves = {each.path: each for each in self._moves(entry) if self._is_meant(each)}
            self._apply(moves)
            for path in {path for each in moves.values() for path in (each.path, each.new_path)}:
                inherited[path] = self._note_at(path).origin.id
                if inherited[path] == id_of_path(path):
                    del inherited[path]
        self._inherited = inherited

    def _moves(self, entry: JournalEntry) -> list[Rename]:
        """The notes that an entry says were moved together."""
        if entry.kind == RENAMED:
            return list(_renames(entry))
        if entry.kind == JournalPhase.DONE:
            return self._begun.pop(str(entry.data.get("reversal_hash")), [])
        if entry.change is not None:
            self._begin(entry.change)
        return []

    def _begin(self, change: Change) -> None:
        """Keep what the change moves until it is done, and when each note was first saved."""
        if moves := _moved_by(change):
            self._begun[change.reversal_hash] = moves
        for file in change.files:
            if file.mtime_ns is not None:
                for key in filter(None, (file.path, file.note_id)):
                    self._saved.setdefault(key, file.mtime_ns)
            if file.final_hash is None:
                self._saved.pop(file.path, None)

    def _is_meant(self, move: Rename) -> bool:
        """Whether the note at this path was moved: several computers may notice one rename, and
        only the first counts."""
        return not move.note_id or move.note_id == self._note_at(move.path).origin.id

    def _note_at(self, path: str) -> _MovedNote:
        """The note at a path; one that was not moved has its origin there."""
        return self._notes.get(path) or _MovedNote(self._newcomer(path))

    def _newcomer(self, path: str) -> _Origin:
        return _Origin(path, self._departed.get(path, 0))

    def _apply(self, moves: Mapping[str, Rename]) -> None:
        leaving = {path: self._note_at(path) for path in moves}
        saved = {moves[path].new_path: self._saved.pop(path, None) for path in moves}
        for path in moves:
            self._notes.pop(path, None)
        self._saved |= {path: time for path, time in saved.items() if time is not None}
        for path, move in moves.items():
            origin, former, _ = leaving[path]
            if is_in_trash(origin.path):
                continue  # its path before is not recorded
            if origin.path == path:
                self._departed[path] = max(self._departed.get(path, 0), origin.number + 1)
            is_back = move.new_path == origin.path
            former = () if is_back else tuple(dict.fromkeys((*former, path)))
            self._notes[move.new_path] = _MovedNote(origin, former, move.version)


def _moved_by(change: Change) -> list[Rename]:
    return [
        Rename(file.path, file.moved_to, "", file.final_hash or "")
        for file in change.files
        if file.moved_to
    ]


def _renames(entry: JournalEntry) -> Iterator[Rename]:
    """The renames of an entry; none if it is damaged."""
    new_paths, ids, versions = (_texts(entry.data.get(key)) for key in (NEW_PATHS, IDS, VERSIONS))
    for path, new_path in new_paths.items():
        if path in ids:
            yield Rename(path, new_path, ids[path], versions.get(path, ""))


def _texts(value: object) -> dict[str, str]:
    pairs = value.items() if isinstance(value, dict) else ()
    return {key: text for key, text in pairs if isinstance(text, str)}
