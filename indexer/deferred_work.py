"""What follows a change, done when the change is answered: the edges of the notes that it concerns
elsewhere are written, and what was indexed is flushed to disk.

A note that goes or gets another name concerns every note that names it, which may be hundreds.
What is left stands in the catalogue, so a crash loses none; the next scan makes it good.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from indexer.indexer import Indexer
from memvault.model.errors import MemvaultError

logger = logging.getLogger(__name__)
SETTLE_SECONDS = 0.1  # in which an answer is told


class Finishing:
    """Finishes in a thread of its own what `Indexer.index` left. Thread-safe.

    Args:
        indexer: that of the live generation.
    """

    def __init__(self, indexer: Callable[[], Indexer]) -> None:
        self._indexer = indexer
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._asked = False  # for what has not begun yet
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="memvault-finishing")
        self._last: Future[None] | None = None

    def soon(self) -> None:
        """Do what is left, a moment from now; returns at once."""
        with self._lock:
            if not (self._stopped.is_set() or self._asked):
                self._asked = True
                self._last = self._worker.submit(self._finish)

    def wait(self, timeout: float) -> bool:
        """Wait until what was asked for is done; False when the time (seconds) ran out."""
        last = self._last
        return last is None or not wait([last], timeout).not_done

    def ask_to_stop(self) -> None:
        """End after the batch in hand; returns at once."""
        with self._lock:
            self._stopped.set()
            self._worker.shutdown(wait=False)  # what has not begun ends at once

    def stop(self, timeout: float) -> None:
        """The same, waiting for so many seconds at most."""
        self.ask_to_stop()
        self.wait(timeout)

    def _finish(self) -> None:
        self._stopped.wait(SETTLE_SECONDS)
        with self._lock:
            self._asked = False
        try:
            while not self._stopped.is_set() and self._indexer().finish_some():
                pass
        except MemvaultError as error:
            if not self._stopped.is_set():
                logger.warning("the next scan finishes what is left: %s", error.message)
        except Exception:
            logger.exception("the next scan finishes what is left")
