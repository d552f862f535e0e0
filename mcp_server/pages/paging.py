"""A list a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

PAGE_SIZE = 50
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Part(Generic[Row]):
    """The rows of page ``number`` of ``last``, of ``total`` rows in all."""

    rows: Sequence[Row]
    number: int
    last: int
    total: int


def paged(rows: Sequence[Row], asked: str) -> Part[Row]:
    """The page of this number, the nearest there is; the first for anything that is no number."""
    last = max(1, -(-len(rows) // PAGE_SIZE))
    number = min(max(1, int(asked) if asked.isdecimal() and len(asked) < 9 else 1), last)
    return Part(rows[(number - 1) * PAGE_SIZE : number * PAGE_SIZE], number, last, len(rows))
