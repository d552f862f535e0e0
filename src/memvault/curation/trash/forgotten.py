"""What the journal says was forgotten, and what became of it.

A note is forgotten in three strokes, so that a crash between any two can be told from the files:
``forgetting`` (the intent), the move, ``forgotten``. Restoring has the same three. The state of a
tombstone is the furthest that any entry says, so the order in which a sync tool brings the
journal's files together does not matter.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator
from datetime import datetime
from enum import IntEnum, StrEnum
from pathlib import PurePosixPath

from pydantic import ValidationError

from memvault.model.memory import Tombstone
from memvault.text.words import name_key
from memvault.vault.journal import Journal, JournalEntry

logger = logging.getLogger(__name__)


CHANGE_DONE = "change_done"  # an entry of a `Curator`: it names what it forgot and restored


class Step(StrEnum):
    """The kinds of entries that tell of forgetting."""

    FORGETTING = "forgetting"
    FORGETTING_WITHDRAWN = "forgetting_withdrawn"
    FORGOTTEN = "forgotten"
    PURGED = "purged"
    RESTORING = "restoring"
    RESTORING_WITHDRAWN = "restoring_withdrawn"
    RESTORED = "restored"


class _State(IntEnum):
    BEGUN = 0
    WITHDRAWN = 1
    FORGOTTEN = 2
    PURGED = 3  # the note's file is deleted, or is the person's own again
    RESTORED = 4


_STATE_OF = {
    Step.FORGETTING: _State.BEGUN,
    Step.FORGETTING_WITHDRAWN: _State.WITHDRAWN,
    Step.FORGOTTEN: _State.FORGOTTEN,
    Step.PURGED: _State.PURGED,
    Step.RESTORED: _State.RESTORED,
}


class Forgotten:
    """Every tombstone of one vault. Thread-safe."""

    def __init__(self, entries: Iterable[JournalEntry] = ()) -> None:
        self._tombstones: dict[str, Tombstone] = {}
        self._states: dict[str, _State] = {}
        self._restoring: dict[str, str] = {}  # the path that the note is about to get
        self._hidden: frozenset[str] = frozenset()
        self._lock = threading.RLock()
        for entry in entries:
            self._fold(entry)
        self._settle()

    @classmethod
    def read(cls, journal: Journal) -> Forgotten:
        """As far as the journal can be read."""

        def entries() -> Iterator[JournalEntry]:
            try:
                yield from journal.entries(frozenset(Step) | {CHANGE_DONE})
            except OSError as error:
                logger.error("the journal cannot be read: %s", error.strerror)

        return cls(entries())

    def take(self, entry: JournalEntry) -> None:
        """Learn what an entry says that was just written."""
        with self._lock:
            self._fold(entry)
            self._settle()

    @property
    def hidden(self) -> frozenset[str]:
        """Ids of the nodes without a note that the graph leaves out."""
        return self._hidden

    def kept(self) -> list[Tombstone]:
        """Those that are neither restored nor purged, oldest first."""
        return self._in_state(_State.FORGOTTEN)

    def begun(self) -> list[Tombstone]:
        """Those of which only the intent is known."""
        return self._in_state(_State.BEGUN)

    def being_restored(self) -> list[tuple[Tombstone, str]]:
        """Those of which only the intent to restore is known, with the path they were to get."""
        with self._lock:
            return [(self._tombstones[key], path) for key, path in self._restoring.items()]

    def called(self, target: str) -> list[Tombstone]:
        """The kept ones that a hash, id, path or name stands for."""
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
        """Whether something of this hash, id or path was deleted for good."""
        return any(
            target in (each.reversal_hash, each.path, *each.node_ids)
            for each in self._in_state(_State.PURGED)
        )

    def restorable(self, now: datetime) -> list[Tombstone]:
        return [each for each in self.kept() if each.restorable(now)]

    def _in_state(self, state: _State) -> list[Tombstone]:
        with self._lock:
            found = [each for key, each in self._tombstones.items() if self._is(key, state)]
        return sorted(found, key=lambda each: (each.forgotten_at, each.reversal_hash))

    def tombstone(self, reversal_hash: str) -> Tombstone | None:
        """What this hash forgot, restored since or not."""
        with self._lock:
            return self._tombstones.get(reversal_hash)

    def standing_for(self, tombstone: Tombstone) -> list[Tombstone]:
        """What keeps this very thing forgotten: this tombstone, or one by which it was forgotten
        again."""
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
        if entry.kind == CHANGE_DONE:
            self._fold_change(entry)
            return
        step = Step(entry.kind)
        key = str(entry.data.get("reversal_hash", ""))
        if step in (Step.FORGETTING, Step.FORGOTTEN):
            try:
                tombstone = Tombstone.model_validate(entry.data)
            except ValidationError:  # edited by hand; what cannot be read cannot be restored
                logger.warning("the journal entry %s cannot be read", entry.id)
                return
            if step is Step.FORGOTTEN or key not in self._tombstones:
                self._tombstones[key] = tombstone
        if step is Step.RESTORING:
            self._restoring[key] = entry.path or ""
        elif step is Step.RESTORING_WITHDRAWN:
            self._restoring.pop(key, None)
        else:
            self._reach(key, _STATE_OF[step])

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
    """The names by which a person may ask for it, a tag's without its #."""
    names = (tombstone.name.removeprefix("#"), PurePosixPath(tombstone.path or "").stem)
    return {name_key(name) for name in names}
