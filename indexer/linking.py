"""The edges of notes that a change elsewhere concerns, written when the change is answered.

A note that goes or gets another name concerns every note that names it: hundreds, at 3 ms each.
What is owed stands in the catalogue, so a crash loses none; the next scan makes it good.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from indexer.indexer import Indexer
from memvault.model.errors import MemvaultError

logger = logging.getLogger(__name__)


class Linking:
    """Writes owed edges in a thread of its own. Thread-safe.

    Args:
        indexer: that of the live generation.
    """

    def __init__(self, indexer: Callable[[], Indexer]) -> None:
        self._indexer = indexer
        self._condition = threading.Condition()
        self._asked = self._busy = self._stopped = False
        self._thread = threading.Thread(target=self._run, name="memvault-linking", daemon=True)

    def soon(self) -> None:
        """Write what is owed; returns at once."""
        with self._condition:
            if self._stopped:
                return
            self._asked = True
            if self._thread.ident is None:
                self._thread.start()
            self._condition.notify_all()

    def wait(self, timeout: float) -> bool:
        """Wait until nothing is left to do; False when the time (seconds) ran out."""
        with self._condition:
            return self._condition.wait_for(
                lambda: self._stopped or not (self._asked or self._busy), timeout
            )

    def ask_to_stop(self) -> None:
        """End after the batch in hand; returns at once."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()

    def stop(self, timeout: float) -> None:
        """The same, waiting for so many seconds at most."""
        self.ask_to_stop()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _run(self) -> None:
        while self._next():
            try:
                while not self._stopped and self._indexer().link_owed():
                    pass
            except MemvaultError as error:
                if not self._stopped:
                    logger.warning("links are made anew with the next scan: %s", error.message)
            finally:
                with self._condition:
                    self._busy = False
                    self._condition.notify_all()

    def _next(self) -> bool:
        with self._condition:
            self._condition.wait_for(lambda: self._stopped or self._asked)
            self._asked, self._busy = False, not self._stopped
            return self._busy
