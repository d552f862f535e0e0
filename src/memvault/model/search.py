"""What checking a memory against other notes found (triple 2.7)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from memvault.model.memory import JohariQuadrant, Lifecycle
from memvault.model.note import ChunkSize, LineRange


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


class VerbosityLevel(IntEnum):
    RAW_ONLY = 0  # about 100 tokens for a usual answer
    TEXT_AND_IDS = 1  # about 200; what an answer says unless asked
    FULL_INSIGHTS = 2  # about 800

    @classmethod
    def from_level(cls, level: int) -> VerbosityLevel:
        """The level of this number; ``TEXT_AND_IDS`` for one that is none."""
        try:
            return cls(level)
        except ValueError:
            return cls.TEXT_AND_IDS


class Status(StrEnum):
    VERIFIED = "verified"
    UNVERIFIED = "unverified"
    CONTRADICTED = "contradicted"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence of another note; ``said`` is the value that it gives, or how it is opposed."""

    note_id: str
    title: str
    path: str
    lines: LineRange
    sentence: str
    said: str


@dataclass(frozen=True, slots=True)
class Verification:
    """``score``: 1.0 verified, under 0.7 unverified, lower still contradicted (FR-46).

    Attributes:
        by_person: the person verified the note themselves.
        answers: the memory states something that the question asks for, and that was checked.
    """

    status: Status
    score: float
    by_person: bool
    answers: bool
    confirmed_by: tuple[Evidence, ...] = ()
    contradicted_by: tuple[Evidence, ...] = ()

    @property
    def verified(self) -> bool:
        return self.status is Status.VERIFIED
