"""Changes as the entries of the journal tell them, those of other kinds than a curator's too."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import ValidationError

from memvault.curation.changes.plan import reversal_hash
from memvault.curation.trash.forgotten import CHANGE_DONE, Step
from memvault.model.change import Change, ChangeKind, FileChange
from memvault.model.memory import Tombstone
from memvault.vault.journal import JournalEntry
from memvault.vault.parse import content_hash
from memvault.vault.version_store import KEPT_BYTES, VersionStore


class Stroke(StrEnum):
    """The kinds of entries that tell of a change made by a `Curator`: the intent, then what came
    of it."""

    BEGUN = "change_begun"
    DONE = CHANGE_DONE
    WITHDRAWN = "change_withdrawn"


_WRITTEN = {
    ChangeKind.CREATED,
    ChangeKind.IMPORTED,
    ChangeKind.IMPORT_UPDATED,
    ChangeKind.PREFERENCE_SET,
}


def planned(entry: JournalEntry) -> Change | None:
    """The change that an entry of the kind ``change_begun`` announces; None if it cannot be
    read."""
    try:
        return Change.model_validate(entry.data.get("change"))
    except ValidationError:
        return None


def told(entry: JournalEntry) -> Change | None:
    """The change that an entry of another kind tells of, None if it tells of none."""
    if entry.kind in _WRITTEN:
        return _written(entry, ChangeKind(entry.kind))
    if entry.kind == Step.FORGOTTEN:
        return _forgotten(entry)
    if entry.kind == Step.RESTORED:
        return _restored(entry)
    if entry.kind == Step.PURGED:
        return _purged(entry)
    return None


def hash_of_entry(entry: JournalEntry) -> str:
    """The name of a change whose entry gives it none."""
    return reversal_hash(entry.kind, entry.ts, entry.path or "", entry.id)


def with_versions(
    entry: JournalEntry, contents: VersionStore, before: bytes | None, after: bytes
) -> JournalEntry:
    """The entry of a note that was written, so that it can be taken back: both versions are kept.

    Raises:
        StorageError, DiskFull: they are not.
    """
    versions = {content_hash(data): data for data in (before, after) if data is not None}
    small = {key: data for key, data in versions.items() if len(data) <= KEPT_BYTES}
    if before is not None:
        contents.put(hash_of_entry(entry), small)
    hashes = {
        "before_hash": None if before is None else content_hash(before),
        "after_hash": content_hash(after),
    }
    return entry.model_copy(update={"data": {**entry.data, **hashes}})


def _written(entry: JournalEntry, kind: ChangeKind) -> Change:
    before, after = _hash(entry.data.get("before_hash")), _hash(entry.data.get("after_hash"))
    if kind is ChangeKind.CREATED and isinstance(entry.after, dict):
        after = _hash(entry.after.get("content_hash"))
    file = FileChange(path=entry.path, before=before, after=after) if entry.path else None
    return _of(
        entry,
        kind,
        reversal_hash=hash_of_entry(entry),
        node_ids=(entry.note_id,) if entry.note_id else (),
        names=(str(entry.data["key"]),) if "key" in entry.data else (),
        files=(file,) if file else (),
        undoable=after is not None,
    )


def _forgotten(entry: JournalEntry) -> Change | None:
    try:
        tombstone = Tombstone.model_validate(entry.data)
    except ValidationError:
        return None
    return _of(
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
    return _of(
        entry,
        ChangeKind.RESTORED,
        reversal_hash=hash_of_entry(entry),
        node_ids=(entry.note_id,) if entry.note_id else (),
        files=_moved(entry.data.get("trash_path"), entry.path, entry.before),
        undoes=(forgotten,),
        restored=(forgotten,),
    )


def _purged(entry: JournalEntry) -> Change:
    return _of(
        entry,
        ChangeKind.PURGED,
        reversal_hash=hash_of_entry(entry),
        node_ids=(entry.note_id,) if entry.note_id else (),
        files=(FileChange(path=entry.path),) if entry.path else (),
        undoable=False,
    )


def _of(entry: JournalEntry, kind: ChangeKind, **said: Any) -> Change:
    return Change(
        kind=kind,
        at=entry.ts,
        actor=entry.actor,
        client=entry.actor.name if entry.actor.kind == "client" else "",
        rationale=entry.rationale or "",
        **said,
    )


def _moved(path: Any, target: Any, content: Any) -> tuple[FileChange, ...]:
    if not (isinstance(path, str) and isinstance(target, str)):
        return ()
    return (FileChange(path=path, before=_hash(content), moved_to=target),)


def _hash(value: Any) -> str | None:
    return value if isinstance(value, str) else None
