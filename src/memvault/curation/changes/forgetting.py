"""Forgets and restores notes and concepts: notes go to the vault's trash, names leave the graph.

A note goes to ``.trash/``, like notes that Obsidian deletes: under its own name without its
folders, with " 1", " 2", … if that is taken. It can be restored byte for byte for 30 days. The
text of other notes never changes, but the graph omits the forgotten note or concept and its names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memvault.curation.changes.history import History
from memvault.curation.changes.plan import Attribution, Forgetting, Plan
from memvault.curation.changes.staging import TRASH, Staging, is_in_trash
from memvault.curation.changes.tombstones import Tombstones
from memvault.curation.origins.provenance import origin_of_change, spoken_key
from memvault.curation.targets import Target, concept_ids, names_of_memory
from memvault.model.change import Change, ChangeKind, FileChange
from memvault.model.errors import AmbiguousTarget, InvalidParams, NoteNotFound
from memvault.model.graph import NodeKind
from memvault.model.memory import Memory, Tombstone

USER_REQUESTED = "user_requested"


def check_permanent(permanent: bool, reason: str | None) -> None:
    """Raise InvalidParams for a permanent deletion that no person requested.

    The wording is that of core EC-CORE-012.
    """
    if permanent and reason != USER_REQUESTED:
        raise InvalidParams(
            "Permanent deletion requires reason='user_requested'", parameter="reason", reason=reason
        )


def check_restoring(plan: Plan, why: Attribution, history: History) -> None:
    """Raise InvalidParams if a client would bring back a note that the person removed."""
    if not why.by_client or not (plan.restores or plan.undoes):
        return
    for change in history.all():
        if change.actor.kind != "person" or not _removes(change):
            continue
        forgot = {tombstone.reversal_hash for tombstone in change.forgot}
        if forgot & {*plan.restores} or change.reversal_hash in plan.undoes:
            raise InvalidParams(
                "The person removed this, so only they can bring it back: on the Activity page, or "
                f"with `memvault undo {change.reversal_hash[:8]}`. Nothing was changed.",
                reversal_hash=change.reversal_hash,
            )


def _removes(change: Change) -> bool:
    """Whether a change forgets a note or concept, or undoes the creation of a note."""
    is_undoing = change.kind is ChangeKind.UNDONE
    return bool(change.forgot) or (
        is_undoing and any(is_in_trash(file.moved_to or "") for file in change.files)
    )


def is_stored_only_by(history: History, note: Memory, client: str) -> bool:
    """Whether this client stored a note, and all that was merged into it, and no other client
    changed any of it."""
    names, known = {note.id, note.path}, set[str]()  # ids and paths of the note and the merged ones
    changes: list[Change] = []
    while new := names - known:
        known |= new
        found = [
            change
            for change in history.all()
            if not new.isdisjoint((*change.node_ids, *change.merged_from, *change.paths))
        ]
        changes += found
        for change in found:
            took_over = change.undone_by is None and not known.isdisjoint(change.node_ids)
            is_merge = took_over and bool(change.merged_from)
            moved = (file for file in change.files if file.moved_to)
            names.update(file.path for file in moved if is_merge or file.moved_to in known)
            names.update(change.merged_from if is_merge else ())
    creators = [change.actor for change in changes if change.kind is ChangeKind.CREATED]
    clients = {change.actor.name for change in changes if change.actor.kind == "client"}
    return clients == {client} and all(actor.kind == "client" for actor in creators)


def untouched_by_person(newest_first: Sequence[Change], path: str, version: str | None) -> bool:
    """Whether the person never wrote, changed or moved this version of a note.

    Then clients, imports or memvault made all its versions, and a client may forget, merge or move
    it.

    Args:
        newest_first: the history.
        version: the hash of its content.
    """
    paths, steps = {path}, list[FileChange]()
    for index, change in enumerate(newest_first):
        files = [file for file in change.files if paths & set(file.paths)]
        if not files:
            continue
        is_spoken = any(spoken_key(file.path) in change.memo for file in files)
        if is_spoken or origin_of_change(change).is_person:
            return False
        paths.update(*(file.paths for file in files))
        steps += files
        if change.kind is ChangeKind.MERGED:
            older = newest_first[index + 1 :]
            merged = (file for file in change.files if file.moved_to and file not in files)
            if not all(untouched_by_person(older, file.path, file.before) for file in merged):
                return False
    known_versions: set[str | None] = {None}
    for step in reversed(steps):
        if step.before not in known_versions:
            return False  # the person saved it in an editor
        known_versions.add(step.after)
    return version in known_versions


@dataclass(frozen=True, slots=True)
class Restored:
    """A restored note or concept; ``path`` is the note's current path, None for a concept."""

    tombstone: Tombstone
    path: str | None = None


def stage_forgetting(staging: Staging, target: Target, *, permanent: bool = False) -> None:
    """Move a note to the trash, or remove a concept without a note from the graph.

    Args:
        permanent: the note, if there is one, is deleted from the trash at once.

    Raises:
        NoteNotFound: the note no longer exists.
    """
    staging.forget(
        Forgetting(
            name=target.name,
            kind=target.kind,
            node_ids=target.node_ids,
            hidden=tuple(sorted(hidden_by(target))),
            path=target.note.path if target.note else None,
            permanent=permanent and target.note is not None,
        )
    )


def stage_restoring(
    staging: Staging, tombstones: Tombstones, history: History, target: str, now: datetime
) -> Restored:
    """Restore the forgotten note or concept with this hash, id, path or name.

    If another note has its path by now, the restored file name gets a number.

    Raises:
        NoteNotFound: no such note or concept can be restored.
        AmbiguousTarget: several can.
    """
    tombstone = _restorable(tombstones, target, now)
    path = None
    if tombstone.trash_path is not None:
        if not staging.exists(tombstone.trash_path):
            raise NoteNotFound(
                f"{tombstone.path} is no longer in {TRASH}: it was deleted or moved from there",
                path=tombstone.path,
            )
        path = staging.free_path(tombstone.path or "", first=2)
        staging.move(tombstone.trash_path, path)
    staging.restores.append(tombstone.reversal_hash)
    change = history.find(tombstone.reversal_hash)  # one that forgot nothing else
    if change is not None and change.kind is ChangeKind.FORGOTTEN and change.undone_by is None:
        staging.undoes.append(change.reversal_hash)
    return Restored(tombstone, path)


def hidden_by(target: Target) -> frozenset[str]:
    """The nodes without a note that the graph omits while this target is forgotten."""
    if target.note is not None:
        return concept_ids(names_of_memory(target.note))
    ids = frozenset(target.node_ids)
    return ids if target.kind == NodeKind.TAG else ids | concept_ids([target.name])


def _restorable(tombstones: Tombstones, target: str, now: datetime) -> Tombstone:
    matching = tombstones.matching(target)
    restorable = [tombstone for tombstone in matching if tombstone.restorable(now)]
    if len(restorable) == 1:
        return restorable[0]
    if restorable:
        raise AmbiguousTarget(
            f"{len(restorable)} forgotten notes or concepts are named {target!r}: give the "
            "reversal_hash",
            candidates=[
                {
                    "reversal_hash": tombstone.reversal_hash,
                    "name": tombstone.name,
                    "path": tombstone.path,
                    "forgotten_at": tombstone.forgotten_at.isoformat(timespec="seconds"),
                }
                for tombstone in restorable
            ],
        )
    if matching or tombstones.was_purged(target):
        raise NoteNotFound(
            f"{target!r} was deleted for good: its 30 days are over, or it was to be permanent",
            target=target,
        )
    raise NoteNotFound(
        f"No forgotten note is named {target!r}; it may be restored already. Otherwise give its "
        "title, path, id or reversal_hash",
        target=target,
    )
