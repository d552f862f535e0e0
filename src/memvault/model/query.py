"""What a question asks for, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from memvault.model.chunk import ChunkSize
from memvault.model.johari import JohariQuadrant
from memvault.model.memory import Lifecycle
from memvault.model.note import LineRange


class Mode(StrEnum):
    PLANNING = "planning"
    EXECUTION = "execution"
    DEFAULT = "default"


class Filters(BaseModel):
    """Narrow an answer; every given field must hold. Dates are compared in UTC."""

    model_config = ConfigDict(extra="forbid")

    min_importance: float | None = Field(None, ge=0.0, le=1.0)
    johari_quadrants: list[JohariQuadrant] | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    lifecycles: list[Lifecycle] | None = None
    types: list[str] | None = None
    tags: list[str] | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """Which chunks a search may see: the filters, and the one project asked in.

    A question asked in a project sees that project's memories and those of no project.
    """

    filters: Filters | None = None
    project: str | None = None


class ChunkHit(NamedTuple):
    """A chunk found; ``score`` is the engine's own (cosine, or BM25).

    ``covers`` are the larger sizes that it stands for too (see `Chunk`). A tuple, since a question
    has hundreds and a tuple is made in a third of the time.
    """

    chunk_id: str
    note_id: str
    size: ChunkSize
    heading: str
    lines: LineRange
    text: str
    score: float
    covers: tuple[ChunkSize, ...] = ()

    @property
    def sizes(self) -> tuple[ChunkSize, ...]:
        return (self.size, *self.covers)


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of the road to an answer. ``path`` is the note that states it."""

    source: str
    relation: str
    target: str
    path: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory found, with the passage that found it; ``relevance`` lies in [0, 1]."""

    note_id: str
    relevance: float
    heading: str
    lines: LineRange
    text: str
    hops: tuple[Hop, ...] = field(default=())
