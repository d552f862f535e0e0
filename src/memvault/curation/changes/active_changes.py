"""The changes that are not undone: the latest of a note must be undone first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from memvault.curation.changes.staging import is_in_trash
from memvault.curation.changes.tombstones import Tombstones
from memvault.model.change import Change, ChangeKind, FileChange


class ActiveChanges:
    """The changes of each path, and of each forgotten concept, that are not undone.

    The latest must be undone first, even if the file happens to have the bytes that an earlier
    change left: otherwise undoing the later ones could bring the earlier one back.

    Args:
        newest_first: the history, down to the oldest change to be undone.
    """

    def __init__(self, newest_first: Iterable[Change], tombstones: Tombstones) -> None:
        self._tombstones = tombstones
        self._on: dict[str, list[Change]] = defaultdict(list)
        self._taken_back: set[str] = set()
        self._moves: list[Change] = []
        restoring: dict[str | None, Change] = {}
        for change in newest_first:
            if change.undone_by in restoring:  # it may have come back elsewhere
                self._add(restoring[change.undone_by], self._subjects(change))
            if change.undone_by is not None or not change.undoable:
                continue
            if change.kind is ChangeKind.RESTORED:
                restoring[change.reversal_hash] = change
            if change.kind is not ChangeKind.UNDONE:  # an undo adds nothing of its own
                self._add(change, self._subjects(change))
                if any(file.moved_to and not is_in_trash(file.moved_to) for file in change.files):
                    self._moves.append(change)
        for active in self._on.values():
            active.sort(key=_age)

    def newer(self, change: Change, file: FileChange | None = None) -> Change | None:
        """The newest change that must be undone before ``change``, or None.

        Args:
            file: the file of ``change`` to undo; None for the memories and concepts that it forgot
                or restored.
        """
        subjects = file.paths if file is not None else self._memories(change)
        newest = max(filter(None, map(self._newest, subjects)), key=_age, default=change)
        return newest if _age(newest) > _age(change) else None

    def later_move(self, change: Change) -> Change | None:
        """The newest change after ``change`` that moved a note within the vault, or None."""
        later = (
            move
            for move in self._moves
            if _age(move) > _age(change) and move.reversal_hash not in self._taken_back
        )
        return max(later, key=_age, default=None)

    def drop(self, change: Change) -> None:
        """Mark a change as undone."""
        self._taken_back.add(change.reversal_hash)

    def _subjects(self, change: Change) -> list[str]:
        return [*change.paths, *self._memories(change)]

    def _memories(self, change: Change) -> list[str]:
        """Keys of what a change forgot and restored, from the hashes of the first tombstones."""
        restored = [self._tombstones.tombstone(key) for key in change.restored]
        return [
            f"forgotten {tombstone.repeats or tombstone.reversal_hash}"
            for tombstone in (*change.forgot, *restored)
            if tombstone is not None
        ]

    def _add(self, change: Change, subjects: Iterable[str]) -> None:
        for subject in subjects:
            self._on[subject].append(change)

    def _newest(self, subject: str) -> Change | None:
        active = self._on.get(subject, [])
        while active and active[-1].reversal_hash in self._taken_back:
            active.pop()
        return active[-1] if active else None


def _age(change: Change) -> tuple[datetime, str]:
    return change.order, change.reversal_hash
