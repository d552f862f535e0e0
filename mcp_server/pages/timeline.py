"""*timeline*: notes by their own dates and by the days that they name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from itertools import groupby
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mcp_server.pages.forms import paged
from mcp_server.pages.site import Site
from memvault.model.errors import StorageError, StoreUnavailable
from memvault.model.memory import Memory
from memvault.search.context.note_text import NAMESPACE as OUTLINES
from memvault.search.context.note_text import NoteText
from memvault.search.times.time_expressions import single_days


@dataclass(frozen=True, slots=True)
class Event:
    """A note's own date, or a day that its text or its properties name."""

    at: datetime
    memory: Memory
    is_own_date: bool
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
            for memory in catalogue.all()
            if not project or memory.project == project
            for event in self._events_of(memory)
        ]
        events.sort(key=lambda event: (event.at, event.memory.title), reverse=True)
        part = paged(events, request.query_params.get("page", ""))
        months = groupby(self._with_sentences(part.rows), key=lambda event: f"{event.at:%B %Y}")
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

    def _events_of(self, memory: Memory) -> Iterator[Event]:
        if memory.date is not None:
            yield Event(memory.date, memory, is_own_date=True)
        own_day = memory.date.date() if memory.date is not None else None
        for day in self._site.container.live.catalogue.days_named(memory.path):
            if day != own_day:
                yield Event(datetime.combine(day, time.min, UTC), memory, is_own_date=False)

    def _with_sentences(self, events: Sequence[Event]) -> list[Event]:
        """The events, each named day with the first line of its note that names it."""
        paths = {event.memory.path for event in events if not event.is_own_date}
        packed = {}
        with suppress(StoreUnavailable, StorageError):  # the page's notice says so
            packed = self._site.container.live.stores.keyvalue.get_many(OUTLINES, sorted(paths))
        texts = {path: NoteText.unpacked(data) for path, data in packed.items()}
        sentences: dict[str, dict[date, str]] = {}
        for event in events:
            path = event.memory.path
            if path in paths and path not in sentences:
                sentences[path] = _sentence_of_each_day(event.memory, texts.get(path))
        return [
            event
            if event.is_own_date
            else replace(event, sentence=sentences[event.memory.path].get(event.at.date(), ""))
            for event in events
        ]


def _sentence_of_each_day(memory: Memory, text: NoteText | None) -> dict[date, str]:
    """The first line of a note that names a day, for each day that a line names."""
    lines = [f"{key}: {value}" for key, value in memory.metadata.items()]
    lines += [piece.text for piece in text.pieces] if text is not None else []
    first: dict[date, str] = {}
    for line in lines:
        for day in single_days(line, memory.moment.date()):
            first.setdefault(day, line)
    return first
