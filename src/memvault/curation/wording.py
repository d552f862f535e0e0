"""Changes in words, made from what the journal says of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memvault.model.change import Change, ChangeKind

MOST_NAMED = 3  # things that a sentence names

_DONE = {
    ChangeKind.CREATED: "Stored {names}",
    ChangeKind.IMPORTED: "Imported {names}",
    ChangeKind.IMPORT_UPDATED: "Brought {names} up to date with its conversation",
    ChangeKind.PREFERENCE_SET: "Set the preference {names}",
    ChangeKind.MERGED: "Merged {names}",
    ChangeKind.ANNOTATED: "Added a remark to {names}",
    ChangeKind.BOOSTED: "Changed the importance of {names}",
    ChangeKind.LIFECYCLE_SET: "Changed the lifecycle of {names}",
    ChangeKind.VERIFIED: "Said whether {names} is right",
    ChangeKind.PROPERTY_SET: "Changed the properties of {names}",
    ChangeKind.FORGOTTEN: "Forgot {names}",
    ChangeKind.PURGED: "Deleted {names} for good",
    ChangeKind.RESTORED: "Restored {names}",
    ChangeKind.EDITED: "Edited {names}",
    ChangeKind.MANIFEST_APPLIED: "Applied the manifest to {names}",
    ChangeKind.COMPRESSED: "Wrote a brief from {names}",
    ChangeKind.UNDONE: "Took back what was done to {names}",
}


def names_of(change: Change) -> str:
    """What a change is about: names where it has them, else paths."""
    named = [f"“{name}”" for name in change.names] or list(change.paths) or ["nothing"]
    shown = named[:MOST_NAMED]
    more = len(named) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def who(change: Change) -> str:
    """The client by name, the person, or memvault."""
    if change.actor.kind == "client":
        return change.actor.name or "a client"
    return "you" if change.actor.kind == "person" else "memvault"


def done(change: Change) -> str:
    """What was done, and to what."""
    if change.kind is ChangeKind.MERGED and len(change.names) > 1:
        others = change.model_copy(update={"names": change.names[1:]})
        return f"Merged {names_of(others)} into “{change.names[0]}”"
    return _DONE[change.kind].format(names=names_of(change))


def description(change: Change) -> str:
    """What was done, by whom and why, in one line."""
    why = f": {change.rationale.rstrip(' .')}" if change.rationale else ""
    since = ", and it was taken back since" if change.undone_by else ""
    return f"{done(change)}, by {who(change)}{since}{why}"


def explanation(changes: Sequence[Change], since: datetime) -> str:
    """What a person may be told of these changes, the newest first."""
    day = since.strftime("%d %B %Y, %H:%M UTC").lstrip("0")
    if not changes:
        return f"Nothing was forgotten, merged or set aside since {day}."
    told = [f"{description(each)}." for each in changes[:MOST_NAMED]]
    more = len(changes) - len(told)
    rest = f" {more} more such changes are in the log." if more else ""
    back = [each for each in changes if each.undone_by is None and each.undoable]
    can = " Whatever is marked as recoverable can be brought back." if back else ""
    return f"Since {day}: {' '.join(told)}{rest}{can}"
