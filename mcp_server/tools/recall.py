"""Finding memories and passages by meaning and by word."""

from __future__ import annotations

from fastmcp.tools import tool

from mcp_server.answers.recalled import ChunksAnswer, ChunkShape, RecallAnswer
from mcp_server.arguments import AskedMode, Narrowing, Project, Query, SessionId, TopK, Verbosity
from mcp_server.toolbox import Toolbox
from mcp_server.tools.kinds import CORE, READS
from memvault.model.johari import JohariQuadrant
from memvault.model.memory import Memory
from memvault.model.query import ChunkHit, Mode, Recalled, Scope

MOST = 100  # memories looked at when a filter works on what was found


class RecallTools:
    """Tools over `Recall`."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    @tool(annotations=READS, tags=CORE, title="Recall memories")
    def recall_memory(
        self,
        query: Query,
        *,
        top_k: TopK = 10,
        mode: AskedMode = "auto",
        project: Project = None,
        verbosity_level: Verbosity = 1,
        session_id: SessionId = None,
        filters: Narrowing = None,
    ) -> RecallAnswer:
        """Find what the person's notes say about something, best first, each note once.

        Call this before answering anything about the person, their projects, people, decisions,
        plans or earlier conversations. `content` is the passage that matched; cite `title` and
        `path` with `lines`. Use get_memory for the whole note, graph_query for questions that go
        from one note to another ("who leads the project that ...").
        """
        self._box.sessions.touch(session_id)
        found = self._recall(query, top_k, Scope(filters, project))
        return RecallAnswer(
            nodes=self._box.nodes(found, verbosity_level),
            mode=Mode.DEFAULT if mode == "auto" else Mode(mode),
            pulse=self._box.pulse_of(found),
        )

    @tool(annotations=READS, tags=CORE, title="Search passages")
    def vector_search(
        self, query: Query, top_k: TopK = 10, project: Project = None, filters: Narrowing = None
    ) -> ChunksAnswer:
        """Find the passages closest to a text, best first; one note may give several.

        For gathering quotations or every place where something is said. To answer a question,
        recall_memory is the better start.
        """
        wanted = filters.johari_quadrants if filters else None
        limit = MOST if wanted else top_k
        hits = self._box.services.recall.search_chunks(query, limit, Scope(filters, project))
        by_id = self._box.services.indexer.catalogue.by_id
        known = [(hit, memory) for hit in hits if (memory := by_id(hit.note_id)) is not None]
        fitting = self._in_quadrants([memory for _, memory in known], wanted)
        shown = [(hit, memory) for hit, memory in known if memory.id in fitting][:top_k]
        best = {memory.id: hit.score for hit, memory in reversed(shown)}
        return ChunksAnswer(
            chunks=[_chunk(hit, memory) for hit, memory in shown],
            pulse=self._box.meter.of(list(best), list(best.values())),
        )

    def _recall(self, query: str, top_k: int, scope: Scope) -> list[tuple[Recalled, Memory]]:
        wanted = scope.filters.johari_quadrants if scope.filters else None
        found = self._box.known(
            self._box.services.multihop.recall(query, MOST if wanted else top_k, scope)
        )
        fitting = self._in_quadrants([memory for _, memory in found], wanted)
        return [pair for pair in found if pair[1].id in fitting][:top_k]

    def _in_quadrants(
        self, memories: list[Memory], wanted: list[JohariQuadrant] | None
    ) -> set[str]:
        ids = list(dict.fromkeys(memory.id for memory in memories))
        if not wanted:
            return set(ids)
        states = self._box.meter.states(ids)
        return {key for key in ids if states[key].quadrant in wanted}


def _chunk(hit: ChunkHit, memory: Memory) -> ChunkShape:
    return ChunkShape(
        id=memory.id,
        title=memory.title,
        path=memory.path,
        chunk_id=hit.chunk_id,
        heading=hit.heading,
        lines=list(hit.lines),
        text=hit.text,
        score=round(hit.score, 3),
    )
