"""How the memory is doing."""

from __future__ import annotations

from mcp_server.answers.base import Answer, Shape, optional


class ConceptShape(Shape):
    """A note or a thing named in notes; ``connections`` counts the relations it takes part in."""

    id: str
    name: str
    path: str | None = optional()
    connections: int


class CurationTask(Shape):
    """Something that a person could put right; ``priority`` is low, medium or high."""

    task_type: str
    target_nodes: list[str]
    paths: list[str]
    priority: str
    detail: str


class StatusAnswer(Answer):
    entropy_level: float
    coherence_score: float
    top_active_concepts: list[ConceptShape]
    curation_tasks: list[CurationTask]
    curation_tasks_total: int
    indexed: dict[str, int]
    stores: dict[str, str]
