"""The history of a vault's pulse, in the journal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memvault.model.change import SYSTEM
from memvault.model.state import CognitivePulse
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.journal_reader import JournalReader

KIND = "pulse_measured"
MIN_INTERVAL = timedelta(hours=1)
VISIBLE = 0.001  # least difference that an answer shows


@dataclass(frozen=True, slots=True)
class PulsePoint:
    """The entropy and coherence of a vault, in [0, 1], and its number of notes at a moment."""

    at: datetime
    entropy: float
    coherence: float
    notes: int


class PulseLog(JournalReader):
    """The pulse history of one vault. Thread-safe."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal, (KIND,))
        self._points: list[PulsePoint] = []  # oldest first

    def points(self, since: datetime) -> Sequence[PulsePoint]:
        """The points since a moment, and the last one before it, oldest first.

        Raises StorageError: the journal cannot be read.
        """
        with self._current():
            before = sum(point.at < since for point in self._points)
            return self._points[max(0, before - 1) :]

    def record(self, pulse: CognitivePulse, notes: int, now: datetime) -> bool:
        """Record a pulse if it changed and the last one is an hour old; False if not recorded.

        Raises StorageError, DiskFull: the journal cannot be written.
        """
        point = PulsePoint(now, pulse.entropy, pulse.coherence, notes)
        with self._current():
            last = self._points[-1] if self._points else None
            if last is not None and (now - last.at < MIN_INTERVAL or not _moved(last, point)):
                return False
            data = {"entropy": point.entropy, "coherence": point.coherence, "notes": notes}
            self._journal.append(JournalEntry(ts=now, kind=KIND, actor=SYSTEM, data=data))
        return True

    def _take(self, entries: Sequence[JournalEntry]) -> None:
        points = {point.at: point for point in self._points}
        points |= {entry.ts: point for entry in entries if (point := _point(entry)) is not None}
        self._points = [points[index] for index in sorted(points)]


def _moved(last: PulsePoint, now: PulsePoint) -> bool:
    steps = (now.entropy - last.entropy, now.coherence - last.coherence)
    return last.notes != now.notes or any(abs(step) >= VISIBLE for step in steps)


def _point(entry: JournalEntry) -> PulsePoint | None:
    """The point in a journal entry; None if somebody edited the entry."""
    try:
        entropy, coherence = float(entry.data["entropy"]), float(entry.data["coherence"])
        return PulsePoint(entry.ts, entropy, coherence, int(entry.data["notes"]))
    except (KeyError, TypeError, ValueError):
        return None
