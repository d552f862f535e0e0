"""Many threads at once on what has to bear it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait


def read_amid_writes(
    read: Callable[[], object], writes: Sequence[Callable[[], object]], readers: int
) -> None:
    """Each write runs in a thread of its own, and so many others read again and again till all are
    done. Raises what one of them raised."""
    done = threading.Event()

    def go_on_reading() -> None:
        while not done.is_set():
            read()

    with ThreadPoolExecutor(readers + len(writes)) as threads:
        reading = [threads.submit(go_on_reading) for _ in range(readers)]
        writing = [threads.submit(each) for each in writes]
        wait(writing)
        done.set()
    for each in reading + writing:
        each.result()
