"""Compares the wording of two notes: whether they are nearly identical."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from enum import Enum

from memvault.model.graph import NodeKind
from memvault.model.memory import Memory
from memvault.text.names import kind_of
from memvault.text.words import composed, name_key, words
from memvault.vault.frontmatter.dates import read_date
from memvault.vault.frontmatter.fences import split_frontmatter

# A note of such a kind describes one entity, so another name means another subject.
_ENTITY_KINDS = frozenset(
    (NodeKind.PERSON, NodeKind.PROJECT, NodeKind.ORGANISATION, NodeKind.TOOL, NodeKind.PLACE)
)
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Title:
    """The title of a note; ``key`` ignores spelling, ``day`` is the day in the file name."""

    key: str
    is_named_entity: bool = False
    day: date | None = None

    def may_be(self, other: Title) -> bool:
        """Whether two titles may mean the same subject.

        Different days, numbers of a series or names of entities do not.
        """
        if self.day != other.day and self.day is not None and other.day is not None:
            return False
        if self.key == other.key:
            return True
        if self.is_named_entity and other.is_named_entity:
            parts, other_parts = set(self.key.split()), set(other.key.split())
            return parts < other_parts or other_parts < parts  # "Ada" and "Ada Berg"
        numbered = _DIGITS.search(self.key) and _DIGITS.search(other.key)
        return not (numbered and _DIGITS.sub("0", self.key) == _DIGITS.sub("0", other.key))


def comparable_title(memory: Memory) -> Title:
    stem = memory.path.rpartition("/")[2]
    day = read_date(stem[:10])
    is_entity = kind_of(memory) in _ENTITY_KINDS
    return Title(name_key(memory.title), is_entity, day.date() if day else None)


MIN_CONTAINED = 0.7  # share of the shorter note's shingles that the longer one has
MIN_CONTAINED_SAME_TITLE = 0.5
MIN_SHARED_MARKS = 0.5  # Jaccard similarity of names and numbers, if each note has some of its own
MIN_WORDS = 8  # shorter notes are compared for equality only
SHINGLE = 3

_HEADING = re.compile(r"^#{1,6}[ \t].*$", re.MULTILINE)
_LINK = re.compile(r"\[\[(?:[^\[\]|#^]*[#^])?(?:[^\[\]|]*\|)?([^\[\]]*)\]\]")
_NUMBER = re.compile(r"\d[\d.,:/-]*")
# A capital letter within a sentence: after a word, a comma or a bracket.
_NAME = re.compile(r"(?<=[\w,;)\]] )[^\W\d_][\w'’-]*")


class Similarity(Enum):
    DUPLICATE = "duplicate"
    OTHER_NUMBERS = "other numbers"  # the same words with other numbers
    NONE = "none"


@dataclass(frozen=True, slots=True)
class NoteWording:
    """The compared parts of a note, without headings and frontmatter, which templates repeat."""

    title: Title
    words: tuple[str, ...]
    shingles: frozenset[tuple[str, ...]]
    names: frozenset[str]
    numbers: tuple[str, ...]


def note_wording(title: Title, data: bytes) -> NoteWording:
    _, body = split_frontmatter(composed(data.decode("utf-8", errors="replace")))
    text = _LINK.sub(r"\1", _HEADING.sub("", body))
    plain_words = tuple(word for word in words(text) if word[0].isalnum())
    starts = range(max(1, len(plain_words) - SHINGLE + 1))
    shingles = (plain_words[start : start + SHINGLE] for start in starts)
    capitals = (match[0] for match in _NAME.finditer(text))
    return NoteWording(
        title,
        plain_words,
        frozenset(shingles) if plain_words else frozenset(),
        frozenset(name.casefold() for name in capitals if name[0].isupper()),
        tuple(number.rstrip(".,:/-") for number in _NUMBER.findall(text)),
    )


def similarity_of(first: NoteWording, second: NoteWording) -> Similarity:
    """Whether two notes are nearly identical, or have the same words with other numbers."""
    if not first.words or not second.words or not first.title.may_be(second.title):
        return Similarity.NONE
    if first.words == second.words:
        long_enough = len(first.words) >= MIN_WORDS or first.title.key == second.title.key
        return Similarity.DUPLICATE if long_enough else Similarity.NONE
    if min(len(first.words), len(second.words)) < MIN_WORDS:
        return Similarity.NONE
    if _unnumbered(first) == _unnumbered(second):
        return Similarity.OTHER_NUMBERS
    shared = len(first.shingles & second.shingles)
    contained = shared / min(len(first.shingles), len(second.shingles))
    same_title = first.title.key == second.title.key
    if contained < (MIN_CONTAINED_SAME_TITLE if same_title else MIN_CONTAINED):
        return Similarity.NONE
    return (
        Similarity.DUPLICATE
        if _shared_marks(first, second) >= MIN_SHARED_MARKS
        else Similarity.NONE
    )


def _unnumbered(text: NoteWording) -> tuple[str, ...]:
    return tuple("0" if word[0].isdigit() else word for word in text.words)


def _shared_marks(first: NoteWording, second: NoteWording) -> float:
    """Jaccard similarity of the names and numbers; 1 if one has none that the other lacks."""
    marks, other_marks = first.names | set(first.numbers), second.names | set(second.numbers)
    if marks <= other_marks or other_marks <= marks:
        return 1.0
    return len(marks & other_marks) / len(marks | other_marks)
