"""One whole note."""

from __future__ import annotations

from datetime import datetime

from mcp_server.answers.base import Answer, Named, Shape, optional
from memvault.model.memory import JohariQuadrant, Lifecycle, UTLState


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
