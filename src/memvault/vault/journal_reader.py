"""Knowledge that follows the journal."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import pairwise

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
        # Ids of the entries that were taken, and the latest time of one; only if order matters.
        self._taken: set[str] | None = set() if self._restart() else None
        self._taken_until = datetime.min.replace(tzinfo=UTC)

    @contextmanager
    def _current(self) -> Iterator[None]:
        """Hold the lock within the block, with every entry of the journal taken.

        Raises StorageError: the journal cannot be read.
        """
        with self._lock:
            self._refresh()
            yield

    def _refresh(self) -> None:
        entries = self._journal.new_entries(self._follower)
        if self._taken is not None:
            entries = self._in_order(entries, self._taken)
        if entries:
            self._take(entries)

    def _in_order(self, entries: list[JournalEntry], taken: set[str]) -> list[JournalEntry]:
        """Those of the entries that were not taken yet; all entries if one of these is late.

        While a sync tool has brought a file of the journal by half, what is known stays known.
        """
        new = [entry for entry in entries if entry.id not in taken]
        times = [self._taken_until, *(entry.ts for entry in new)]
        if any(later < earlier for earlier, later in pairwise(times)):
            everything = self._journal.entries_for(self._follower)
            if taken.issubset(entry.id for entry in everything):
                self._restart()
                new = everything
        taken.update(entry.id for entry in new)
        self._taken_until = max(times)
        return new

    def _restart(self) -> bool:
        """Know nothing, as before the first entry; all entries follow.

        Returns False, without any effect, if the order of the entries does not matter.
        """
        return False

    @abstractmethod
    def _take(self, entries: Sequence[JournalEntry]) -> None:
        """Add what these new entries say; some may repeat earlier ones."""
