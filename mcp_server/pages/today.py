"""*today*: recent changes, tasks to review, and the pulse of the vault over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import nlargest
from pathlib import PurePosixPath

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mcp_server.pages.forms import Form
from mcp_server.pages.page_actions import ACTOR
from mcp_server.pages.shown_changes import shown_changes
from mcp_server.pages.site import Site
from mcp_server.tools.toolbox import Toolbox
from memvault.cognition.pulse_history import PulseLog, PulsePoint
from memvault.consolidation.fading import NOTICE
from memvault.curation.tasks.dream_tasks import type_of
from memvault.model.change import Change, ChangeKind

PLOT_WIDTH, PLOT_HEIGHT, LEFT, BOTTOM = 640, 190, 30, 24


@dataclass(frozen=True, slots=True)
class PulsePlot:
    """The pulse as SVG: lines as points, the places of the last values, the first and last day."""

    entropy: str
    coherence: str
    last: tuple[float, float, float]  # x, and y of both
    first_day: str
    last_day: str
    width: int = PLOT_WIDTH
    height: int = PLOT_HEIGHT


def pulse_plot(points: Sequence[PulsePoint]) -> PulsePlot:
    """The plot of at least one point, oldest first.

    Time runs from left to right; both values are in [0, 1], from bottom to top.
    """
    start, end = points[0].at.timestamp(), points[-1].at.timestamp()
    span = max(end - start, 1.0)

    def x(point: PulsePoint) -> float:
        return round(LEFT + (PLOT_WIDTH - LEFT - 8) * (point.at.timestamp() - start) / span, 1)

    def y(value: float) -> float:
        return round(8 + (PLOT_HEIGHT - BOTTOM - 8) * (1.0 - value), 1)

    def line(value: Callable[[PulsePoint], float]) -> str:
        return " ".join(f"{x(point)},{y(value(point))}" for point in points)

    last = points[-1]
    return PulsePlot(
        line(lambda point: point.entropy),
        line(lambda point: point.coherence),
        (x(last), y(last.entropy), y(last.coherence)),
        f"{points[0].at:%Y-%m-%d}",
        f"{last.at:%Y-%m-%d}",
    )


EVERY_SECONDS = 300.0


class PulseHistory:
    """The pulse of the vault over time, as the toolbox measures it. Thread-safe."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box
        self._pulse_log: PulseLog | None = None

    def points(self, days: int) -> Sequence[PulsePoint]:
        """The pulse of the last ``days`` days, and the current one.

        Raises StoreUnavailable: the container is not open yet.
        """
        now = datetime.now(UTC)
        pulse, notes = self._box.meter.of_vault(), len(self._box.container.live.catalogue)
        recorded = self._log().points(now - timedelta(days=days))
        return [*recorded, PulsePoint(now, pulse.entropy, pulse.coherence, notes)]

    def measure(self) -> float:
        """Record the current pulse; returns the seconds until the next measurement."""
        notes = len(self._box.container.live.catalogue)
        if notes:
            self._log().record(self._box.meter.of_vault(), notes, datetime.now(UTC))
        return EVERY_SECONDS

    def _log(self) -> PulseLog:
        if self._pulse_log is None:
            self._pulse_log = PulseLog(self._box.container.journal)
        return self._pulse_log


DAYS = 30  # that the plot shows
# Notes that faded are listed apart; a change that was undone says so itself.
RECENT_KINDS = [k for k in ChangeKind if k not in (ChangeKind.FADED, ChangeKind.UNDONE)]
MAX_CHANGES = 12
MAX_SAVED = 12
MAX_PROBLEMS = 10
MAX_DREAMT = 7


class TodayPage:
    def __init__(self, site: Site, history: PulseHistory) -> None:
        self._site = site
        self._history = history
        self.routes: list[BaseRoute] = [
            site.page("/", self._show),
            site.action("/fading", self._switch_fading),
        ]

    def _switch_fading(self, _: Request, form: Form) -> None:
        container = self._site.container
        on = form.yes("on")
        container.fading.log.switch(container.now(), ACTOR, on=on)

    def _faded_lately(self) -> list[Change]:
        container = self._site.container
        return container.curator.history.changes(
            kinds=(ChangeKind.FADED,), since=container.now() - NOTICE, limit=None
        )

    def _show(self, request: Request) -> Response:
        container = self._site.container
        tasks = container.curation.tasks()
        indexing, unreachable = container.indexing.status(), container.live.stores.unreachable()
        problems = [f"{path}: {why}" for path, why in container.live.indexer.problems.items()]
        saved = nlargest(
            MAX_SAVED,
            (r for r in container.live.catalogue.records() if r.memory.faded is None),
            key=lambda record: (record.mtime_ns, record.memory.path),
        )
        points = self._history.points(DAYS)
        return self._site.render(
            "today.html",
            request,
            pulse=self._site.box.meter.of_vault(),
            plot=pulse_plot(points) if len(points) > 1 else None,
            notes=len(container.live.catalogue),
            indexing=self._site.startup.indexing,
            tasks=len(tasks),
            wishes=len(container.waiting_proposals()),
            kinds=Counter(task.task_type.value for task in tasks).most_common(),
            changes=shown_changes(
                container,
                container.curator.history.changes(kinds=RECENT_KINDS, limit=MAX_CHANGES),
                lines=False,
            ),
            saved=[
                (record.memory, datetime.fromtimestamp(record.mtime_ns / 1e9, UTC))
                for record in saved
            ],
            behind=indexing.lag_seconds if indexing else None,
            dreamt=[
                (
                    proposal.title
                    or " and ".join(PurePosixPath(path).stem for path in proposal.paths),
                    type_of(proposal),
                    proposal,
                )
                for proposal in container.dreaming.waiting()[-MAX_DREAMT:]
            ],
            has_dreamt=any(report.found for report in container.dreaming.record.reports()),
            waiting=indexing.entities_waiting if indexing else 0,
            unreachable=unreachable,
            full=container.full_stores(),
            low_disk=container.upkeep.low_disk(),
            problems=problems[:MAX_PROBLEMS],
            fading=container.fading,
            upcoming=container.fading.upcoming(),
            faded=shown_changes(container, self._faded_lately(), lines=False),
            mcp=f"http://{request.url.netloc}/mcp",
        )
