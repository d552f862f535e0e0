"""Lists of limited length from any number of items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """The items in lists of at most this size, like `itertools.batched` of Python 3.12."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
