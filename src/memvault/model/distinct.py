"""Items without those that repeat an earlier one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


def distinct_by(items: Iterable[Item], key: Callable[[Item], Hashable]) -> list[Item]:
    """The first item of each key, in order."""
    first: dict[Hashable, Item] = {}
    for item in items:
        first.setdefault(key(item), item)
    return list(first.values())
