"""The forms of a memory's page."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mcp_server.pages.forms import Form
from mcp_server.pages.site import Act, Site
from mcp_server.pages.text_edit import editable
from memvault.curation.plan import lines_changed
from memvault.model.errors import InvalidParams, NoteConflict
from memvault.model.memory import Lifecycle
from memvault.vault.parse import content_hash


class MemoryActions:
    def __init__(self, site: Site) -> None:
        self._site = site
        deeds = site.deeds
        ways: dict[str, Callable[[str, Form], object]] = {
            "verify": lambda key, form: deeds.verify(key, verified=_yes(form, "verified")),
            "pin": lambda key, form: deeds.pin(key, pinned=_yes(form, "pinned")),
            "tags": lambda key, form: deeds.tag(key, form.text("tags")),
            "importance": lambda key, form: deeds.boost(key, form.needed("importance")),
            "lifecycle": lambda key, form: deeds.live(key, _lifecycle(form)),
            "annotate": lambda key, form: deeds.annotate(key, form.needed("note")),
            "forget": lambda key, _: deeds.forget(key),
        }
        self.routes: list[BaseRoute] = [
            *(site.action(f"/memory/{{id}}/{name}", _then_back(way)) for name, way in ways.items()),
            site.action("/memory/{id}/edit", self._edit),
        ]

    def _edit(self, request: Request, form: Form) -> str | Response:
        key, text = request.path_params["id"], form.text("text")
        try:
            self._site.deeds.edit(key, text, form.needed("version"), form.why())
        except NoteConflict:
            return self._both_versions(request, key, text, form.why())
        return form.text("back")

    def _both_versions(self, request: Request, key: str, text: str, why: str) -> Response:
        """Somebody else saved the note: theirs stands, and what was written here is shown."""
        memory = self._site.box.memory(key)
        data = self._site.services.vault.read(memory.path)
        return self._site.render(
            "conflict.html",
            request,
            status=409,
            memory=memory,
            text=text,
            why=why,
            version=content_hash(data),
            is_text=editable(data) is not None,
            lines=lines_changed(memory.path, data, text.encode("utf-8")),
        )


def _then_back(way: Callable[[str, Form], object]) -> Act:
    def act(request: Request, form: Form) -> str:
        way(request.path_params["id"], form)
        return form.text("back")

    return act


def _yes(form: Form, name: str) -> bool:
    return form.needed(name) == "yes"


def _lifecycle(form: Form) -> Lifecycle:
    """Raises InvalidParams: it is none."""
    try:
        return Lifecycle(form.needed("lifecycle"))
    except ValueError as error:
        raise InvalidParams("A lifecycle is permanent, temporary or ephemeral.") from error
