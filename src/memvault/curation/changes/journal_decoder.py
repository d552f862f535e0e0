"""Reads changes from journal entries, including those of earlier versions.

A change has two entries: the intent, with the whole change, before any file is touched, and the
outcome afterwards. Earlier versions wrote one entry of another kind for a note that was stored,
imported, set, forgotten or restored.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import ValidationError

from memvault.curation.changes.plan import reversal_hash
from memvault.model.change import Change, ChangeKind, FileChange
from memvault.model.memory import Tombstone
from memvault.vault.journal import JournalEntry

DEVICE = "device"  # key of the intent's data: the computer that makes the change


class JournalPhase(StrEnum):
    """The kinds of entries that a `Curator` writes for a change."""

    BEGUN = "change_begun"
    DONE = "change_done"
    WITHDRAWN = "change_withdrawn"


class TrashEntry(StrEnum):
    """The kinds of entries about single notes in the trash. Only PURGED is still written."""

    FORGOTTEN = "forgotten"
    PURGED = "purged"
    RESTORED = "restored"


_WRITTEN = {
    ChangeKind.CREATED,
    ChangeKind.IMPORTED,
    ChangeKind.IMPORT_UPDATED,
    ChangeKind.PREFERENCE_SET,
}


def decoded(entry: JournalEntry) -> Change | None:
    """The change in an entry of another kind than `JournalPhase`; None if it holds none."""
    if entry.kind in _WRITTEN:
        return _written(entry, ChangeKind(entry.kind))
    if entry.kind == TrashEntry.FORGOTTEN:
        return _forgotten(entry)
    if entry.kind == TrashEntry.RESTORED:
        return _restored(entry)
    if entry.kind == TrashEntry.PURGED:
        return _purged(entry)
    return None


def _written(entry: JournalEntry, kind: ChangeKind) -> Change:
    before, after = _text(entry.data.get("before_hash")), _text(entry.data.get("after_hash"))
    if kind is ChangeKind.CREATED and isinstance(entry.after, dict):
        after = _text(entry.after.get("content_hash"))
    file = FileChange(path=entry.path, before=before, after=after) if entry.path else None
    body = _text(entry.data.get("body_hash"))
    return _change(
        entry,
        kind,
        node_ids=(entry.note_id,) if entry.note_id else (),
        names=(str(entry.data["key"]),) if "key" in entry.data else (),
        files=(file,) if file else (),
        memo={entry.note_id: body} if entry.note_id and body else {},
        undoable=after is not None,
    )


def _forgotten(entry: JournalEntry) -> Change | None:
    try:
        tombstone = Tombstone.model_validate(entry.data)
    except ValidationError:
        return None
    return _change(
        entry,
        ChangeKind.FORGOTTEN,
        reversal_hash=tombstone.reversal_hash,
        reason=tombstone.reason,
        node_ids=tombstone.node_ids,
        names=(tombstone.name,),
        files=_moved(tombstone.path, tombstone.trash_path, tombstone.content_hash),
        forgot=(tombstone,),
        undoable=not tombstone.permanent,
    )


def _restored(entry: JournalEntry) -> Change:
    forgotten = str(entry.data.get("reversal_hash", ""))
    return _change(
        entry,
        ChangeKind.RESTORED,
        node_ids=(entry.note_id,) if entry.note_id else (),
        files=_moved(entry.data.get("trash_path"), entry.path, entry.before),
        undoes=(forgotten,),
        restored=(forgotten,),
    )


def _purged(entry: JournalEntry) -> Change:
    return _change(
        entry,
        ChangeKind.PURGED,
        node_ids=(entry.note_id,) if entry.note_id else (),
        files=(FileChange(path=entry.path),) if entry.path else (),
        undoable=False,
    )


def _change(entry: JournalEntry, kind: ChangeKind, **fields: Any) -> Change:
    own_hash = reversal_hash(entry.kind, entry.ts, entry.path or "", entry.id)
    shared: dict[str, Any] = {
        "reversal_hash": own_hash,
        "kind": kind,
        "at": entry.ts,
        "actor": entry.actor,
        "client": entry.actor.name if entry.actor.kind == "client" else "",
        "rationale": entry.rationale or "",
    }
    return Change(**(shared | fields))


def _moved(path: Any, target: Any, content: Any) -> tuple[FileChange, ...]:
    if not (isinstance(path, str) and isinstance(target, str)):
        return ()
    return (FileChange(path=path, before=_text(content), moved_to=target),)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
