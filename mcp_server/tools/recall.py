"""Questions that go from one note to another."""

from __future__ import annotations

from collections.abc import Sequence

from fastmcp.tools import tool

from mcp_server.answers.memory_presenter import checked, log_override
from mcp_server.answers.recalled import ChunksAnswer, ChunkShape, GraphAnswer, RecallAnswer
from mcp_server.tools.arguments import (
    CORE,
    READS,
    AllowUnverified,
    AskedMode,
    MaxHops,
    MostShown,
    Narrowing,
    Project,
    Query,
    SessionId,
    TopK,
    Verbosity,
)
from mcp_server.tools.toolbox import Toolbox
from memvault.model.memory import JohariQuadrant, Memory
from memvault.model.search import ChunkHit, Filters, Mode, Scope, VerbosityLevel
from memvault.search.scope import widened
from memvault.verification.sensitive_topics import matter_of
from memvault.verification.verified_recall import Fitting

UNCHECKED = (
    "The question is on a legal, financial or policy matter, and passages are quoted unchecked: "
    "rely on none of them before recall_memory says that it is verified."
)


class RecallTools:
    """Tools over `Recall`."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    @tool(annotations=READS, tags=CORE, title="Recall memories")
    def recall_memory(
        self,
        query: Query,
        *,
        top_k: MostShown = None,
        mode: AskedMode = "auto",
        project: Project = None,
        verbosity_level: Verbosity = None,
        session_id: SessionId = None,
        filters: Narrowing = None,
        allow_unverified: AllowUnverified = False,
    ) -> RecallAnswer:
        """Find what the person's notes say about something, best first, each note once.

        Call this before answering anything about the person, their projects, people, decisions,
        plans or earlier conversations. `content` is the passage that matched; cite `title` and
        `path` with `lines`. Use get_memory for the whole note, graph_query for questions that go
        from one note to another ("who leads the project that ..."). `confidence` is the chance that
        a memory answers; `verification` tells which other notes confirm or contradict it. On legal,
        financial and policy matters what nobody confirms is named without its text.
        """
        session = self._box.touch(session_id)
        level = session.level(verbosity_level)
        answered = self._box.services.verified_recall.ask(
            query,
            mode=None if mode == "auto" else Mode(mode),
            top_k=top_k,
            scope=Scope(filters, project),
            fitting=self._fitting(filters),
            allow_unverified=allow_unverified,
        )
        if allow_unverified and answered.matter is not None and answered.unverified:
            log_override(self._box.services.journal, query, answered)
        found = [(each.recalled, each.memory) for each in answered.memories]
        ids = [memory.id for _, memory in found]
        self._box.returned(session, ids)
        answer = RecallAnswer(
            nodes=checked(self._box.nodes(found, level, query), answered.memories, level),
            mode=answered.mode,
            notice=answered.notice,
            pulse=self._box.pulse_of(found),
        )
        return self._box.concluded(answer, ids, level)

    @tool(annotations=READS, tags=CORE, title="Search passages")
    def vector_search(
        self,
        query: Query,
        top_k: TopK = 10,
        *,
        project: Project = None,
        verbosity_level: Verbosity = None,
        session_id: SessionId = None,
        filters: Narrowing = None,
    ) -> ChunksAnswer:
        """Find the passages closest to a text, best first; one note may give several.

        For gathering quotations or every place where something is said. To answer a question,
        recall_memory is the better start.
        """
        session = self._box.touch(session_id)
        level = session.level(verbosity_level)
        wanted = filters.johari_quadrants if filters else None
        search, scope = self._box.services.recall.search_chunks, Scope(filters, project)
        by_id = self._box.services.indexer.catalogue.by_id

        def look(limit: int) -> list[tuple[ChunkHit, Memory]]:
            hits = search(query, limit, scope)
            return [(hit, memory) for hit in hits if (memory := by_id(hit.note_id)) is not None]

        def fits(known: Sequence[tuple[ChunkHit, Memory]]) -> list[tuple[ChunkHit, Memory]]:
            fitting = self._in_quadrants([memory for _, memory in known], wanted)
            return [pair for pair in known if pair[1].id in fitting]

        shown = (widened(look, fits, top_k) if wanted else look(top_k))[:top_k]
        best: dict[str, float] = {}
        for hit, memory in shown:
            best.setdefault(memory.id, hit.score)
        self._box.returned(session, list(best))
        return ChunksAnswer(
            chunks=[_chunk(hit, memory, level) for hit, memory in shown],
            pulse=self._box.meter.of(list(best), list(best.values())),
            notice=UNCHECKED if matter_of(query) is not None and shown else None,
        )

    def _fitting(self, filters: Filters | None) -> Fitting | None:
        wanted = filters.johari_quadrants if filters else None
        return (lambda memories: self._in_quadrants(memories, wanted)) if wanted else None

    def _in_quadrants(
        self, memories: Sequence[Memory], wanted: list[JohariQuadrant] | None
    ) -> set[str]:
        ids = list(dict.fromkeys(memory.id for memory in memories))
        if not wanted:
            return set(ids)
        states = self._box.meter.states(ids)
        return {key for key in ids if states[key].quadrant in wanted}


def _chunk(hit: ChunkHit, memory: Memory, level: VerbosityLevel) -> ChunkShape:
    told = level is not VerbosityLevel.RAW_ONLY
    return ChunkShape(
        id=memory.id,
        title=memory.title,
        path=memory.path,
        chunk_id=hit.chunk_id,
        heading=hit.heading if told else None,
        lines=list(hit.lines),
        text=hit.text if told else None,
        score=round(hit.score, 3),
    )


class GraphTools:
    """Tools over the graph."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    @tool(annotations=READS, tags=CORE, title="Ask the graph")
    def graph_query(
        self,
        query: Query,
        *,
        project: Project = None,
        max_hops: MaxHops = 3,
        top_k: TopK = 10,
        verbosity_level: Verbosity = None,
        session_id: SessionId = None,
        allow_unverified: AllowUnverified = False,
    ) -> GraphAnswer:
        """Answer a question whose answer stands some relations away, in plain language.

        For "where does the lead of X work", "which projects do people I met at Y lead", "what
        decided Z": name the notes, people or projects you start from. Each result has `hops`, the
        road of relations that led to it (the note at `path` states each), to be cited with it. On
        legal, financial and policy matters what nobody confirms is named without its text.
        """
        session = self._box.touch(session_id)
        scope = Scope(None, project)
        reached = self._box.services.steady.ask(query, top_k, scope, max_hops)
        found = self._box.known(reached.memories)
        ids, level = [memory.id for _, memory in found], session.level(verbosity_level)
        self._box.returned(session, ids)
        results, notice = self._box.nodes(found, level, query), reached.notice
        judged = self._box.services.verified_recall.judge(
            query, found, scope, allow_unverified=allow_unverified
        )
        if judged is not None:
            results = checked(results, judged.memories, level)
            notice = " ".join(filter(None, (notice, judged.notice))) or None
            if allow_unverified and judged.unverified:
                log_override(self._box.services.journal, query, judged)
        answer = GraphAnswer(results=results, pulse=self._box.pulse_of(found), notice=notice)
        return self._box.concluded(answer, ids, level)
