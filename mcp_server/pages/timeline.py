"""*timeline*: notes by their own dates and by the days that they name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from itertools import groupby
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mcp_server.pages.forms import paged
from mcp_server.pages.site import Site
from memvault.model.east_asian_dates import with_english_dates
from memvault.model.errors import StorageError, StoreUnavailable
from memvault.model.memory import Memory
from memvault.search.context.note_text import NOTE_TEXTS, NoteText
from memvault.search.times.time_expressions import single_days


@dataclass(frozen=True, slots=True)
class Event:
    """A note's own date, or a day that its text or its properties name."""

    at: datetime
    memory: Memory
    sentence: str = ""


class TimelinePage:
    def __init__(self, site: Site) -> None:
        self._site = site
        self._read: dict[str, tuple[str, dict[date, str]]] = {}  # by path: hash, lines by day
        self.routes: list[BaseRoute] = [site.page("/timeline", self._show)]

    def _show(self, request: Request) -> Response:
        catalogue = self._site.container.live.catalogue
        project = request.query_params.get("project", "")
        memories = [
            memory for memory in catalogue.all() if not project or memory.project == project
        ]
        events = [Event(memory.date, memory) for memory in memories if memory.date is not None]
        events += self._named_days(memories)
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

    def _named_days(self, memories: Sequence[Memory]) -> Iterator[Event]:
        """The days that notes name with their year, each once per note."""
        live = self._site.container.live
        naming = [memory for memory in memories if live.catalogue.days_named(memory.path)]
        unread = [
            memory
            for memory in naming
            if self._read.get(memory.path, ("",))[0] != memory.content_hash
        ]
        with suppress(StoreUnavailable, StorageError):  # the page's notice says so
            packed = live.stores.keyvalue.get_many(NOTE_TEXTS, [memory.path for memory in unread])
            for memory in unread:
                text = NoteText.unpacked(packed[memory.path]) if memory.path in packed else None
                self._read[memory.path] = (memory.content_hash, _lines_by_day(memory, text))
        for memory in naming:
            own_day = memory.date.date() if memory.date is not None else None
            _, lines = self._read.get(memory.path, ("", {}))
            named = set(live.catalogue.days_named(memory.path))  # none that it only links to
            for day, line in lines.items():
                if day != own_day and day in named:
                    yield Event(datetime.combine(day, time.min, UTC), memory, line)


def _lines_by_day(memory: Memory, text: NoteText | None) -> dict[date, str]:
    """The first line of a note that names a day, for each day that is named with its year."""
    lines = [f"{key}: {value}" for key, value in memory.metadata.items()]
    lines += [piece.text for piece in text.pieces] if text is not None else []
    line_by_day: dict[date, str] = {}
    for line in lines:
        english = with_english_dates(line)
        for day in single_days(line, memory.moment.date(), with_year=True):
            if re.search(rf"(?<!\d)(?:{day.year}|{day.year % 100:02})(?!\d)", english):
                line_by_day.setdefault(day, line.rstrip(" |"))  # empty cells
    return line_by_day
