"""Keeping Python's garbage collector away from what lives as long as the engine.

At 10,000 notes a full collection looks at some millions of objects for half a second, in which
nothing is answered, and finds nothing: catalogue, names and edges are there to stay.
"""

from __future__ import annotations

import gc

_YOUNG = 50_000  # objects made before the youngest are looked at; Python's own choice is 700


def settle() -> None:
    """Collect once, and look no more at what is left; to be called when the indexes are open."""
    gc.set_threshold(_YOUNG, 20, 100)
    gc.unfreeze()
    gc.collect()
    gc.freeze()
