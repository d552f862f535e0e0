"""Tasks about notes that are nearly identical.

Every changed note is compared with all others by the cosine of their vectors, as products of small
blocks of the matrix, so that a question never waits long for one; only the few near ones are read
and compared word by word.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from memvault.cognition.vector_rows import Rows
from memvault.curation.tasks.note_wording import (
    NoteWording,
    Similarity,
    comparable_title,
    note_wording,
    similarity_of,
)
from memvault.model.change import CurationTask, Priority, TaskAction, TaskType
from memvault.model.errors import MemvaultError
from memvault.model.memory import Memory
from memvault.text.words import name_key
from memvault.vault.documents import is_document
from memvault.vault.session_lines import is_captured

MIN_COSINE = 0.9
MIN_COSINE_SAME_TITLE = 0.8  # a short note and its copy that differ in one line have less than 0.9
MAX_NEAR = 5  # nearest notes with which a note is compared word by word, and most of one title
BLOCK = 256  # notes that are compared at once
OTHERS = 4096  # notes with which they are compared at once, in some 10 ms
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
        self._similarities: dict[Pair, Similarity] = {}

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
        unchanged = {
            pair: kind for pair, kind in self._similarities.items() if changed.isdisjoint(pair)
        }
        pairs = self._near_pairs(changed & memories.keys(), rows)
        pairs |= _same_titled(memories, changed, rows)
        self._similarities = unchanged | self._similar_pairs(memories, pairs)
        return [
            _duplicates(memories[first], memories[second])
            if kind is Similarity.DUPLICATE
            else _other_numbers(memories[first], memories[second])
            for (first, second), kind in self._similarities.items()
        ]

    def _near_pairs(self, changed: Collection[str], rows: Rows) -> set[Pair]:
        """Pairs of a changed note and one of its nearest, with at least `MIN_COSINE`."""
        # Changed notes come first, so that each pair of changed notes is compared once.
        order = sorted(range(len(rows.ids)), key=lambda index: rows.ids[index] not in changed)
        ids = [rows.ids[index] for index in order]
        fresh = sum(key in changed for key in ids)
        if not fresh:
            return set()
        matrix = rows.matrix[order]
        pairs: set[Pair] = set()
        for first in range(0, fresh, BLOCK):
            block = matrix[first : min(first + BLOCK, fresh)]
            near: dict[int, list[tuple[float, int]]] = defaultdict(list)
            for start in range(first, len(ids), OTHERS):
                self._go_on()
                _add_near(near, block @ matrix[start : start + OTHERS].T, first, start)
            pairs |= {
                _in_order(ids[row], ids[other])
                for row, others in near.items()
                for _, other in sorted(others)[:MAX_NEAR]
            }
        return pairs

    def _similar_pairs(
        self, memories: Mapping[str, Memory], pairs: Collection[Pair]
    ) -> dict[Pair, Similarity]:
        @lru_cache(KEPT_WORDINGS)
        def wording_of(memory_id: str) -> NoteWording | None:
            memory = memories[memory_id]
            try:
                return note_wording(comparable_title(memory), self._read(memory.path))
            except MemvaultError:  # gone or unreadable since
                return None

        similarities: dict[Pair, Similarity] = {}
        for first_id, second_id in sorted(pairs):
            self._go_on()
            first, second = memories[first_id], memories[second_id]
            if is_document(first.path) or is_document(second.path):
                continue  # read-only: neither can be merged into the other
            if is_captured(first) != is_captured(second):
                continue  # a decision kept from a session repeats its text on purpose
            wording, other_wording = wording_of(first_id), wording_of(second_id)
            if wording is None or other_wording is None:
                continue
            kind = similarity_of(wording, other_wording)
            if kind is Similarity.OTHER_NUMBERS and not _share_day_project_type(first, second):
                kind = Similarity.NONE
            if kind is not Similarity.NONE:
                similarities[first_id, second_id] = kind
        return similarities


def _same_titled(memories: Mapping[str, Memory], changed: Collection[str], rows: Rows) -> set[Pair]:
    """Pairs of a changed note and one of its title, with at least `MIN_COSINE_SAME_TITLE`."""
    rows_of_title: dict[str, list[int]] = defaultdict(list)
    for row, key in enumerate(rows.ids):
        if key in memories:
            rows_of_title[name_key(memories[key].title)].append(row)
    pairs: set[Pair] = set()
    for same_titled in rows_of_title.values():
        for row, other_row in combinations(same_titled, 2) if len(same_titled) <= MAX_NEAR else ():
            first, second = _in_order(rows.ids[row], rows.ids[other_row])
            is_changed = first in changed or second in changed
            if is_changed and rows.matrix[row] @ rows.matrix[other_row] >= MIN_COSINE_SAME_TITLE:
                pairs.add((first, second))
    return pairs


def _add_near(
    near: dict[int, list[tuple[float, int]]], cosines: Matrix, first: int, start: int
) -> None:
    """Add the nearest notes of each note in a block, as negative cosines and rows of the matrix.

    Args:
        near: what is added to, by the note's row.
        cosines: of the rows from ``first`` with the rows from ``start``; only later rows count.
    """
    for index in np.flatnonzero((cosines >= MIN_COSINE).any(axis=1)).tolist():
        row = first + index
        columns = np.flatnonzero(cosines[index] >= MIN_COSINE)
        later = columns[columns > row - start]
        best = later[np.argsort(-cosines[index, later], kind="stable")][:MAX_NEAR]
        near[row] += [(-float(cosines[index, column]), start + int(column)) for column in best]


def _in_order(first: str, second: str) -> Pair:
    return (first, second) if first <= second else (second, first)


def _share_day_project_type(first: Memory, second: Memory) -> bool:
    """Whether two notes share day, project and type; otherwise their numbers may differ."""
    is_same_day = len({memory.date for memory in (first, second)}) == 1
    return is_same_day and first.project == second.project and first.type == second.type


def _duplicates(memory: Memory, other: Memory) -> CurationTask:
    # The older note stays, but the person's before what others claim.
    first, second = sorted(
        (memory, other), key=lambda each: (each.is_claim, each.created_at, each.path)
    )
    return CurationTask.about(
        [first, second],
        TaskType.NEAR_DUPLICATES,
        Priority.MEDIUM,
        "these two notes are nearly identical",
        TaskAction.by("merge_concepts", sources=[first.id, second.id], target=first.id),
        TaskAction.by("forget_concept", target=second.id, reason="duplicate"),
    )


def _other_numbers(memory: Memory, other: Memory) -> CurationTask:
    # The older note is outdated, but what others claim before the person's.
    first, second = sorted(
        (memory, other), key=lambda each: (not each.is_claim, each.created_at, each.path)
    )
    return CurationTask.about(
        [first, second],
        TaskType.CONFLICTING_FACTS,
        Priority.MEDIUM,
        "the same words with different numbers; forget the wrong note, or verify both",
        TaskAction.by("forget_concept", target=first.id, reason="outdated"),
    )
