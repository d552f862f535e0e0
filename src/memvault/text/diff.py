"""The difference of two sequences, fast even if elements repeat."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

MAX_PAIRS = 400_000_000  # pairs that are compared, one bit of memory each: 50 MB


class Stretch(NamedTuple):
    """``old[i1:i2]`` and ``new[j1:j2]``, which are equal or replace each other."""

    equal: bool
    i1: int
    i2: int
    j1: int
    j2: int


def stretches(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[Stretch]:
    """Divide two sequences by their longest common subsequence.

    `difflib.SequenceMatcher` needs cubic time if elements repeat, as blank lines do. A difference
    of more than `MAX_PAIRS` pairs is one stretch.
    """
    start, end = _common(old, new)
    old_middle, new_middle = old[start : len(old) - end], new[start : len(new) - end]
    blocks = (
        _blocks(old_middle, new_middle) if len(old_middle) * len(new_middle) <= MAX_PAIRS else []
    )
    i = j = 0
    for old_start, new_start, size in [
        (0, 0, start),
        *((start + old_start, start + new_start, size) for old_start, new_start, size in blocks),
        (len(old) - end, len(new) - end, end),
    ]:
        if (i, j) != (old_start, new_start):
            yield Stretch(False, i, old_start, j, new_start)
        i, j = old_start + size, new_start + size
        if size:
            yield Stretch(True, old_start, i, new_start, j)


def _common(old: Sequence[Hashable], new: Sequence[Hashable]) -> tuple[int, int]:
    """The numbers of elements that two sequences share at their start, and then at their end."""
    shortest = min(len(old), len(new))
    start = next((index for index in range(shortest) if old[index] != new[index]), shortest)
    remaining = shortest - start
    end = next(
        (index for index in range(remaining) if old[-1 - index] != new[-1 - index]), remaining
    )
    return start, end


def _blocks(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[tuple[int, int, int]]:
    """A longest common subsequence: where its runs begin in both sequences, and their lengths.

    A row is an integer with a bit for each element of ``old``, 0 where the subsequence grows
    (Hyyrö, Bit-parallel LCS-length computation revisited, 2004).
    """
    places: dict[Hashable, int] = {}
    for i, element in enumerate(old):
        places[element] = places.get(element, 0) | 1 << i
    full = (1 << len(old)) - 1
    rows = [full]
    for element in new:
        matches = rows[-1] & places.get(element, 0)
        rows.append(((rows[-1] + matches) | (rows[-1] - matches)) & full)
    blocks: list[tuple[int, int, int]] = []
    i, j = len(old), len(new)
    while i and j:
        if old[i - 1] == new[j - 1]:
            i, j = i - 1, j - 1
            follows = blocks and blocks[-1][:2] == (i + 1, j + 1)
            blocks.append((i, j, blocks.pop()[2] + 1 if follows else 1))
        elif rows[j] >> (i - 1) & 1:
            i -= 1
        else:
            j -= 1
    return blocks[::-1]
