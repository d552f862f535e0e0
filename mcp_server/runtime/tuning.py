"""How the threads of an engine share the processor.

A question's matrix products are of a few milliseconds. OpenBLAS shares each among all cores, and
its threads then wait for the next one at full speed: of 59 ms of processor time that a question
over roads took on two cores, 22 went into waiting, while the language reader and the stores had
something to do.

Python lets a thread that works in the background keep the interpreter for 5 ms. A call gives it
away dozens of times, with each read of a store or a file, and would wait for as long each time.
"""

from __future__ import annotations

import ctypes
import gc
import sys

from threadpoolctl import threadpool_limits

_YOUNG = 50_000  # objects made before the youngest are looked at; Python's own choice is 700


def settle() -> None:
    """Collect once, look no more at what is left, and give back what is free; to be called when
    indexes were opened or closed."""
    gc.set_threshold(_YOUNG, 20, 100)
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    give_back_memory()


def give_back_memory() -> None:
    """Return freed memory to the system."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim is not None:
            trim(0)


# glibc gives each of some 28 threads a heap of its own, with holes: with two heaps an idle engine
# takes 12 MB less.
_ARENA_MAX, _ARENAS = -8, 2
TURN_SECONDS = 0.001  # that a thread may go on while others wait


def share_the_processor() -> None:
    """Hold NumPy's products to one thread, turns short and heaps few, until the process ends."""
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
        if mallopt is not None:
            mallopt(_ARENA_MAX, _ARENAS)
    threadpool_limits(1, user_api="blas")
    sys.setswitchinterval(TURN_SECONDS)
