"""Answers about the memory as a whole: status, manifest, neighbours, recent notes, maps."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from typing import Any, Self

from pydantic import Field

from mcp_server.answers.base import (
    Answer,
    Brief,
    Filled,
    MemoryNamed,
    Moment,
    Rounded,
    Shape,
    optional,
    read_from,
)
from memvault.model.change import CurationTask, Priority, TaskType
from memvault.model.state import SuggestedAction
from memvault.model.verification import ConflictKind
from memvault.reasoning.recent_activity import Happening


class KnownShape(Shape):
    """A note, or an entity without one; ``notes`` counts the notes that name it."""

    id: str = read_from("node.id")
    name: str = read_from("node.name")
    kind: str
    path: str | None = optional("node.path")
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
    ``via`` is left out next to the centre. Without ``path`` there is no note of it yet."""

    id: str = read_from("node.id")
    title: str = read_from("node.name")
    path: str | None = optional("node.path")
    kind: str | None = optional()
    distance: int
    relation: str
    outgoing: bool | None = optional()
    via: str | None = optional("via.name")
    sentence: str | None = optional("source.sentence")
    stated_in: str | None = optional("source.path")
    line: int | None = optional("source.line")
    weight: Rounded
    relevance: Rounded | None = optional()


class NeighbourhoodAnswer(Answer):
    """``total`` counts the edges at the centre itself."""

    id: str
    title: str
    path: str | None = optional()
    neighbors: list[NeighbourShape]
    total: int


class RecentShape(MemoryNamed):
    what: Happening
    at: Moment
    type: str | None = optional("memory.type")
    working_set: bool | None = optional()
    access_count: int | None = optional()


class RecentProject(Shape):
    """``project`` is null for what belongs to none."""

    project: str | None
    memories: list[RecentShape]


class RecentAnswer(Answer):
    since: Moment
    projects: list[RecentProject] = Field(description="The project with the latest first.")
    total: int


class MapNodeShape(Shape):
    """``asked``: a centre of the map; ``weight`` in [0, 1] is how strongly the others are connected
    to the centres."""

    id: str
    title: str = read_from("name")
    kind: str
    path: str | None = optional()
    asked: bool = read_from("is_given")
    weight: Rounded | None = optional()


class MapEdgeShape(Shape):
    """``stated`` counts how often notes state it; ``conflict``: the nodes contradict each other."""

    source: str
    target: str
    relation: str
    weight: Rounded | None = optional()
    stated: int
    conflict: bool = read_from("contested")


class ClashShape(Shape):
    """``node_a`` is the more reliable one, if known; ``about`` says how they differ."""

    node_a: str
    node_b: str
    conflict_type: ConflictKind = read_from("kind")
    about: str
    titles: list[str]


class VisualResource(Shape):
    """``mermaid_code``, ``d3_json`` or ``graphviz_code``, as requested; ``notice`` says what the
    map leaves out."""

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


class VerbosityAnswer(Answer):
    """The default level of answers, before and from now on."""

    previous_level: int
    new_level: int


class Behaviour(Shape):
    """What to do when something happens, and with which tool."""

    trigger: str
    action: str
    tool: str


class SessionShape(Shape):
    """The client's session; ``working_set`` are the ids of the memories shown last."""

    session_id: str = read_from("id")
    user_id: str
    created: Moment
    verbosity_level: int = read_from("verbosity")
    working_set: list[str]


class InstructionsAnswer(Answer):
    system_prompt_fragment: str
    critical_behaviors: list[Behaviour]
    antipatterns: list[str]
    session: SessionShape


class ConceptShape(Shape):
    """A note, or an entity named in notes; ``access_count`` is how often answers showed it.
    ``connections`` counts its relations; it is given until an answer has shown any memory."""

    id: str
    name: str
    path: str | None = optional()
    access_count: int
    connections: int | None = optional()


class CurationTaskShape(Shape):
    """Something that the person could correct; ``priority`` is low, medium or high.

    Calling ``suggested_tool`` with ``suggested_arguments`` settles it; add a rationale, and for
    store_memory the content.
    """

    task_type: TaskType
    target_nodes: list[str]
    paths: list[str]
    priority: Priority
    detail: str
    suggested_tool: str | None = optional()
    suggested_arguments: dict[str, Any] | None = optional()

    @classmethod
    def settled_with(cls, tools: Collection[str], task: CurationTask) -> Self:
        """The task, with the first call of one of these tools that settles it."""
        call = next((action for action in task.settled_by if action.tool in tools), None)
        return cls.of(
            task,
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


class CitedSentenceShape(Shape):
    path: str
    line: int
    sentence: Brief


class ProposalShape(Shape):
    """What a dream proposes to the person."""

    kind: str
    title: Filled[str] = optional()
    paths: list[str]
    reason: str
    evidence: list[CitedSentenceShape]


class DreamPhaseShape(Shape):
    """One phase of a dream, with the counts of what it did and found."""

    phase: str
    at: Moment
    seconds: Rounded
    complete: bool
    replayed: int
    consolidated: int
    queries: int
    unanswered: int
    discoveries: int


class DreamAnswer(Answer):
    """``phases`` ended during this call; ``proposals`` are the latest of those that wait for the
    person, whose number is ``waiting``."""

    running: bool
    phases: list[DreamPhaseShape]
    proposals: list[ProposalShape]
    waiting: int
