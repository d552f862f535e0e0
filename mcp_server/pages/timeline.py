"""*timeline*: notes by their own dates and by the days that their sentences name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mcp_server.pages.forms import paged
from mcp_server.pages.site import Site
from memvault.model.errors import GraphQueryError, StoreUnavailable
from memvault.model.graph import NodeKind
from memvault.model.memory import Memory
from memvault.vault.frontmatter.dates import read_date

_OF_A_DAY = re.compile(r"\d{4}\D\d+\D\d|\b\d{1,2}(?!\d).*\d{4}")


@dataclass(frozen=True, slots=True)
class Event:
    """A note's own date, or a day that one of its sentences names."""

    at: datetime
    memory: Memory
    sentence: str = ""


class TimelinePage:
    def __init__(self, site: Site) -> None:
        self._site = site
        self.routes: list[BaseRoute] = [site.page("/timeline", self._show)]

    def _show(self, request: Request) -> Response:
        catalogue = self._site.container.live.catalogue
        project = request.query_params.get("project", "")
        events = [
            event
            for event in (*self._own_dates(), *self._named_dates())
            if not project or event.memory.project == project
        ]
        events.sort(key=lambda event: (event.at, event.memory.title), reverse=True)
        part = paged(events, request.query_params.get("page", ""))
        months = groupby(part.rows, key=lambda event: f"{event.at:%B %Y}")
        return self._site.render(
            "timeline.html",
            request,
            months=[(month, list(of_month)) for month, of_month in months],
            part=part,
            project=project,
            projects=sorted(catalogue.projects()),
            query=urlencode({"project": project}) + "&" if project else "",
            now=datetime.now(UTC),
        )

    def _own_dates(self) -> Iterator[Event]:
        for memory in self._site.container.live.catalogue.all():
            if memory.date is not None:
                yield Event(memory.date, memory)

    def _named_dates(self) -> Iterator[Event]:
        """The days that sentences name, each once per note."""
        edges, by_id = (
            self._site.container.live.graph_view,
            self._site.container.live.catalogue.by_id,
        )
        with suppress(StoreUnavailable, GraphQueryError):  # the page's notice says so
            days = {
                node.id: day
                for node in edges.nodes()
                if node.kind == NodeKind.DATE
                and names_a_day(node.name)
                and (day := read_date(node.name)) is not None
            }
            for key, day in days.items():
                for edge in {edge.source: edge for edge in edges.touching(key)}.values():
                    memory = by_id(edge.source)
                    if memory is not None and memory.date != day:
                        yield Event(day, memory, edge.sentence)


def names_a_day(text: str) -> bool:
    """Whether a date is of a day, not of a month or a year."""
    return _OF_A_DAY.search(text) is not None
