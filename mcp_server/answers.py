"""What the tools give: typed, so that clients know the shape of an answer in advance.

What has nothing to say is left out, for every field costs a model tokens.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from memvault.model.johari import JohariQuadrant, UTLState
from memvault.model.memory import Lifecycle
from memvault.model.pulse import CognitivePulse
from memvault.model.query import Mode

# First and last line; a list, since some clients refuse schemas of tuples.
Lines = Annotated[list[int], Field(min_length=2, max_length=2)]


def _is_none(value: object) -> bool:
    return value is None


def optional(**field: Any) -> Any:
    """A field that is left out of the answer when it is None."""
    return Field(None, exclude_if=_is_none, **field)


class Shape(BaseModel):
    model_config = ConfigDict(frozen=True, serialize_by_alias=True)


class Answer(Shape):
    """Every answer has a pulse; ``notice`` says what could not be asked this time."""

    pulse: CognitivePulse
    notice: str | None = optional()


class Named(Shape):
    """A memory as every answer names it; ``path`` is relative to the vault."""

    id: str
    title: str
    path: str


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


class MemoryNode(Named):
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
    nodes: list[MemoryNode]
    mode: Mode


class GraphAnswer(Answer):
    results: list[MemoryNode]


class ChunkShape(Named):
    chunk_id: str
    heading: str
    lines: Lines
    text: str
    score: float


class ChunksAnswer(Answer):
    chunks: list[ChunkShape]


class StoredAnswer(Answer):
    node_id: str
    path: str
    created_at: datetime
    johari_quadrant: JohariQuadrant
    utl_state: UTLState


class PreferenceAnswer(Answer):
    """``value`` and ``path`` are null for a preference that the person never stated."""

    key: str
    value: str | None
    path: str | None


class LinkShape(Shape):
    """A relation of the note to another; without ``path`` no note stands for the other yet."""

    relation: str
    title: str
    id: str | None = optional()
    path: str | None = optional()
    line: int


class MemoryAnswer(Answer, Named):
    """``content`` is the whole note, frontmatter included, as it is on disk."""

    content: str
    links: list[LinkShape]
    backlinks: list[LinkShape]
    lifecycle: Lifecycle
    type: str
    importance: float
    verified: bool
    created_at: datetime
    johari_quadrant: JohariQuadrant
    tags: list[str]
    project: str | None = optional()


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


def utc(moment: datetime) -> datetime:
    """The moment in UTC, to the second, as answers show it."""
    return moment.astimezone(UTC).replace(microsecond=0)


def excerpt(text: str, limit: int) -> str:
    """At most ``limit`` characters of a text, cut after a sentence if one ends in its second half,
    else after a word."""
    text = text.strip()
    if len(text) <= limit:
        return text
    head = text[:limit]
    sentence = max(head.rfind(mark) for mark in (". ", "! ", "? ", ".\n", "\n\n", "。"))
    if sentence >= limit // 2:
        return head[: sentence + 1].rstrip() + " …"
    word = max(head.rfind(" "), head.rfind("\n"))
    return (head[:word] if word >= limit // 2 else head).rstrip() + " …"
