"""How a note begins: its first sentence that says something of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

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
