"""Describing each tool once for a whole run: every server has the same ones."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any


def described_once(make: Callable[[MethodType], Any]) -> Callable[[MethodType], Any]:
    """The same function, which describes each tool only once."""
    known: dict[object, Any] = {}

    def made(method: MethodType) -> Any:
        if method.__func__ not in known:
            known[method.__func__] = make(method)
        return known[method.__func__].model_copy(update={"fn": method})

    return made
