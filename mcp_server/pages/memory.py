"""*memory*: one note with its properties, links, related notes and history; and all notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from mcp_server.pages.forms import paged
from mcp_server.pages.note_edits import editable
from mcp_server.pages.note_html import MAX_CHARS, Resolve, note_html
from mcp_server.pages.shown_changes import shown_changes
from mcp_server.pages.site import Site
from memvault.curation.changes.change_text import author
from memvault.model.change import ChangeKind
from memvault.model.errors import (
    GraphQueryError,
    MemvaultError,
    StoreUnavailable,
)
from memvault.model.graph import STATED
from memvault.model.memory import IMPORTANCE_NAMES, Lifecycle, Memory
from memvault.reasoning.neighbours import neighbours
from memvault.search.order import backlinks
from memvault.stores.graph_view import GraphView
from memvault.vault.frontmatter.read import read_frontmatter, strings_of
from memvault.vault.links import obsidian_address
from memvault.vault.parse import content_hash


class MemoriesPage:
    def __init__(self, site: Site) -> None:
        self._site = site
        self.routes: list[BaseRoute] = [
            site.page("/memories", self._show),
            site.page("/memory", lambda _: RedirectResponse("/memories", 308)),
        ]

    def _show(self, request: Request) -> Response:
        find = request.query_params.get("find", "").strip()
        records = self._site.container.live.catalogue.records()
        if find:
            records = [record for record in records if _matches(record.memory, find.casefold())]
        records.sort(key=lambda record: (-record.mtime_ns, record.memory.path))
        part = paged(records, request.query_params.get("page", ""))
        return self._site.render(
            "memories.html",
            request,
            find=find,
            query=urlencode({"find": find}) + "&" if find else "",
            part=part,
            rows=[(record.memory, record.changed_at) for record in part.rows],
        )


def _matches(memory: Memory, find: str) -> bool:
    """Whether a memory matches: ``#`` searches tags, other text the title, aliases and path."""
    if find.startswith("#"):
        return find[1:] in memory.tag_keys
    return any(find in name.casefold() for name in (memory.title, memory.path, *memory.aliases))


MAX_LINKS = 30  # that are listed in either direction
MAX_CHANGES = 20
MAX_RELATED = 6
MIN_RELATED = 0.35  # cosine under which two notes have little to do with each other


@dataclass(frozen=True, slots=True)
class ShownLink:
    relation: str
    title: str
    id: str | None


class MemoryPage:
    def __init__(self, site: Site) -> None:
        self._site = site
        self.routes: list[BaseRoute] = [site.page("/memory/{id}", self._show)]

    def _show(self, request: Request) -> Response:
        box, container = self._site.box, self._site.container
        memory = box.lookup.memory(request.path_params["id"])
        if request.headers.get("referer", "").partition("?")[0].endswith("/ask"):  # no other way
            container.learning.record_read_by_person(memory.id)
        data = container.vault.read(memory.path)
        text = data.decode("utf-8", errors="replace").removeprefix("\ufeff")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        frontmatter = read_frontmatter(text)
        body = text[frontmatter.body_start :]
        record = container.live.catalogue.record(memory.path)
        changes = container.curator.history.lineage(memory.id, MAX_CHANGES, memory.path)
        return self._site.render(
            "memory.html",
            request,
            memory=memory,
            html=note_html(_below_title(body, memory.title), resolver(self._site, memory.path)),
            rest=body[MAX_CHARS:],
            source=editable(data),
            version=content_hash(data),
            seen={memory.id: content_hash(data)},
            problem=record.frontmatter_problem if record else None,
            tags=[
                tag for name in ("tags", "tag") for tag in strings_of(frontmatter.values.get(name))
            ],
            obsidian=obsidian_address(container.vault.root.name, memory.path),
            origin=self._origin(memory),
            node=box.memory_nodes.get(memory.id),
            lifecycles=[lifecycle.value for lifecycle in Lifecycle],
            importances=list(IMPORTANCE_NAMES),
            changes=shown_changes(container, changes, lines=True),
            most_links=MAX_LINKS,
            related=self._related(memory),
            **self._links_and_graph(memory),
        )

    def _origin(self, memory: Memory) -> str:
        """The author in words: the client that stored the note, or the person."""
        kinds = (ChangeKind.CREATED, ChangeKind.IMPORTED)
        history = self._site.container.curator.history
        for change in history.changes(node_id=memory.id, kinds=kinds, limit=1):
            return f"{author(change)}, {change.at.astimezone():%Y-%m-%d %H:%M}"
        return "a note of your own"

    def _related(self, memory: Memory) -> list[tuple[Memory, float]]:
        """The notes most similar in meaning, with their cosine; the nearest first."""
        container = self._site.container
        vector = container.live.similarity_index.vectors([memory.id]).get(memory.id)
        if vector is None:
            return []
        hits = container.live.similarity_index.nearest(vector, MAX_RELATED + 1)
        nearest = [(container.live.catalogue.by_id(key), score) for key, score in hits]
        return [
            (related, score)
            for related, score in nearest
            if related is not None and related.id != memory.id and score >= MIN_RELATED
        ][:MAX_RELATED]

    def _links_and_graph(self, memory: Memory) -> dict[str, Any]:
        edges = self._site.container.live.graph_view
        try:
            touching = [edge for edge in edges.of(memory.id) if edge.origin in STATED]
            graph = local_graph(memory.id, memory.title, edges, self._site.claimant)
            ends = {key: edges.node(key) for e in touching for key in (e.source, e.target)}
        except (StoreUnavailable, GraphQueryError):  # the page's notice says so
            return {"graph": None, "links": [], "backlinks": []}

        def link(relation: str, key: str) -> ShownLink:
            node = ends[key]
            is_note = node is not None and node.path is not None
            return ShownLink(relation, node.name if node else "", key if is_note else None)

        links = [link(e.relation, e.target) for e in touching if e.source == memory.id]
        leading = backlinks(memory.id, touching, self._site.container.live.catalogue.by_id)
        linked_from = [link(e.relation, e.source) for e in leading]
        return {
            "graph": graph,
            "links": list(dict.fromkeys(links))[:MAX_LINKS],
            "backlinks": list(dict.fromkeys(linked_from))[:MAX_LINKS],
        }


def _below_title(body: str, title: str) -> str:
    """The text without a first heading equal to the title, which the page shows already."""
    first, _, below = body.lstrip("\n").partition("\n")
    return below if first.strip() == f"# {title}" else body


def resolver(site: Site, source: str) -> Resolve:
    """A function that finds the page of a link's target, for links in the note at this path."""
    indexer = site.container.live.indexer

    def resolve(target: str) -> str | None:
        try:
            path = indexer.links.resolve(target, source)
        except MemvaultError:
            return None
        memory = indexer.catalogue.by_path(path) if path else None
        return f"/memory/{memory.id}" if memory else None

    return resolve


MAX_DIRECT, MAX_NODES = 14, 24  # nodes one relation away, and in all


def local_graph(
    node_id: str, name: str, edges: GraphView, claimant: Callable[[str], str]
) -> dict[str, Any]:
    """The nodes one and two relations away, for the page's script: nodes, the centre first, and
    links between their numbers.

    Args:
        claimant: the author of a memory that the person did not write, by id.

    Raises:
        StoreUnavailable, GraphQueryError: the graph does not answer.
    """
    direct = neighbours(node_id, edges, hops=1, limit=MAX_DIRECT)
    direct_ids = {neighbour.node.id for neighbour in direct}
    within_two = neighbours(node_id, edges, hops=2, limit=MAX_NODES + MAX_DIRECT)
    far = [
        neighbour
        for neighbour in within_two
        if neighbour.distance == 2
        and neighbour.via.id in direct_ids
        and neighbour.node.id not in direct_ids
    ][: MAX_NODES - len(direct)]
    nodes: list[dict[str, Any]] = [{"name": name, "centre": True, "href": None}]
    links: list[dict[str, Any]] = []
    number = {node_id: 0}
    for neighbour in (*direct, *far):
        number[neighbour.node.id] = len(nodes)
        is_far = neighbour.distance == 2
        is_note = neighbour.node.path is not None
        href = f"/memory/{neighbour.node.id}" if is_note else None
        author = claimant(neighbour.node.id)
        label = f"{author}: {neighbour.node.name}" if author else neighbour.node.name
        nodes.append({"name": label, "href": href, "far": is_far})
        source = number.get(neighbour.via.id, 0)
        target = number[neighbour.node.id]
        links.append(
            {"source": source, "target": target, "relation": neighbour.relation, "far": is_far}
        )
    return {"nodes": nodes, "links": links}
