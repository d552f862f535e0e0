"""Waiting for what comes about in its own time, on a machine that may have much else to do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE_SECONDS = 60.0  # costs nothing where all is well
_BETWEEN_SECONDS = 0.02

T = TypeVar("T")


def until(look: Callable[[], T], seconds: float = PATIENCE_SECONDS) -> T:
    """What is seen as soon as there is something to see."""
    deadline = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(_BETWEEN_SECONDS)
    return seen


async def until_seen(look: Callable[[], T], seconds: float = PATIENCE_SECONDS) -> T:
    """As `until`, while the loop's other tasks go on."""
    deadline = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < deadline, "waited in vain"
        await asyncio.sleep(_BETWEEN_SECONDS)
    return seen
