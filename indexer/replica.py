"""Taking in what another process indexes, where several share their stores."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass

from indexer.indexer import Indexer
from memvault.model.errors import MemvaultError
from memvault.stores.keyvalue import KeyValueStore

CHANGES, NUMBER = "changes", "changes_number"
CHANGES_KEPT_SECONDS = 3600.0
MOST_PATHS = 1_000  # of a change told by its paths; a larger one says that anything may differ


class Changes:
    """A numbered list of changes in one generation's store, each kept for an hour."""

    def __init__(self, store: KeyValueStore) -> None:
        self._store = store

    def tell(self, paths: Collection[str] | None) -> None:
        """These notes have changed, or any, if None."""
        few = sorted(paths) if paths is not None and len(paths) <= MOST_PATHS else None
        number = self._store.increment(NUMBER, NUMBER)
        self._store.put(
            CHANGES, _key(number), json.dumps(few).encode(), ttl_seconds=CHANGES_KEPT_SECONDS
        )

    def number(self) -> int:
        """Of the last change."""
        return int(self._store.get(NUMBER, NUMBER) or b"0")

    def between(self, seen: int, last: int) -> set[str] | None:
        """The paths of the changes after the one seen, up to the last; None for any."""
        keys = [_key(number) for number in range(seen + 1, last + 1)]
        if last < seen or len(keys) > MOST_PATHS:
            return None
        found = self._store.get_many(CHANGES, keys)
        told = [json.loads(value) for value in found.values()]
        if len(told) < len(keys) or None in told:
            return None
        return {path for paths in told for path in paths}


def _key(number: int) -> str:
    return f"{number:015}"


NAMESPACE, KEY = "indexer", "standing"
KEPT_SECONDS = 30.0  # as long as a lease: an older one is of a process that has ended


@dataclass(frozen=True, slots=True)
class IndexerStatus:
    """Of one process since it began.

    Attributes:
        lag_seconds: how long the oldest change that is not indexed yet has waited.
        notes: written to the indexes; seconds: that this took.
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
    """What was told last; None if no process has for a while, or one of another version."""
    value = store.get(NAMESPACE, KEY)
    try:
        return None if value is None else IndexerStatus(**json.loads(value))
    except (TypeError, ValueError):
        return None


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
        self.indexing: IndexerStatus | None = None  # elsewhere; None if nobody seems to
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
            self.indexing = published_status(indexer.stores.keyvalue)

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
