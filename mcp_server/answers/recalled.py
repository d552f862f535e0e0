"""Memories and passages that were found."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import Field

from mcp_server.answers.base import Answer, Lines, Named, Shape, optional
from mcp_server.answers.insights import CausalShape, ConeShape, ConflictShape, SurroundingsShape
from memvault.cognition.pulse import MemoryState
from memvault.model.memory import JohariQuadrant, Lifecycle, UTLState
from memvault.model.provenance import OriginKind
from memvault.model.search import Mode, Status


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

    @classmethod
    def of(cls, state: MemoryState) -> Self:
        return cls(entropy=round(state.entropy, 3), coherence=round(state.coherence, 3))


class EvidenceShape(Named):
    """A sentence of another note that speaks against a memory; ``said`` is the value it gives.
    Neither is shown on critical matters if only a client or an import says so."""

    lines: Lines
    sentence: str | None = optional()
    said: str | None = optional()


class VerificationShape(Shape):
    """What other notes and the person say to a memory: ``score`` is 1 verified, under 0.7 not."""

    status: Status
    score: float
    confirmed_by: list[str] | None = optional(description="Paths of the notes that say the same.")
    contradicted_by: list[EvidenceShape] | None = optional()
    withheld: bool | None = optional(description="Its text is not shown: it is unverified.")


class NodeShape(Named):
    """``content`` is the passage that answers, ``lines`` where it stands: [first, last];
    ``heading`` is what it stands under, where that is more than the title."""

    heading: str | None = optional()
    lines: Lines | None = optional()
    content: str | None = optional()
    relevance_score: float
    confidence: float | None = optional()
    importance: float | None = optional()
    verified: bool | None = optional()
    origin: OriginKind | None = optional()
    verification: VerificationShape | None = optional()
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
    utl_state: UTLState | None = optional()


class FullAnswer(Answer):
    """What is concluded from the answer's memories together; told at verbosity 2, where an empty
    list says that there is nothing of the kind. ``neighborhood`` is told as far as the answer keeps
    to its 800 tokens."""

    causal_links: list[CausalShape] | None = optional()
    entailment_cones: list[ConeShape] | None = optional()
    conflict_analysis: list[ConflictShape] | None = optional()
    neighborhood: list[SurroundingsShape] | None = optional()


class RecallAnswer(FullAnswer):
    nodes: list[NodeShape]
    mode: Mode


class GraphAnswer(FullAnswer):
    results: list[NodeShape]


class ChunkShape(Named):
    """Without heading and text at verbosity 0."""

    chunk_id: str
    heading: str | None = optional()
    lines: Lines
    text: str | None = optional()
    score: float
    verified: bool | None = optional()
    origin: OriginKind | None = optional()
    withheld: bool | None = optional(description="Its text is not shown: it is unverified.")


class ChunksAnswer(Answer):
    chunks: list[ChunkShape]


class SearchResult(Shape):
    id: str
    title: str
    url: str


class SearchAnswer(Answer):
    results: list[SearchResult]


class FetchAnswer(Answer):
    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


class LinkShape(Shape):
    """A relation of the note to another; without ``path`` no note stands for the other yet."""

    relation: str
    title: str
    id: str | None = optional()
    path: str | None = optional()
    line: int


class MemoryAnswer(Answer, Named):
    """``content`` is the whole note, frontmatter included, as it is on disk. ``agent_id`` is the
    client that stored it, left out for what a person wrote; ``access_count`` counts this call."""

    content: str
    links: list[LinkShape]
    backlinks: list[LinkShape]
    lifecycle: Lifecycle
    type: str
    importance: float
    verified: bool
    created_at: datetime
    johari_quadrant: JohariQuadrant
    utl_state: UTLState
    access_count: int
    last_accessed: datetime
    agent_id: str | None = optional()
    tags: list[str]
    project: str | None = optional()
