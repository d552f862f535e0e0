"""Measuring the vault's entropy and coherence now and then, while an engine runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta

from mcp_server.tools.toolbox import Toolbox
from memvault.cognition.pulse_history import Course, Point
from memvault.model.errors import MemvaultError

_log = logging.getLogger(__name__)
EVERY_SECONDS = 300.0


class KeptCourse:
    """Keeps the course of the vault that the toolbox answers from. Thread-safe."""

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

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Measure while this is open."""
        task = asyncio.create_task(self._keep(), name="memvault-course")
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            await asyncio.to_thread(self._measure)

    def _measure(self) -> None:
        try:
            notes = len(self._box.services.catalogue)
            if notes:
                self._of_vault().note(self._box.meter.of_vault(), notes, datetime.now(UTC))
        except MemvaultError as error:
            _log.info("the pulse is not kept this time: %s", error.message)
        except Exception:
            _log.exception("the pulse could not be kept")

    def _of_vault(self) -> Course:
        if self._course is None:
            self._course = Course(self._box.services.journal)
        return self._course
