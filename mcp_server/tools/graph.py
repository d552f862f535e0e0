"""Questions that go from one note to another."""

from __future__ import annotations

from fastmcp.tools import tool

from mcp_server.answers.recalled import GraphAnswer
from mcp_server.arguments import MaxHops, Project, Query, SessionId, TopK, Verbosity
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
    ) -> GraphAnswer:
        """Answer a question whose answer stands some relations away, in plain language.

        For "where does the lead of X work", "which projects do people I met at Y lead", "what
        decided Z": name the notes, people or projects you start from. Each result has `hops`, the
        road of relations that led to it (the note at `path` states each), to be cited with it.
        """
        session = self._box.touch(session_id)
        scope = Scope(None, project)
        reached = self._box.services.steady.ask(query, top_k, scope, max_hops)
        found = self._box.known(reached.memories)
        ids, level = [memory.id for _, memory in found], session.level(verbosity_level)
        self._box.returned(session, ids)
        answer = GraphAnswer(
            results=self._box.nodes(found, level, query),
            pulse=self._box.pulse_of(found),
            notice=reached.notice,
        )
        return self._box.concluded(answer, ids, level)
