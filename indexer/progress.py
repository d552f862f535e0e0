"""How far indexing is, what a scan did, and how many notes were indexed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Progress:
    """``stage`` is reading, indexing, linking or entities; counts are notes. ``large_note`` is the
    path of the note being indexed that alone takes seconds or minutes."""

    stage: str
    done: int
    total: int
    large_note: str | None = None

    def as_dict(self) -> dict[str, str | int]:
        """The fields that have a value, for JSON."""
        fields: dict[str, str | int] = {"stage": self.stage, "done": self.done, "total": self.total}
        return {**fields, "large_note": self.large_note} if self.large_note else fields


Report = Callable[[Progress], None]


def report_nothing(_: Progress) -> None:
    """Ignore the progress."""


@dataclass(slots=True)
class ScanReport:
    """The result of a scan or a batch of changes."""

    indexed: int = 0
    relinked: int = 0  # unchanged notes whose edges changed because other notes did
    unfinished: bool = False  # whether work is left for `Indexer.finish_some`
    removed: int = 0
    unchanged: int = 0
    problems: dict[str, str] = field(default_factory=dict)  # by path: why it was not read

    def add(self, other: ScanReport) -> None:
        """Count what another batch of changes did, too."""
        self.indexed += other.indexed
        self.relinked += other.relinked
        self.unfinished |= other.unfinished
        self.removed += other.removed
        self.problems |= other.problems


class IndexCounters:
    """Counts indexed notes and the time spent. Thread-safe.

    Attributes:
        notes: number indexed since the engine started; a note indexed twice counts twice.
        seconds: time spent on them, a rebuild's included.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.notes = 0
        self.seconds = 0.0

    def add(self, notes: int, seconds: float) -> None:
        with self._lock:
            self.notes += notes
            self.seconds += seconds
