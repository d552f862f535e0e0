"""How the memory is doing."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Self

from mcp_server.answers.base import Answer, Shape, optional
from memvault.model.curation import CurationTask, Priority, TaskType
from memvault.model.pulse import SuggestedAction


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

    ``suggested_tool`` with ``suggested_arguments``, and a rationale, settles it.
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
        """A tool is suggested if it is one of these."""
        known = task.suggested_tool in tools
        return cls(
            task_type=task.task_type,
            target_nodes=list(task.target_nodes),
            paths=list(task.paths),
            priority=task.priority,
            detail=task.detail,
            suggested_tool=task.suggested_tool if known else None,
            suggested_arguments=task.suggested_arguments if known else None,
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
