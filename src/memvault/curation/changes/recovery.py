"""What becomes of a change that a crash cut off.

A change of which every file is changed is done; any other is taken back, file by file, and a file
that somebody saved since stays as they left it.
"""

from __future__ import annotations

import logging

from memvault.curation.changes.apply import stands_as, take_back
from memvault.curation.changes.plan import Edit
from memvault.model.change import Change, FileChange
from memvault.vault.files import Vault
from memvault.vault.parse import content_hash
from memvault.vault.version_store import VersionStore

logger = logging.getLogger(__name__)


def finish_or_take_back(vault: Vault, contents: VersionStore, change: Change) -> bool:
    """Whether the change is done; if not, none of it is left.

    Raises:
        StorageError: a file cannot be read or written; the next start tries again.
    """
    edits = [_edit(contents, change, file) for file in change.files]
    states = [_state(vault, edit, file) for edit, file in zip(edits, change.files, strict=True)]
    if "before" not in states:
        logger.info("finished what was cut off: %s %s", change.kind, ", ".join(change.names))
        return True
    changed = [edit for edit, state in zip(edits, states, strict=True) if state == "after"]
    for edit, state in zip(edits, states, strict=True):
        if state == "other":
            logger.warning("%s was changed meanwhile and stays as it is", edit.path)
    take_back(vault, changed)
    logger.info("took back what was cut off: %s %s", change.kind, ", ".join(change.names))
    return False


def _edit(contents: VersionStore, change: Change, file: FileChange) -> Edit:
    """Its versions are None where they are not kept."""

    def version(key: str | None) -> bytes | None:
        return None if key is None else contents.get(change.reversal_hash, key)

    return Edit(file.path, version(file.before), version(file.after), file.moved_to)


def _state(vault: Vault, edit: Edit, file: FileChange) -> str:
    """Whether a file is as ``before`` the change, as ``after`` it, or as somebody made it since."""
    now = stands_as(vault, file.path)
    found = None if now is None else content_hash(now)
    is_lost = (file.before is not None and edit.before is None) or (
        file.after is not None and edit.after is None
    )
    if is_lost and file.moved_to is None:
        return "other"  # without its versions it can be neither made nor unmade
    if file.moved_to is not None:
        there = stands_as(vault, file.moved_to)
        if found is None and there is not None and content_hash(there) == file.before:
            return "after"
        if found == file.before:
            return "before"
        return "other"
    if found == file.after:
        return "after"
    return "before" if found == file.before else "other"
