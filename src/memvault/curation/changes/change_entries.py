"""The kinds of journal entries about changes, and the change that a deletion for good is.

A change has two entries: the intent, with the whole change, before any file is touched, and the
outcome afterwards.
"""

from __future__ import annotations

from enum import StrEnum

from memvault.curation.changes.plan import reversal_hash
from memvault.model.change import Change, ChangeKind, FileChange
from memvault.vault.journal import JournalEntry

DEVICE = "device"  # key of the intent's data: the computer that makes the change
PURGED = "purged"  # kind of the entry about a note that was deleted from the trash


class JournalPhase(StrEnum):
    """The kinds of entries that a `Curator` writes for a change."""

    BEGUN = "change_begun"
    DONE = "change_done"
    WITHDRAWN = "change_withdrawn"


def deletion(entry: JournalEntry) -> Change:
    """The change that an entry of the kind `PURGED` records."""
    return Change(
        reversal_hash=reversal_hash(entry.kind, entry.ts, entry.path or "", entry.id),
        kind=ChangeKind.PURGED,
        at=entry.ts,
        actor=entry.actor,
        client=entry.actor.name if entry.actor.kind == "client" else "",
        rationale=entry.rationale or "",
        node_ids=(entry.note_id,) if entry.note_id else (),
        files=(FileChange(path=entry.path),) if entry.path else (),
        undoable=False,
    )
