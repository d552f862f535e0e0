"""*concepts* and *compress*: merge and forget concepts; condense sessions into one memory."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mcp_server.pages.forms import Form, paged
from mcp_server.pages.shown_changes import lines_by_path
from mcp_server.pages.shown_versions import shown_versions
from mcp_server.pages.site import Site
from memvault.curation.decisions import by_person
from memvault.curation.manifest.concepts import Concept, concept_key, concepts_of
from memvault.curation.operations.brief import Brief, Sources, key_facts
from memvault.curation.targets import Target
from memvault.model.errors import InvalidParams, MemvaultError, NoteNotFound
from memvault.model.memory import Lifecycle, Memory

MAX_SOURCES = 20


class CompressPage:
    def __init__(self, site: Site) -> None:
        self._site = site
        self.routes: list[BaseRoute] = [
            site.page("/compress", self._show),
            site.page("/compress/brief", self._facts),
            site.action("/compress", self._write),
        ]

    def _show(self, request: Request) -> Response:
        container = self._site.container
        sessions = [memory for memory in container.live.catalogue.all() if _is_session(memory)]
        sessions.sort(key=lambda memory: (-_session_time(memory).timestamp(), memory.path))
        part = paged(sessions, request.query_params.get("page", ""))
        return self._site.render("compress.html", request, part=part, at=_session_time)

    def _facts(self, request: Request) -> Response:
        container = self._site.container
        sources = self._sources(request.query_params.getlist("source"))
        facts = key_facts(sources, container.vault.read, container.embedder.embed)
        projects = {memory.project for memory in sources}
        return self._site.render(
            "brief.html",
            request,
            sources=sources,
            facts=facts,
            project=projects.pop() if len(projects) == 1 else None,
            ways=[way.value for way in Sources],
        )

    def _write(self, _: Request, form: Form) -> str:
        container = self._site.container
        brief = Brief(
            title=form.needed("title"),
            text=form.needed("text"),
            sources=self._sources(form.texts("source")),
            then=Sources.TRASH if form.text("then") == Sources.TRASH else Sources.STAY,
            project=form.text("project").strip() or None,
        )
        why = by_person("a brief of these sessions, written on the page")
        done = container.actions.compress(brief, why)
        memory = container.live.catalogue.by_path(done.result)
        return f"/memory/{memory.id}" if memory else "/compress"

    def _sources(self, ids: list[str]) -> list[Memory]:
        """The chosen sessions. Raises InvalidParams: none or too many. NoteNotFound: one was
        deleted."""
        if not ids or len(ids) > MAX_SOURCES:
            raise InvalidParams(f"Choose one to {MAX_SOURCES} sessions.")
        try:
            return [self._site.box.lookup.memory(key) for key in dict.fromkeys(ids)]
        except NoteNotFound as error:
            raise NoteNotFound("One of these sessions is gone; choose again.") from error


def _is_session(memory: Memory) -> bool:
    return memory.lifecycle is Lifecycle.EPHEMERAL or memory.type == "session"


def _session_time(memory: Memory) -> datetime:
    """The session's time: its own date, or the time of creation if that was on the same day."""
    if memory.date is None or memory.date.date() == memory.created_at.date():
        return memory.created_at
    return memory.date


class MergePage:
    def __init__(self, site: Site) -> None:
        self._site = site
        self.routes: list[BaseRoute] = [
            site.page("/merge", self._show),
            site.action("/merge", self._merge),
        ]

    def _show(self, request: Request) -> Response:
        params = request.query_params
        sources = [source for source in params.getlist("source") if source.strip()]
        actions = self._site.container.actions
        named = [actions.target(name) for name in sources]
        # By default, the first memory with a note is the target, else the first one named.
        likely = next(
            (target for target in named if target.note is not None), named[0] if named else None
        )
        into = actions.target(params["target"]) if params.get("target") else likely
        merged = [source for source in named if into is None or source.node_ids != into.node_ids]
        if into is None or not merged:
            raise InvalidParams("Choose at least two notes or concepts to merge.")
        seen = shown_versions(self._site.container, [target.note for target in (into, *named)])
        preview = actions.merge(sources, into.node_ids[0], by_person("a preview"), preview=True)
        plan = preview.plan
        by_path, more = lines_by_path(plan)
        return self._site.render(
            "merge.html",
            request,
            into=into,
            merged=merged,
            seen=seen,
            sources=sources,
            by_path=by_path,
            trashed=[edit.path for edit in plan.edits if edit.moved_to is not None],
            more=more,
            then=params.get("then", ""),
        )

    def _merge(self, _: Request, form: Form) -> str:
        target = form.needed("target")
        actions = self._site.container.actions
        why = by_person(form.why() or "merged on the page", seen=form.seen())
        actions.merge(form.texts("source"), target, why)
        if form.text("then") == "curate":
            return "/curate"
        into = actions.target(target).note
        return f"/memory/{into.id}" if into else "/concepts"


MAX_AT_ONCE = 10  # concepts that are forgotten in one action, as with the manifest
LIST = "list concepts"
PATIENCE, FIRST_PATIENCE = 0.2, 60.0  # seconds that a page waits for a new list, and the first
MAX_NAMING = 20  # notes that a preview lists


_ListedConcepts = tuple[object, list[Concept]]  # the state of the index, and its concepts


class ConceptsPage:
    def __init__(self, site: Site) -> None:
        self._site = site
        self._listed: _ListedConcepts | None = None
        site.on_visit.append(self._list_if_changed)
        self.routes: list[BaseRoute] = [
            site.page("/concepts", self._show),
            site.page("/forget", self._preview),
            site.action("/forget", self._forget),
        ]

    def _show(self, request: Request) -> Response:
        params = request.query_params
        find, kind = params.get("find", "").strip(), params.get("kind", "")
        concepts = self._concepts()
        wanted = concept_key(find) if find else ""
        rows = [
            concept
            for concept in concepts
            if (not kind or concept.kind == kind) and (not wanted or wanted in concept.key)
        ]
        part = paged(rows, params.get("page", ""))
        filters = {key: value for key, value in {"find": find, "kind": kind}.items() if value}
        return self._site.render(
            "concepts.html",
            request,
            part=replace(part, rows=list(filter(self._still_exists, part.rows))),
            find=find,
            kind=kind,
            kinds=sorted({concept.kind for concept in concepts}),
            query=urlencode(filters) + "&" if filters else "",
        )

    def _concepts(self) -> list[Concept]:
        """The concepts, most named first.

        After a change of the indexes they are listed again in the background; pages show the last
        list until then, and reload.
        """
        self._list_if_changed()
        listed = self._listed
        self._site.container.worker.wait(LIST, FIRST_PATIENCE if listed is None else PATIENCE)
        if self._listed is None:
            self._list()
        return self._listed[1] if self._listed is not None else []

    def _list_if_changed(self) -> None:
        if self._listed is None or self._listed[0] != self._state():
            self._site.container.worker.run(LIST, self._list_in_background)

    def _list_in_background(self) -> None:
        with suppress(MemvaultError):  # the page reports it
            self._list()

    def _list(self) -> None:
        state, live = self._state(), self._site.container.live
        concepts = concepts_of(live.catalogue.all(), live.graph_view).values()
        self._listed = (state, sorted(concepts, key=lambda concept: (-concept.naming, concept.key)))
        self._site.renew()

    def _state(self) -> tuple[object, int]:
        """A value that changes with the index."""
        container = self._site.container
        return container.live.indexer, container.live.indexer.version

    def _still_exists(self, concept: Concept) -> bool:
        container = self._site.container
        key = concept.ids[0]
        return (
            container.live.catalogue.by_id(key) is not None
            or container.live.graph_view.node(key) is not None
        )

    def _preview(self, request: Request) -> Response:
        params = request.query_params
        targets = self._targets(params.getlist("source") or params.getlist("target"))
        return self._site.render(
            "forget.html",
            request,
            targets=[(target, self._naming(target)) for target in targets],
        )

    def _forget(self, _: Request, form: Form) -> None:
        targets = self._targets(form.texts("target"))
        why = by_person(form.why() or "forgotten on the page")
        self._site.container.actions.forget(targets, why)

    def _targets(self, names: list[str]) -> list[Target]:
        """The named concepts. Raises InvalidParams: none or too many; NoteNotFound,
        AmbiguousTarget."""
        if not names or len(names) > MAX_AT_ONCE:
            raise InvalidParams(f"Choose one to {MAX_AT_ONCE} concepts.")
        return [self._site.container.actions.target(name) for name in names]

    def _naming(self, target: Target) -> list[str]:
        """Titles of notes that name the target; forgetting it does not change them."""
        container, ids = self._site.container, set(target.node_ids)
        sources = {
            edge.source
            for key in ids
            for edge in container.live.graph_view.of(key)
            if edge.target == key
        }
        memories = container.live.catalogue.by_ids(sources - ids)
        return sorted(memory.title for memory in memories)[:MAX_NAMING]
