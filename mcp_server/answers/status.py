"""Answers about the memory as a whole: status, manifest, neighbours, recent notes, maps."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime
from typing import Any, Self

from pydantic import Field

from mcp_server.answers.base import Answer, Named, Shape, optional
from memvault.model.change import CurationTask, Priority, TaskType
from memvault.model.search import ConflictKind
from memvault.model.state import SuggestedAction
from memvault.reasoning.memory_map import MemoryMap
from memvault.reasoning.vault_overview import Happening


class KnownShape(Shape):
    """A note, or a thing without one; ``notes`` counts the notes that name it."""

    id: str
    name: str
    kind: str
    path: str | None = optional()
    notes: int


class ManifestAnswer(Answer):
    """Counts are of notes, but for ``relations``: how often each name is used.

    ``prompt_fragment`` says the same in words, for a client to keep.
    """

    prompt_fragment: str
    notes: int
    first_day: date | None = optional()
    last_day: date | None = optional()
    kinds: dict[str, int] | None = optional()
    projects: dict[str, int] | None = optional()
    tags: dict[str, int] | None = optional()
    relations: dict[str, int] | None = optional()
    concepts: list[KnownShape] | None = optional()


class NeighbourShape(Shape):
    """``relation`` and ``sentence`` are of the last step, which the note at ``stated_in`` states;
    ``via`` is left out next to the centre. Without ``path`` no note stands for it yet."""

    id: str
    title: str
    path: str | None = optional()
    kind: str | None = optional()
    distance: int
    relation: str
    outgoing: bool | None = optional()
    via: str | None = optional()
    sentence: str | None = optional()
    stated_in: str | None = optional()
    line: int | None = optional()
    weight: float
    relevance: float | None = optional()


class NeighbourhoodAnswer(Answer):
    """``total`` counts the edges at the centre itself."""

    id: str
    title: str
    path: str | None = optional()
    neighbors: list[NeighbourShape]
    total: int


class RecentShape(Named):
    what: Happening
    at: datetime
    type: str | None = optional()
    working_set: bool | None = optional()
    access_count: int | None = optional()


class RecentProject(Shape):
    """``project`` is null for what belongs to none."""

    project: str | None
    memories: list[RecentShape]


class RecentAnswer(Answer):
    since: datetime
    projects: list[RecentProject] = Field(description="The project with the latest first.")
    total: int


class MapNodeShape(Shape):
    """``asked``: the picture was asked for around it; ``weight`` in [0, 1] tells how strongly the
    others are joined to such nodes."""

    id: str
    title: str
    kind: str
    path: str | None = optional()
    asked: bool
    weight: float | None = optional()


class MapEdgeShape(Shape):
    """``stated`` counts how often notes say so; ``conflict``: the two do not both hold."""

    source: str
    target: str
    relation: str
    weight: float | None = optional()
    stated: int
    conflict: bool


class ClashShape(Shape):
    """``node_a`` is the one to be relied on, where anything tells which; ``about`` says in what
    they differ."""

    node_a: str
    node_b: str
    conflict_type: ConflictKind
    about: str
    titles: list[str]


class VisualResource(Shape):
    """One of ``mermaid_code``, ``d3_json`` and ``graphviz_code``, as was asked for; ``notice``
    tells what the picture leaves out."""

    scope: str
    topic: str
    format: str
    mermaid_code: str | None = optional()
    d3_json: dict[str, Any] | None = optional()
    graphviz_code: str | None = optional()
    nodes: list[MapNodeShape]
    edges: list[MapEdgeShape]
    conflicts: list[ClashShape]
    notice: str | None = optional()


def nodes_of(drawn: MemoryMap, *, weights: bool) -> list[MapNodeShape]:
    return [
        MapNodeShape(
            id=node.id,
            title=node.name,
            kind=node.kind,
            path=node.path,
            asked=node.asked,
            weight=round(node.weight, 3) if weights else None,
        )
        for node in drawn.nodes
    ]


def edges_of(drawn: MemoryMap, *, weights: bool) -> list[MapEdgeShape]:
    return [
        MapEdgeShape(
            source=edge.source,
            target=edge.target,
            relation=edge.relation,
            weight=round(edge.weight, 3) if weights else None,
            stated=edge.stated,
            conflict=edge.contested,
        )
        for edge in drawn.edges
    ]


def clashes_of(drawn: MemoryMap) -> list[ClashShape]:
    return [
        ClashShape(
            node_a=each.sides[0].thing.id,
            node_b=each.sides[1].thing.id,
            conflict_type=each.kind,
            about=each.about,
            titles=[side.thing.name for side in each.sides],
        )
        for each in drawn.conflicts
    ]


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
