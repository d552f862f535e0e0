"""The time that a piece of work takes, though other work goes on beside it."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def seconds_of(work: Callable[[], object], times: int = 1) -> float:
    """Processor seconds of this thread, of the quickest of so many times.

    Collections of garbage are left out: they would go through all that earlier tests left.
    """
    spent = []
    gc.collect(0)
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(times):
            began = time.thread_time()
            work()
            spent.append(time.thread_time() - began)
    finally:
        if collecting:
            gc.enable()
    return min(spent)
