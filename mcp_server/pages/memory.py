"""*memory*, one note: what it says, what is known of it, what stands around it, its history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from mcp_server.pages.changes import shown, who_made
from mcp_server.pages.neighbourhood import Picture, picture_of
from mcp_server.pages.note_html import MAX_CHARS, Resolve, note_html
from mcp_server.pages.site import Site
from mcp_server.pages.text_edit import editable
from mcp_server.tools.notes import STATED
from memvault.model.change import ChangeKind
from memvault.model.errors import GraphQueryError, MemvaultError, StoreUnavailable
from memvault.model.memory import IMPORTANCE_NAMES, Lifecycle, Memory
from memvault.vault.header import read_header, strings_of
from memvault.vault.parse import content_hash

MOST_LINKS = 30  # in either direction that are listed
MOST_CHANGES = 20


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
        box, services = self._site.box, self._site.services
        memory = box.memory(request.path_params["id"])
        data = services.vault.read(memory.path)
        text = data.decode("utf-8", errors="replace").removeprefix("\ufeff")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        header = read_header(text)
        body = text[header.body_start :]
        record = services.catalogue.record(memory.path)
        changes = services.curator.history.lineage(memory.id, MOST_CHANGES, memory.path)
        return self._site.render(
            "memory.html",
            request,
            memory=memory,
            html=note_html(_below_title(body, memory.title), resolver(self._site, memory.path)),
            rest=body[MAX_CHARS:],
            source=editable(data),
            version=content_hash(data),
            problem=record.frontmatter_problem if record else None,
            tags=[tag for name in ("tags", "tag") for tag in strings_of(header.values.get(name))],
            obsidian=obsidian_address(services.vault.root.name, memory.path),
            origin=self._origin(memory),
            node=box.memory_nodes.get(memory.id),
            lifecycles=[each.value for each in Lifecycle],
            importances=list(IMPORTANCE_NAMES),
            changes=shown(services, changes, lines=True),
            most_links=MOST_LINKS,
            **self._around(memory),
        )

    def _origin(self, memory: Memory) -> str:
        """Who wrote it: the client that stored it, or a person."""
        kinds = (ChangeKind.CREATED, ChangeKind.IMPORTED)
        history = self._site.services.curator.history
        for change in history.changes(node_id=memory.id, kinds=kinds, limit=1):
            return f"{who_made(change)}, {change.at:%Y-%m-%d %H:%M} UTC"
        return "a note of your own"

    def _around(self, memory: Memory) -> dict[str, Any]:
        edges = self._site.services.edges
        try:
            touching = [edge for edge in edges.of(memory.id) if edge.origin in STATED]
            picture: Picture | None = picture_of(memory.id, edges)
            ends = {key: edges.node(key) for e in touching for key in (e.source, e.target)}
        except (StoreUnavailable, GraphQueryError):
            return {"picture": None, "links": [], "backlinks": []}

        def link(relation: str, key: str) -> ShownLink:
            node = ends[key]
            is_note = node is not None and node.path is not None
            return ShownLink(relation, node.name if node else "", key if is_note else None)

        links = [link(e.relation, e.target) for e in touching if e.source == memory.id]
        backlinks = [link(e.relation, e.source) for e in touching if e.target == memory.id]
        return {
            "picture": picture,
            "links": list(dict.fromkeys(links))[:MOST_LINKS],
            "backlinks": list(dict.fromkeys(backlinks))[:MOST_LINKS],
        }


def _below_title(body: str, title: str) -> str:
    """The text without a first heading that says only the title, which the page shows already."""
    first, _, rest = body.lstrip("\n").partition("\n")
    return rest if first.strip() == f"# {title}" else body


def resolver(site: Site, source: str) -> Resolve:
    """The page of what a link in the note at this path means."""
    indexer = site.services.indexer

    def resolve(target: str) -> str | None:
        try:
            path = indexer.links.resolve(target, source)
        except MemvaultError:
            return None
        memory = indexer.catalogue.by_path(path) if path else None
        return f"/memory/{memory.id}" if memory else None

    return resolve


def obsidian_address(vault: str, path: str) -> str:
    return f"obsidian://open?vault={quote(vault, safe='')}&file={quote(path, safe='')}"
