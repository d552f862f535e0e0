"""Measures the vault's entropy and coherence now and then, while an engine runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from mcp_server.tools.toolbox import Toolbox
from memvault.cognition.pulse_history import Course, Point

EVERY_SECONDS = 300.0


class PulseHistory:
    """The pulse of the vault over time, as the toolbox measures it. Thread-safe."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box
        self._course: Course | None = None

    def points(self, days: int) -> Sequence[Point]:
        """Those of so many days, and how it is at this moment.

        Raises StoreUnavailable: the services are not open yet.
        """
        now = datetime.now(UTC)
        pulse, notes = self._box.meter.of_vault(), len(self._box.services.catalogue)
        kept = self._of_vault().points(now - timedelta(days=days))
        return [*kept, Point(now, pulse.entropy, pulse.coherence, notes)]

    def measure(self) -> float:
        """Record the pulse as it is now; the seconds until that is due again."""
        notes = len(self._box.services.catalogue)
        if notes:
            self._of_vault().note(self._box.meter.of_vault(), notes, datetime.now(UTC))
        return EVERY_SECONDS

    def _of_vault(self) -> Course:
        if self._course is None:
            self._course = Course(self._box.services.journal)
        return self._course
