"""The edges of notes that a change elsewhere concerns, written when the change is answered.

A note that goes or gets another name concerns every note that names it, which may be hundreds.
What is owed stands in the catalogue, so a crash loses none; the next scan makes it good.
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


class Linking:
    """Writes owed edges in a thread of its own. Thread-safe.

    Args:
        indexer: that of the live generation.
    """

    def __init__(self, indexer: Callable[[], Indexer]) -> None:
        self._indexer = indexer
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._asked = False  # for what has not begun yet
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="memvault-linking")
        self._last: Future[None] | None = None

    def soon(self) -> None:
        """Write what is owed, a moment from now; returns at once."""
        with self._lock:
            if not (self._stopped.is_set() or self._asked):
                self._asked = True
                self._last = self._worker.submit(self._link)

    def wait(self, timeout: float) -> bool:
        """Wait until what was asked for is done; False when the time (seconds) ran out."""
        last = self._last
        return last is None or not wait([last], timeout).not_done

    def ask_to_stop(self) -> None:
        """End after the batch in hand; returns at once."""
        with self._lock:
            self._stopped.set()
            self._worker.shutdown(wait=False, cancel_futures=True)

    def stop(self, timeout: float) -> None:
        """The same, waiting for so many seconds at most."""
        self.ask_to_stop()
        self.wait(timeout)

    def _link(self) -> None:
        self._stopped.wait(SETTLE_SECONDS)
        with self._lock:
            self._asked = False
        try:
            while not self._stopped.is_set() and self._indexer().link_owed():
                pass
        except MemvaultError as error:
            if not self._stopped.is_set():
                logger.warning("links are made anew with the next scan: %s", error.message)
        except Exception:
            logger.exception("links are made anew with the next scan")
