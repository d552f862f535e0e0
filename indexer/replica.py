"""Coordinates processes on the same stores: one holds the lease and indexes, the others follow."""

from __future__ import annotations

import json
import logging
import threading
import time
import uuid
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass

from indexer.indexer import Indexer
from memvault.model.errors import MemvaultError
from memvault.model.json_text import json_value
from memvault.stores.keyvalue import KeyValueStore

logger = logging.getLogger(__name__)
LEASE = "indexer"
LEASE_SECONDS = 30.0
RENEW_SECONDS = 5.0


@dataclass(eq=False)
class LeaderLease:
    """The lease that makes one process the indexer.

    It is lost if the store does not answer for `LEASE_SECONDS`, because another process may have
    taken it by then.

    Attributes:
        won, lost: called by `renew` when the process gains or loses the lease.
        renewed: called after each renewal.
    """

    store: Callable[[], KeyValueStore]
    won: Callable[[], None]
    lost: Callable[[], None]
    renewed: Callable[[], None]

    def __post_init__(self) -> None:
        self._holder = uuid.uuid4().hex
        self._until = 0.0
        self.held = False

    def acquire(self) -> bool:
        """Request the lease; returns whether this process has it."""
        self.held = self._ask()
        return self.held

    def renew(self) -> float:
        """Request the lease again; returns the seconds until the next renewal."""
        before, self.held = self.held, self._ask()
        if self.held != before:
            (self.won if self.held else self.lost)()
        if self.held:
            try:
                self.renewed()
            except MemvaultError as error:
                logger.warning("The indexing status could not be published: %s", error.message)
        return RENEW_SECONDS

    def release(self) -> None:
        """Return the lease if this process has it."""
        self.held = False
        if time.monotonic() < self._until:
            try:
                self.store().lease(LEASE, self._holder, 0)
            except MemvaultError:
                logger.info("The lease could not be returned; it will expire.")

    def _ask(self) -> bool:
        requested_at = time.monotonic()
        try:
            is_granted = self.store().lease(LEASE, self._holder, LEASE_SECONDS)
        except MemvaultError as error:
            logger.warning("The lease for indexing could not be renewed: %s", error.message)
            return self.held and time.monotonic() < self._until
        if is_granted:
            self._until = requested_at + LEASE_SECONDS
        return is_granted


def is_anyone_indexing(store: KeyValueStore) -> bool:
    """Whether any process holds the lease.

    Raises:
        StoreUnavailable: the store does not answer.
    """
    return not store.lease(LEASE, uuid.uuid4().hex, 0)


CHANGES, NUMBER = "changes", "changes_number"
CHANGES_KEPT_SECONDS = 3600.0
MAX_PATHS = 1_000  # listed in one change; a larger change lists none and means "any note"


class ChangeFeed:
    """The numbered changes of one generation, kept for an hour each."""

    def __init__(self, store: KeyValueStore) -> None:
        self._store = store

    def append(self, paths: Collection[str] | None) -> None:
        """Add a change of these notes (None: any note)."""
        listed = sorted(paths) if paths is not None and len(paths) <= MAX_PATHS else None
        number = self._store.increment(NUMBER, NUMBER)
        self._store.put(
            CHANGES, _key(number), json.dumps(listed).encode(), ttl_seconds=CHANGES_KEPT_SECONDS
        )

    def number(self) -> int:
        """The number of the last change."""
        return int(self._store.get(NUMBER, NUMBER) or b"0")

    def between(self, first: int, latest: int) -> set[str] | None:
        """The paths of the changes after ``first`` to ``latest``; None if any note may differ."""
        keys = [_key(number) for number in range(first + 1, latest + 1)]
        if latest < first or len(keys) > MAX_PATHS:
            return None
        stored = self._store.get_many(CHANGES, keys)
        changes = [json_value(value) for value in stored.values()]
        if len(changes) < len(keys) or None in changes:
            return None
        return {path for paths in changes for path in paths}


def _key(number: int) -> str:
    return f"{number:015}"


NAMESPACE, KEY = "indexer", "standing"
KEPT_SECONDS = 30.0  # like a lease: an older status is of a process that has ended


@dataclass(frozen=True, slots=True)
class IndexerStatus:
    """The indexing of one process since it started.

    Attributes:
        lag_seconds: age of the oldest change that is not yet indexed.
        notes: number of notes indexed; ``seconds``: the time this took.
        entities_waiting: notes that the trained pipeline has not read yet.
    """

    lag_seconds: float = 0.0
    notes: int = 0
    seconds: float = 0.0
    entities_waiting: int = 0


def publish_status(store: KeyValueStore, status: IndexerStatus) -> None:
    value = json.dumps(asdict(status)).encode()
    store.put(NAMESPACE, KEY, value, ttl_seconds=KEPT_SECONDS)


def published_status(store: KeyValueStore) -> IndexerStatus | None:
    """The last published status; None if it has expired or is of another version."""
    value = store.get(NAMESPACE, KEY)
    try:
        return None if value is None else IndexerStatus(**json_value(value))
    except (TypeError, ValueError):
        return None


CHECK_SECONDS = 1.0  # between two checks for changes
PATIENCE_SECONDS = 5.0  # wait for another process to index a note that was just written here


class Replica:
    """Follows the changes of another process, while it is active.

    Args:
        indexer: returns the live indexer.
        move: opens the live generation if another process replaced it.
    """

    def __init__(self, indexer: Callable[[], Indexer], move: Callable[[], None]) -> None:
        self._indexer = indexer
        self._move = move
        self._following: Indexer | None = None
        self._last_followed = 0
        self.indexing: IndexerStatus | None = None  # of the process that indexes, if there is one
        self.active = False
        self._lock = threading.Lock()

    def step(self) -> float | None:
        """Catch up with changes, while active; returns the seconds until the next check."""
        if not self.active:
            return None
        try:
            self.catch_up()
        except MemvaultError as error:
            self.indexing = None
            logger.warning("changes made elsewhere are not known now: %s", error.message)
        return CHECK_SECONDS

    def catch_up(self) -> None:
        """Take over the changes since the last call.

        Raises:
            StoreUnavailable: a server does not answer.
        """
        with self._lock:
            self._move()
            indexer = self._indexer()
            changes = ChangeFeed(indexer.stores.keyvalue)
            last = changes.number()
            if indexer is not self._following:
                indexer.follow(None)
            elif last != self._last_followed:
                indexed = changes.between(self._last_followed, last)
                indexer.follow(indexed)
                indexer.awaited.difference_update(indexed or ())
            self._following, self._last_followed = indexer, last
            self.indexing = published_status(indexer.stores.keyvalue)

    def wait_for(self, paths: Collection[str]) -> bool:
        """Wait for another process to index these notes as on disk; False after some seconds."""
        self._indexer().awaited.update(paths)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not all(map(self._indexer().comparison.is_current, paths)):
            if time.monotonic() > deadline or not self.active:
                return False
            time.sleep(0.1)
            self.catch_up()
        return True
