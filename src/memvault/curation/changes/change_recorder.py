"""Records in the journal what a change intends and how it ended."""

from __future__ import annotations

import logging

from memvault.curation.changes.journal_decoder import DEVICE, JournalPhase
from memvault.curation.changes.trash import versions_of
from memvault.model.change import SYSTEM, Change
from memvault.model.errors import StorageError
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.version_store import VersionStore

logger = logging.getLogger(__name__)


class ChangeRecorder:
    """Writes the phases of changes to the journal."""

    def __init__(self, journal: Journal, versions: VersionStore) -> None:
        self._journal = journal
        self._versions = versions

    def record(self, phase: JournalPhase, change: Change) -> None:
        """Write a phase of a change to the journal.

        The outcome repeats the forgotten and restored notes, since `Tombstones` reads no other
        entry. It need not survive a power cut: recovery finds the outcome from the files.
        """
        data: dict[str, object] = {"reversal_hash": change.reversal_hash}
        if phase is JournalPhase.BEGUN:
            data["change"] = change.model_dump(mode="json", exclude_defaults=True)
            data[DEVICE] = self._journal.writer
        elif phase is JournalPhase.DONE:
            data["forgot"] = [tombstone.model_dump(mode="json") for tombstone in change.forgot]
            data["restored"] = list(change.restored)
        actor = SYSTEM if phase is JournalPhase.WITHDRAWN else change.actor
        entry = JournalEntry(ts=change.order, kind=phase, actor=actor, data=data,
                             rationale=change.rationale)  # fmt: skip
        self._journal.append(entry, flush=phase is JournalPhase.BEGUN)

    def withdraw(self, change: Change) -> None:
        """Record that nothing was done; if that fails, the next start finds it from the files."""
        try:
            self.record(JournalPhase.WITHDRAWN, change)
            self._versions.drop(change.reversal_hash, versions_of(change.files))
        except StorageError as error:
            logger.warning("the journal cannot be written: %s", error.message)
