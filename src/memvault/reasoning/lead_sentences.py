"""Finds and caches the first sentence of each note."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from memvault.model.errors import MemvaultError
from memvault.model.memory import Memory
from memvault.model.note import ParsedNote
from memvault.vault.parse import parse_note

MAX_CACHED = 1_000  # notes


class LeadSentences:
    """Caches the first sentence of notes until they change. Thread-safe.

    Args:
        read: returns the bytes of the note at a path.
    """

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._cached = lru_cache(maxsize=MAX_CACHED)(self._find)

    def of(self, memory: Memory) -> tuple[str, int] | None:
        """The sentence and its line; None if the note has no text or does not exist."""
        return self._cached(memory.path, memory.content_hash)

    def _find(self, path: str, _content_hash: str) -> tuple[str, int] | None:
        try:
            return lead_sentence(parse_note(path, self._read(path)))
        except MemvaultError:
            return None


def lead_sentence(note: ParsedNote) -> tuple[str, int] | None:
    """The first sentence that is not a field, else the first sentence."""
    sentences = note.sentences
    fields = {field.sentence for field in note.fields}
    prose = (s for s in sentences if s.relation is None and s.text not in fields)
    lead = next(prose, None) or next(iter(sentences), None)
    return (lead.text, lead.line) if lead is not None else None
