"""Knowledge that follows the journal."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

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
        self._is_late = False  # whether an entry was taken after a later one

    @contextmanager
    def _current(self) -> Iterator[None]:
        """Hold the lock within the block, with every entry of the journal taken.

        Raises StorageError: the journal cannot be read.
        """
        with self._lock:
            self._refresh()
            yield

    def _refresh(self) -> None:
        for entries in self._journal.new_entries(self._follower):
            new = entries if self._taken is None else self._in_order(entries, self._taken)
            if new:
                self._take(new)

    def _in_order(self, entries: list[JournalEntry], taken: set[str]) -> list[JournalEntry]:
        """Those of the entries that were not taken yet; all entries if one of these is late.

        While a sync tool has brought a file of the journal by half, what is known stays known.
        """
        new = [entry for entry in entries if entry.id not in taken]
        self._is_late |= any(entry.ts < self._taken_until for entry in new)
        if entries and self._is_late:
            everything = self._journal.entries_for(self._follower)
            if taken.issubset(entry.id for entry in everything):
                self._restart()
                self._is_late, new = False, everything
        taken.update(entry.id for entry in new)
        self._taken_until = max([self._taken_until, *(entry.ts for entry in new)])
        return new

    def _moment(self) -> datetime:
        """The time of an entry that follows from what is known: later than all entries taken, also
        if the clock was set back or that of another computer is ahead."""
        return max(datetime.now(UTC), self._taken_until + timedelta(microseconds=1))

    def _restart(self) -> bool:
        """Know nothing, as before the first entry; all entries follow.

        Returns False, without any effect, if the order of the entries does not matter.
        """
        return False

    @abstractmethod
    def _take(self, entries: Sequence[JournalEntry]) -> None:
        """Add what these new entries say; some may repeat earlier ones."""
