"""Plans: calls that a client may make as they stand."""

from __future__ import annotations

from typing import Any

from mcp_server.answers.base import Answer, Shape
from memvault.reasoning.planning import Trigger


class StepShape(Shape):
    step: int
    tool: str
    params: dict[str, Any]
    rationale: str


class ContextShape(Shape):
    """The state of what a quick recall of the goal found."""

    entropy: float
    coherence: float
    triggered_by: Trigger


class ReflectionAnswer(Answer):
    reasoning: str
    suggested_sequence: list[StepShape]
    utl_context: ContextShape


class QueryShape(Shape):
    """``query`` is also among the ``params``, with which ``tool`` is to be called."""

    query: str
    tool: str
    params: dict[str, Any]
    rationale: str


class SearchPlanAnswer(Answer):
    """``vague`` says that the question as it is finds memories that lie far apart or hang together
    badly."""

    queries: list[QueryShape]
    vague: bool
