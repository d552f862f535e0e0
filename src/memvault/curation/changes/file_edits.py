"""Makes the edits of a plan, and reverts them after a failure or a crash.

A file that somebody changed in the meantime is never touched.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from memvault.curation.changes.plan import Edit
from memvault.model.change import FileChange
from memvault.model.errors import MemvaultError, NoteConflict, NoteNotFound
from memvault.vault.files import Vault
from memvault.vault.parse import content_hash

logger = logging.getLogger(__name__)
Version = Callable[[str], bytes | None]  # a kept version by its hash


def make_edit(vault: Vault, edit: Edit) -> None:
    """Make one edit.

    Raises:
        NoteConflict: the file was changed since the plan was made.
        StorageError, DiskFull: nothing was done.
    """
    if edit.moved_to is not None:
        expected = None if edit.before is None else content_hash(edit.before)
        _move(vault, edit.path, edit.moved_to, expected)
        if expected is not None and edit.after is not None:
            _write_moved(vault, edit.path, edit.moved_to, expected, edit.after)
    elif edit.before is None:
        if not vault.create_at(edit.path, edit.after or b""):
            raise changed_meanwhile(edit.path)
    elif edit.after is None:
        _delete(vault, edit.path, content_hash(edit.before))
    else:
        _write(vault, edit.path, content_hash(edit.before), edit.after)


def revert_edits(vault: Vault, files: Sequence[FileChange], version: Version) -> bool:
    """Revert edits that were made, the last one first; False if a file could not be restored.

    A file that somebody changed since stays as it is.
    """
    is_complete = True
    for file in reversed(files):
        try:
            _revert_one(vault, file, version)
        except NoteConflict as error:
            logger.warning("%s stays as it is: %s", file.path, error.message)
        except MemvaultError as error:
            logger.warning("%s cannot be restored yet: %s", file.path, error.message)
            is_complete = False
    return is_complete


def edits_made(
    vault: Vault, files: Sequence[FileChange], version: Version
) -> list[FileChange] | None:
    """The edits that an interrupted change made before the crash; None if the change is complete.

    Raises:
        StorageError: a file cannot be read; the next start tries again.
    """
    states = [_state(vault, file, version) for file in files]
    if not {"before", "moved"} & set(states):
        return None
    for file, state in zip(files, states, strict=True):
        if state == "other":
            logger.warning("%s was changed in the meantime and stays as it is", file.path)
    return [f for f, state in zip(files, states, strict=True) if state in ("moved", "after")]


def current_bytes(vault: Vault, path: str) -> bytes | None:
    """The bytes of a file, or None if it does not exist."""
    try:
        return vault.stored(path)
    except NoteNotFound:
        return None


def _revert_one(vault: Vault, file: FileChange, version: Version) -> None:
    if file.moved_to is not None:
        if file.after is not None and _hash_at(vault, file.moved_to) == file.after:
            before = _kept_version(file, version)
            _write(vault, file.moved_to, file.after, before, file.mtime_ns)
        _move(vault, file.moved_to, file.path, file.before)
    elif file.before is None:
        _delete(vault, file.path, file.after)
    else:
        before = _kept_version(file, version)
        if file.after is not None:
            _write(vault, file.path, file.after, before, file.mtime_ns)
        elif not vault.create_at(file.path, before, file.mtime_ns):
            raise changed_meanwhile(file.path)


def _kept_version(file: FileChange, version: Version) -> bytes:
    """The bytes that a file had before the change. Raises NoteConflict: they are not kept."""
    before = None if file.before is None else version(file.before)
    if before is None:
        raise NoteConflict("its previous version is not kept", path=file.path)
    return before


def _state(vault: Vault, file: FileChange, version: Version) -> str:
    """The state of a file: ``before`` or ``after`` the change, or ``other``.

    A file that was moved and not yet edited is ``moved``.
    """
    current_hash = _hash_at(vault, file.path)
    if file.moved_to is not None:
        vault.finish_respelling(file.moved_to)
        moved_hash = _hash_at(vault, file.moved_to)
        if current_hash is None and moved_hash is not None and moved_hash == file.final_hash:
            return "after"
        if current_hash is None and moved_hash is not None and moved_hash == file.before:
            return "moved"
        if current_hash != file.before:
            return "other"
        _delete_reserving_file(vault, file.moved_to, file.before)
        return "before"
    if current_hash == file.before:
        return "before"
    if file.before is None and _delete_reserving_file(vault, file.path, file.after):
        return "before"
    if current_hash != file.after:
        return "other"
    is_lost = file.before is not None and version(file.before) is None
    return "other" if is_lost else "after"


def _write(
    vault: Vault, path: str, expected: str, after: bytes, saved_ns: int | None = None
) -> None:
    def change(now: bytes) -> bytes:
        if content_hash(now) != expected:
            raise changed_meanwhile(path)
        return after

    vault.edit(path, change, saved_ns)


def _write_moved(vault: Vault, path: str, target: str, expected: str, after: bytes) -> None:
    """Edit a file that was just moved; if that fails, it is moved back."""
    try:
        _write(vault, target, expected, after)
    except MemvaultError:
        vault.move(target, path)
        raise


def _delete(vault: Vault, path: str, expected: str | None) -> None:
    current = current_bytes(vault, path)
    if current is None:
        return
    if content_hash(current) != expected or not vault.delete(path, current):
        raise changed_meanwhile(path)


def _move(vault: Vault, path: str, target: str, expected: str | None) -> None:
    if not vault.move(path, target):
        is_reserved = vault.stat(path) is not None and _delete_reserving_file(
            vault, target, expected
        )
        if not is_reserved or not vault.move(path, target):
            raise changed_meanwhile(target)
    if expected is not None and _hash_at(vault, target) != expected:
        vault.move(target, path)  # somebody saved it up to that moment
        raise changed_meanwhile(path)


def _delete_reserving_file(vault: Vault, path: str, content: str | None) -> bool:
    """Delete the empty file that reserved a name; False if there is none.

    Some file systems cannot create or move a file in one step, so its name is reserved by an empty
    file first. A crash may leave that file behind.
    """
    stat = vault.stat(path)
    if stat is None or stat.size or content == content_hash(b""):
        return False
    return vault.delete(path, b"")


def _hash_at(vault: Vault, path: str) -> str | None:
    data = current_bytes(vault, path)
    return None if data is None else content_hash(data)


def check_seen(shown: str | None, path: str, data: bytes) -> None:
    """Raise NoteConflict if the person saw another version of this note.

    Args:
        shown: the content hash of the version that was shown; None if none was.
    """
    if shown is not None and shown != content_hash(data):
        raise NoteConflict(
            f"{path} changed after this page was shown, so nothing was done. Go back, read the "
            "note as it is now, and decide again.",
            path=path,
        )


def changed_meanwhile(path: str) -> NoteConflict:
    return NoteConflict(f"{path} was changed in the meantime; try again", path=path)
