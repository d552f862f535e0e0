"""Forgets and restores notes and concepts: notes go to the vault's trash, names leave the graph.

A note goes to ``.trash/``, like notes that Obsidian deletes: under its own name without its
folders, with " 1", " 2", … if that is taken. It can be restored byte for byte for 30 days. The
text of other notes never changes, but the graph omits the forgotten note or concept and its names.

The state of a tombstone is the furthest state in any journal entry, so the order in which a sync
tool merges the journal's files does not matter.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum
from pathlib import PurePosixPath

from pydantic import ValidationError

from memvault.curation.changes.history import History
from memvault.curation.changes.journal_decoder import JournalPhase, TrashEntry
from memvault.curation.changes.plan import Attribution, Forgetting, Plan, reversal_hash
from memvault.curation.changes.staging import TRASH, Staging, is_in_trash
from memvault.curation.provenance import origin_of, spoken_key
from memvault.curation.targets import Target, concept_ids, names_of_memory
from memvault.model.change import Change, ChangeKind, FileChange
from memvault.model.errors import AmbiguousTarget, InvalidParams, NoteNotFound
from memvault.model.graph import NodeKind
from memvault.model.memory import Tombstone
from memvault.text.words import name_key
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.parse import content_hash

RETENTION = timedelta(days=30)  # time that a forgotten note stays in the trash
USER_REQUESTED = "user_requested"

logger = logging.getLogger(__name__)


class _State(IntEnum):
    BEGUN = 0
    WITHDRAWN = 1
    FORGOTTEN = 2
    PURGED = 3  # the file is deleted, or was changed by the person and so kept
    RESTORED = 4


_STATE_OF = {
    TrashEntry.FORGETTING: _State.BEGUN,
    TrashEntry.FORGETTING_WITHDRAWN: _State.WITHDRAWN,
    TrashEntry.FORGOTTEN: _State.FORGOTTEN,
    TrashEntry.PURGED: _State.PURGED,
    TrashEntry.RESTORED: _State.RESTORED,
}


_STATE_KINDS = frozenset(map(str, TrashEntry))


class Forgotten:
    """Every tombstone of one vault. Thread-safe."""

    def __init__(self, entries: Iterable[JournalEntry] = ()) -> None:
        self._tombstones: dict[str, Tombstone] = {}
        self._states: dict[str, _State] = {}
        self._restoring: dict[str, str] = {}  # path to which the note is being restored
        self._hidden: frozenset[str] = frozenset()
        self._lock = threading.RLock()
        for entry in entries:
            self._fold(entry)
        self._settle()

    @classmethod
    def read(cls, journal: Journal) -> Forgotten:
        """Read the tombstones from the journal, as far as it is readable."""

        def entries() -> Iterator[JournalEntry]:
            try:
                yield from journal.entries(frozenset(TrashEntry) | {JournalPhase.DONE})
            except OSError as error:
                logger.error("the journal cannot be read: %s", error.strerror)

        return cls(entries())

    def take(self, entry: JournalEntry) -> None:
        """Apply an entry that was just written."""
        with self._lock:
            self._fold(entry)
            self._settle()

    @property
    def hidden(self) -> frozenset[str]:
        """The ids of the nodes without a note that the graph omits."""
        return self._hidden

    def kept(self) -> list[Tombstone]:
        """The tombstones that are neither restored nor purged, oldest first."""
        return self._in_state(_State.FORGOTTEN)

    def begun(self) -> list[Tombstone]:
        """Tombstones for which an earlier version wrote only the intent, oldest first."""
        return self._in_state(_State.BEGUN)

    def being_restored(self) -> list[tuple[Tombstone, str]]:
        """Tombstones for which an earlier version wrote only the intent to restore.

        Each comes with the path to which its note was to be restored.
        """
        with self._lock:
            return [(self._tombstones[key], path) for key, path in self._restoring.items()]

    def called(self, target: str) -> list[Tombstone]:
        """The kept tombstones with this hash, id, path or name."""
        target = target.strip()
        kept = self.kept()
        exact = [
            each
            for each in kept
            if target in (each.reversal_hash, each.name, each.path, *each.node_ids)
        ]
        key = name_key(target)
        return exact or [each for each in kept if key and key in _keys(each)]

    def was_purged(self, target: str) -> bool:
        """Whether a note with this hash, id or path was deleted for good."""
        return any(
            target in (each.reversal_hash, each.path, *each.node_ids)
            for each in self._in_state(_State.PURGED)
        )

    def restorable(self, now: datetime) -> list[Tombstone]:
        """The kept tombstones whose notes can still be restored."""
        return [each for each in self.kept() if each.restorable(now)]

    def _in_state(self, state: _State) -> list[Tombstone]:
        with self._lock:
            found = [each for key, each in self._tombstones.items() if self._is(key, state)]
        return sorted(found, key=lambda each: (each.forgotten_at, each.reversal_hash))

    def tombstone(self, reversal_hash: str) -> Tombstone | None:
        """The tombstone with this hash, even if its note was restored since."""
        with self._lock:
            return self._tombstones.get(reversal_hash)

    def kept_tombstones_of(self, tombstone: Tombstone) -> list[Tombstone]:
        """The kept tombstones of the same memory or concept, including later forgettings."""
        first = tombstone.repeats or tombstone.reversal_hash
        return [each for each in self.kept() if first in (each.reversal_hash, each.repeats)]

    def _fold_change(self, entry: JournalEntry) -> None:
        for data in entry.data.get("forgot", ()):
            try:
                tombstone = Tombstone.model_validate(data)
            except ValidationError:
                logger.warning("the journal entry %s cannot be read", entry.id)
                continue
            self._tombstones[tombstone.reversal_hash] = tombstone
            self._reach(tombstone.reversal_hash, _State.FORGOTTEN)
        for key in entry.data.get("restored", ()):
            self._reach(str(key), _State.RESTORED)

    def _reach(self, key: str, state: _State) -> None:
        self._states[key] = max(state, self._states.get(key, _State.BEGUN))

    def _fold(self, entry: JournalEntry) -> None:
        if entry.kind == JournalPhase.DONE:
            self._fold_change(entry)
            return
        if entry.kind not in _STATE_KINDS:
            return
        kind = TrashEntry(entry.kind)
        key = str(entry.data.get("reversal_hash", ""))
        if kind in (TrashEntry.FORGETTING, TrashEntry.FORGOTTEN):
            try:
                tombstone = Tombstone.model_validate(entry.data)
            except ValidationError:  # edited by hand; an unreadable tombstone cannot be restored
                logger.warning("the journal entry %s cannot be read", entry.id)
                return
            if kind is TrashEntry.FORGOTTEN or key not in self._tombstones:
                self._tombstones[key] = tombstone
        if kind is TrashEntry.RESTORING:
            self._restoring[key] = entry.path or ""
        elif kind is TrashEntry.RESTORING_WITHDRAWN:
            self._restoring.pop(key, None)
        else:
            self._reach(key, _STATE_OF[kind])

    def _settle(self) -> None:
        over = [key for key in self._restoring if not self._is(key, _State.FORGOTTEN)]
        for key in over:
            del self._restoring[key]
        self._hidden = frozenset(
            node
            for key, tombstone in self._tombstones.items()
            if self._is(key, _State.FORGOTTEN) or self._is(key, _State.PURGED)
            for node in tombstone.hidden
        )

    def _is(self, key: str, state: _State) -> bool:
        return key in self._tombstones and self._states.get(key) is state


def _keys(tombstone: Tombstone) -> set[str]:
    """The name keys by which a person may refer to a tombstone; a tag without its #."""
    names = (tombstone.name.removeprefix("#"), PurePosixPath(tombstone.path or "").stem)
    return {name_key(name) for name in names}


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
    if why.kind != "client" or not (plan.restores or plan.undoes):
        return
    for change in history.changes(limit=None):
        if change.actor.kind != "person" or not _removes(change):
            continue
        restored = {each.reversal_hash for each in change.forgot} & {*plan.restores}
        if restored or change.reversal_hash in plan.undoes:
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


def made_by_others(history: History, path: str, data: bytes) -> bool:
    """Whether the person never wrote, changed or moved a note.

    Then clients, imports or memvault made all its versions, and a client may delete it for good.
    """
    return _made_by_others(history.changes(limit=None), path, content_hash(data))


def _made_by_others(newest_first: Sequence[Change], path: str, version: str | None) -> bool:
    paths, steps = {path}, list[FileChange]()
    for place, change in enumerate(newest_first):
        files = [file for file in change.files if paths & set(file.paths)]
        if not files:
            continue
        is_spoken = any(spoken_key(file.path) in change.memo for file in files)
        if is_spoken or origin_of(change.kind, change.actor, change.memo).is_person:
            return False
        paths.update(each for file in files for each in file.paths)
        steps += files
        if change.kind is ChangeKind.MERGED:
            older = newest_first[place + 1 :]
            merged = (each for each in change.files if each.moved_to and each not in files)
            if not all(_made_by_others(older, each.path, each.before) for each in merged):
                return False
    made: set[str | None] = {None}
    for step in reversed(steps):
        if step.before not in made:
            return False  # the person saved it in an editor
        made.add(step.after)
    return version in made


def tombstones(plan: Plan, why: Attribution, now: datetime, key: str) -> tuple[Tombstone, ...]:
    """The tombstones of the notes and concepts that a plan forgets.

    If a change forgets just one, its tombstone has the hash of the change, so that this hash both
    undoes the change and restores the note.

    Args:
        key: the reversal hash of the change.
    """
    moved = {edit.path: edit for edit in plan.edits if edit.moved_to is not None}
    shares_hash = plan.kind is ChangeKind.FORGOTTEN and len(plan.forgets) == 1

    def tombstone(each: Forgetting) -> Tombstone:
        edit = moved.get(each.path or "")
        content = content_hash(edit.before) if edit and edit.before is not None else None
        kept_until = now if each.permanent else now + RETENTION
        own = reversal_hash("forgotten", now, each.path or each.name, content)
        return Tombstone(
            reversal_hash=key if shares_hash else own,
            name=each.name,
            kind=each.kind,
            node_ids=each.node_ids,
            path=each.path,
            trash_path=edit.moved_to if edit else None,
            content_hash=content,
            hidden=each.hidden,
            forgotten_at=now,
            restorable_until=kept_until if each.path else None,
            permanent=each.permanent,
            reason=why.reason,
            rationale=why.rationale,
            repeats=each.repeats,
        )

    return tuple(map(tombstone, plan.forgets))


@dataclass(frozen=True, slots=True)
class Restored:
    """A restored note or concept; ``path`` is the note's current path, None for a concept."""

    tombstone: Tombstone
    path: str | None = None


def stage_forgetting(staging: Staging, target: Target, *, permanent: bool = False) -> Forgetting:
    """Move a note to the trash, or remove a concept without a note from the graph.

    Args:
        permanent: the note is deleted from the trash at once.

    Raises:
        NoteNotFound: the note no longer exists.
    """
    if target.note is not None:
        staging.read(target.note.path)
    forgetting = Forgetting(
        name=target.name,
        kind=target.kind,
        node_ids=target.node_ids,
        hidden=tuple(sorted(hidden_by(target))),
        path=target.note.path if target.note else None,
        permanent=permanent,
    )
    staging.forget(forgetting)
    return forgetting


def stage_restoring(
    staging: Staging, forgotten: Forgotten, history: History, target: str, now: datetime
) -> Restored:
    """Restore the forgotten note or concept with this hash, id, path or name.

    If another note has its path by now, the restored file name gets a number.

    Raises:
        NoteNotFound: no such note or concept can be restored.
        AmbiguousTarget: several can.
    """
    tombstone = _restorable(forgotten, target, now)
    path = None
    if tombstone.trash_path is not None:
        if not staging.exists(tombstone.trash_path):
            raise NoteNotFound(
                f"{tombstone.path} is no longer in {TRASH}: it was deleted or moved from there",
                path=tombstone.path,
            )
        path = staging.free_path(tombstone.path or "", first=2)
        staging.move(tombstone.trash_path, path)
    staging.note_restored(tombstone.reversal_hash)
    whole = history.find(tombstone.reversal_hash)
    if whole is not None and whole.kind is ChangeKind.FORGOTTEN and whole.undone_by is None:
        staging.note_undone(whole.reversal_hash)
    return Restored(tombstone, path)


def hidden_by(target: Target) -> frozenset[str]:
    """The nodes without a note that the graph omits while this target is forgotten."""
    if target.note is not None:
        return concept_ids(names_of_memory(target.note))
    own = frozenset(target.node_ids)
    return own if target.kind == NodeKind.TAG else own | concept_ids([target.name])


def _restorable(forgotten: Forgotten, target: str, now: datetime) -> Tombstone:
    called = forgotten.called(target)
    found = [each for each in called if each.restorable(now)]
    if len(found) == 1:
        return found[0]
    if found:
        raise AmbiguousTarget(
            f"{len(found)} forgotten notes or concepts are named {target!r}: give the "
            "reversal_hash",
            candidates=[
                {
                    "reversal_hash": each.reversal_hash,
                    "name": each.name,
                    "path": each.path,
                    "forgotten_at": each.forgotten_at.isoformat(timespec="seconds"),
                }
                for each in found
            ],
        )
    if called or forgotten.was_purged(target):
        raise NoteNotFound(
            f"{target!r} was deleted for good: its 30 days are over, or it was to be permanent",
            target=target,
        )
    raise NoteNotFound(
        f"No forgotten note is named {target!r}; it may be restored already. Otherwise give its "
        "title, path, id or reversal_hash",
        target=target,
    )
