"""*memory*, the list: every note, the last saved first, a page at a time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mcp_server.pages.paging import paged
from mcp_server.pages.site import Site
from memvault.model.memory import Memory

if TYPE_CHECKING:
    from indexer.catalogue import NoteRecord


class MemoriesPage:
    def __init__(self, site: Site) -> None:
        self._site = site
        self.routes: list[BaseRoute] = [site.page("/memories", self._show)]

    def _show(self, request: Request) -> Response:
        asked = request.query_params.get("find", "").strip()
        records = self._site.services.catalogue.records()
        if asked:
            records = [record for record in records if _fits(record.memory, asked.casefold())]
        records.sort(key=lambda record: (-record.mtime_ns, record.memory.path))
        part = paged(records, request.query_params.get("page", ""))
        return self._site.render(
            "memories.html",
            request,
            find=asked,
            query=urlencode({"find": asked}) + "&" if asked else "",
            part=part,
            rows=[(record.memory, _saved(record)) for record in part.rows],
        )


def _fits(memory: Memory, asked: str) -> bool:
    """By tag with ``#``, else by a part of the title, an alias or the path."""
    if asked.startswith("#"):
        wanted = asked[1:]
        return any(
            tag.casefold() == wanted or tag.casefold().startswith(wanted + "/")
            for tag in memory.tags
        )
    return any(asked in name.casefold() for name in (memory.title, memory.path, *memory.aliases))


def _saved(record: NoteRecord) -> datetime:
    return datetime.fromtimestamp(record.mtime_ns / 1e9, tz=UTC)
