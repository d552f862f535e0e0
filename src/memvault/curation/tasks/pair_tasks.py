"""Tasks about two notes: contradictions, superseded notes and near-duplicates.

For near-duplicates every changed note is compared with all others by the cosine of their vectors,
as products of blocks of the matrix; only the few near ones are read and compared word by word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from memvault.cognition.similarity_index import Rows
from memvault.curation.targets import names_of_memory
from memvault.curation.tasks.note_tasks import is_captured
from memvault.model.change import CurationTask, Priority, TaskAction, TaskType
from memvault.model.errors import MemvaultError
from memvault.model.graph import SUPERSEDED, NodeKind, relation_name
from memvault.model.memory import Memory
from memvault.model.search import Conflict, ConflictKind
from memvault.reasoning.conflicts import (
    Statement,
    different_values,
    stated_conflict,
    statements_of,
)
from memvault.stores.graph_view import GraphView
from memvault.text.names import kind_of
from memvault.text.words import composed, name_key, words
from memvault.vault.documents import is_document
from memvault.vault.frontmatter.fences import split_frontmatter
from memvault.vault.frontmatter.properties import read_date
from memvault.vault.links import wikilink

MemoryOf = Callable[[str], Memory | None]


@dataclass(frozen=True, slots=True)
class NoteStatements:
    """The statements of one note that other notes may contradict."""

    conflicts: tuple[Conflict, ...] = ()
    statements: tuple[Statement, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.conflicts or self.statements)


def note_statements(memory: Memory, edges: GraphView) -> NoteStatements:
    found = (stated_conflict(edge, edges) for edge in edges.stated_by(memory.id))
    return NoteStatements(
        tuple(conflict for conflict in found if conflict is not None),
        tuple(statements_of(memory, edges)),
    )


def conflict_tasks(
    all_stated: Iterable[NoteStatements], edges: GraphView, memory_of: MemoryOf
) -> Iterator[CurationTask]:
    """A task for each pair of contradicting notes that a person has not decided yet.

    A pair is decided if one of the two is superseded, or if only one is verified.
    """
    notes = list(all_stated)
    conflicts = [conflict for each in notes for conflict in each.conflicts]
    outdated = {
        conflict.sides[1].node.id
        for conflict in conflicts
        if conflict.kind is ConflictKind.SUPERSESSION
    }
    statements = [statement for each in notes for statement in each.statements]
    conflicts += different_values(statements, edges, memory_of)
    seen: set[frozenset[str]] = set()
    for conflict in conflicts:
        one, other = (memory_of(side.node.id) for side in conflict.sides)
        if one is None or other is None or one.id == other.id:
            continue
        if conflict.kind is ConflictKind.SUPERSESSION:
            if not _names_successor(other, one, edges):
                yield _superseded(other, one)
            continue
        pair = frozenset((one.id, other.id))
        decided = one.verified != other.verified or pair & outdated
        if decided or pair in seen:
            continue
        seen.add(pair)
        yield _conflicting(conflict, one, other)


def _conflicting(conflict: Conflict, one: Memory, other: Memory) -> CurationTask:
    first, second = conflict.sides
    if conflict.kind is ConflictKind.CONTRADICTION:
        detail = f"{one.path} {conflict.about} {other.path}: verify the correct one"
    else:
        detail = f"{conflict.about}: {first.text!r} here, {second.text!r} in {other.path}"
    same = {name_key(name) for name in names_of_memory(one)} & {
        name_key(name) for name in names_of_memory(other)
    }
    newer = max((one, other), key=lambda memory: (memory.moment, memory.id))
    decide = (
        TaskAction.by("merge_concepts", sources=[one.id, other.id], target=newer.id)
        if same
        else TaskAction.by("verify_memory", target=newer.id, verified=True)
    )
    return CurationTask.about(
        [one, other], TaskType.CONFLICTING_FACTS, Priority.HIGH, detail, decide
    )


def _names_successor(older: Memory, newer: Memory, edges: GraphView) -> bool:
    return any(
        edge.target == newer.id and relation_name(edge.relation) in SUPERSEDED
        for edge in edges.stated_by(older.id)
    )


def _superseded(older: Memory, newer: Memory) -> CurationTask:
    says = f"Superseded by: {wikilink(newer.path, older.path)}"
    return CurationTask.about(
        [older, newer],
        TaskType.SUPERSEDED,
        Priority.LOW,
        f"{newer.path} replaces this note, which does not say so",
        TaskAction.by("annotate_node", target=older.id, note=says),
        TaskAction.by("edit_memory", target=older.id, operation="append", content=says),
    )


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

    @classmethod
    def of(cls, memory: Memory) -> Title:
        stem = memory.path.rpartition("/")[2]
        day = read_date(stem[:10])
        return cls(
            name_key(memory.title), kind_of(memory) in _ENTITY_KINDS, day.date() if day else None
        )

    def may_be(self, other: Title) -> bool:
        """Whether two titles may mean the same subject.

        Different days, numbers of a series or names of entities do not.
        """
        if self.day != other.day and self.day is not None and other.day is not None:
            return False
        if self.key == other.key:
            return True
        if self.is_named_entity and other.is_named_entity:
            own, others = set(self.key.split()), set(other.key.split())
            return own < others or others < own  # "Ada" and "Ada Berg"
        numbered = _DIGITS.search(self.key) and _DIGITS.search(other.key)
        return not (numbered and _DIGITS.sub("0", self.key) == _DIGITS.sub("0", other.key))


MIN_CONTAINED = 0.7  # share of the shorter note's shingles that the longer one has
MIN_CONTAINED_SAME_TITLE = 0.5
MIN_SHARED_MARKS = 0.5  # Jaccard similarity of names and numbers, if each note has some of its own
MIN_WORDS = 8  # shorter notes are compared for equality only
SHINGLE = 3

_HEADING = re.compile(r"^#{1,6}[ \t].*$", re.MULTILINE)
_LINK = re.compile(r"\[\[(?:[^\]|#^]*[#^])?(?:[^\]|]*\|)?([^\]]*)\]\]")
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
    spoken = tuple(word for word in words(text) if word[0].isalnum())
    runs = (spoken[at : at + SHINGLE] for at in range(max(1, len(spoken) - SHINGLE + 1)))
    capitals = (match[0] for match in _NAME.finditer(text))
    return NoteWording(
        title,
        spoken,
        frozenset(runs) if spoken else frozenset(),
        frozenset(name.casefold() for name in capitals if name[0].isupper()),
        tuple(number.rstrip(".,:/-") for number in _NUMBER.findall(text)),
    )


def similarity_of(one: NoteWording, other: NoteWording) -> Similarity:
    if not one.words or not other.words or not one.title.may_be(other.title):
        return Similarity.NONE
    if one.words == other.words:
        long_enough = len(one.words) >= MIN_WORDS or one.title.key == other.title.key
        return Similarity.DUPLICATE if long_enough else Similarity.NONE
    if min(len(one.words), len(other.words)) < MIN_WORDS:
        return Similarity.NONE
    if _unnumbered(one) == _unnumbered(other):
        return Similarity.OTHER_NUMBERS
    shared = len(one.shingles & other.shingles)
    contained = shared / min(len(one.shingles), len(other.shingles))
    same_title = one.title.key == other.title.key
    if contained < (MIN_CONTAINED_SAME_TITLE if same_title else MIN_CONTAINED):
        return Similarity.NONE
    return (
        Similarity.DUPLICATE if _shared_marks(one, other) >= MIN_SHARED_MARKS else Similarity.NONE
    )


def _unnumbered(text: NoteWording) -> tuple[str, ...]:
    return tuple("0" if word[0].isdigit() else word for word in text.words)


def _shared_marks(one: NoteWording, other: NoteWording) -> float:
    """Jaccard similarity of the names and numbers; 1 if one has none that the other lacks."""
    first, second = one.names | set(one.numbers), other.names | set(other.numbers)
    if first <= second or second <= first:
        return 1.0
    return len(first & second) / len(first | second)


MIN_COSINE = 0.9
MAX_NEAR = 5  # nearest notes with which a note is compared word by word
BLOCK = 512  # notes
KEPT_WORDINGS = 512

Pair = tuple[str, str]  # memory ids, in order
Matrix = npt.NDArray[np.float32]


class Duplicates:
    """Pairs of near-duplicate notes, updated as notes change. Not thread-safe.

    Args:
        read: gives a note's bytes, by path.
        go_on: called between blocks; raises to stop.
    """

    def __init__(
        self,
        read: Callable[[str], bytes],
        go_on: Callable[[], None] = lambda: None,
    ) -> None:
        self._read = read
        self._go_on = go_on
        self._alike: dict[Pair, Similarity] = {}

    def tasks(
        self, memories: Mapping[str, Memory], changed: Collection[str], rows: Rows
    ) -> list[CurationTask]:
        """A task for each pair of near-duplicates.

        Args:
            memories: every note, by id.
            changed: ids of the notes to compare again, and of removed ones.
            rows: the vectors of whole notes, L2-normalised; a note without text has none.
        """
        changed = set(changed)
        kept = {pair: kind for pair, kind in self._alike.items() if changed.isdisjoint(pair)}
        near = self._near(changed & memories.keys(), rows)
        self._alike = kept | self._judged(memories, near)
        return [
            _duplicates(memories[one], memories[other])
            if kind is Similarity.DUPLICATE
            else _other_numbers(memories[one], memories[other])
            for (one, other), kind in self._alike.items()
        ]

    def _near(self, changed: Collection[str], rows: Rows) -> set[Pair]:
        """Pairs of a changed note and one of its nearest, with at least `MIN_COSINE`."""
        # Changed notes come first, so that each pair of changed notes is compared once.
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
    ) -> dict[Pair, Similarity]:
        @lru_cache(KEPT_WORDINGS)
        def wording_of(memory_id: str) -> NoteWording | None:
            memory = memories[memory_id]
            try:
                return note_wording(Title.of(memory), self._read(memory.path))
            except MemvaultError:  # gone or unreadable since
                return None

        judged: dict[Pair, Similarity] = {}
        for one, other in sorted(pairs):
            self._go_on()
            if any(is_document(memories[each].path) for each in (one, other)):
                continue  # read-only: neither can be merged into the other
            if is_captured(memories[one]) != is_captured(memories[other]):
                continue  # a decision kept from a session repeats its text on purpose
            first, second = wording_of(one), wording_of(other)
            if first is None or second is None:
                continue
            kind = similarity_of(first, second)
            if kind is Similarity.OTHER_NUMBERS and not _share_day_project_type(
                memories[one], memories[other]
            ):
                kind = Similarity.NONE
            if kind is not Similarity.NONE:
                judged[one, other] = kind
        return judged


def _nearest(cosines: Matrix, first: int, ids: Sequence[str]) -> set[Pair]:
    """The pairs of each row's note and its nearest notes in later columns.

    Row 0 and column 0 are the note with the index ``first``.
    """
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
    best = columns[np.argsort(-cosines[columns], kind="stable")][:MAX_NEAR]
    return [int(column) for column in best]


def _share_day_project_type(one: Memory, other: Memory) -> bool:
    """Whether two notes share day, project and type; otherwise their numbers may differ."""
    days = {memory.date for memory in (one, other)}
    return len(days) == 1 and one.project == other.project and one.type == other.type


def _older_first(one: Memory, other: Memory) -> list[Memory]:
    return sorted((one, other), key=lambda memory: (memory.created_at, memory.path))


def _duplicates(one: Memory, other: Memory) -> CurationTask:
    first, second = _older_first(one, other)
    return CurationTask.about(
        [first, second],
        TaskType.NEAR_DUPLICATES,
        Priority.MEDIUM,
        "these two notes are nearly identical",
        TaskAction.by("merge_concepts", sources=[first.id, second.id], target=first.id),
        TaskAction.by("forget_concept", target=second.id, reason="duplicate"),
    )


def _other_numbers(one: Memory, other: Memory) -> CurationTask:
    first, second = _older_first(one, other)
    return CurationTask.about(
        [first, second],
        TaskType.CONFLICTING_FACTS,
        Priority.MEDIUM,
        "the same words with different numbers; forget the wrong note, or verify both",
        TaskAction.by("forget_concept", target=first.id, reason="outdated"),
    )
