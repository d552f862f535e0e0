"""Who of several processes on the same stores indexes: the one that holds the lease."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable

from memvault.model.errors import MemvaultError
from memvault.stores.keyvalue import KeyValueStore

logger = logging.getLogger(__name__)
LEASE = "indexer"
LEASE_SECONDS = 30.0
RENEW_SECONDS = 5.0


class Duty:
    """Asks for the lease again and again. It is lost when the store does not answer for as long as
    it lasts; another process may have it by then.

    Args:
        take_up, lay_down: called in this thread when the lease was won, or lost.
        renewed: called each time it was given again.
    """

    def __init__(
        self,
        store: Callable[[], KeyValueStore],
        renew_seconds: float = RENEW_SECONDS,
        lease_seconds: float = LEASE_SECONDS,
        *,
        take_up: Callable[[], None],
        lay_down: Callable[[], None],
        renewed: Callable[[], None],
    ) -> None:
        self._store = store
        self._take_up = take_up
        self._lay_down = lay_down
        self._renewed = renewed
        self._renew_seconds = renew_seconds
        self._lease_seconds = lease_seconds
        self._holder = uuid.uuid4().hex
        self._until = 0.0
        self.held = False
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memvault-duty", daemon=True)

    def start(self) -> bool:
        """Ask for the lease, go on asking, and say whether it was given now."""
        self.held = self._ask()
        self._thread.start()
        return self.held

    def stop(self, timeout: float) -> None:
        """Stop, and give the lease back."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(timeout)
        self.held = False
        if time.monotonic() < self._until:
            try:
                self._store().lease(LEASE, self._holder, 0)
            except MemvaultError:
                logger.info("the lease could not be given back; it ends by itself")

    def _run(self) -> None:
        while not self._stopped.wait(self._renew_seconds):
            before, self.held = self.held, self._ask()
            try:
                if self.held != before:
                    (self._take_up if self.held else self._lay_down)()
                if self.held:
                    self._renewed()
            except MemvaultError as error:
                self.held = self.held and before  # what could not be taken up is tried again
                logger.error("%s", error.message)

    def _ask(self) -> bool:
        asked = time.monotonic()
        try:
            given = self._store().lease(LEASE, self._holder, self._lease_seconds)
        except MemvaultError as error:
            logger.warning("the lease for indexing cannot be renewed: %s", error.message)
            return self.held and time.monotonic() < self._until
        if given:
            self._until = asked + self._lease_seconds
        return given


def is_anyone_indexing(store: KeyValueStore) -> bool:
    """Whether some process holds the lease.

    Raises:
        StoreUnavailable: the store does not answer.
    """
    return not store.lease(LEASE, uuid.uuid4().hex, 0)
