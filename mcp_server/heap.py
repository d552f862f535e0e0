"""Memory that the engine keeps, and memory that it is done with.

At 10,000 notes a full collection looks at some millions of objects for half a second, in which
nothing is answered, and finds nothing: catalogue, names and edges are there to stay. What a scan
or a replaced generation freed, glibc keeps for later, some hundred megabytes of it.
"""

from __future__ import annotations

import ctypes
import gc
import sys

_YOUNG = 50_000  # objects made before the youngest are looked at; Python's own choice is 700


def settle() -> None:
    """Collect once, look no more at what is left, and give back what is free; to be called when
    indexes were opened or closed."""
    gc.set_threshold(_YOUNG, 20, 100)
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    _give_back()


def _give_back() -> None:
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim is not None:
            trim(0)
