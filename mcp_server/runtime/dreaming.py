"""Starts dreams, gives them their input, and records their proposals."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import fmean
from typing import TYPE_CHECKING

from prometheus_client import Histogram

from mcp_server.runtime.dream_reading import DreamReading, in_steps
from mcp_server.runtime.running_requests import Breaks, Interrupted
from memvault.consolidation.distillation import distil, is_candidate
from memvault.consolidation.dreams.links import GoOn
from memvault.consolidation.dreams.nrem import Nrem
from memvault.consolidation.dreams.phase import Phase, TimeOver
from memvault.consolidation.dreams.record import (
    Discovery,
    DreamPhase,
    PhaseReport,
)
from memvault.consolidation.dreams.rem import Rem
from memvault.model.errors import GraphQueryError
from memvault.vault.parse import parse_note

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container
    from mcp_server.runtime.generations import Generation

logger = logging.getLogger(__name__)
DREAM, CHECK = "dream", "look whether to dream"
CHECK_SECONDS = 30.0
AFTER_SESSION_SECONDS = 60.0  # of rest; short, as an idle engine may soon stop
_PHASES: dict[DreamPhase, type[Phase]] = {DreamPhase.NREM: Nrem, DreamPhase.REM: Rem}
PHASE_SECONDS = {DreamPhase.NREM: 180.0, DreamPhase.REM: 120.0}
MAX_WAITING = 12  # open proposals, from which the engine does not dream by itself
AGES = (("day", 1), ("week", 7), ("month", 31))
CORRUPT = "Dream cycle corruption: memory graph integrity check failed after consolidation"


@dataclass(frozen=True, slots=True)
class _RequestedDream:
    phases: tuple[DreamPhase, ...]
    seconds: float | None  # for all phases; None for the usual time of each
    rationale: str | None


class Dreaming:
    """Runs dreams on the worker. Thread-safe.

    Attributes:
        record: the reports and proposals of dreams.
        phase: the phase that runs now.
        wake_seconds: how long requests waited until a dream stopped for them.
    """

    def __init__(self, container: Container) -> None:
        self._container = container
        self._settings = container.settings.dreams
        self.record = container.dream_record
        self.distilled = container.distillation_log
        self.phase: DreamPhase | None = None
        self.wake_seconds = Histogram(
            "dream_wake_latency_seconds",
            "How long a request waited until a dream stopped for it.",
            buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 1.0),
            registry=None,
        )
        self._corrupt = False
        self._session_ended = False  # since the last dream
        self._requested: _RequestedDream | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Dream whenever the engine is idle, if the person has not switched that off."""
        if self._settings.enabled:
            self._container.worker.run(CHECK, self._dream_if_due, after=CHECK_SECONDS)

    @property
    def available(self) -> bool:
        """Whether a dream can be started now."""
        return not self._corrupt and len(self._container.live.catalogue) > 1

    @property
    def is_worthwhile(self) -> bool:
        """Whether a dream can be started and the configured hours since the last have passed."""
        reports = self.record.reports()
        interval = timedelta(hours=self._settings.every_hours)
        is_due = not reports or self._container.now() - reports[-1].at > interval
        return self.available and is_due

    def session_ended(self) -> None:
        """Note the end of a client's session: a dream that is due starts after a minute of rest."""
        self._session_ended = True

    def trigger(
        self,
        phases: Sequence[DreamPhase],
        seconds: float | None = None,
        rationale: str | None = None,
    ) -> None:
        """Start a dream; does nothing while one runs.

        Args:
            seconds: for all phases together; None for the usual time of each.

        Raises:
            GraphQueryError: dreams are disabled, because one failed its check.
        """
        if self._corrupt:
            raise GraphQueryError(CORRUPT)
        with self._lock:
            if self._requested is not None:
                return
            self._requested = _RequestedDream(tuple(phases), seconds, rationale)
        self._session_ended = False
        self._container.worker.run(DREAM, self._dream)

    @property
    def running(self) -> bool:
        return self._requested is not None

    def wait(self, timeout: float) -> bool:
        """Wait for the dream to end; False if that takes longer (seconds)."""
        return self._container.worker.wait(DREAM, timeout)

    def waiting(self) -> list[Discovery]:
        """The proposals that wait for the person, oldest first."""
        keys = self._container.curation.waiting_dream_keys()
        return [discovery for discovery in self.record.waiting() if discovery.key in keys]

    def strength_by_age(self) -> dict[str, float]:
        """The mean strength that the last replay added to relations, by the age of the note."""
        replays = [report for report in self.record.reports() if report.phase is DreamPhase.NREM]
        by_age: dict[str, list[float]] = {}
        for pair in replays[-1].strengthened if replays else ():
            memory = self._container.live.catalogue.by_id(pair.first)
            if memory is not None:
                days = (replays[-1].at - memory.created_at).days
                age = next((name for name, limit in AGES if days <= limit), "older")
                by_age.setdefault(age, []).append(pair.added)
        return {age: fmean(values) for age, values in by_age.items()}

    # -- schedule -------------------------------------------------------------------------------

    def _dream_if_due(self) -> float:
        phases = self._phases_due()
        if phases and self.available and not self.running:
            self.trigger(phases)
        return CHECK_SECONDS

    def _phases_due(self) -> tuple[DreamPhase, ...]:
        """The phases to run now: both, only the one that the last dream missed (EC-AUTO-17), or
        none."""
        container, settings = self._container, self._settings
        wanted_idle = settings.idle_minutes * 60
        if self._session_ended:
            wanted_idle = min(wanted_idle, AFTER_SESSION_SECONDS)
        if container.requests.idle_seconds() < wanted_idle:
            return ()
        if not container.indexing.is_settled:
            return ()  # the indexes are changing, or another process dreams
        reports = self.record.reports()
        if not reports:
            return tuple(DreamPhase)
        last = reports[-1].at
        if container.now() - last <= timedelta(hours=settings.every_hours):
            return (DreamPhase.REM,) if reports[-1].phase is DreamPhase.NREM else ()
        has_changed = any(note.changed_at > last for note in container.live.catalogue.records())
        is_due = has_changed and len(self.waiting()) < MAX_WAITING
        return tuple(DreamPhase) if is_due else ()

    # -- running --------------------------------------------------------------------------------

    def _dream(self) -> None:
        requested = self._requested
        if requested is None:
            return
        usual_total = sum(PHASE_SECONDS[phase] for phase in requested.phases)
        try:
            for phase in requested.phases:
                usual = PHASE_SECONDS[phase]
                seconds = (
                    usual if requested.seconds is None else requested.seconds * usual / usual_total
                )
                self._run(phase, min(usual, seconds), requested.rationale)
            self._container.curation.changed(())
        except Interrupted:
            logger.info("a dream was cut off; the phases before it are recorded")
        finally:
            self.phase = None
            self._requested = None

    def _run(self, phase: DreamPhase, seconds: float, rationale: str | None) -> None:
        live, now = self._container.live, self._container.now()
        breaks = Breaks(
            self._container.requests,
            lambda: self._container.worker.stopped or self._container.live is not live,
            self.wake_seconds.observe,
        )

        def go_on() -> None:
            breaks.take()
            if breaks.seconds > seconds:
                raise TimeOver

        self.phase, began = phase, time.monotonic()
        live.similarity_index.load()
        reading = DreamReading(self._container, live, go_on)
        report = reading.phase(_PHASES[phase], self.record, now).run(now)
        self._check(report)
        self.record.add(report.model_copy(update={"seconds": round(breaks.worked, 2)}), rationale)
        logger.info("%s: %.0f s, %d proposals", phase, time.monotonic() - began, len(report.found))
        if phase is DreamPhase.NREM:
            with suppress(TimeOver):
                self._distil(live, now, go_on)

    def _distil(self, live: Generation, now: datetime, go_on: GoOn) -> None:
        """Distil the most used memories (REQ-AUTO-23)."""
        container, embed = self._container, in_steps(self._container, go_on)
        used, learnt = container.activity.all(), container.learning.learnt.state.memories
        quarantined = {text.path for text in container.guarded.held_texts()}
        for memory in list(live.catalogue.all()):
            activity = used.get(memory.id)
            uses = activity.access_count if activity is not None else 0
            may_distil = is_candidate(memory, uses, learnt.get(memory.id), now)
            if (
                not may_distil
                or memory.path in quarantined
                or self.distilled.of(memory) is not None
            ):
                continue
            note = parse_note(memory.path, container.guarded.read(memory.path))
            if (distillate := distil(memory, note, embed)) is not None:
                self.distilled.add([distillate], now)
                logger.info("distilled %s to %d sentences", memory.path, len(distillate.sentences))

    def _check(self, report: PhaseReport) -> None:
        """Raise GraphQueryError, and refuse later dreams, if a report is invalid (ERR-AUTO-05)."""
        bad_strengths = (pair for pair in report.strengthened if not 0.0 <= pair.added <= 1.0)
        if any(bad_strengths) or any(len(find.paths) != len(find.notes) for find in report.found):
            self._corrupt = True
            logger.error("%s: %s", CORRUPT, report.model_dump_json())
            raise GraphQueryError(CORRUPT)
