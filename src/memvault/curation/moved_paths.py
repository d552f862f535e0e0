"""The earlier paths of moved notes, as the journal records them.

A note whose frontmatter states no id has an id derived from its path. If memvault moves it, it
keeps the id of its first path, so that what is known of it stays known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memvault.curation.changes.journal_decoder import JournalPhase, intended
from memvault.curation.changes.staging import is_in_trash
from memvault.model.change import Change
from memvault.model.memory import id_of_path
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.journal_reader import JournalReader


class MovedPaths(JournalReader):
    """The earlier paths of each moved note; each call first reads new entries. Thread-safe."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal)
        self._begun: dict[str, Change] = {}  # changes that move files, by their hashes
        self._done: set[str] = set()  # hashes of all completed changes
        self._former: dict[str, tuple[str, ...]] = {}
        self._ids: dict[str, str] = {}

    def former(self, path: str) -> tuple[str, ...]:
        """The paths that the note at this path had before, the first one first."""
        with self._current():
            return self._former.get(path, ())

    def inherited_id(self, path: str) -> str:
        """The id of the first path of the note at this path; "" if it was not moved."""
        return self.inherited_ids().get(path, "")

    def inherited_ids(self) -> Mapping[str, str]:
        """The id of its first path for the path of each moved note."""
        with self._current():
            return self._ids

    def id_at(self, path: str) -> str:
        """The id of a note at this path whose frontmatter states none."""
        return self.inherited_id(path) or id_of_path(path)

    def _take(self, entries: Sequence[JournalEntry]) -> None:
        former_counts = len(self._begun), len(self._done & self._begun.keys())
        for entry in entries:
            if entry.kind == JournalPhase.DONE:
                self._done.add(str(entry.data.get("reversal_hash")))
            elif entry.kind == JournalPhase.BEGUN and _moves_files(entry):
                change = intended(entry)
                if change is not None:
                    self._begun[change.reversal_hash] = change
        done = self._done & self._begun.keys()
        if former_counts != (len(self._begun), len(done)):
            changes = (self._begun[key] for key in done)
            self._former = _folded(sorted(changes, key=lambda c: (c.order, c.reversal_hash)))
            self._ids = {path: id_of_path(former[0]) for path, former in self._former.items()}


def _moves_files(entry: JournalEntry) -> bool:
    change = entry.data.get("change")
    files = change.get("files") if isinstance(change, dict) else None
    return any(isinstance(file, dict) and file.get("moved_to") for file in files or ())


def _folded(oldest_first: Iterable[Change]) -> dict[str, tuple[str, ...]]:
    """The earlier paths of each note; a note that is back at its first path has none."""
    former: dict[str, tuple[str, ...]] = {}
    for change in oldest_first:
        moved = {file.path: file.moved_to for file in change.files if file.moved_to}
        earlier = {path: former.pop(path, ()) for path in moved}
        for path, target in moved.items():
            paths = tuple(dict.fromkeys((*earlier[path], path)))
            if is_in_trash(paths[0]):
                continue  # its path before is not recorded
            former.pop(target, None)
            if target != paths[0]:
                former[target] = paths
    return former
