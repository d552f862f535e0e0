"""Deletes forgotten notes with all their kept versions, and for good also what was merged into
them."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import dropwhile

from memvault.curation.changes.change_entries import PURGED
from memvault.curation.changes.file_edits import current_bytes
from memvault.curation.changes.history import History
from memvault.curation.changes.staging import is_in_trash
from memvault.curation.changes.tombstones import Tombstones
from memvault.model.change import SYSTEM, Change, ChangeKind, FileChange
from memvault.model.memory import Tombstone
from memvault.vault.files import Vault
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.parse import content_hash
from memvault.vault.version_store import VersionStore

logger = logging.getLogger(__name__)

Step = tuple[Change, FileChange]  # a change, and the note's file in it
_NAMED = {"reversal_hash", "trash_path"}  # suffice for a tombstone that is recorded already


@dataclass(frozen=True, slots=True)
class Trash:
    """The vault's trash. The caller must let only one thread delete at a time."""

    vault: Vault
    journal: Journal
    tombstones: Tombstones
    history: History
    versions: VersionStore
    clock: Callable[[], datetime]

    def delete(self, tombstone: Tombstone) -> None:
        """Delete the note of a tombstone, if it still holds the forgotten bytes, and its versions;
        if it is to be deleted for good, also what was merged into it.

        Only a file in the trash is ever deleted: a journal may have been edited or planted.

        Raises:
            StorageError: the file could not be deleted.
        """
        path = tombstone.trash_path or ""
        if path and not _is_file_of_trash(path):
            logger.warning("%s is not in the trash, so it is not deleted", path)
            self._record_purge(tombstone)
            return
        if self._holds(path, tombstone):
            self.vault.delete(path)
        steps = list(_steps(tombstone, self.history.all()))
        if tombstone.permanent:  # after 30 days only the note itself goes
            self._delete_merged(steps)
        self._record_purge(tombstone)
        if tombstone.path is not None:
            self._drop_versions(steps)
            self._drop_archived(tombstone, steps)

    def _delete_merged(self, steps: list[Step]) -> None:
        """Delete from the trash what was merged into a note, and add its changes to the note's."""
        changes = self.history.all()
        for change, file in steps:
            for other in _merged(change, file):
                if self._is_as_left(other, change):
                    self.vault.delete(other.place)
                    earlier = changes[changes.index(change) :]
                    steps += _steps_to(other.place, earlier)  # and what was merged into that

    def _is_as_left(self, file: FileChange, merge: Change) -> bool:
        """Whether a file is in the trash as the merge left it, and no later change put it there."""
        data = current_bytes(self.vault, file.place) if _is_file_of_trash(file.place) else None
        if data is None or content_hash(data) != file.final_hash:
            return False
        last = next(change for change in self.history.all() if file.place in change.paths)
        undone = filter(None, map(self.history.find, last.undoes))
        redone = {key for change in undone for key in change.undoes}
        return merge.reversal_hash in {last.reversal_hash, *redone}

    def _holds(self, path: str | None, tombstone: Tombstone) -> bool:
        data = current_bytes(self.vault, path) if path else None
        return data is not None and content_hash(data) == tombstone.content_hash

    def _record_purge(self, tombstone: Tombstone) -> None:
        entry = JournalEntry(
            ts=self.clock(),
            kind=PURGED,
            actor=SYSTEM,
            note_id=tombstone.node_ids[0],
            path=tombstone.path,
            before=tombstone.content_hash,
            data=tombstone.model_dump(mode="json", include=_NAMED),
        )
        self.journal.append(entry)

    def _drop_versions(self, steps: Iterable[Step]) -> None:
        own_files: dict[str, list[FileChange]] = defaultdict(list)
        for change, file in steps:
            own_files[change.reversal_hash].append(file)
        for change in {change.reversal_hash: change for change, _ in steps}.values():
            files = own_files[change.reversal_hash]
            other_files = [other for other in change.files if other not in files]
            versions = versions_of(files) - versions_of(other_files)
            self.versions.drop(change.reversal_hash, versions)

    def _drop_archived(self, tombstone: Tombstone, steps: Iterable[Step]) -> None:
        """Delete the full texts of a faded note, unless another note has the same text."""
        own_changes = {change.reversal_hash for change, _ in steps}
        versions: set[str] = set()
        other_versions: set[str] = set()
        for change in self.history.changes(kinds=(ChangeKind.FADED,)):
            is_own = change.reversal_hash in own_changes or (
                not set(tombstone.node_ids).isdisjoint(change.node_ids)
            )
            (versions if is_own else other_versions).add(change.memo["original"])
        for version in versions - other_versions:
            self.versions.drop_archived(version)


def _steps(tombstone: Tombstone, newest_first: Iterable[Change]) -> Iterator[Step]:
    """The changes of a forgotten note, from its forgetting back to its creation, at all its paths.

    Changes of other notes that had one of these paths before or after it are not among them.
    """
    hashes = {tombstone.reversal_hash}
    since = dropwhile(
        lambda change: hashes.isdisjoint(own.reversal_hash for own in change.forgot), newest_first
    )
    return _steps_to(tombstone.trash_path, since)


def _steps_to(path: str | None, newest_first: Iterable[Change]) -> Iterator[Step]:
    """The changes of the note that the first of these changes left at a path."""
    for change in newest_first:
        file = next((f for f in change.files if f.place == path and f.final_hash), None)
        if file is not None:
            yield change, file
            path = file.path
            if file.before is None:
                return
        elif any(f.path == path and f.before for f in change.files):
            return  # another note left this path


def _merged(change: Change, survivor: FileChange) -> list[FileChange]:
    """The notes that a change merged into another one; none if that was undone."""
    if change.kind is not ChangeKind.MERGED or change.undone_by or is_in_trash(survivor.place):
        return []
    return [file for file in change.files if file.moved_to and is_in_trash(file.moved_to)]


def _is_file_of_trash(path: str) -> bool:
    return is_in_trash(path) and ".." not in path.replace("\\", "/").split("/")


def versions_of(changed: Iterable[FileChange]) -> set[str]:
    """The hashes of these files' versions, before and after."""
    versions = (version for file in changed for version in (file.before, file.after))
    return {version for version in versions if version is not None}
