"""Notes that are there twice: near in meaning, then in wording.

Every changed note is compared with all others by the cosine of their vectors, as products of
blocks of the matrix; only the few near ones are read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from memvault.cognition.vector_rows import Rows
from memvault.curation.tasks.likeness import Likeness, Wording, likeness, wording
from memvault.curation.tasks.titles import Title
from memvault.model.curation import CurationTask, Priority, Settling, TaskType
from memvault.model.errors import MemvaultError
from memvault.model.memory import Memory

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
