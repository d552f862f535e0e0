"""*today*: recent changes, tasks to review, and the pulse of the vault over time."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from heapq import nlargest
from pathlib import PurePosixPath

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mcp_server.pages.forms import Form
from mcp_server.pages.pulse_history import pulse_plot, pulse_points
from mcp_server.pages.shown_changes import shown_changes
from mcp_server.pages.site import Site
from mcp_server.runtime.index_status import held_notes
from memvault.consolidation.dreams.record import Discovery
from memvault.consolidation.fading import NOTICE
from memvault.curation.decisions import ACTOR
from memvault.curation.tasks.dream_tasks import type_of
from memvault.model.change import Change, ChangeKind, TaskType
from memvault.model.memory import Memory

DAYS = 30  # that the plot shows
# Notes that faded are listed apart; a change that was undone says so itself.
RECENT_KINDS = [k for k in ChangeKind if k not in (ChangeKind.FADED, ChangeKind.UNDONE)]
MAX_CHANGES = 12
MAX_SAVED = 12
MAX_PROBLEMS = 10
MAX_DREAMT = 7


class TodayPage:
    def __init__(self, site: Site) -> None:
        self._site = site
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
            kinds=(ChangeKind.FADED,), since=container.now() - NOTICE
        )

    def _saved_lately(self) -> list[tuple[Memory, datetime]]:
        saved = nlargest(
            MAX_SAVED,
            (r for r in self._site.container.live.catalogue.records() if r.memory.faded is None),
            key=lambda record: (record.mtime_ns, record.memory.path),
        )
        return [(record.memory, record.changed_at) for record in saved]

    def _show(self, request: Request) -> Response:
        container = self._site.container
        tasks = container.curation.tasks()
        indexing, unreachable = container.indexing.status(), container.live.stores.unreachable()
        problems = [f"{path}: {why}" for path, why in container.live.indexer.problems.items()]
        points = pulse_points(self._site.box, DAYS)
        return self._site.render(
            "today.html",
            request,
            pulse=self._site.box.meter.of_vault(),
            plot=pulse_plot(points) if len(points) > 1 else None,
            notes=len(container.live.catalogue),
            indexing=self._site.startup.indexing,
            tasks=len(tasks),
            searched=container.curation.is_searched,
            wishes=len(container.proposals.waiting()),
            held=len(held_notes(container)),
            kinds=Counter(task.task_type.value for task in tasks).most_common(),
            changes=shown_changes(
                container,
                container.curator.history.changes(kinds=RECENT_KINDS, limit=MAX_CHANGES),
                lines=False,
            ),
            saved=self._saved_lately(),
            behind=indexing.lag_seconds if indexing else None,
            dreamt=list(map(_with_title, container.dreaming.waiting()[-MAX_DREAMT:])),
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


def _with_title(proposal: Discovery) -> tuple[str, TaskType, Discovery]:
    title = proposal.title or " and ".join(PurePosixPath(path).stem for path in proposal.paths)
    return title, type_of(proposal), proposal
