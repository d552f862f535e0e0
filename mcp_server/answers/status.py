"""How the memory is doing."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Self

from mcp_server.answers.base import Answer, Shape, optional
from memvault.model.change import CurationTask, Priority, TaskType
from memvault.model.state import SuggestedAction


class VerbosityAnswer(Answer):
    """The level of the answers whose call names none, before and from now on."""

    previous_level: int
    new_level: int


class Behaviour(Shape):
    """What to do when something happens, and with which tool."""

    trigger: str
    action: str
    tool: str


class SessionShape(Shape):
    """Whom the answers serve; ``working_set`` are the ids of the memories shown last."""

    session_id: str
    user_id: str
    created: datetime
    verbosity_level: int
    working_set: list[str]


class InstructionsAnswer(Answer):
    system_prompt_fragment: str
    critical_behaviors: list[Behaviour]
    antipatterns: list[str]
    session: SessionShape


class ConceptShape(Shape):
    """A note or a thing named in notes; ``access_count`` tells how often answers gave it, and
    ``connections``, where no answer gave anything yet, in how many relations it takes part."""

    id: str
    name: str
    path: str | None = optional()
    access_count: int
    connections: int | None = optional()


class CurationTaskShape(Shape):
    """Something that a person could put right; ``priority`` is low, medium or high.

    ``suggested_tool`` with ``suggested_arguments`` settles it; add a rationale, and to store_memory
    the content.
    """

    task_type: TaskType
    target_nodes: list[str]
    paths: list[str]
    priority: Priority
    detail: str
    suggested_tool: str | None = optional()
    suggested_arguments: dict[str, Any] | None = optional()

    @classmethod
    def of(cls, task: CurationTask, tools: Collection[str]) -> Self:
        """Suggests the first call that settles the task with one of these tools."""
        call = next((each for each in task.settled_by if each.tool in tools), None)
        return cls(
            task_type=task.task_type,
            target_nodes=list(task.target_nodes),
            paths=list(task.paths),
            priority=task.priority,
            detail=task.detail,
            suggested_tool=call.tool if call else None,
            suggested_arguments=call.arguments if call else None,
        )


class StatusAnswer(Answer):
    """``dream_available`` says whether memories could be consolidated now."""

    entropy_level: float
    coherence_score: float
    top_active_concepts: list[ConceptShape]
    suggested_action: SuggestedAction
    dream_available: bool
    curation_tasks: list[CurationTaskShape]
    curation_tasks_total: int
    indexed: dict[str, int]
    stores: dict[str, str]
