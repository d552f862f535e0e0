"""What the resources show."""

from __future__ import annotations

from datetime import datetime

from mcp_server.answers.base import Named, Shape, optional
from mcp_server.answers.recalled import StateShape
from mcp_server.answers.status import ConceptShape
from memvault.model.memory import JohariQuadrant, Lifecycle, Stage, UTLState
from memvault.model.state import CognitivePulse


class PulseResource(CognitivePulse):
    """``thought_loop_warning``: the pulse was read again and again, and no tool was called."""

    lifecycle: Stage
    curation_tasks_pending: int
    thought_loop_warning: bool


class SessionStateResource(Shape):
    """``johari`` counts the memories of the working set by quadrant."""

    session_id: str
    memories: int
    entropy: float
    coherence: float
    learning_score: float
    utl_state: UTLState
    johari: dict[JohariQuadrant, int]
    last_activity: datetime


class ContextMemory(Named):
    type: str
    project: str | None = optional()
    johari_quadrant: JohariQuadrant


class ContextResource(Shape):
    """``memories`` are what the session's answers showed, the most recent first; ``concepts``
    what the whole vault is mostly about."""

    scope: str
    memories: list[ContextMemory] | None = optional()
    concepts: list[ConceptShape] | None = optional()
    notes: int | None = optional()
    lifecycle: Stage | None = optional()
    pulse: CognitivePulse


class EdgeShape(Shape):
    """The note at ``stated_in`` says in ``line`` that the one is related to the other;
    ``outgoing`` when the relation starts here. Without ``path`` no note stands for the other."""

    relation: str
    outgoing: bool
    id: str
    title: str
    path: str | None = optional()
    sentence: str | None = optional()
    stated_in: str | None = optional()
    line: int
    weight: float


class NodeResource(Shape):
    """A memory, or a thing that notes name, which has neither path nor text; ``edges`` are its
    strongest, of ``edges_total``."""

    id: str
    title: str
    kind: str
    path: str | None = optional()
    content: str | None = optional()
    lifecycle: Lifecycle | None = optional()
    importance: float | None = optional()
    verified: bool | None = optional()
    created_at: datetime | None = optional()
    access_count: int | None = optional()
    johari_quadrant: JohariQuadrant | None = optional()
    state: StateShape | None = optional()
    utl_state: UTLState | None = optional()
    edges: list[EdgeShape]
    edges_total: int
    pulse: CognitivePulse
