"""A planned change: who requests it, which files it touches, and which lines would differ."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any, Literal

from memvault.model.change import Actor, ChangeKind, Fact
from memvault.text.diff import stretches
from memvault.vault.lines import ended_lines
from memvault.vault.parse import content_hash


@dataclass(frozen=True, slots=True)
class Attribution:
    """Who requests a change, and why.

    ``name`` is that of the client, of the person, or of the part of memvault that acts. ``reason``
    is a word, ``rationale`` a sentence. ``seen`` holds the content hash of the notes that
    the person looked at before deciding, by id: a note of these that changed since is not changed.
    """

    name: str
    rationale: str
    reason: str | None = None
    kind: Literal["client", "person", "system"] = "client"
    session: str = ""  # of a client
    call: str = ""  # the key of the call that asks for it, if it has one
    seen: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def by_client(self) -> bool:
        return self.kind == "client"

    @property
    def actor(self) -> Actor:
        return Actor(kind=self.kind, name=self.name, session=self.session)


@dataclass(frozen=True, slots=True)
class Edit:
    """The change of one file.

    ``before`` is None for a new file, ``after`` for a deleted one. A file with ``moved_to`` moves
    to that path; its bytes change only if it has an ``after``.
    """

    path: str
    before: bytes | None
    after: bytes | None
    moved_to: str | None = None

    @property
    def arrives(self) -> bool:
        """Whether a file is created at, or moved to, a path that had no file."""
        return self.moved_to is not None or self.before is None


@dataclass(frozen=True, slots=True)
class LineChange:
    """A line before and after a change.

    ``before`` is None for a new line, ``after`` for a removed one. ``line`` is the number of the
    old line, from 1, or, for a new line, of the line before it.
    """

    path: str
    line: int
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Forgetting:
    """A note, or a concept without a note (no ``path``), that a plan forgets.

    ``permanent`` and ``repeats`` are those of its `Tombstone`.
    """

    name: str
    kind: str
    node_ids: tuple[str, ...]
    hidden: tuple[str, ...]
    path: str | None = None
    permanent: bool = False
    repeats: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """One planned change; `Curator.apply` makes it.

    Attributes:
        node_ids, names: the memories and concepts that it changes, for the history.
        forgets: notes that go to the trash, and concepts that are hidden.
        restores: reversal hashes of the tombstones that it reverses.
        undoes: reversal hashes of the changes that it undoes.
        archives: versions that are archived before any file is changed.
        memo: see `Change.memo`.
    """

    kind: ChangeKind
    names: tuple[str, ...] = ()
    node_ids: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    facts: tuple[Fact, ...] = ()
    forgets: tuple[Forgetting, ...] = ()
    restores: tuple[str, ...] = ()
    merged_from: tuple[str, ...] = ()
    undoes: tuple[str, ...] = ()
    archives: tuple[bytes, ...] = ()
    memo: Mapping[str, str] = field(default_factory=dict)

    @property
    def changes_nothing(self) -> bool:
        return not (self.edits or self.facts or self.forgets or self.restores or self.undoes)

    @property
    def paths(self) -> list[str]:
        """The current path of every note that it touches, sorted."""
        return sorted({edit.path for edit in self.edits})

    @property
    def moves(self) -> list[tuple[str, str]]:
        """The old and the new path of every file that moves."""
        return [(edit.path, edit.moved_to) for edit in self.edits if edit.moved_to is not None]

    @property
    def versions(self) -> dict[str, bytes]:
        """The versions, by hash, that undoing the change needs.

        A created note needs none: undoing deletes it or moves it to the trash. A forgotten note is
        kept only in the trash, so that it can be deleted for good.
        """
        forgotten = {forgetting.path for forgetting in self.forgets}
        return {
            content_hash(data): data
            for edit in self.edits
            if edit.before is not None and not (edit.moved_to and edit.path in forgotten)
            for data in (edit.before, edit.after)
            if data is not None
        }

    def lines_changed(self, limit: int | None = None) -> list[LineChange]:
        """The lines that would differ, file by file; a file that only moves has none."""
        changes: list[LineChange] = []
        for edit in self.edits:
            if edit.moved_to is None or edit.after is not None:
                changes.extend(lines_changed(edit.path, edit.before or b"", edit.after or b""))
            if limit is not None and len(changes) >= limit:
                return changes[:limit]
        return changes


def lines_changed(path: str, before: bytes, after: bytes) -> list[LineChange]:
    """The lines in which two versions of a file differ."""
    old, new = _lines(before), _lines(after)
    return [
        change
        for equal, i1, i2, j1, j2 in stretches(old, new)
        if not equal
        for change in _pairs(path, i1, old[i1:i2], new[j1:j2])
    ]


def reversal_hash(kind: str, moment: datetime, target: str, before: Any) -> str:
    """The hash that names a change: blake2b-128, in hex, of kind, time, target and previous state.

    Two changes of one target differ in their times, which are recorded to the microsecond.
    """
    content = json.dumps([kind, moment.isoformat(), target, before], sort_keys=True, default=str)
    return blake2b(content.encode(), digest_size=16).hexdigest()


def _pairs(path: str, start: int, old: Sequence[str], new: Sequence[str]) -> list[LineChange]:
    paired = [
        LineChange(path, start + index + 1, before, after)
        for index, (before, after) in enumerate(zip(old, new, strict=False))
    ]
    paired_count = len(paired)
    removed = [
        LineChange(path, start + paired_count + index + 1, line, None)
        for index, line in enumerate(old[paired_count:])
    ]
    added = [LineChange(path, start + len(old), None, line) for line in new[paired_count:]]
    return [*paired, *removed, *added]


def _lines(data: bytes) -> list[str]:
    return ended_lines(data.decode("utf-8", "replace"))
