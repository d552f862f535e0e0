"""*compress*: the key facts of chosen sessions beside the brief that the person writes of them."""

from __future__ import annotations

from datetime import datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mcp_server.pages.changes import by_person
from mcp_server.pages.forms import Form, paged
from mcp_server.pages.site import Site
from memvault.curation.operations.brief import Brief, Sources, key_facts
from memvault.model.errors import InvalidParams, NoteNotFound
from memvault.model.memory import Lifecycle, Memory

MOST_SOURCES = 20


class CompressPage:
    def __init__(self, site: Site) -> None:
        self._site = site
        self.routes: list[BaseRoute] = [
            site.page("/compress", self._show),
            site.page("/compress/brief", self._facts),
            site.action("/compress", self._write),
        ]

    def _show(self, request: Request) -> Response:
        services = self._site.services
        sessions = [memory for memory in services.catalogue.all() if _is_session(memory)]
        sessions.sort(key=lambda memory: (-_when(memory).timestamp(), memory.path))
        part = paged(sessions, request.query_params.get("page", ""))
        return self._site.render("compress.html", request, part=part, at=_when)

    def _facts(self, request: Request) -> Response:
        services = self._site.services
        sources = self._sources(request.query_params.getlist("source"))
        facts = key_facts(sources, services.vault.read, services.embedder.embed)
        projects = {memory.project for memory in sources}
        return self._site.render(
            "brief.html",
            request,
            sources=sources,
            facts=facts,
            project=projects.pop() if len(projects) == 1 else None,
            ways=[each.value for each in Sources],
        )

    def _write(self, _: Request, form: Form) -> str:
        services = self._site.services
        brief = Brief(
            title=form.needed("title"),
            text=form.needed("text"),
            sources=self._sources(form.texts("source")),
            then=Sources.TRASH if form.text("then") == Sources.TRASH else Sources.STAY,
            project=form.text("project").strip() or None,
        )
        why = by_person("a brief of these sessions, written on the page")
        done = services.actions.compress(brief, why)
        memory = services.catalogue.by_path(done.result)
        return f"/memory/{memory.id}" if memory else "/compress"

    def _sources(self, ids: list[str]) -> list[Memory]:
        """Raises InvalidParams: none or too many. NoteNotFound: one is gone."""
        if not ids or len(ids) > MOST_SOURCES:
            raise InvalidParams(f"Choose one to {MOST_SOURCES} sessions.")
        try:
            return [self._site.box.memory(key) for key in dict.fromkeys(ids)]
        except NoteNotFound as error:
            raise NoteNotFound("One of these sessions is gone; choose again.") from error


def _is_session(memory: Memory) -> bool:
    return memory.lifecycle is Lifecycle.EPHEMERAL or memory.type == "session"


def _when(memory: Memory) -> datetime:
    """When the session was: its own date, or the time if the date is that day's."""
    if memory.date is None or memory.date.date() == memory.created_at.date():
        return memory.created_at
    return memory.date
