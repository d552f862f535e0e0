"""Knowledge that follows the journal."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from memvault.vault.journal import Journal, JournalEntry


class JournalReader(ABC):
    """What the journal says of one subject. Thread-safe.

    A subclass reads what it knows within `_current`, which first takes the new entries.

    Args:
        kinds: the kinds of entries that it takes; None for all.
    """

    def __init__(self, journal: Journal, kinds: Collection[str] | None = None) -> None:
        self._journal = journal
        self._follower = journal.follow(kinds)
        self._lock = threading.RLock()

    @contextmanager
    def _current(self) -> Iterator[None]:
        """Hold the lock within the block, with every entry of the journal taken.

        Raises StorageError: the journal cannot be read.
        """
        with self._lock:
            self._refresh()
            yield

    def _refresh(self) -> None:
        if entries := self._journal.new_entries(self._follower):
            self._take(entries)

    @abstractmethod
    def _take(self, entries: Sequence[JournalEntry]) -> None:
        """Add what these new entries say; some may repeat earlier ones."""
