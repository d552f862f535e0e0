"""Recent activity in the vault: memories created, changed and read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from heapq import nlargest
from typing import Literal, Protocol

from memvault.model.errors import MemvaultError
from memvault.model.memory import Memory
from memvault.model.note import ParsedNote
from memvault.vault.parse import parse_note

KEPT = 1_000  # notes


class Openings:
    """Caches the first sentence of notes until they change. Thread-safe.

    Args:
        read: returns the bytes of the note at a path.
    """

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._of = lru_cache(maxsize=KEPT)(self._look_up)

    def of(self, memory: Memory) -> tuple[str, int] | None:
        """The sentence and its line; None if the note has no text or does not exist."""
        return self._of(memory.path, memory.content_hash)

    def _look_up(self, path: str, _content_hash: str) -> tuple[str, int] | None:
        try:
            return opening(parse_note(path, self._read(path)))
        except MemvaultError:
            return None


def opening(note: ParsedNote) -> tuple[str, int] | None:
    """The first sentence that is not a field, else the first sentence."""
    sentences = [sentence for block in note.blocks for sentence in block.sentences]
    plain = (sentence for sentence in sentences if sentence.relation is None)
    fields = {field.sentence for field in note.fields}
    found = next((each for each in plain if each.text not in fields), None)
    found = found or next(iter(sentences), None)
    return (found.text, found.line) if found is not None else None


Happening = Literal["created", "changed", "accessed"]


class Saved(Protocol):
    """A note and its file's modification time, in nanoseconds since 1970."""

    @property
    def memory(self) -> Memory: ...

    @property
    def mtime_ns(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Recent:
    """``what`` is the most important event of the memory in the period, ``at`` its latest time."""

    memory: Memory
    what: Happening
    at: datetime
    in_working_set: bool = False


@dataclass(frozen=True, slots=True)
class Lately:
    """The ``first`` events of a period, and the count of all."""

    first: list[Recent]
    total: int


def recent(
    saved: Collection[Saved],
    accessed: Mapping[str, datetime],
    since: datetime,
    limit: int,
    working_set: Sequence[str] = (),
) -> Lately:
    """At most ``limit`` events since a moment.

    The session's working set comes first in its own order, whatever its age; then created and
    changed notes, most recently saved first; then notes that were only read.

    Args:
        accessed: by memory id, when the memory was last shown to a client.
    """
    start = int(since.timestamp() * 1e9)
    read = {key for key, at in accessed.items() if at >= since}
    own = set(working_set)
    first: dict[str, Saved] = {}
    written: list[Saved] = []
    only_read: list[Saved] = []
    for each in saved:
        memory = each.memory
        if memory.id in own:
            first[memory.id] = each
        elif each.mtime_ns >= start or memory.created_at >= since:
            written.append(each)
        elif memory.id in read:
            only_read.append(each)
    shown = [
        *(first[key] for key in working_set if key in first),
        *nlargest(limit, written, key=lambda each: (each.mtime_ns, each.memory.path)),
        *sorted(only_read, key=lambda each: accessed[each.memory.id], reverse=True),
    ]
    return Lately(
        [_told(each, accessed, since, in_working_set=each.memory.id in own) for each in shown][
            :limit
        ],
        len(first) + len(written) + len(only_read),
    )


def _told(
    saved: Saved, accessed: Mapping[str, datetime], since: datetime, *, in_working_set: bool
) -> Recent:
    memory, changed = saved.memory, datetime.fromtimestamp(saved.mtime_ns / 1e9, UTC)
    used = accessed.get(memory.id)
    if memory.created_at >= since:
        return Recent(memory, "created", max(memory.created_at, changed), in_working_set)
    if changed >= since or used is None:
        return Recent(memory, "changed", changed, in_working_set)
    return Recent(memory, "accessed", used, in_working_set)
