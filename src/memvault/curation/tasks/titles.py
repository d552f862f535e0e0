"""What two notes' titles say of whether they can be one and the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from memvault.model.graph import NodeKind
from memvault.model.memory import Memory
from memvault.text.names import kind_of
from memvault.text.words import name_key
from memvault.vault.dates import read_date

# Notes about one of these stand for it: another name is another thing.
_THINGS = frozenset(
    (NodeKind.PERSON, NodeKind.PROJECT, NodeKind.ORGANISATION, NodeKind.TOOL, NodeKind.PLACE)
)
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Title:
    """``key`` is what is equal for two spellings; ``day`` the one that the title begins with."""

    key: str
    is_thing: bool = False
    day: date | None = None

    @classmethod
    def of(cls, memory: Memory) -> Title:
        stem = memory.path.rpartition("/")[2]
        day = read_date(stem[:10])
        return cls(name_key(memory.title), kind_of(memory) in _THINGS, day.date() if day else None)

    def may_be(self, other: Title) -> bool:
        """Not two days' notes, not two of a numbered series, not two named things."""
        if self.day != other.day and self.day is not None and other.day is not None:
            return False
        if self.key == other.key:
            return True
        if self.is_thing and other.is_thing:
            own, others = set(self.key.split()), set(other.key.split())
            return own < others or others < own  # Ada, and Ada Berg
        numbered = _DIGITS.search(self.key) and _DIGITS.search(other.key)
        return not (numbered and _DIGITS.sub("0", self.key) == _DIGITS.sub("0", other.key))
