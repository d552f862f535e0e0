"""Making the edits of a plan, and unmaking them: no file is touched that somebody changed."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from memvault.curation.changes.plan import Edit
from memvault.model.errors import MemvaultError, NoteConflict, NoteNotFound
from memvault.vault.files import Vault

logger = logging.getLogger(__name__)


def carry_out(vault: Vault, edits: Sequence[Edit]) -> None:
    """Make every edit, or none.

    Raises:
        NoteConflict: a file is no longer as it was when this was planned.
        StorageError, DiskFull: as `Vault.edit`.
    """
    for number, edit in enumerate(edits):
        try:
            _make(vault, edit)
        except MemvaultError:
            take_back(vault, edits[:number])
            raise


def take_back(vault: Vault, edits: Sequence[Edit]) -> None:
    """Unmake edits that were made, the last one first. What somebody changed since stays so."""
    for edit in reversed(edits):
        try:
            for opposite in _opposites(edit):
                _make(vault, opposite)
        except MemvaultError as error:
            logger.warning("%s stays as it is: %s", edit.path, error.message)


def stands_as(vault: Vault, path: str) -> bytes | None:
    """The bytes of a file, None where there is none."""
    try:
        return vault.read(path)
    except NoteNotFound:
        return None


def _opposites(edit: Edit) -> Iterable[Edit]:
    if edit.moved_to is not None:
        return (Edit(edit.moved_to, edit.before, None, edit.path),)
    return (Edit(edit.path, edit.after, edit.before),)


def _make(vault: Vault, edit: Edit) -> None:
    if edit.moved_to is not None:
        _move(vault, edit, edit.moved_to)
    elif edit.before is None:
        if not vault.create_at(edit.path, edit.after or b""):
            raise _changed(edit.path)
    elif edit.after is None:
        if stands_as(vault, edit.path) != edit.before:
            raise _changed(edit.path)
        vault.delete(edit.path)
    else:
        _write(vault, edit.path, edit.before, edit.after)


def _write(vault: Vault, path: str, before: bytes, after: bytes) -> None:
    def change(now: bytes) -> bytes:
        if now != before:
            raise _changed(path)
        return after

    vault.edit(path, change)


def _move(vault: Vault, edit: Edit, target: str) -> None:
    if not vault.move(edit.path, target):
        _drop_reserved(vault, target, edit)
        if not vault.move(edit.path, target):
            raise _changed(target)
    if edit.before is not None and vault.read(target) != edit.before:
        vault.move(target, edit.path)  # somebody saved it up to that moment
        raise _changed(edit.path)


def _drop_reserved(vault: Vault, target: str, edit: Edit) -> None:
    """A name that was reserved for a move which a crash cut off is an empty file."""
    if edit.before and stands_as(vault, target) == b"" and vault.stat(edit.path) is not None:
        vault.delete(target)


def _changed(path: str) -> NoteConflict:
    return NoteConflict(f"{path} was changed meanwhile; try again", path=path)
