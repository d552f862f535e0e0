"""Knowledge that follows the journal."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from memvault.vault.journal import Journal, JournalEntry


class JournalReader(ABC):
    """What the journal says of one subject. Thread-safe.

    A subclass reads what it knows within `_current`, which first takes the new entries.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._marks: dict[str, int] = {}
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
        entries, self._marks = self._journal.entries_after(self._marks)
        if entries:
            self._take(entries)

    @abstractmethod
    def _take(self, entries: Sequence[JournalEntry]) -> None:
        """Add what these new entries say; some may repeat earlier ones."""
