"""What a search needs to know of the chunks it finds, kept in memory.

The engine converts a point's payload into Python values at some 10 us each; a search that finds
200 spends more on that than on finding them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from memvault.model.note import Chunk, ChunkSize, LineRange
from memvault.model.search import ChunkHit

MOST_KEPT = 200_000  # points; about 0.3 kB each
_NOWHERE = LineRange(0, 0)


@dataclass(frozen=True, slots=True)
class Header:
    """A point's ids and sizes, without its text."""

    chunk_id: str
    note_id: str
    size: ChunkSize
    covers: tuple[ChunkSize, ...]

    def hit(self, score: float) -> ChunkHit:
        return ChunkHit(
            self.chunk_id, self.note_id, self.size, "", _NOWHERE, "", score, self.covers
        )


class Headers:
    """Headers by the number that a point's UUID is, which hashes faster. Thread-safe.

    Args:
        read: gives the chunks of these points that exist; their texts may be left out.
    """

    def __init__(self, read: Callable[[Collection[int]], dict[int, Chunk]]) -> None:
        self._read = read
        self._known: dict[int, Header] = {}
        self._changes = 0
        self._lock = threading.Lock()

    def of(self, points: Collection[int]) -> dict[int, Header]:
        """The headers of these points; of those just deleted there are none."""
        found = self._known
        missing = [key for key in points if key not in found]
        if not missing:
            return found
        changes = self._changes
        read = {
            key: Header(str(UUID(int=key)), chunk.note_id, chunk.size, chunk.covers)
            for key, chunk in self._read(missing).items()
        }
        with self._lock:
            if len(found) > MOST_KEPT:
                found = self._known = {}
            if changes == self._changes:
                found.update(read)
        return {key: header for key in points if (header := read.get(key) or found.get(key))}

    def forget(self, points: Iterable[int]) -> None:
        """These points were written or deleted; to be called after the engine has done so."""
        with self._lock:
            self._changes += 1
            for key in points:
                self._known.pop(key, None)
