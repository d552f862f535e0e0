"""Waiting for what comes about in its own time, on a machine that may have much else to do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE_SECONDS = 100.0  # costs nothing where all is well
_SHORTEST, _LONGEST = 0.02, 0.3  # seconds between two looks

T = TypeVar("T")


def until(look: Callable[[], T], seconds: float = PATIENCE_SECONDS) -> T:
    """What is seen as soon as there is something to see."""
    began = time.monotonic()
    while not (seen := look()):
        time.sleep(_pause(time.monotonic() - began, seconds))
    return seen


async def until_seen(look: Callable[[], T], seconds: float = PATIENCE_SECONDS) -> T:
    """As `until`, while the loop's other tasks go on."""
    began = time.monotonic()
    while not (seen := look()):
        await asyncio.sleep(_pause(time.monotonic() - began, seconds))
    return seen


def _pause(waited: float, seconds: float) -> float:
    """The longer it was waited, the longer: looking costs the time that is waited for."""
    assert waited < seconds, "waited in vain"
    return min(_LONGEST, max(_SHORTEST, waited / 20))
