"""Citation tags: ``[node_550e8400]`` stands for the memory whose id begins with these digits."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

DIGITS = 8  # of the id's 32, at least
SHORTEST = 4  # digits that are taken for a tag
TAG = re.compile(r"\[node_([0-9a-f]{4,32})\]")

Starting = Callable[[str], Sequence[str]]  # the ids that begin with these digits

_GIVEN = re.compile(r"\[?\s*(?:node_)?([0-9a-f-]{4,36})\s*\]?", re.IGNORECASE)


def digits(memory_id: str) -> str:
    """The hexadecimal digits of an id."""
    return memory_id.replace("-", "").lower()


def tags(ids: Collection[str], starting: Starting) -> dict[str, str]:
    """``node_…`` for each id: its first eight digits, or as many more as tell it from every other
    id there is."""
    return {each: "node_" + _start(digits(each), starting) for each in ids}


def _start(own: str, starting: Starting) -> str:
    alike = {digits(other) for other in starting(own[:DIGITS])} - {own}
    length = DIGITS
    while length < len(own) and any(other.startswith(own[:length]) for other in alike):
        length += 1
    return own[:length]


def cited(tag: str, starting: Starting) -> list[str] | None:
    """The ids that a tag may stand for; None if it is no tag.

    A tag is written with or without brackets and ``node_``, shorter or longer, or as a whole id.
    """
    given = _GIVEN.fullmatch(tag.strip())
    start = digits(given[1]) if given else ""
    return list(starting(start)) if SHORTEST <= len(start) <= 32 else None
