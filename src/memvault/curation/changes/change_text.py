"""Changes in words, for people."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memvault.model.change import Change, ChangeKind

MOST_NAMED = 3  # memories or changes that a sentence names

_DONE = {
    ChangeKind.CREATED: "Stored {names}",
    ChangeKind.IMPORTED: "Imported {names}",
    ChangeKind.IMPORT_UPDATED: "Updated {names} from its conversation",
    ChangeKind.PREFERENCE_SET: "Set the preference {names}",
    ChangeKind.MERGED: "Merged {names}",
    ChangeKind.ANNOTATED: "Annotated {names}",
    ChangeKind.BOOSTED: "Changed the importance of {names}",
    ChangeKind.LIFECYCLE_SET: "Changed the lifecycle of {names}",
    ChangeKind.VERIFIED: "Marked {names} as verified or wrong",
    ChangeKind.PROPERTY_SET: "Changed the properties of {names}",
    ChangeKind.FORGOTTEN: "Forgot {names}",
    ChangeKind.PURGED: "Deleted {names} for good",
    ChangeKind.RESTORED: "Restored {names}",
    ChangeKind.EDITED: "Edited {names}",
    ChangeKind.MANIFEST_APPLIED: "Applied the manifest to {names}",
    ChangeKind.COMPRESSED: "Wrote a brief from {names}",
    ChangeKind.CAPTURED: "Captured a session of {names}",
    ChangeKind.UNDONE: "Undid a change of {names}",
}


def names_of(change: Change) -> str:
    """The names of the memories that a change touches, else its paths."""
    named = [f"“{name}”" for name in change.names] or list(change.paths) or ["nothing"]
    shown = named[:MOST_NAMED]
    more = max(len(named), len(change.node_ids)) - len(shown)
    if more > 0 and len(named) >= MOST_NAMED:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def who(change: Change) -> str:
    """Who made a change: the client by name, the person, or memvault."""
    if change.actor.kind == "client":
        return change.actor.name or "a client"
    return "you" if change.actor.kind == "person" else "memvault"


def done(change: Change) -> str:
    """The change in a few words."""
    if change.kind is ChangeKind.MERGED and len(change.names) > 1:
        others = change.model_copy(update={"names": change.names[1:]})
        return f"Merged {names_of(others)} into “{change.names[0]}”"
    return _DONE[change.kind].format(names=names_of(change))


def description(change: Change) -> str:
    """The change, who made it and why, in one line."""
    why = f": {change.rationale.rstrip(' .')}" if change.rationale else ""
    since = ", undone since" if change.undone_by else ""
    return f"{done(change)}, by {who(change)}{since}{why}"


def explanation(changes: Sequence[Change], since: datetime) -> str:
    """An explanation of these changes for a person, the newest first."""
    day = since.strftime("%d %B %Y, %H:%M UTC").lstrip("0")
    if not changes:
        return f"Nothing was forgotten or merged since {day}."
    shown = [f"{description(each)}." for each in changes[:MOST_NAMED]]
    more = len(changes) - len(shown)
    rest = f" {more} more such changes are in the log." if more else ""
    back = [each for each in changes if each.undone_by is None and each.undoable]
    can = " Whatever is marked as recoverable can be brought back." if back else ""
    return f"Since {day}: {' '.join(shown)}{rest}{can}"
