"""The renames of notes in other programs, such as Obsidian, as the journal has them.

They are no changes by memvault, so there is nothing to undo.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from memvault.model.change import SYSTEM
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.journal_reader import JournalReader

RENAMED = "renamed_outside"  # kind of journal entry


class Renames(NamedTuple):
    """Notes that were renamed together: the time, and by the earlier path of each, its new path and
    the id that it had."""

    at: datetime
    new_paths: Mapping[str, str]
    ids: Mapping[str, str]


class OutsideRenames(JournalReader):
    """The renames that were made outside memvault, in the order of their times. Thread-safe."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal, (RENAMED,))

    def _restart(self) -> bool:
        self._all: tuple[Renames, ...] = ()
        return True

    def all(self) -> tuple[Renames, ...]:
        """The oldest first; the same object until there are others."""
        with self._current():
            return self._all

    def record(self, new_paths: Mapping[str, str], ids: Mapping[str, str], after: datetime) -> None:
        """Record renames that were noticed now.

        Args:
            new_paths, ids: by the path that each note had.
            after: the time of the latest change, which may be ahead of the clock.

        Raises:
            StorageError, DiskFull: the journal cannot be written.
        """
        with self._current():
            moment = max(self._moment(), after + timedelta(microseconds=1))
            data = {"new_paths": dict(new_paths), "ids": dict(ids)}
            self._journal.append(JournalEntry(ts=moment, kind=RENAMED, actor=SYSTEM, data=data))
            self._refresh()

    def _take(self, entries: Sequence[JournalEntry]) -> None:
        self._all = (*self._all, *map(_renames, entries))


def _renames(entry: JournalEntry) -> Renames:
    """The renames of an entry; none if it is damaged."""
    new_paths, ids = (_texts(entry.data.get(key)) for key in ("new_paths", "ids"))
    return Renames(entry.ts, {path: new_paths[path] for path in new_paths if path in ids}, ids)


def _texts(value: object) -> dict[str, str]:
    pairs = value.items() if isinstance(value, dict) else ()
    return {key: text for key, text in pairs if isinstance(text, str)}
