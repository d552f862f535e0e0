"""Telling open pages that something changed, by server-sent events.

One stream a page, one short line a change: what the index, the tasks and the history stand at. A
page that sees another line than before asks for itself again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from mcp_server.pages.site import Site
from memvault.model.errors import MemvaultError

LOOK_SECONDS = 0.5
ALIVE_SECONDS = 15.0  # between two lines at most, so that a dead connection is noticed


class Events:
    def __init__(self, site: Site) -> None:
        self._site = site
        self.routes: list[BaseRoute] = [Route("/events", self._stream, methods=["GET"])]

    async def _stream(self, request: Request) -> Response:
        headers = {"Cache-Control": "no-store"}
        return StreamingResponse(
            self._lines(request), media_type="text/event-stream", headers=headers
        )

    async def _lines(self, request: Request) -> AsyncIterator[bytes]:
        """Ends with the engine, so that an open page does not keep it from ending."""
        await run_in_threadpool(self._begin)
        told, silent = "", 0.0
        while not self._site.opening.stopping and not await request.is_disconnected():
            now = await run_in_threadpool(self._standing)
            if now != told:
                told, silent = now, 0.0
                yield f"data: {now}\n\n".encode()
            elif silent >= ALIVE_SECONDS:
                silent = 0.0
                yield b": still here\n\n"
            await asyncio.sleep(LOOK_SECONDS)
            silent += LOOK_SECONDS

    def _begin(self) -> None:
        with suppress(MemvaultError):  # still opening
            for begin in self._site.on_visit:
                begin()

    def _standing(self) -> str:
        try:
            services = self._site.services
            newest = services.curator.history.changes(limit=1)
        except MemvaultError:
            return "closed"
        last = newest[0].reversal_hash if newest else ""
        notes = f"{id(services.indexer):x}.{services.indexer.version}"
        return f"{notes}.{services.curation.pending()}.{last}.{self._site.revision}"
