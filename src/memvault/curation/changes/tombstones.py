"""The tombstones of forgotten notes and concepts, as the journal records them.

The state of a tombstone is the furthest state in any journal entry, so the order in which a sync
tool merges the journal's files does not matter.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from enum import IntEnum
from pathlib import PurePosixPath

from pydantic import ValidationError

from memvault.curation.changes.change_entries import PURGED, JournalPhase
from memvault.curation.changes.plan import Attribution, Forgetting, Plan, reversal_hash
from memvault.model.change import ChangeKind
from memvault.model.memory import Tombstone
from memvault.model.unicode_forms import without_invisible
from memvault.text.words import name_key
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.journal_reader import JournalReader
from memvault.vault.parse import content_hash

RETENTION = timedelta(days=30)  # time that a forgotten note stays in the trash

logger = logging.getLogger(__name__)


class _State(IntEnum):
    FORGOTTEN = 0
    PURGED = 1  # the file is deleted, or was changed by the person and so kept
    RESTORED = 2


class Tombstones(JournalReader):
    """Every tombstone of one vault. Thread-safe."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal, (PURGED, JournalPhase.DONE))
        self._tombstones: dict[str, Tombstone] = {}
        self._states: dict[str, _State] = {}
        self._suppressed_ids: frozenset[str] = frozenset()

    @property
    def suppressed_ids(self) -> frozenset[str]:
        """The ids of the nodes without a note that the graph omits."""
        with self._current():
            return self._suppressed_ids

    def kept(self) -> list[Tombstone]:
        """The tombstones that are neither restored nor purged, oldest first."""
        return self._in_state(_State.FORGOTTEN)

    def matching(self, target: str) -> list[Tombstone]:
        """The kept tombstones with this hash, id, path or name, or the path as answers show it."""
        target = target.strip()
        tombstones = self.kept()
        exact = [
            tombstone
            for tombstone in tombstones
            if target
            in (tombstone.reversal_hash, tombstone.name, tombstone.path, *tombstone.node_ids)
        ]
        key = name_key(target)
        return exact or [
            tombstone
            for tombstone in tombstones
            if key and (key in _name_keys(tombstone) or target == _shown_path(tombstone))
        ]

    def was_purged(self, target: str) -> bool:
        """Whether a note with this hash, id or path was deleted for good."""
        return any(
            target in (tombstone.reversal_hash, tombstone.path, *tombstone.node_ids)
            for tombstone in self._in_state(_State.PURGED)
        )

    def _in_state(self, state: _State) -> list[Tombstone]:
        with self._current():
            tombstones = [
                tombstone for key, tombstone in self._tombstones.items() if self._is(key, state)
            ]
        return sorted(
            tombstones, key=lambda tombstone: (tombstone.forgotten_at, tombstone.reversal_hash)
        )

    def tombstone(self, reversal_hash: str) -> Tombstone | None:
        """The tombstone with this hash, even if its note was restored since."""
        with self._current():
            return self._tombstones.get(reversal_hash)

    def kept_tombstones_of(self, tombstone: Tombstone) -> list[Tombstone]:
        """The kept tombstones of the same memory or concept, including later forgettings."""
        first = tombstone.repeats or tombstone.reversal_hash
        return [stone for stone in self.kept() if first in (stone.reversal_hash, stone.repeats)]

    def _take(self, entries: Sequence[JournalEntry]) -> None:
        for entry in entries:
            if entry.kind == JournalPhase.DONE:
                self._apply_change(entry)
            else:
                self._reach(str(entry.data.get("reversal_hash", "")), _State.PURGED)
        self._update()

    def _apply_change(self, entry: JournalEntry) -> None:
        for data in entry.data.get("forgot", ()):
            if (tombstone := _decoded(data, entry)) is not None:
                self._tombstones[tombstone.reversal_hash] = tombstone
                self._reach(tombstone.reversal_hash, _State.FORGOTTEN)
        for key in entry.data.get("restored", ()):
            self._reach(str(key), _State.RESTORED)

    def _reach(self, key: str, state: _State) -> None:
        self._states[key] = max(state, self._states.get(key, state))

    def _update(self) -> None:
        """Collect the ids that the graph omits."""
        self._suppressed_ids = frozenset(
            node
            for key, tombstone in self._tombstones.items()
            if self._is(key, _State.FORGOTTEN) or self._is(key, _State.PURGED)
            for node in tombstone.hidden
        )

    def _is(self, key: str, state: _State) -> bool:
        return key in self._tombstones and self._states.get(key) is state


def _decoded(data: object, entry: JournalEntry) -> Tombstone | None:
    """The tombstone in an entry; None if somebody edited it, so that it cannot be restored."""
    try:
        return Tombstone.model_validate(data)
    except ValidationError:
        logger.warning("the journal entry %s cannot be read", entry.id)
        return None


def _name_keys(tombstone: Tombstone) -> set[str]:
    """The name keys by which a person may refer to a tombstone; a tag without its #."""
    names = (tombstone.name.removeprefix("#"), PurePosixPath(tombstone.path or "").stem)
    return {name_key(name) for name in names}


def _shown_path(tombstone: Tombstone) -> str:
    return without_invisible(tombstone.path or "")


def tombstones_of(
    plan: Plan, why: Attribution, moment: datetime, key: str
) -> tuple[Tombstone, ...]:
    """The tombstones of the notes and concepts that a plan forgets.

    If a change forgets just one, its tombstone has the hash of the change, so that this hash both
    undoes the change and restores the note.

    Args:
        moment: the change's `order`, so that notes which are forgotten while the clock is wrong
            are not deleted as soon as it is right again.
        key: the reversal hash of the change.
    """
    moved = {edit.path: edit for edit in plan.edits if edit.moved_to is not None}
    shares_hash = plan.kind is ChangeKind.FORGOTTEN and len(plan.forgets) == 1

    def tombstone(forgetting: Forgetting) -> Tombstone:
        edit = moved.get(forgetting.path or "")
        content = content_hash(edit.before) if edit and edit.before is not None else None
        kept_until = moment if forgetting.permanent else moment + RETENTION
        own_hash = reversal_hash("forgotten", moment, forgetting.path or forgetting.name, content)
        return Tombstone(
            **asdict(forgetting),
            reversal_hash=key if shares_hash else own_hash,
            trash_path=edit.moved_to if edit else None,
            content_hash=content,
            forgotten_at=moment,
            restorable_until=kept_until if forgetting.path else None,
            reason=why.reason,
            rationale=why.rationale,
        )

    return tuple(map(tombstone, plan.forgets))
