"""``search`` and ``fetch``, as ChatGPT's connectors require them
(https://developers.openai.com/apps-sdk, "Company knowledge and deep research")."""

from __future__ import annotations

from urllib.parse import quote

from fastmcp.tools import tool

from mcp_server.answers.base import utc
from mcp_server.answers.recalled import (
    FetchAnswer,
    LinkShape,
    MemoryAnswer,
    SearchAnswer,
    SearchResult,
)
from mcp_server.middleware.origin_marks import origin_shown
from mcp_server.tools.arguments import CORE, READS, MemoryId, Query, TargetName
from mcp_server.tools.toolbox import Toolbox
from memvault.model.errors import GraphQueryError, InvalidParams, StoreUnavailable
from memvault.model.graph import EdgeOrigin, GraphEdge, GraphNode
from memvault.model.memory import Memory
from memvault.model.search import Mode

STATED = {EdgeOrigin.LINK, EdgeOrigin.EMBED, EdgeOrigin.FIELD, EdgeOrigin.FRONTMATTER}


class NoteTools:
    """Tools over whole notes."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    @tool(annotations=READS, tags=CORE, title="Read a memory")
    def get_memory(
        self, id: MemoryId | None = None, path: TargetName | None = None
    ) -> MemoryAnswer:
        """Read a whole note with its links and backlinks. Give `id` or `path`."""
        if (id is None) == (path is None):
            raise InvalidParams("Provide exactly one of id or path")
        memory = self._box.memory(id) if id is not None else self._box.memory_at(path or "")
        content = self._box.text_of(memory)
        self._box.returned(self._box.touch(), [memory.id])
        node = self._box.node(memory)
        links, backlinks, notice = self._links(memory)
        return MemoryAnswer(
            id=memory.id,
            title=memory.title,
            path=memory.path,
            lifecycle=memory.lifecycle,
            type=memory.type,
            importance=memory.importance,
            verified=memory.verified,
            created_at=utc(memory.created_at),
            tags=list(memory.tags),
            project=memory.project,
            content=content,
            links=links,
            backlinks=backlinks,
            johari_quadrant=node.johari_quadrant,
            utl_state=node.utl_state,
            access_count=node.access_count,
            last_accessed=utc(node.last_accessed),
            agent_id=node.agent_id,
            notice=notice,
            pulse=self._box.meter.of([memory.id]),
        )

    def _links(self, memory: Memory) -> tuple[list[LinkShape], list[LinkShape], str | None]:
        graph = self._box.services.stores.graph
        try:
            edges = [e for e in graph.neighbours([memory.id]) if e.origin in STATED]
            nodes = graph.nodes({end for e in edges for end in (e.source, e.target)})
        except (StoreUnavailable, GraphQueryError):
            return [], [], "The graph is unreachable; links are missing from this answer."
        links = [_link(e, nodes.get(e.target)) for e in edges if e.source == memory.id]
        backlinks = [_link(e, nodes.get(e.source)) for e in edges if e.target == memory.id]
        return links, backlinks, None


def _link(edge: GraphEdge, other: GraphNode | None) -> LinkShape:
    is_note = other is not None and other.path is not None
    return LinkShape(
        relation=edge.relation,
        title=other.name if other else "",
        id=other.id if other and is_note else None,
        path=other.path if other and is_note else None,
        line=edge.line,
    )


RESULTS = 10


class ConnectorTools:
    """The two tools of a ChatGPT connector."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    @tool(annotations=READS, tags=CORE, title="Search")
    def search(self, query: Query) -> SearchAnswer:
        """Search the person's notes; read the results with fetch."""
        result = self._box.services.searcher.search(query, mode=Mode.DEFAULT, top_k=RESULTS)
        return SearchAnswer(
            results=[
                SearchResult(id=hit.memory.id, title=hit.memory.title, url=self._url(hit.memory))
                for hit in result.hits
            ],
            pulse=self._box.pulse_of(result.hits),
            notice=result.notice,
        )

    @tool(annotations=READS, tags=CORE, title="Fetch")
    def fetch(self, id: MemoryId) -> FetchAnswer:
        """Read the whole text of a search result."""
        memory = self._box.memory(id)
        self._box.returned(self._box.touch(), [memory.id])
        return FetchAnswer(
            id=memory.id,
            title=memory.title,
            text=self._box.text_of(memory),
            url=self._url(memory),
            metadata=_metadata(memory),
            pulse=self._box.meter.of([memory.id]),
        )

    def _url(self, memory: Memory) -> str:
        """Opens the note in Obsidian (https://help.obsidian.md/uri)."""
        vault = quote(self._box.services.vault.root.name, safe="")
        return f"obsidian://open?vault={vault}&file={quote(memory.path, safe='')}"


def _metadata(memory: Memory) -> dict[str, str]:
    origin = origin_shown(memory)
    values = {
        "path": memory.path,
        "type": memory.type,
        "lifecycle": str(memory.lifecycle),
        "created": utc(memory.created_at).isoformat(),
        "project": memory.project or "",
        "tags": ", ".join(memory.tags),
        "origin": str(origin.kind),
        "written_by": origin.name,
        "verified": "" if origin.is_person else str(memory.verified).lower(),
    }
    return {key: value for key, value in values.items() if value}
