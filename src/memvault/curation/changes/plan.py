"""The name of a change, by which it is taken back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from hashlib import blake2b
from typing import Any

from memvault.model.change import ChangeKind, Fact

MOST_COMPARED = 4_000  # lines of a changed stretch that are compared one by one


@dataclass(frozen=True, slots=True)
class Edit:
    """One file: ``before`` None is a new file; ``after`` None with ``moved_to`` a file that goes
    there as it is."""

    path: str
    before: bytes | None
    after: bytes | None
    moved_to: str | None = None


@dataclass(frozen=True, slots=True)
class LineChange:
    """A line as it is and as it would be, None where there is none. ``line`` is the old line, or
    for a new one the line after which it comes, counted from 1."""

    path: str
    line: int
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What a plan would forget: a note (``path``), or a concept without one; ``repeats`` as a
    `Tombstone` has it."""

    name: str
    kind: str
    node_ids: tuple[str, ...]
    hidden: tuple[str, ...]
    path: str | None = None
    repeats: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be changed; nothing is until `Curator.apply`.

    Attributes:
        node_ids, names: what it is about, for the history.
        forgets: what would go to the trash or be hidden, and could be restored.
        restores: reversal hashes of what was forgotten and would be there again.
        undoes: reversal hashes of the changes that it takes back.
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

    @property
    def changes_nothing(self) -> bool:
        return not (self.edits or self.facts or self.forgets or self.restores or self.undoes)

    @property
    def paths(self) -> list[str]:
        """Every note that it touches, where it is now or would be, sorted."""
        return sorted({edit.path for edit in self.edits})

    def lines_changed(self, limit: int | None = None) -> list[LineChange]:
        """The lines that would differ, by path; of a note that moves away, none."""
        found: list[LineChange] = []
        for edit in self.edits:
            if edit.moved_to is None:
                found.extend(lines_changed(edit.path, edit.before or b"", edit.after or b""))
            if limit is not None and len(found) >= limit:
                return found[:limit]
        return found


def lines_changed(path: str, before: bytes, after: bytes) -> list[LineChange]:
    """The lines in which two versions of a file differ."""
    old, new = _lines(before), _lines(after)
    start, end = _common(old, new)
    middle, other = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(middle), len(other)) > MOST_COMPARED:
        return _pairs(path, start, middle, other)
    found: list[LineChange] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, middle, other, autojunk=False).get_opcodes():
        if tag != "equal":
            found.extend(_pairs(path, start + i1, middle[i1:i2], other[j1:j2]))
    return found


def _pairs(path: str, start: int, old: Sequence[str], new: Sequence[str]) -> list[LineChange]:
    paired = [
        LineChange(path, start + at + 1, before, after)
        for at, (before, after) in enumerate(zip(old, new, strict=False))
    ]
    both = len(paired)
    gone = [
        LineChange(path, start + both + at + 1, line, None) for at, line in enumerate(old[both:])
    ]
    come = [LineChange(path, start + len(old), None, line) for line in new[both:]]
    return [*paired, *gone, *come]


def _common(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines two texts share at their start, and then at their end."""
    most = min(len(old), len(new))
    start = next((at for at in range(most) if old[at] != new[at]), most)
    left = most - start
    end = next((at for at in range(left) if old[-1 - at] != new[-1 - at]), left)
    return start, end


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").splitlines()


def reversal_hash(kind: str, when: datetime, target: str, before: Any) -> str:
    """blake2b-128 of what was done, when, to what, and what was there before, in hex.

    Two changes of one thing differ by their moment, which is recorded to the microsecond.
    """
    said = json.dumps([kind, when.isoformat(), target, before], sort_keys=True, default=str)
    return blake2b(said.encode(), digest_size=16).hexdigest()
