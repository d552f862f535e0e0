"""Tools that find and read memories: recall_memory, vector_search, graph_query, get_memory.

ChatGPT's connectors require ``search`` and ``fetch`` (https://developers.openai.com/apps-sdk,
"Company knowledge and deep research").
"""

from __future__ import annotations

from collections.abc import Sequence

from fastmcp.tools import tool

from mcp_server.answers.base import utc
from mcp_server.answers.memories import (
    ChunksAnswer,
    ChunkShape,
    FetchAnswer,
    FoundDocument,
    GraphAnswer,
    LinkShape,
    MemoryAnswer,
    RecallAnswer,
    SearchAnswer,
    is_verified,
    without_mentions,
)
from mcp_server.middleware.call_keys import is_brief_call
from mcp_server.tools.arguments import (
    CORE,
    FULL,
    READS,
    AllowUnverified,
    InProject,
    MaxHops,
    MaxResults,
    MemoryId,
    Narrowing,
    Query,
    RequestedMode,
    SessionId,
    TargetName,
    TopK,
    Verbosity,
)
from mcp_server.tools.toolbox import Tools
from memvault.model.errors import GraphQueryError, InvalidParams, StoreUnavailable
from memvault.model.graph import STATED, GraphEdge, GraphNode
from memvault.model.memory import Memory
from memvault.model.provenance import OriginKind
from memvault.model.search import Filters, Hit, Mode, VerbosityLevel
from memvault.search.order import backlinks
from memvault.search.scope import MemoryFilter
from memvault.text.names import NameRank
from memvault.vault.links import obsidian_address


class NoteTools(Tools):
    """Tools over whole notes."""

    @tool(annotations=READS, tags=CORE, title="Read a memory")
    def get_memory(
        self, id: MemoryId | None = None, path: TargetName | None = None
    ) -> MemoryAnswer:
        """Read a whole note, its links and backlinks (newest first). Give `id` or `path`."""
        named = [self._box.lookup.memory_of(name) for name in (id, path) if name is not None]
        if not named:
            raise InvalidParams("Provide id or path")
        memory = named[0]
        if any(other.id != memory.id for other in named):
            raise InvalidParams(f"id is that of {memory.path}, path is of another note: give one")
        content = self._box.lookup.text_of(memory)
        self._box.record_read(self._box.touch(), [memory.id])
        node = self._box.node(memory)
        links, leading, notice = self._links(memory)
        return MemoryAnswer.of(
            memory,
            content=content,
            links=links,
            backlinks=leading,
            johari_quadrant=node.johari_quadrant,
            utl_state=node.utl_state,
            access_count=node.access_count,
            last_accessed=node.last_accessed,
            agent_id=node.agent_id,
            notice=notice,
            pulse=self._box.meter.of([memory.id]),
        )

    def _links(self, memory: Memory) -> tuple[list[LinkShape], list[LinkShape], str | None]:
        graph = self._box.container.live.stores.graph
        try:
            edges = [e for e in graph.neighbours([memory.id]) if e.origin in STATED]
            nodes = graph.nodes({end for e in edges for end in (e.source, e.target)})
        except (StoreUnavailable, GraphQueryError):
            return [], [], "The graph is unreachable; links are missing from this answer."
        links = [self._link(e, nodes.get(e.target)) for e in edges if e.source == memory.id]
        leading = backlinks(memory.id, edges, self._box.container.live.catalogue.by_id)
        return links, [self._link(e, nodes.get(e.source)) for e in leading], None

    def _link(self, edge: GraphEdge, other: GraphNode | None) -> LinkShape:
        is_note = other is not None and other.path is not None
        return LinkShape(
            relation=edge.relation,
            title=other.name if other else "",
            id=other.id if other and is_note else None,
            path=other.path if other and is_note else None,
            titled=self._path_titled(other.name) if other and not is_note else None,
            line=edge.line,
        )

    def _path_titled(self, name: str) -> str | None:
        """The path of the note with this title, to which links do not lead: they follow names of
        files."""
        entry = self._box.container.live.indexer.names.lookup(name)
        return entry.path if entry is not None and entry.rank is NameRank.TITLE else None


RESULTS = 10


class ConnectorTools(Tools):
    """The two tools of a ChatGPT connector."""

    @tool(annotations=READS, tags=CORE, title="Search")
    def search(self, query: Query) -> SearchAnswer:
        """Search the person's notes; read the results with fetch."""
        session = self._box.touch()
        result = self._box.container.live.searcher.search(query, mode=Mode.DEFAULT, top_k=RESULTS)
        self._box.record_answer(session, query, result)
        return SearchAnswer(
            results=[
                FoundDocument(id=hit.memory.id, title=hit.title, url=self._url(hit.path))
                for hit in result.hits
            ],
            pulse=self._box.pulse_of(result.hits, session),
            notice=result.notice,
        )

    @tool(annotations=READS, tags=CORE, title="Fetch")
    def fetch(self, id: MemoryId) -> FetchAnswer:
        """Read the whole text of a search result."""
        memory = self._box.lookup.memory_of(id)
        self._box.record_read(self._box.touch(), [memory.id])
        return FetchAnswer.of(
            memory,
            text=self._box.lookup.text_of(memory),
            url=self._url(memory.path),
            metadata=_metadata(memory),
            pulse=self._box.meter.of([memory.id]),
        )

    def _url(self, path: str) -> str:
        return obsidian_address(self._box.container.vault.root.name, path)


def _metadata(memory: Memory) -> dict[str, str]:
    origin = memory.provenance.claimant
    values = {
        "path": memory.path,
        "type": memory.type,
        "lifecycle": str(memory.lifecycle),
        "faded": memory.faded or "",
        "created": utc(memory.created_at).isoformat(),
        "project": memory.project or "",
        "tags": ", ".join(memory.tags),
        "origin": str(origin.kind),
        "written_by": origin.name,
        "verified": str(memory.is_trusted).lower(),
    }
    return {key: value for key, value in values.items() if value}


FIRST_PATIENCE = 10.0  # seconds that graph_query waits while relations are first loaded


class RecallTools(Tools):
    """recall_memory and vector_search."""

    @tool(annotations=READS, tags=CORE, title="Recall memories")
    def recall_memory(
        self,
        query: Query,
        *,
        top_k: MaxResults = None,
        mode: RequestedMode = "auto",
        project: InProject = None,
        verbosity_level: Verbosity = None,
        session_id: SessionId = None,
        filters: Narrowing = None,
        allow_unverified: AllowUnverified = False,
    ) -> RecallAnswer:
        """Search the person's notes; the best notes first.

        Call this before you answer about the person, their projects, people, decisions, plans or
        earlier conversations. `nodes[].content` quotes the passages that answer, at `path` and
        `lines`: cite them. `confidence` is the probability that a note answers; `verification`
        names notes that confirm or contradict it.
        """
        session = self._box.touch(session_id)
        level = session.level(verbosity_level)
        scope = self._box.scope(project, filters)
        result = self._box.container.live.searcher.search(
            query,
            mode=None if mode == "auto" else Mode(mode),
            top_k=top_k,
            scope=scope,
            memory_filter=self._memory_filter(filters),
            allow_unverified=allow_unverified,
        )
        self._box.record_answer(session, query, result, scope)
        nodes = self._box.presenter.nodes(result.hits, level, query, scope, brief=is_brief_call())
        is_full = level is VerbosityLevel.FULL_INSIGHTS
        answer = RecallAnswer(
            nodes=nodes if is_full else [without_mentions(node) for node in nodes],
            mode=result.mode,
            notice=result.notice,
            pulse=self._box.pulse_of(result.hits, session),
        )
        return self._box.presenter.with_conclusions(answer, result, level, scope)

    @tool(annotations=READS, tags=FULL, title="Search passages")
    def vector_search(
        self,
        query: Query,
        top_k: TopK = 10,
        *,
        project: InProject = None,
        verbosity_level: Verbosity = None,
        session_id: SessionId = None,
        filters: Narrowing = None,
        allow_unverified: AllowUnverified = False,
    ) -> ChunksAnswer:
        """Find the passages most similar to a text; one note may give several.

        For collecting quotations. To answer a question, use recall_memory.
        """
        session = self._box.touch(session_id)
        level = session.level(verbosity_level)
        scope = self._box.scope(project, filters)
        result = self._box.container.live.searcher.search_passages(
            query, top_k, scope, self._memory_filter(filters), allow_unverified=allow_unverified
        )
        best: dict[str, float] = {}
        for hit in result.hits:
            best.setdefault(hit.memory.id, hit.relevance)
        self._box.record_shown(session, list(best))
        self._box.log_claims(query, result)
        return ChunksAnswer(
            chunks=[_chunk(hit, level) for hit in result.hits],
            pulse=self._box.meter.of(list(best), list(best.values())),
            notice=result.notice,
        )

    def _memory_filter(self, filters: Filters | None) -> MemoryFilter | None:
        if filters is None or not (filters.johari_quadrants or filters.origins):
            return None
        return lambda memories: self._passing(memories, filters)

    def _passing(self, memories: Sequence[Memory], filters: Filters) -> set[str]:
        """Ids of the memories that pass the filters that stores cannot apply."""
        quadrants, origins = filters.johari_quadrants, filters.origins
        ids = list(
            dict.fromkeys(
                memory.id
                for memory in memories
                if not origins or not memory.provenance.kinds.isdisjoint(origins)
            )
        )
        if not quadrants:
            return set(ids)
        states = self._box.meter.states(ids)
        return {key for key in ids if states[key].quadrant in quadrants}


def _chunk(hit: Hit, level: VerbosityLevel) -> ChunkShape:
    has_text, memory = level is not VerbosityLevel.RAW_ONLY, hit.memory
    is_shown = has_text and not hit.withheld
    return ChunkShape(
        id=memory.id,
        title=hit.title,
        path=hit.path,
        chunk_id=str(hit.chunk_id),
        heading=memory.provenance.own_heading(hit.heading) if is_shown else None,
        lines=list(hit.lines),
        text=hit.text if is_shown else None,
        score=round(hit.relevance, 3),
        verified=is_verified(hit, hit.lines) if has_text else None,
        withheld=hit.withheld or None,
        origin=OriginKind.PERSON if hit.own_only else None,
    )


class GraphTools(Tools):
    """graph_query."""

    @tool(annotations=READS, tags=CORE, title="Follow relations")
    def graph_query(
        self,
        query: Query,
        *,
        project: InProject = None,
        max_hops: MaxHops = 3,
        top_k: TopK = 10,
        verbosity_level: Verbosity = None,
        session_id: SessionId = None,
        allow_unverified: AllowUnverified = False,
    ) -> GraphAnswer:
        """Answer a question that goes from note to note, such as "where does the lead of X work".

        Name the notes, people or projects to start from. `hops` of a result are the relations that
        lead to it, each stated in the note at its `path`: cite them.
        """
        session = self._box.touch(session_id)
        scope = self._box.scope(project)
        result = self._box.container.live.searcher.search(
            query,
            mode=Mode.DEFAULT,
            top_k=top_k,
            scope=scope,
            allow_unverified=allow_unverified,
            max_hops=max_hops,
            patience=FIRST_PATIENCE,
        )
        self._box.record_answer(session, query, result, scope)
        level = session.level(verbosity_level)
        answer = GraphAnswer(
            results=self._box.presenter.nodes(result.hits, level, query, scope),
            pulse=self._box.pulse_of(result.hits, session),
            notice=result.notice,
        )
        return self._box.presenter.with_conclusions(answer, result, level, scope)
