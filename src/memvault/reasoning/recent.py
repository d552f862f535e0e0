"""What happened lately in the memory: written, changed, asked for."""

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
    """Reads notes for their first sentence and keeps it while they do not change. Thread-safe.

    Args:
        read: gives the bytes of the note at a path.
    """

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._of = lru_cache(maxsize=KEPT)(self._look_up)

    def of(self, memory: Memory) -> tuple[str, int] | None:
        """The sentence and its line; None for a note without text, or that is gone."""
        return self._of(memory.path, memory.content_hash)

    def _look_up(self, path: str, _content_hash: str) -> tuple[str, int] | None:
        try:
            return opening(parse_note(path, self._read(path)))
        except MemvaultError:
            return None


def opening(note: ParsedNote) -> tuple[str, int] | None:
    """The first sentence that is no field, else the first of all."""
    sentences = [sentence for block in note.blocks for sentence in block.sentences]
    plain = (sentence for sentence in sentences if sentence.relation is None)
    fields = {field.sentence for field in note.fields}
    found = next((each for each in plain if each.text not in fields), None)
    found = found or next(iter(sentences), None)
    return (found.text, found.line) if found is not None else None


Happening = Literal["created", "changed", "accessed"]


class Saved(Protocol):
    """A note and when its file was last saved, in nanoseconds since 1970."""

    @property
    def memory(self) -> Memory: ...

    @property
    def mtime_ns(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Recent:
    """``what`` is the strongest of what happened to the memory in the time asked for, ``at`` when
    it happened last."""

    memory: Memory
    what: Happening
    at: datetime
    in_working_set: bool = False


@dataclass(frozen=True, slots=True)
class Lately:
    """``first`` of what happened, and how much happened in all."""

    first: list[Recent]
    total: int


def recent(
    saved: Collection[Saved],
    accessed: Mapping[str, datetime],
    since: datetime,
    limit: int,
    working_set: Sequence[str] = (),
) -> Lately:
    """What happened since then, at most ``limit`` of it.

    The session's working set comes first, in its own order and whenever it was used; then what
    people wrote (created or changed), the last saved first; then what was only read.

    Args:
        accessed: when a memory was last shown to a client, by id.
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
