"""The buttons on the page of a memory; each makes one change, which the history lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mcp_server.pages.forms import Form
from mcp_server.pages.note_edits import editable, edited
from memvault.curation.changes.forgetting import USER_REQUESTED
from memvault.curation.changes.plan import lines_changed
from memvault.curation.decisions import by_person
from memvault.model.errors import InvalidParams, NoteConflict
from memvault.model.memory import Lifecycle
from memvault.vault.frontmatter.properties import read_importance
from memvault.vault.parse import content_hash

if TYPE_CHECKING:
    from mcp_server.pages.site import Site
    from memvault.curation.actions import Actions


class MemoryButtons:
    """The buttons on the page of a memory."""

    def __init__(self, site: Site) -> None:
        self._site = site
        buttons: dict[str, Callable[[str, Form], None]] = {
            "verify": self._verify,
            "pin": self._pin,
            "reconstruct": self._reconstruct,
            "tags": self._tags,
            "importance": self._importance,
            "lifecycle": self._lifecycle,
            "annotate": self._annotate,
            "forget": self._forget,
        }
        self.routes: list[BaseRoute] = [
            *(
                site.action(f"/memory/{{id}}/{name}", _on_memory(do))
                for name, do in buttons.items()
            ),
            site.action("/memory/{id}/edit", self._edit),
        ]

    @property
    def _actions(self) -> Actions:
        return self._site.container.actions

    def _verify(self, key: str, form: Form) -> None:
        decisions = self._site.container.decisions
        decisions.verify(key, form.seen(), verified=form.yes("verified"))

    def _reconstruct(self, key: str, _: Form) -> None:
        self._actions.reconstruct(key, by_person("brought back on the page"))

    def _tags(self, key: str, form: Form) -> None:
        tags = form.text("tags").split(",")
        self._actions.set_tags(key, tags, by_person("tagged on the page"))

    def _annotate(self, key: str, form: Form) -> None:
        self._actions.annotate(key, form.needed("note"), by_person("annotated on the page"))

    def _forget(self, key: str, form: Form) -> None:
        permanent = form.text("permanent") == "yes"
        why = by_person(
            "deleted for good on the page" if permanent else "forgotten on the page",
            USER_REQUESTED if permanent else None,
            form.seen(),
        )
        self._actions.forget([self._actions.target(key)], why, permanent=permanent)

    def _pin(self, key: str, form: Form) -> None:
        pinned = form.yes("pinned")
        why = by_person("pinned on the page" if pinned else "unpinned on the page")
        self._actions.pin(key, why, pinned=pinned)

    def _importance(self, key: str, form: Form) -> None:
        importance = form.needed("importance")
        why = by_person(f"importance set to {importance} on the page")
        self._actions.set_importance(key, why, importance=read_importance(importance))

    def _lifecycle(self, key: str, form: Form) -> None:
        try:
            lifecycle = Lifecycle(form.needed("lifecycle"))
        except ValueError as error:
            raise InvalidParams("A lifecycle is permanent, temporary or ephemeral.") from error
        self._actions.set_lifecycle(
            key, lifecycle, by_person(f"made {lifecycle} on the page", seen=form.seen())
        )

    def _edit(self, request: Request, form: Form) -> Response | str | None:
        key, text = request.path_params["id"], form.text("text")
        path = self._site.box.lookup.memory(key).path
        why = by_person(form.why() or "edited on the page")
        try:
            self._actions.rewrite(key, lambda data: edited(data, text), form.needed("version"), why)
        except NoteConflict:
            return self._both_versions(request, key, text, form.why())
        memory = self._site.container.live.catalogue.by_path(path)
        # Without its property, or with another one, the note has another id.
        return None if memory is None or memory.id == key else f"/memory/{memory.id}"

    def _both_versions(self, request: Request, key: str, text: str, why: str) -> Response:
        """The page for a note that was saved elsewhere: keeps that version, and shows this form's
        text next to it."""
        memory = self._site.box.lookup.memory(key)
        data = self._site.container.vault.read(memory.path)
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


def _on_memory(do: Callable[[str, Form], None]) -> Callable[[Request, Form], None]:
    def act(request: Request, form: Form) -> None:
        do(request.path_params["id"], form)

    return act
