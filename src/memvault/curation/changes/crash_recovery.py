"""Completes or reverts the changes that a crash interrupted."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from memvault.curation.changes import file_edits
from memvault.curation.changes.change_recorder import ChangeRecorder
from memvault.curation.changes.journal_decoder import JournalPhase
from memvault.model.change import Change
from memvault.model.errors import StorageError
from memvault.vault.files import Vault
from memvault.vault.version_store import VersionStore

logger = logging.getLogger(__name__)


class CrashRecovery:
    """Completes a change of which every file was changed, and reverts any other."""

    def __init__(self, vault: Vault, contents: VersionStore, recorder: ChangeRecorder) -> None:
        self._vault = vault
        self._contents = contents
        self._recorder = recorder

    def recover(self, begun: Iterable[Change]) -> bool:
        """Recover these changes; returns whether all of them are completed or reverted now."""
        is_complete = True
        for change in begun:
            try:
                self._recover_one(change)
            except StorageError as error:
                logger.warning("%s is not recovered yet: %s", change.reversal_hash, error.message)
                is_complete = False
        return is_complete

    def _recover_one(self, change: Change) -> None:
        def version(content: str) -> bytes | None:
            return self._contents.get(change.reversal_hash, content)

        edits = file_edits.edits_made(self._vault, change.files, version)
        if edits is None:
            self._recorder.record(JournalPhase.DONE, change)
            logger.info("completed the interrupted change %s", change.reversal_hash)
        elif file_edits.revert_edits(self._vault, edits, version):
            self._recorder.withdraw(change)
            logger.info("reverted the interrupted change %s", change.reversal_hash)
        else:
            raise StorageError("a file of it cannot be restored")
