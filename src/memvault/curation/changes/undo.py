"""Undoes changes: restores every file's previous version, unless somebody changed it since."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from memvault.curation.changes.active_changes import ActiveChanges
from memvault.curation.changes.change_text import change_summary
from memvault.curation.changes.current_places import CurrentPlaces
from memvault.curation.changes.history import History
from memvault.curation.changes.plan import Edit, Forgetting, LineChange, Plan, lines_changed
from memvault.curation.changes.staging import Staging, is_in_trash
from memvault.curation.changes.tombstones import Tombstones
from memvault.curation.proposals import NeededApproval
from memvault.model.change import Change, ChangeKind, FileChange
from memvault.model.errors import InvalidParams
from memvault.model.memory import Tombstone
from memvault.vault.file_names import is_agent_file
from memvault.vault.ignore import MANIFEST
from memvault.vault.parse import content_hash, frontmatter_of

NOT_KEPT = "its previous version is no longer kept"
NO_NOTE = (
    "it is no longer a note that clients may read; the person can undo this with `memvault undo` "
    "or on the Activity page"
)
OBEYED = (
    "AI agents obey it, so only the person changes it, with `memvault undo` or on the Activity page"
)


@dataclass(frozen=True, slots=True)
class UndoConflict:
    """A change that was not undone because one of its notes was changed afterwards.

    Attributes:
        lines: the lines in which the current note differs from the version before the change.
        kept: the hash of that version, for `History.content`; None if it is not kept.
    """

    reversal_hash: str
    path: str
    reason: str
    lines: tuple[LineChange, ...] = ()
    kept: str | None = None


@dataclass(frozen=True, slots=True)
class UndoResult:
    """The result of an undo; ``change`` is None in a preview, or if nothing was undone.

    ``approval`` is the one for which it waits, as in `ChangeResult`.
    """

    undone: tuple[Change, ...]
    conflicts: tuple[UndoConflict, ...]
    plan: Plan
    change: Change | None = None
    approval: NeededApproval | None = None


@dataclass(eq=False)
class UndoStaging:
    """Stages the reversal of changes, one after another.

    Attributes:
        newest_first: the changes to undo.
        places: of notes that other programs renamed.
        misled: a note in which the staged moves would make a link lead elsewhere; None if none.
        for_client: a client asks, who may neither see nor change what is no note of the vault.
    """

    newest_first: Sequence[Change]
    staging: Staging
    history: History
    tombstones: Tombstones
    places: CurrentPlaces
    misled: Callable[[Staging], str | None]
    for_client: bool

    def __post_init__(self) -> None:
        self._content: Callable[[str], bytes | None] = self.history.content  # of the current change
        changes = self.history.all() if self.newest_first else []
        later = takewhile(lambda change: change.order >= self.newest_first[-1].order, changes)
        self._active = ActiveChanges(later, self.tombstones)

    def staged(self) -> UndoResult:
        """Stage the reversal of these changes; those with conflicts are left out."""
        undone: list[Change] = []
        conflicts: list[UndoConflict] = []
        for change in self.newest_first:
            change_conflicts = self._undo(change)
            conflicts.extend(change_conflicts)
            if not change_conflicts:
                undone.append(change)
        plan = self.staging.plan(
            ChangeKind.UNDONE,
            tuple(dict.fromkeys(name for change in undone for name in change.names)),
            tuple(dict.fromkeys(key for change in undone for key in change.node_ids)),
        )
        return UndoResult(tuple(undone), tuple(conflicts), plan)

    def _undo(self, change: Change) -> list[UndoConflict]:
        """Stage the reversal of a change; if any file has a conflict, nothing is staged."""
        hidden_path = next(
            (path for path in change.paths if self._is_hidden_from_client(path)), None
        )
        if hidden_path is not None:
            return [UndoConflict(change.reversal_hash, hidden_path, NO_NOTE)]
        newer = None if change.files else self._active.newer(change)
        if newer is not None:
            return [UndoConflict(change.reversal_hash, ", ".join(change.names), _undo_first(newer))]
        self._content = self.history.contents_before(change)
        staging_before, conflicts, is_renamed = self.staging, [], False
        self.staging = staging_before.copy()
        for file in reversed(change.files):
            if file.path == MANIFEST and not self._is_latest(file):
                continue  # rewritten since, so no person's text would be lost
            renamed = self.places.renamed(change, file, self.staging)
            is_renamed |= renamed is not file
            conflict = (
                self._closed_to_client(change, file, renamed)
                or self._later_change(change, file)
                or self._later_change(change, renamed)
                or self._undo_file(change, renamed)
            )
            if conflict is not None:
                conflicts.append(conflict)
        is_moved = is_renamed and any(file.moved_to for file in change.files)
        conflicts = conflicts or self._misled_links(change, is_renamed=is_moved)
        if conflicts:
            self.staging = staging_before
            return conflicts
        for tombstone in change.forgot:
            self._restore(tombstone)
        for key in change.restored:
            self._forget_again(key, change)
        self.staging.undoes.append(change.reversal_hash)
        self._active.drop(change)
        return []

    def _restore(self, tombstone: Tombstone) -> None:
        """Stage that a memory or concept is no longer forgotten, now or later in this undo."""
        for later in self.tombstones.kept_tombstones_of(tombstone):
            self.staging.restores.append(later.reversal_hash)
        first = tombstone.repeats or tombstone.reversal_hash
        self.staging.forgets = [
            forgetting for forgetting in self.staging.forgets if forgetting.repeats != first
        ]

    def _misled_links(self, change: Change, *, is_renamed: bool) -> list[UndoConflict]:
        """The conflict of moving notes back under links that a later move left or rewrote."""
        later = self._active.later_move(change)
        path = self.misled(self.staging) if later is not None or is_renamed else None
        if path is None:
            return []
        reason = "a link in it would lead elsewhere"
        if later is not None:
            reason += f"; {_undo_first(later)}"
        return [UndoConflict(change.reversal_hash, path, reason)]

    def _is_hidden_from_client(self, path: str) -> bool:
        """Whether a client asks about a file that it may not see.

        The person may have listed the file in `.memvaultignore` since the change.
        """
        is_known = path == MANIFEST or is_in_trash(path)
        return self.for_client and not is_known and not self.staging.vault.is_note(path)

    def _closed_to_client(
        self, change: Change, file: FileChange, renamed: FileChange
    ) -> UndoConflict | None:
        """The conflict of a client's undo with a rename to a path where it may write nothing."""
        if not self.for_client or renamed is file:
            return None
        if self._is_hidden_from_client(renamed.place):
            return UndoConflict(change.reversal_hash, file.path, NO_NOTE)
        if is_agent_file(renamed.place):
            return UndoConflict(change.reversal_hash, renamed.place, OBEYED)
        return None

    def _is_latest(self, file: FileChange) -> bool:
        """Whether a file still has the bytes that the change wrote."""
        current = self._current_bytes(file.path)
        return current is not None and content_hash(current) == file.after

    def _later_change(self, change: Change, file: FileChange) -> UndoConflict | None:
        """The conflict with a later change of the same file, or None."""
        newer = None if file.path == MANIFEST else self._active.newer(change, file)
        if newer is None:
            return None
        return self._conflict(change, file, _undo_first(newer), self._current_bytes(file.path))

    def _undo_file(self, change: Change, file: FileChange) -> UndoConflict | None:
        if file.moved_to is not None:
            return self._undo_move(change, file)
        current = self._current_bytes(file.path)
        if current is None:
            return self._undo_missing(change, file)
        current_hash = content_hash(current)
        if current_hash == file.before:
            return None
        before = self._kept_version(file.before)
        if current_hash == file.after and file.before is None:
            self.staging.trash(file.path)
            return None
        if current_hash == file.after and before is not None:
            self.staging.relink(file.path, before)
            return None
        if current_hash == file.after:
            return self._conflict(change, file, NOT_KEPT)
        reason = "it was changed since and stays as it is"
        if file.before is None:
            return UndoConflict(change.reversal_hash, file.path, reason)
        return self._conflict(change, file, reason, current, before)

    def _undo_missing(self, change: Change, file: FileChange) -> UndoConflict | None:
        """Handle a file that is no longer at the path where the change left it."""
        if file.before is None:
            is_known = self.places.is_known(change, file)
            reason = "it was moved or deleted just now; try again in a moment"
            return UndoConflict(change.reversal_hash, file.path, reason) if is_known else None
        if file.after is not None:
            return self._conflict(
                change, file, "it was moved or deleted since; edit it where it is now"
            )
        return self._recreate(change, file)

    def _undo_move(self, change: Change, file: FileChange) -> UndoConflict | None:
        target = self._current_target(change, file)
        current, moved = self._current_bytes(file.path), self._current_bytes(target)
        is_unchanged = moved is not None and content_hash(moved) == file.final_hash
        if current is None and is_unchanged:
            return self._move_back(change, file, target)
        if current is None and moved is not None and not is_in_trash(target):
            return self._conflict(change, file, f"{target} was changed since and stays as it is")
        if current is None:
            return self._recreate(change, file)
        if is_unchanged and is_in_trash(file.path):  # another file has its path in the trash now
            self.staging.trash(target)
            return None
        if content_hash(current) == file.before:
            return None
        return self._conflict(change, file, "another note has this path now", current)

    def _move_back(self, change: Change, file: FileChange, target: str) -> UndoConflict | None:
        before = self._kept_version(file.before) if file.after is not None else None
        if file.after is not None and before is None:
            return self._conflict(change, file, NOT_KEPT)
        self.staging.move(target, file.path, with_edits=True)
        if before is not None:
            self.staging.write(file.path, before)
        return None

    def _current_target(self, change: Change, file: FileChange) -> str:
        """The current path; if the note was forgotten again since, its latest path in the trash."""
        later_paths = (
            later.trash_path
            for tombstone in change.forgot
            if tombstone.trash_path == file.moved_to
            for later in self.tombstones.kept_tombstones_of(tombstone)
        )
        return next(later_paths, None) or file.moved_to or ""

    def _recreate(self, change: Change, file: FileChange) -> UndoConflict | None:
        before = self._kept_version(file.before)
        if before is None:
            return self._conflict(change, file, NOT_KEPT)
        self.staging.create(file.path, before)
        return None

    def _forget_again(self, key: str, change: Change) -> None:
        """Forget again what a change restored; its files are staged already."""
        old = self.tombstones.tombstone(key)
        if old is None:
            return
        path = next((file.moved_to for file in change.files if file.path == old.trash_path), None)
        self.staging.forgets.append(
            Forgetting(
                old.name,
                old.kind,
                old.node_ids,
                old.hidden,
                path or old.path,
                repeats=old.repeats or old.reversal_hash,
            )
        )

    def _kept_version(self, version: str | None) -> bytes | None:
        return None if version is None else self._content(version)

    def _current_bytes(self, path: str) -> bytes | None:
        return self.staging.read(path) if self.staging.exists(path) else None

    def _conflict(
        self,
        change: Change,
        file: FileChange,
        reason: str,
        current: bytes | None = None,
        before: bytes | None = None,
    ) -> UndoConflict:
        before = before if before is not None else self._kept_version(file.before)
        if self.for_client and before is not None and not _same_note(current, before):
            before = None  # the text of a note that is elsewhere now
        lines: Iterable[LineChange] = ()
        if current is not None and before is not None:
            lines = lines_changed(file.path, current, before)
        return UndoConflict(
            change.reversal_hash,
            file.path,
            reason,
            tuple(lines),
            file.before if before is not None else None,
        )


def _same_note(current: bytes | None, before: bytes) -> bool:
    if current is None:
        return False
    return frontmatter_of(current).get("id") == frontmatter_of(before).get("id")


def _undo_first(newer: Change) -> str:
    return f"undo the later change first: {change_summary(newer)} ({newer.reversal_hash[:8]})"


def undone_before(undo: Change, history: History) -> UndoResult:
    """The result of an undo that was made already."""
    moves = tuple(Edit(file.path, None, None, file.moved_to) for file in undo.files)
    plan = Plan(undo.kind, undo.names, undo.node_ids, moves)
    undone = tuple(filter(None, map(history.find, undo.undoes)))
    return UndoResult(undone, (), plan, undo)


def to_undo(reversal_hashes: Iterable[str], history: History) -> list[Change]:
    """The changes with these hashes, newest first.

    Raises:
        NoteNotFound: there is no such change.
        InvalidParams: one is undone by a change not among these, or never can be.
    """
    requested = {change.reversal_hash: change for change in map(history.change, reversal_hashes)}
    for change in requested.values():
        _check_undoable(change, requested)
    return sorted(requested.values(), key=lambda change: change.order, reverse=True)


def _check_undoable(change: Change, requested: Collection[str]) -> None:
    if change.undone_by is not None and change.undone_by not in requested:
        raise InvalidParams(
            f"This change is undone already, by {change.undone_by}; undo that one to redo it",
            undone_by=change.undone_by,
        )
    if not change.undoable:
        raise InvalidParams(
            "This change cannot be undone: the note was deleted for good, or no version from "
            "before is kept",
            reversal_hash=change.reversal_hash,
        )


def undoable(changes: Sequence[Change]) -> list[str]:
    """The hashes to undo when a person undoes all of these changes, given newest first.

    Changes that are undone already are left out, and so are the undos. A forgetting that one of
    these changes restored is undone after the restoring, or its note would end in the trash.
    """
    hashes: set[str] = set()
    for change in changes:
        is_active = change.undone_by is None and change.kind is not ChangeKind.UNDONE
        if change.undoable and (is_active or change.undone_by in hashes):
            hashes.add(change.reversal_hash)
    return [change.reversal_hash for change in changes if change.reversal_hash in hashes]
