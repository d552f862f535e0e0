"""Looking further where a filter leaves too little of what was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

FIRST = 100  # results looked at
WIDER = 4  # times as many the next time

Found = TypeVar("Found")


def widened(
    look: Callable[[int], Sequence[Found]],
    fitting: Callable[[Sequence[Found]], list[Found]],
    most: int,
) -> list[Found]:
    """The results that pass a filter which the stores cannot apply, best first: at least ``most``,
    unless fewer of all there are do.

    Args:
        look: gives so many results, best first.
        fitting: those of them that pass.
    """
    limit, seen = max(FIRST, most), -1
    while True:
        found = look(limit)
        fits = fitting(found)
        if len(fits) >= most or len(found) <= seen:
            return fits
        limit, seen = limit * WIDER, len(found)
