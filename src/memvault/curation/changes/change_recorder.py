"""Records in the journal what a change intends and how it ended."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from memvault.curation.changes.change_entries import DEVICE, JournalPhase
from memvault.curation.changes.plan import Edit
from memvault.curation.changes.trash import versions_of
from memvault.curation.origins.reframing import Reframed, reframed
from memvault.curation.origins.sentence_digests import (
    added,
    fingerprint,
    read_alike,
    relinked,
    says_verified,
)
from memvault.model.change import SYSTEM, Change, ChangeKind, FileChange
from memvault.model.errors import StorageError
from memvault.vault.frontmatter.fences import claimed_id
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.parse import content_hash
from memvault.vault.version_store import VersionStore

logger = logging.getLogger(__name__)
RELINKING = (ChangeKind.MOVED, ChangeKind.ARCHIVED, ChangeKind.LIFECYCLE_SET)  # rewrite links only


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


def file_change(
    edit: Edit,
    edits: Sequence[Edit],
    *,
    by_client: bool,
    kind: ChangeKind,
    mtime_ns: int | None,
) -> FileChange:
    """The journal's record of an edit, with hashes instead of texts.

    Args:
        edits: all edits of the change. A sentence that another of its notes had before counts as
            carried, not as added.
        by_client: then the person's sentences that it moves or reframes are recorded, too.
        kind: of the change. Where it changes only links, all sentences stay their writers', and
            none is reframed.
        mtime_ns: when the file was last saved.
    """
    before, after = edit.before, edit.after
    new_digests = [] if after is None else added(before, after)
    relinks = kind in RELINKING or (kind is ChangeKind.MERGED and _reads_as_before(edit))
    relinked_from = relinked(before, after) if relinks and before and after else {}
    new_digests = [digest for digest in new_digests if digest not in relinked_from]
    texts = [other.before for other in edits if other is not edit and other.before is not None]
    carried = {digest for text in texts for digest in added(None, text)} if new_digests else set()
    reframing = reframed(before, after) if by_client and not relinks else Reframed()
    has_new_words = bool(new_digests or reframing.digests)
    return FileChange(
        path=edit.path,
        before=None if before is None else content_hash(before),
        after=None if after is None else content_hash(after),
        moved_to=edit.moved_to,
        added=tuple(digest for digest in new_digests if digest not in carried),
        carried=tuple(digest for digest in new_digests if digest in carried),
        relinked=relinked_from,
        reframed=reframing.digests,
        own_places=reframing.own_places,
        new_places=reframing.new_places,
        causes=reframing.causes,
        beside=fingerprint(before, after or b"") if has_new_words and before else (),
        note_id=None if after is None else claimed_id(after),
        was_verified=before is not None and says_verified(before),
        mtime_ns=mtime_ns,
    )


def _reads_as_before(edit: Edit) -> bool:
    if edit.before is None or edit.after is None:
        return False
    return read_alike(edit.before, edit.after)
