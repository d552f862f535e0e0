"""Finding one's way: what there is, what stands around it, what happened lately."""

from __future__ import annotations

from datetime import date, datetime

from pydantic import Field

from mcp_server.answers.base import Answer, Named, Shape, optional
from memvault.reasoning.recent import Happening


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
