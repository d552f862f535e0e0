"""Completes or reverts the changes that a crash interrupted."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from memvault.curation.changes import file_edits
from memvault.curation.changes.change_entries import JournalPhase
from memvault.curation.changes.change_recorder import ChangeRecorder
from memvault.model.change import Change
from memvault.model.errors import StorageError
from memvault.vault.files import Vault
from memvault.vault.version_store import VersionStore

logger = logging.getLogger(__name__)


def recover(
    begun: Iterable[Change], vault: Vault, versions: VersionStore, recorder: ChangeRecorder
) -> bool:
    """Complete each change of which every file was changed, and revert any other.

    Returns whether all of them are completed or reverted now.
    """
    is_complete = True
    for change in begun:
        try:
            _recover_one(change, vault, versions, recorder)
        except StorageError as error:
            logger.warning("%s is not recovered yet: %s", change.reversal_hash, error.message)
            is_complete = False
    return is_complete


def _recover_one(
    change: Change, vault: Vault, versions: VersionStore, recorder: ChangeRecorder
) -> None:
    version = versions.reader(change.reversal_hash)
    edits = file_edits.edits_made(vault, change.files, version)
    if edits is None:
        recorder.record(JournalPhase.DONE, change)
        logger.info("completed the interrupted change %s", change.reversal_hash)
    elif file_edits.revert_edits(vault, edits, version):
        recorder.withdraw(change)
        logger.info("reverted the interrupted change %s", change.reversal_hash)
    else:
        raise StorageError("a file of it cannot be restored")
