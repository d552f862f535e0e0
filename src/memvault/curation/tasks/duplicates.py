"""Notes that are there twice: near in meaning, then in wording.

Every changed note is compared with all others by the cosine of their vectors, as products of
blocks of the matrix; only the few near ones are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from memvault.cognition.similarity_index import Rows
from memvault.model.change import CurationTask, Priority, Settling, TaskType
from memvault.model.errors import MemvaultError
from memvault.model.graph import NodeKind
from memvault.model.memory import Memory
from memvault.text.names import kind_of
from memvault.text.words import composed, name_key, words
from memvault.vault.frontmatter.properties import read_date

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


MIN_CONTAINED = 0.7  # of the shorter note's runs of words
MIN_CONTAINED_SAME_TITLE = 0.5
MIN_SHARED_MARKS = 0.5  # of the names and numbers of both, where each has some of its own
MIN_WORDS = 8  # fewer say too little to be told apart, unless they are the very same
SHINGLE = 3

_FRONTMATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.M)
_HEADING = re.compile(r"^#{1,6}[ \t].*$", re.MULTILINE)
_LINK = re.compile(r"\[\[(?:[^\]|#^]*[#^])?(?:[^\]|]*\|)?([^\]]*)\]\]")
_NUMBER = re.compile(r"\d[\d.,:/-]*")
# A capital that no sentence asks for: after a word, a comma or a bracket.
_NAME = re.compile(r"(?<=[\w,;)\]] )[^\W\d_][\w'’-]*")


class Likeness(Enum):
    DUPLICATE = "duplicate"
    OTHER_NUMBERS = "other numbers"  # the same words with other numbers
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Wording:
    """What of a note's text is compared; headings and frontmatter are the template's."""

    title: Title
    words: tuple[str, ...]
    shingles: frozenset[tuple[str, ...]]
    names: frozenset[str]
    numbers: tuple[str, ...]


def wording(title: Title, data: bytes) -> Wording:
    text = composed(data.decode("utf-8", errors="replace"))
    text = _LINK.sub(r"\1", _HEADING.sub("", _FRONTMATTER.sub("", text)))
    said = tuple(word for word in words(text) if word[0].isalnum())
    runs = (said[start : start + SHINGLE] for start in range(max(1, len(said) - SHINGLE + 1)))
    capitals = (match[0] for match in _NAME.finditer(text))
    return Wording(
        title,
        said,
        frozenset(runs) if said else frozenset(),
        frozenset(name.casefold() for name in capitals if name[0].isupper()),
        tuple(number.rstrip(".,:/-") for number in _NUMBER.findall(text)),
    )


def likeness(one: Wording, other: Wording) -> Likeness:
    if not one.words or not other.words or not one.title.may_be(other.title):
        return Likeness.NONE
    if one.words == other.words:
        long_enough = len(one.words) >= MIN_WORDS or one.title.key == other.title.key
        return Likeness.DUPLICATE if long_enough else Likeness.NONE
    if min(len(one.words), len(other.words)) < MIN_WORDS:
        return Likeness.NONE
    if _unnumbered(one) == _unnumbered(other):
        return Likeness.OTHER_NUMBERS
    shared = len(one.shingles & other.shingles)
    contained = shared / min(len(one.shingles), len(other.shingles))
    same_title = one.title.key == other.title.key
    if contained < (MIN_CONTAINED_SAME_TITLE if same_title else MIN_CONTAINED):
        return Likeness.NONE
    return Likeness.DUPLICATE if _shared_marks(one, other) >= MIN_SHARED_MARKS else Likeness.NONE


def _unnumbered(text: Wording) -> tuple[str, ...]:
    return tuple("0" if word[0].isdigit() else word for word in text.words)


def _shared_marks(one: Wording, other: Wording) -> float:
    """Of the names and numbers of both (Jaccard); 1 where one has none that the other lacks."""
    first, second = one.names | set(one.numbers), other.names | set(other.numbers)
    if first <= second or second <= first:
        return 1.0
    return len(first & second) / len(first | second)


MIN_COSINE = 0.9
MOST_NEAR = 5  # notes that one note is compared with word by word, the nearest
BLOCK = 512  # notes
KEPT_WORDINGS = 512

Pair = tuple[str, str]  # memory ids, in order
Matrix = npt.NDArray[np.float32]


class Duplicates:
    """Which notes are there twice, kept true as notes change. Not thread-safe.

    Args:
        read: a note's bytes, by path.
        go_on: called between blocks; raises to stop.
    """

    def __init__(
        self,
        read: Callable[[str], bytes],
        go_on: Callable[[], None] = lambda: None,
    ) -> None:
        self._read = read
        self._go_on = go_on
        self._alike: dict[Pair, Likeness] = {}

    def tasks(
        self, memories: Mapping[str, Memory], changed: Collection[str], rows: Rows
    ) -> list[CurationTask]:
        """A task for each pair of like notes.

        Args:
            memories: every note, by id.
            changed: ids of those that are to be compared again, and of those that are gone.
            rows: the vectors of whole notes, L2-normalised; a note without text has none.
        """
        changed = set(changed)
        kept = {pair: kind for pair, kind in self._alike.items() if changed.isdisjoint(pair)}
        near = self._near(changed & memories.keys(), rows)
        self._alike = kept | self._judged(memories, near)
        return [
            _duplicates(memories[one], memories[other])
            if kind is Likeness.DUPLICATE
            else _other_numbers(memories[one], memories[other])
            for (one, other), kind in self._alike.items()
        ]

    def _near(self, changed: Collection[str], rows: Rows) -> set[Pair]:
        """Pairs of a changed note and one of its nearest, at least `MIN_COSINE` alike."""
        # What changed comes first: then each pair of changed notes is compared once.
        order = sorted(range(len(rows.ids)), key=lambda at: rows.ids[at] not in changed)
        ids = [rows.ids[at] for at in order]
        fresh = sum(key in changed for key in ids)
        if not fresh:
            return set()
        matrix = rows.matrix[order]
        pairs: set[Pair] = set()
        for first in range(0, fresh, BLOCK):
            self._go_on()
            cosines = matrix[first : min(first + BLOCK, fresh)] @ matrix[first:].T
            pairs |= _nearest(cosines, first, ids)
        return pairs

    def _judged(
        self, memories: Mapping[str, Memory], pairs: Collection[Pair]
    ) -> dict[Pair, Likeness]:
        @lru_cache(KEPT_WORDINGS)
        def said(memory_id: str) -> Wording | None:
            memory = memories[memory_id]
            try:
                return wording(Title.of(memory), self._read(memory.path))
            except MemvaultError:  # gone or unreadable since
                return None

        judged: dict[Pair, Likeness] = {}
        for one, other in sorted(pairs):
            self._go_on()
            first, second = said(one), said(other)
            if first is None or second is None:
                continue
            kind = likeness(first, second)
            if kind is Likeness.OTHER_NUMBERS and not _states_one_thing(
                memories[one], memories[other]
            ):
                kind = Likeness.NONE
            if kind is not Likeness.NONE:
                judged[one, other] = kind
        return judged


def _nearest(cosines: Matrix, first: int, ids: Sequence[str]) -> set[Pair]:
    """Of each row the nearest after itself; column 0 is the note number ``first``."""
    pairs: set[Pair] = set()
    near = cosines >= MIN_COSINE
    for row in np.flatnonzero(near.sum(axis=1) > 1).tolist():
        own = cosines[row].copy()
        own[: row + 1] = -1.0
        for column in _best(own):
            one, other = sorted((ids[first + row], ids[first + column]))
            pairs.add((one, other))
    return pairs


def _best(cosines: Matrix) -> list[int]:
    columns = np.flatnonzero(cosines >= MIN_COSINE)
    best = columns[np.argsort(-cosines[columns], kind="stable")][:MOST_NEAR]
    return [int(column) for column in best]


def _states_one_thing(one: Memory, other: Memory) -> bool:
    """Notes of two days, or of two projects, may well give two numbers."""
    days = {memory.date for memory in (one, other)}
    return len(days) == 1 and one.project == other.project and one.type == other.type


def _older_first(one: Memory, other: Memory) -> list[Memory]:
    return sorted((one, other), key=lambda memory: (memory.created_at, memory.path))


def _duplicates(one: Memory, other: Memory) -> CurationTask:
    first, second = _older_first(one, other)
    return CurationTask(
        task_type=TaskType.NEAR_DUPLICATES,
        target_nodes=(first.id, second.id),
        paths=(first.path, second.path),
        priority=Priority.MEDIUM,
        detail="these two say much the same in the same words",
        settled_by=(
            Settling.by("merge_concepts", sources=[first.id, second.id], target=first.id),
            Settling.by("forget_concept", target=second.id, reason="duplicate"),
        ),
    )


def _other_numbers(one: Memory, other: Memory) -> CurationTask:
    first, second = _older_first(one, other)
    return CurationTask(
        task_type=TaskType.CONFLICTING_FACTS,
        target_nodes=(first.id, second.id),
        paths=(first.path, second.path),
        priority=Priority.MEDIUM,
        detail="the same words with other numbers: forget the one that is wrong, or verify both",
        settled_by=(Settling.by("forget_concept", target=first.id, reason="outdated"),),
    )
