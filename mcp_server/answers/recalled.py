"""Memories and passages that were found."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from mcp_server.answers.base import Answer, Lines, Named, Shape, optional
from memvault.model.johari import JohariQuadrant
from memvault.model.memory import Lifecycle
from memvault.model.query import Mode


class HopShape(Shape):
    """One step of the road to an answer; ``path`` is the note that states it."""

    source: str = Field(serialization_alias="from")
    relation: str
    target: str = Field(serialization_alias="to")
    path: str


class StateShape(Shape):
    """Entropy and coherence of a memory among those it is linked with."""

    entropy: float
    coherence: float


class NodeShape(Named):
    """``content`` is the passage that answers, ``lines`` where it stands: [first, last]."""

    heading: str | None = optional()
    lines: Lines | None = optional()
    content: str | None = optional()
    relevance_score: float
    confidence: float | None = optional()
    importance: float | None = optional()
    verified: bool | None = optional()
    lifecycle: Lifecycle | None = optional()
    type: str | None = optional()
    created_at: datetime | None = optional()
    johari_quadrant: JohariQuadrant | None = optional()
    hops: list[HopShape] | None = optional()
    project: str | None = optional()
    date: datetime | None = optional()
    tags: list[str] | None = optional()
    rationale: str | None = optional()
    state: StateShape | None = optional()


class RecallAnswer(Answer):
    nodes: list[NodeShape]
    mode: Mode


class GraphAnswer(Answer):
    results: list[NodeShape]


class ChunkShape(Named):
    chunk_id: str
    heading: str
    lines: Lines
    text: str
    score: float


class ChunksAnswer(Answer):
    chunks: list[ChunkShape]
