"""reflect_on_memory and generate_search_plan."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastmcp.tools import tool
from pydantic import Field

from mcp_server.answers.reasoning import (
    ContextShape,
    QueryShape,
    ReflectionAnswer,
    SearchPlanAnswer,
    StepShape,
)
from mcp_server.tools.arguments import FULL, READS, InProject, Query, SessionId
from mcp_server.tools.toolbox import Tools
from memvault.model.errors import GraphQueryError, StoreUnavailable
from memvault.model.memory import Memory
from memvault.model.search import Hit, Scope
from memvault.reasoning.goals import GoalReader, NamedEntity
from memvault.reasoning.search_plan import search_plan
from memvault.reasoning.tool_plan import Trigger, plan, trigger_of
from memvault.search.times.time_spans import Calendar
from memvault.stores.graph_view import GraphView
from memvault.text.names import kind_of

GOAL_MEMORIES = 10  # that show what is known about a goal
SPLIT_MEMORIES = 20  # that decide how a vague question is split

Goal = Annotated[
    str,
    Field(
        min_length=10,
        max_length=500,
        description="What you are trying to achieve, e.g. 'Understand why X causes Y', 'Discover "
        "connections I might have missed'.",
    ),
]
Steps = Annotated[int, Field(ge=1, le=5, description="How many calls at most.")]
Queries = Annotated[int, Field(ge=1, le=10, description="How many questions at most.")]


class PlanningTools(Tools):
    """reflect_on_memory and generate_search_plan."""

    @tool(annotations=READS, tags=FULL, title="Plan calls for a goal")
    def reflect_on_memory(
        self, goal: Goal, session_id: SessionId = None, max_steps: Steps = 3
    ) -> ReflectionAnswer:
        """Get the calls to make, in order, for a goal that no single tool serves.

        They follow from the goal's words and what the memory holds on it. Make them unchanged.
        """
        self._box.touch(session_id)
        now = datetime.now(UTC)
        goal_read = self._reader().read(goal, Calendar.of(self._box.container.settings.calendar))
        hits = self._recalled(goal, GOAL_MEMORIES, goal_read.project)
        pulse = self._box.meter.of_hits(hits)
        result = plan(
            goal_read,
            pulse,
            [_named(hit.memory) for hit in hits],
            tools=self._box.offered,
            max_steps=max_steps,
            now=now,
        )
        return ReflectionAnswer(
            reasoning=result.reasoning,
            suggested_sequence=[
                StepShape.of(step, step=number, params=_in_session(step.params, session_id))
                for number, step in enumerate(result.steps, 1)
            ],
            utl_context=ContextShape.of(pulse, triggered_by=result.triggered_by),
            pulse=pulse,
        )

    @tool(annotations=READS, tags=FULL, title="Split a question")
    def generate_search_plan(
        self,
        query: Query,
        max_queries: Queries = 4,
        project: InProject = None,
        session_id: SessionId = None,
    ) -> SearchPlanAnswer:
        """Split a vague or compound question into specific ones, each with the call to make.

        They use the vault's own names and are narrowed by project, type and time.
        """
        self._box.touch(session_id)
        project = self._box.scope(project).project
        goal = self._reader(project).read(query, Calendar.of(self._box.container.settings.calendar))
        hits = self._recalled(query, SPLIT_MEMORIES, goal.project)
        pulse = self._box.meter.of_hits(hits)
        edges, notice = self._edges()
        vague = trigger_of(pulse) is not Trigger.BALANCED
        steps = search_plan(
            goal,
            hits,
            edges,
            max_queries,
            vague=vague,
            entropy_of=lambda memories: self._box.meter.of_hits(memories).entropy,
            find=self._box.container.live.searcher.find,
        )
        return SearchPlanAnswer(
            queries=[
                QueryShape.of(
                    step, query=step.params["query"], params=_in_session(step.params, session_id)
                )
                for step in steps
            ],
            vague=vague,
            pulse=pulse,
            notice=notice,
        )

    def _reader(self, project: str | None = None) -> GoalReader:
        container = self._box.container
        catalogue = container.live.catalogue
        return GoalReader(
            container.live.indexer.names,
            catalogue.by_id,
            lambda name: bool(catalogue.in_project(name)),
            catalogue.types,
            project,
        )

    def _recalled(self, query: str, top_k: int, project: str | None) -> list[Hit]:
        return self._box.container.live.searcher.find(query, top_k, Scope(None, project))

    def _edges(self) -> tuple[GraphView | None, str | None]:
        edges = self._box.container.live.graph_view
        try:
            edges.node("")
        except (StoreUnavailable, GraphQueryError):
            return None, "The graph is unreachable; the plan uses projects and types only."
        return edges, None


def _named(memory: Memory) -> NamedEntity:
    return NamedEntity(memory.title, memory.id, kind_of(memory), memory)


def _in_session(params: Any, session_id: str | None) -> dict[str, Any]:
    return {**params, "session_id": session_id} if session_id is not None else dict(params)
