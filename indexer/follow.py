"""Taking in what another process indexes, where several share their stores."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection

from indexer import standing
from indexer.changes import Changes
from indexer.indexer import Indexer
from memvault.model.errors import MemvaultError

logger = logging.getLogger(__name__)
SECONDS = 1.0  # between two looks
PATIENCE_SECONDS = 5.0  # for a note that was just written here to be indexed elsewhere


class Follower:
    """Looks for changes in a thread of its own, from `start` to `stop`.

    Args:
        indexer: the live one.
        move: opens the live generation, if that is another by now.
    """

    def __init__(self, indexer: Callable[[], Indexer], move: Callable[[], None]) -> None:
        self._indexer = indexer
        self._move = move
        self._following: Indexer | None = None
        self._seen = 0
        self.indexing: standing.Standing | None = None  # elsewhere; None if nobody seems to
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def active(self) -> bool:
        return self._thread is not None

    def start(self) -> None:
        self._stopped.clear()
        self._thread = threading.Thread(target=self._run, name="memvault-follow", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop after the look under way."""
        self._stopped.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def catch_up(self) -> None:
        """Take in what has changed since the last time.

        Raises:
            StoreUnavailable: a server does not answer.
        """
        with self._lock:
            self._move()
            indexer = self._indexer()
            changes = Changes(indexer.stores.keyvalue)
            last = changes.number()
            if indexer is not self._following:
                indexer.follow(None)
            elif last != self._seen:
                indexer.follow(changes.between(self._seen, last))
            self._following, self._seen = indexer, last
            self.indexing = standing.told(indexer.stores.keyvalue)

    def wait_for(self, paths: Collection[str]) -> bool:
        """Whether another process has indexed these notes as they are on disk, in good time."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not all(map(self._indexer().is_current, paths)):
            if time.monotonic() > deadline or self._stopped.wait(0.1):
                return False
            self.catch_up()
        return True

    def _run(self) -> None:
        while not self._stopped.wait(SECONDS):
            try:
                self.catch_up()
            except MemvaultError as error:
                self.indexing = None
                logger.warning("changes made elsewhere are not known now: %s", error.message)
