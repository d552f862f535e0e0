"""Reads changes from journal entries.

A change has two entries: the intent, with the whole change, before any file is touched, and the
outcome afterwards. Deleting a forgotten note for good has one.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import ValidationError

from memvault.curation.changes.plan import reversal_hash
from memvault.model.change import Change, ChangeKind, FileChange
from memvault.vault.journal import JournalEntry

PURGED = "purged"  # the kind of an entry for a forgotten note that was deleted for good


class JournalPhase(StrEnum):
    """The kinds of entries that a `Curator` writes for a change."""

    BEGUN = "change_begun"
    DONE = "change_done"
    WITHDRAWN = "change_withdrawn"


def intended(entry: JournalEntry) -> Change | None:
    """The change that an entry of `JournalPhase.BEGUN` announces; None if it cannot be read."""
    try:
        return Change.model_validate(entry.data.get("change"))
    except ValidationError:
        return None


def purged(entry: JournalEntry) -> Change:
    """The change in an entry of the kind `PURGED`."""
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
