"""Sentences for a person about the changes of the vault."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from memvault.model.change import Change, ChangeKind

MAX_NAMED = 3  # memories or changes that a sentence names

_ACTIONS = {
    ChangeKind.CREATED: "stored {names}",
    ChangeKind.IMPORTED: "imported {names}",
    ChangeKind.IMPORT_UPDATED: "updated {names} from its conversation",
    ChangeKind.PREFERENCE_SET: "set the preference {names}",
    ChangeKind.MERGED: "merged {names}",
    ChangeKind.ANNOTATED: "added a remark to {names}",
    ChangeKind.BOOSTED: "changed the importance of {names}",
    ChangeKind.LIFECYCLE_SET: "changed the lifecycle of {names}",
    ChangeKind.MOVED: "moved {names}",
    ChangeKind.ARCHIVED: "moved the notes of the project {names} to the archive",
    ChangeKind.VERIFIED: "marked {names} as verified or wrong",
    ChangeKind.PROPERTY_SET: "changed the properties of {names}",
    ChangeKind.FORGOTTEN: "forgot {names}",
    ChangeKind.PURGED: "deleted {names} for good",
    ChangeKind.RESTORED: "restored {names}",
    ChangeKind.EDITED: "edited {names}",
    ChangeKind.MANIFEST_APPLIED: "applied the manifest to {names}",
    ChangeKind.COMPRESSED: "wrote the brief {names}",
    ChangeKind.CAPTURED: "captured a session: {names}",
    ChangeKind.FADED: "let {names} fade",
    ChangeKind.RECONSTRUCTED: "brought back the full text of {names}",
    ChangeKind.DREAMED: "accepted what a dream proposed for {names}",
    ChangeKind.UNDONE: "undid a change of {names}",
}
_BY = re.compile(r", by ([^:\n]{1,100}): ")


def names_in_change(change: Change) -> str:
    """The names of the memories that a change touches, else its paths."""
    names = [f"“{name}”" for name in change.names] or list(change.paths) or ["nothing"]
    listed = names[:MAX_NAMED]
    unlisted = max(len(names), len(change.node_ids)) - len(listed)
    if unlisted > 0 and len(names) >= MAX_NAMED:
        return f"{', '.join(listed)} and {unlisted} more"
    return " and ".join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed)


def author(change: Change) -> str:
    """Who made a change: the client by name, the person, or memvault."""
    if change.actor.kind == "client":
        return change.actor.name or "an unnamed client"
    return "you" if change.actor.kind == "person" else "memvault"


def change_summary(change: Change) -> str:
    """A change in a few words, for a person."""
    if change.kind is ChangeKind.MERGED and len(change.names) > 1:
        without_target = change.model_copy(update={"names": change.names[1:]})
        return f"Merged {names_in_change(without_target)} into “{change.names[0]}”"
    text = _ACTIONS[change.kind].format(names=names_in_change(change))
    return text[0].upper() + text[1:]


def words_around_names(kind: ChangeKind) -> tuple[str, str]:
    """What a change did, in the words before and after the names of what it changed."""
    before, _, after = _ACTIONS[kind].partition("{names}")
    return before, after


def description(change: Change) -> str:
    """The change, who made it and why, in one line."""
    reason = f": {change.rationale.rstrip(' .')}" if change.rationale else ""
    undone = ", undone since" if change.undone_by else ""
    return f"{change_summary(change)}, by {author(change)}{undone}{reason}"


def said_in(description: str) -> tuple[str, ...]:
    """What clients wrote in a `description`: the title with the reason, and the client's name.

    To be judged one by one: memvault's words between them read as if something were told to a
    model, as does a name in front of a reason. Nothing is left out, since a title may have an
    order between such words.
    """
    name = _BY.search(description)
    if name is None:
        return (description,)
    return f"{description[: name.start()]}\n\n{description[name.end() :]}", name[1]


def explanation(changes: Sequence[Change], since: datetime, quarantined: int = 0) -> str:
    """An explanation for a person of these changes, newest first.

    Args:
        quarantined: number of texts in quarantine.
    """
    day = since.astimezone().strftime("%d %B %Y, %H:%M").lstrip("0")
    texts = "1 text that looks" if quarantined == 1 else f"{quarantined} texts that look"
    quarantine = (
        f" {texts} like orders to an AI model wait in quarantine for you." if quarantined else ""
    )
    if not changes:
        return f"Nothing was forgotten or merged since {day}.{quarantine}"
    described = [f"{description(change)}." for change in changes[:MAX_NAMED]]
    unlisted = len(changes) - len(described)
    remainder = f" {unlisted} more such changes are in the log." if unlisted else ""
    is_any_undoable = any(change.undone_by is None and change.undoable for change in changes)
    hint = " Whatever is marked as recoverable can be brought back." if is_any_undoable else ""
    return f"Since {day}: {' '.join(described)}{remainder}{hint}{quarantine}"
