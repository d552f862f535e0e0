"""*move*: moves or renames a note after a preview of the links that change."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mcp_server.pages.forms import Form
from mcp_server.pages.shown_changes import lines_by_path
from mcp_server.pages.shown_versions import shown_versions
from mcp_server.pages.site import Site
from memvault.curation.changes.curator import ChangeResult
from memvault.curation.decisions import by_person
from memvault.curation.operations.move import Move
from memvault.model.errors import MemvaultError
from memvault.model.memory import Memory


class MovePage:
    def __init__(self, site: Site) -> None:
        self._site = site
        self.routes: list[BaseRoute] = [
            site.page("/memory/{id}/move", self._show),
            site.action("/memory/{id}/move", self._move),
        ]

    def _show(self, request: Request) -> Response:
        memory = self._site.box.lookup.memory(request.path_params["id"])
        wanted = request.query_params.get("to", memory.path)
        seen = shown_versions(self._site.container, [memory])
        try:
            done = self._site.container.actions.move(
                memory.id, wanted, by_person("a preview"), preview=True
            )
        except MemvaultError as error:
            return self._rendered(request, memory, wanted, error=error, status=409)
        return self._rendered(request, memory, wanted, done, seen=seen)

    def _rendered(
        self,
        request: Request,
        memory: Memory,
        wanted: str,
        done: ChangeResult[Move] | None = None,
        *,
        seen: dict[str, str] | None = None,
        error: MemvaultError | None = None,
        status: int = 200,
    ) -> Response:
        by_path, more = lines_by_path(done.plan) if done else ({}, False)
        return self._site.render(
            "move.html",
            request,
            status=status,
            memory=memory,
            wanted=wanted,
            move=done.result if done else None,
            seen=seen or {},
            error=error,
            by_path=by_path,
            more=more,
        )

    def _move(self, request: Request, form: Form) -> str:
        key = request.path_params["id"]
        why = by_person(form.why() or "moved on the page", seen=form.seen())
        self._site.container.actions.move(key, form.needed("to"), why)
        return f"/memory/{key}"
