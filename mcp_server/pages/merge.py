"""Merging: what it would change, then the deed."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mcp_server.pages.forms import Form
from mcp_server.pages.site import Site
from memvault.model.errors import InvalidParams

MOST_LINES = 200


class MergePage:
    def __init__(self, site: Site) -> None:
        self._site = site
        self.routes: list[BaseRoute] = [
            site.page("/merge", self._show),
            site.action("/merge", self._merge),
        ]

    def _show(self, request: Request) -> Response:
        asked = request.query_params
        sources = [each for each in asked.getlist("source") if each.strip()]
        deeds = self._site.deeds
        named = [deeds.target(name) for name in sources]
        # A note takes up what has none; else the first that was named stays.
        likely = next(
            (each for each in named if each.note is not None), named[0] if named else None
        )
        into = deeds.target(asked["target"]) if asked.get("target") else likely
        merged = [each for each in named if into is None or each.node_ids != into.node_ids]
        if into is None or not merged:
            raise InvalidParams("Choose at least two things to be merged.")
        plan = deeds.plan_merge(sources, into.node_ids[0])
        changed = plan.lines_changed(MOST_LINES + 1)
        by_path: dict[str, list[object]] = {}
        for line in changed[:MOST_LINES]:
            by_path.setdefault(line.path, []).append(line)
        return self._site.render(
            "merge.html",
            request,
            into=into,
            merged=merged,
            sources=sources,
            by_path=by_path,
            trashed=[edit.path for edit in plan.edits if edit.moved_to is not None],
            more=len(changed) > MOST_LINES,
        )

    def _merge(self, _: Request, form: Form) -> str:
        target = form.needed("target")
        self._site.deeds.merge(form.texts("source"), target, form.why())
        into = self._site.deeds.target(target).note
        return f"/memory/{into.id}" if into else "/concepts"
