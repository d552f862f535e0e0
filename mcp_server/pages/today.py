"""*today*: recent changes, what there is to review, and the state of the memory."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from heapq import nlargest

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mcp_server.pages.changes import shown
from mcp_server.pages.pictures import plotted
from mcp_server.pages.site import Site
from mcp_server.runtime.pulse_history import PulseHistory
from memvault.model.change import ChangeKind

DAYS = 30  # that the plot shows
CAME_IN = (ChangeKind.CREATED, ChangeKind.IMPORTED, ChangeKind.IMPORT_UPDATED,
           ChangeKind.PREFERENCE_SET)  # fmt: skip
MOST_CHANGES = 12
MOST_SAVED = 12
MOST_PROBLEMS = 10


class TodayPage:
    def __init__(self, site: Site, course: PulseHistory) -> None:
        self._site = site
        self._course = course
        self.routes: list[BaseRoute] = [site.page("/", self._show)]

    def _show(self, request: Request) -> Response:
        services = self._site.services
        tasks = services.curation.tasks()
        standing, silent = services.indexing.standing(), services.stores.unreachable()
        saved = nlargest(
            MOST_SAVED,
            services.catalogue.records(),
            key=lambda record: (record.mtime_ns, record.memory.path),
        )
        points = self._course.points(DAYS)
        return self._site.render(
            "today.html",
            request,
            pulse=self._site.box.meter.of_vault(),
            plot=plotted(points) if len(points) > 1 else None,
            notes=len(services.catalogue),
            tasks=len(tasks),
            kinds=Counter(task.task_type.value for task in tasks).most_common(),
            came=shown(
                services,
                services.curator.history.changes(kinds=CAME_IN, limit=MOST_CHANGES),
                lines=False,
            ),
            saved=[
                (record.memory, datetime.fromtimestamp(record.mtime_ns / 1e9, UTC))
                for record in saved
            ],
            behind=standing.lag_seconds if standing else None,
            waiting=standing.entities_waiting if standing else 0,
            silent=silent,
            full=services.without_room(),
            problems=list(services.indexer.problems)[:MOST_PROBLEMS],
            mcp=f"http://{request.url.netloc}/mcp",
        )
