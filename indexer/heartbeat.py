"""Asks the servers now and then whether they are there, and still have what they were given."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from indexer.indexer import Indexer
from memvault.model.errors import MemvaultError

logger = logging.getLogger(__name__)
SECONDS = 5.0


class Heartbeat:
    """A thread of its own. So `Stores.unreachable` is true also while nobody asks anything.

    Args:
        indexer: the live one.
        lost: called once when an index turns out to be empty though notes were indexed.
    """

    def __init__(
        self, indexer: Callable[[], Indexer], lost: Callable[[], None], seconds: float = SECONDS
    ) -> None:
        self._indexer = indexer
        self._lost = lost
        self._seconds = seconds
        self._told = False
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memvault-heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Stop after the question under way, for which it waits so many seconds at most."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _run(self) -> None:
        while not self._stopped.wait(self._seconds):
            try:
                lost = self._indexer().has_lost_an_index()
            except MemvaultError as error:
                logger.info("%s", error.message)
                continue
            if lost and not self._told:
                self._lost()
            self._told = lost
