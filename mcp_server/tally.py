"""What one engine has indexed, whichever generation it was written to."""

from __future__ import annotations

import threading


class Tally:
    """Thread-safe.

    Attributes:
        notes: written since the engine began; a note that is written twice counts twice.
        seconds: that this took. A rebuild beside the live indexes counts its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.notes = 0
        self.seconds = 0.0

    def add(self, notes: int, seconds: float) -> None:
        with self._lock:
            self.notes += notes
            self.seconds += seconds
