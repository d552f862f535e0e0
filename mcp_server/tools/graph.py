"""Questions that go from one note to another."""

from __future__ import annotations

from fastmcp.tools import tool

from mcp_server.answers.recalled import GraphAnswer
from mcp_server.arguments import (
    AllowUnverified,
    MaxHops,
    Project,
    Query,
    SessionId,
    TopK,
    Verbosity,
)
from mcp_server.checked import checked, log_override
from mcp_server.toolbox import Toolbox
from mcp_server.tools.kinds import CORE, READS
from memvault.model.query import Scope


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
