"""The site: its routes, the frame of every page, and the headers of every answer.

Pages are rendered on the server, from templates that escape everything. Scripts add keys, live
updates and the graph; without them every link and form works.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import escape
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_server.engine.build_version import installed_version
from mcp_server.engine.startup import Startup
from mcp_server.pages.forms import Form, FormToken, back_to
from mcp_server.pages.shown_changes import last_of_person
from mcp_server.pages.shown_versions import check_unchanged
from mcp_server.runtime.index_status import held_notes
from mcp_server.tools.toolbox import Toolbox
from memvault.model.errors import InvalidParams, MemvaultError, NoteNotFound, StoreUnavailable
from memvault.model.memory import claimant
from memvault.model.unicode_forms import without_invisible

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container

HERE = Path(__file__).parent
_MEMORY_LINK = re.compile(r'href="/memory/([0-9a-f-]{36})"')
_INPUTS = re.compile(r"(<textarea.*?</textarea>|<input[^>]*>)", re.DOTALL)  # what a form sends back
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

Show = Callable[[Request], Response]
# Performs a form's action; returns the path of the next page, the page itself, or None for the page
# that the form was on.
Act = Callable[[Request, Form], str | Response | None]


class Site:
    """The state that all pages share. Made once per server; thread-safe."""

    def __init__(self, box: Toolbox, startup: Startup) -> None:
        self.box = box
        self.startup = startup
        self.token = FormToken()
        self.revision = 0  # of data prepared in the background
        # Called when a page is opened, to prepare other pages in the background.
        self.on_visit: list[Callable[[], object]] = []
        self.on_undo: list[Callable[[], None]] = []  # called after an undo

    @property
    def container(self) -> Container:
        """The open container. Raises StoreUnavailable: it is not open yet."""
        return self.box.container

    def app(self, routes: list[BaseRoute]) -> Starlette:
        """The pages at these routes, and their static files."""
        static = Mount("/static", StaticFiles(directory=HERE / "static"))
        return Starlette(
            routes=[*routes, static],
            middleware=[Middleware(_SecurityHeaders)],
            exception_handlers=dict.fromkeys((404, 405), self._not_found),
        )

    async def _not_found(self, request: Request, _: Exception) -> Response:
        return await run_in_threadpool(self.render, "lost.html", request, status=404)

    def renew(self) -> None:
        """Make open pages reload."""
        self.revision += 1

    def page(self, path: str, show: Show) -> Route:
        """The route of a page; ``show`` runs in a worker thread."""

        async def show_in_thread(request: Request) -> Response:
            return await run_in_threadpool(self._answer, lambda: show(request), request)

        return Route(path, show_in_thread, methods=["GET"])

    def action(self, path: str, act: Act) -> Route:
        """The route of a form, which performs ``act``, then shows a page."""

        async def act_in_thread(request: Request) -> Response:
            try:
                form = await Form.of(request)
            except MemvaultError as error:
                return self._refused(request, error)
            if not self.token.fits(form.text("token")):
                stale = InvalidParams(
                    "The engine restarted since this page was opened. Open it again and repeat."
                )
                return self._refused(request, stale, status=403)
            return await run_in_threadpool(self._answer, lambda: acted(request, form), request)

        def acted(request: Request, form: Form) -> Response:
            check_unchanged(self.container, form.seen())
            then = act(request, form)
            if isinstance(then, Response):
                return then
            return RedirectResponse(back_to(form.text("back") if then is None else then), 303)

        return Route(path, act_in_thread, methods=["POST"])

    def render(
        self, template: str, request: Request, *, status: int = 200, **shown: Any
    ) -> Response:
        """The page of this template."""
        text = self._templates.get_template(template).render(
            {"frame": self._frame(request), "token": self.token.text, **shown}
        )
        marked = _MEMORY_LINK.sub(self._with_claimant, text)
        return HTMLResponse(
            _visible(marked), status_code=status, headers={"Cache-Control": "no-store"}
        )

    def _with_claimant(self, link: re.Match[str]) -> str:
        """A link to a memory; for an unverified one with its author, as its title may be a
        claim."""
        by = self.claimant(link[1])
        return f'{link[0]} data-claim="{escape(by)}"' if by else link[0]

    def claimant(self, memory_id: str) -> str:
        """The author of an unverified memory that the person did not write, by id; else ""."""
        return claimant(self.container.live.catalogue.by_id(memory_id))

    @cached_property
    def _templates(self) -> Any:
        from mcp_server.pages.templating import environment  # with the first page, not the start

        return environment()

    def _frame(self, request: Request) -> Mapping[str, Any]:
        """The data that every page shows around its content."""
        path = request.url.path
        here = path + (f"?{request.url.query}" if request.url.query else "")
        frame = {"path": path, "here": here, "version": installed_version()}
        try:
            container = self.container
        except MemvaultError:
            return {**frame, "vault": "", "tasks": 0, "last": None, "notice": None}
        return {
            **frame,
            "vault": container.vault.root.name,
            "tasks": sum(
                (
                    container.curation.pending(),
                    len(container.proposals.waiting()),
                    len(held_notes(container)),
                )
            ),
            "last": last_of_person(container),  # which the undo key undoes
            "notice": self.startup.notice(),
        }

    def _answer(self, answer: Callable[[], Response], request: Request) -> Response:
        try:
            with self.container.requests.running():
                return answer()
        except StoreUnavailable as error:
            if self.startup.health()["status"] == "starting":
                return self.render("starting.html", request, status=503, error=error)
            return self._refused(request, error)
        except NoteNotFound as error:
            return self._refused(request, error, status=404)
        except MemvaultError as error:
            return self._refused(request, error)

    def _refused(self, request: Request, error: MemvaultError, status: int = 409) -> Response:
        referer = request.headers.get("referer", "")
        base = str(request.base_url)
        back = "/" + referer.removeprefix(base) if referer.startswith(base) else "/"
        return self.render("refused.html", request, status=status, error=error, back=back_to(back))


def _visible(page: str) -> str:
    """The page without invisible characters, which may reverse a number or hide words from
    the person who decides; what forms send back stays as it is."""
    parts = _INPUTS.split(page)  # texts and inputs in turn
    return "".join(part if i % 2 else without_invisible(part) for i, part in enumerate(parts))


class _SecurityHeaders:
    """Adds the security headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        await self._app(scope, receive, send_with_headers)


LOOK_SECONDS = 0.5
ALIVE_SECONDS = 15.0  # longest time between two lines, so that a dead connection is noticed


class Events:
    """The stream by which open pages notice changes (server-sent events)."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.routes: list[BaseRoute] = [Route("/events", self._stream, methods=["GET"])]

    async def _stream(self, request: Request) -> Response:
        headers = {"Cache-Control": "no-store"}
        return StreamingResponse(
            self._lines(request), media_type="text/event-stream", headers=headers
        )

    async def _lines(self, request: Request) -> AsyncIterator[bytes]:
        """The lines for one page, until the engine stops; open pages must not delay its end."""
        await run_in_threadpool(self._begin)
        sent, silent = "", 0.0
        while not self._site.startup.stopping and not await request.is_disconnected():
            now = await run_in_threadpool(self._state)
            if now != sent:
                sent, silent = now, 0.0
                yield f"data: {now}\n\n".encode()
            elif silent >= ALIVE_SECONDS:
                silent = 0.0
                yield b": still here\n\n"
            await asyncio.sleep(LOOK_SECONDS)
            silent += LOOK_SECONDS

    def _begin(self) -> None:
        with suppress(MemvaultError):  # not open yet
            for begin in self._site.on_visit:
                begin()

    def _state(self) -> str:
        try:
            container = self._site.container
            newest = container.curator.history.changes(limit=1)
        except MemvaultError:
            return "closed"
        last = newest[0].reversal_hash if newest else ""
        notes = f"{id(container.live.indexer):x}.{container.live.indexer.version}"
        return f"{notes}.{container.curation.pending()}.{last}.{self._site.revision}"
