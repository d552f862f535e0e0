"""Reading notes for indexing: bytes to parsed note and memory, kept small while a scan runs."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from memvault.model.errors import MemvaultError
from memvault.model.graph import is_uuid
from memvault.model.memory import Memory
from memvault.model.note import ParsedNote
from memvault.vault.files import NoteStat, Vault
from memvault.vault.parse import parse_note
from memvault.vault.properties import memory_of


@dataclass(frozen=True, slots=True)
class Reading:
    """A note as it was on disk when it was read."""

    note: ParsedNote
    stat: NoteStat
    claimed_id: str | None

    def memory(self, memory_id: str) -> Memory:
        saved = datetime.fromtimestamp(self.stat.mtime_ns / 1e9, tz=UTC)
        return memory_of(self.note, fallback_time=saved, id=memory_id)


class Unreadable(MemvaultError):
    """The note is there but cannot be read."""


def read_note(vault: Vault, path: str, max_bytes: int) -> Reading | None:
    """Read and parse one note; None when it is gone.

    Raises:
        Unreadable: the file exists but the system refuses to give it.
    """
    stat = vault.stat(path)
    if stat is None:
        return None
    try:
        data = vault.read(path)
    except (OSError, MemvaultError) as error:
        if vault.stat(path) is None:
            return None
        raise Unreadable(f"{path}: cannot be read: {error}") from error
    note = parse_note(path, data, max_bytes=max_bytes)
    claimed = str(note.frontmatter.get("id") or "").strip().lower()
    return Reading(note, stat, claimed if is_uuid(claimed) else None)


class Readings:
    """Notes read in the first pass of a scan, packed until the second pass takes them."""

    def __init__(self) -> None:
        self._packed: dict[str, bytes] = {}

    def add(self, reading: Reading) -> None:
        self._packed[reading.note.path] = pickle.dumps(reading, protocol=5)

    def take(self, paths: Iterable[str]) -> Iterator[Reading]:
        for path in paths:
            yield pickle.loads(self._packed.pop(path))
