"""Which of several processes on the same stores indexes: the one that holds the lease."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable

from memvault.model.errors import MemvaultError
from memvault.stores.keyvalue import KeyValueStore

logger = logging.getLogger(__name__)
LEASE = "indexer"
LEASE_SECONDS = 30.0
RENEW_SECONDS = 5.0


class LeaderLease:
    """The lease as one process holds it. It is lost when the store does not answer for as long as
    the lease lasts; another process may have it by then.

    Args:
        won, lost: called by `renew` when that has changed.
        renewed: called each time the lease was given again.
    """

    def __init__(
        self,
        store: Callable[[], KeyValueStore],
        *,
        won: Callable[[], None],
        lost: Callable[[], None],
        renewed: Callable[[], None],
    ) -> None:
        self._store = store
        self._won = won
        self._lost = lost
        self._renewed = renewed
        self._holder = uuid.uuid4().hex
        self._until = 0.0
        self.held = False

    def acquire(self) -> bool:
        """Ask for the lease; whether it was given now."""
        self.held = self._ask()
        return self.held

    def renew(self) -> float:
        """Ask for the lease again; the seconds until that is due once more."""
        before, self.held = self.held, self._ask()
        if self.held != before:
            (self._won if self.held else self._lost)()
        if self.held:
            try:
                self._renewed()
            except MemvaultError as error:
                logger.warning("the state of indexing is not published: %s", error.message)
        return RENEW_SECONDS

    def release(self) -> None:
        """Give the lease back, if it is held."""
        self.held = False
        if time.monotonic() < self._until:
            try:
                self._store().lease(LEASE, self._holder, 0)
            except MemvaultError:
                logger.info("the lease could not be given back; it ends by itself")

    def _ask(self) -> bool:
        asked = time.monotonic()
        try:
            given = self._store().lease(LEASE, self._holder, LEASE_SECONDS)
        except MemvaultError as error:
            logger.warning("the lease for indexing cannot be renewed: %s", error.message)
            return self.held and time.monotonic() < self._until
        if given:
            self._until = asked + LEASE_SECONDS
        return given


def is_anyone_indexing(store: KeyValueStore) -> bool:
    """Whether some process holds the lease.

    Raises:
        StoreUnavailable: the store does not answer.
    """
    return not store.lease(LEASE, uuid.uuid4().hex, 0)
