"""Searches: their scope, hits and their verification (triple 2.7), and insights about memories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Annotated, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, BaseModel, Field, model_validator

from memvault.model.memory import JohariQuadrant, Lifecycle, Memory
from memvault.model.moments import in_utc
from memvault.model.note import LineRange
from memvault.model.provenance import OriginKind
from memvault.model.verification import UNCHECKED, ConflictKind, Verification

Aspect = Literal["causal_links", "entailment_cones", "neighborhood", "conflicts"]


@dataclass(frozen=True, slots=True)
class NodeRef:
    """A memory, or an entity named in notes; ``path`` is None for an entity without a note."""

    id: str
    name: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class RelationSource:
    """Where a relation is stated: note, line and sentence."""

    path: str
    line: int
    sentence: str


@dataclass(frozen=True, slots=True)
class CausalLink:
    """``relation`` is as it is written; the direction is always from cause to effect."""

    cause: NodeRef
    effect: NodeRef
    relation: str
    source: RelationSource


@dataclass(frozen=True, slots=True)
class Related:
    """A node that is more general or more specific than a memory, and why."""

    node: NodeRef
    why: str
    source: RelationSource | None = None  # None where a folder or a nested tag implies it


@dataclass(frozen=True, slots=True)
class EntailmentCone:
    """The nodes that a memory is a part or an instance of, and those that are so of the memory."""

    memory_id: str
    general: tuple[Related, ...] = ()
    special: tuple[Related, ...] = ()


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A node reached from a memory; ``relation`` and ``source`` belong to the last step.

    ``distance`` counts relations. ``weight`` lies in [0, 1], see `memvault.reasoning.insights`.
    ``outgoing``: the note nearer to the memory states the last step.
    """

    node: NodeRef
    kind: str
    distance: int
    relation: str
    outgoing: bool
    via: NodeRef
    weight: float
    relevance: float
    source: RelationSource


@dataclass(frozen=True, slots=True)
class ConflictSide:
    """One side of a conflict, in the words of its note."""

    node: NodeRef
    text: str
    path: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two statements that cannot both be true.

    Where one side is more reliable, it is the first of ``sides``; ``about`` says in what they
    differ.
    """

    kind: ConflictKind
    about: str
    sides: tuple[ConflictSide, ConflictSide]


@dataclass(frozen=True, slots=True)
class Insights:
    """The requested insights; the others are empty. ``neighborhood`` is keyed by memory id."""

    causal_links: tuple[CausalLink, ...] = ()
    entailment_cones: tuple[EntailmentCone, ...] = ()
    neighborhood: dict[str, tuple[Neighbour, ...]] = field(default_factory=dict)
    conflicts: tuple[Conflict, ...] = ()


class Mode(StrEnum):
    PLANNING = "planning"
    EXECUTION = "execution"
    DEFAULT = "default"


_InUTC = Annotated[datetime, AfterValidator(in_utc)]


class Filters(BaseModel, extra="forbid"):
    """Filters of a search; all given ones must match.

    Dates without a zone are in UTC. A list may be named in the singular and be one value
    (``{"type": "book"}``), as models write it. An empty text or list is no condition: some
    clients have the model give every filter."""

    min_importance: float | None = Field(None, ge=0.0, le=1.0)
    johari_quadrants: list[JohariQuadrant] | None = None
    created_after: _InUTC | None = None
    created_before: _InUTC | None = None
    lifecycles: list[Lifecycle] | None = None
    types: list[str] | None = None
    tags: list[str] | None = None
    origins: list[OriginKind] | None = None

    @model_validator(mode="before")
    @classmethod
    def _as_models_write(cls, given: object) -> object:
        if not isinstance(given, Mapping):
            return given
        lists = {name.removesuffix("s"): name for name in cls.model_fields if name.endswith("s")}
        in_plural = {lists.get(name, name): value for name, value in given.items()}
        if len(in_plural) < len(given):
            return given  # both forms of one name
        conditions = {
            name: [value] if name in lists.values() and isinstance(value, str) else value
            for name, value in in_plural.items()
        }
        return {
            name: value for name, value in conditions.items() if value not in ("", [], [""], None)
        }


@dataclass(frozen=True, slots=True)
class Scope:
    """Which chunks a search may return.

    A search in a project returns that project's memories and memories without a project.
    """

    filters: Filters | None = None
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """The chunks that a search found, best first, ties by id, with the engine's scores, (n,).

    In columns, because a question has hundreds of hits, of which few are shown. ``sizes`` are those
    of each chunk, with the larger ones that it also represents (see `Chunk`), as their bits.
    """

    chunk_ids: Sequence[int]
    note_ids: Sequence[str]
    sizes: npt.NDArray[np.uint8]
    scores: npt.NDArray[np.float64]

    @classmethod
    def of(cls, scored: Sequence[tuple[float, int, tuple[str, int]]]) -> Ranking:
        """The ranking of chunks, each given as score, id, and (note id, bits of its sizes)."""
        scores, chunk_ids, headers = zip(*scored, strict=True) if scored else ((), (), ())
        note_ids, sizes = zip(*headers, strict=True) if scored else ((), ())
        return cls(chunk_ids, note_ids, np.array(sizes, np.uint8), np.array(scores, np.float64))


class FoundBy(StrEnum):
    """What led to a memory."""

    TEXT = "text"  # its own words and meaning
    LINK = "link"  # one link from a memory found by its text
    RELATION = "relation"  # relations that the question names
    LIST = "list"  # a question that names no subject


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of the path through the graph to an answer; the note at ``path`` states it.
    ``ends`` are the ids of source and target, empty if the step leads to a value."""

    source: str
    relation: str
    target: str
    path: str
    sentence: str
    ends: tuple[str, str] = ("", "")


class VerbosityLevel(IntEnum):
    RAW_ONLY = 0  # about 100 tokens for a typical answer
    TEXT_AND_IDS = 1  # about 200; the default
    FULL_INSIGHTS = 2  # about 800

    @classmethod
    def from_level(cls, level: int) -> VerbosityLevel:
        """The level of this number; ``TEXT_AND_IDS`` for an unknown number."""
        try:
            return cls(level)
        except ValueError:
            return cls.TEXT_AND_IDS


FIRST_LINE = LineRange(1, 1)


@dataclass(slots=True)
class Hit:
    """A memory found, which the stages of a search enrich in place.

    Attributes:
        relevance: in [0, 1]; comparable between questions.
        chunk_id: the best passage found, until its text is read.
        heading, lines, text: of the passage that is shown.
        context: what it is searched by in addition to its text: title, aliases, headings.
        token_signs: of the passage, see `Chunk`.
        is_named: the question has its title or an alias, or asks for nothing but it.
        hops: the link or relations that lead to it from what the question names or finds.
        confidence: calibrated probability that it answers the question, in [0, 1].
        verification: what other notes say about it.
        withheld: its text must not be shown.
        states_claim: it is withheld, and its title, file name or project may state what its text
            does.
        gated: it answers a sensitive question, so only its text here may be shown, not more of its
            note.
        own_only: the text is the person's own part of a note that others wrote in, too.
    """

    memory: Memory
    relevance: float
    chunk_id: int | None = None
    heading: str = ""
    lines: LineRange = FIRST_LINE
    text: str = ""
    context: str = ""
    token_signs: bytes = b""
    is_named: bool = False
    found_by: FoundBy = FoundBy.TEXT
    hops: tuple[Hop, ...] = ()
    confidence: float = 0.0
    verification: Verification = UNCHECKED
    withheld: bool = False
    states_claim: bool = False
    gated: bool = False
    own_only: bool = False

    @property
    def title(self) -> str:
        """The memory's title, unless that may state what is withheld."""
        return "Unverified note" if self.states_claim else self.memory.title

    @property
    def path(self) -> str:
        """The memory's path; "…" in place of one that may state what is withheld."""
        return "…" if self.states_claim else self.memory.path


FindMemories = Callable[[str, int, Scope | None], list[Hit]]
"""Finds the memories nearest to a text, at most so many, best first; see `Searcher.find`."""


class Tuning(NamedTuple):
    """The current adjustments of search by modulation.

    Attributes:
        diversity: added to the weight of novelty of a mode that has one.
        seeds: best notes whose links are followed.
        threshold: added to the least confidence of a mode that has one.
    """

    diversity: float = 0.0
    seeds: int = 4
    threshold: float = 0.0


@dataclass(slots=True)
class SearchResult:
    """Hits, best first.

    Attributes:
        topic: the sensitive topic that the question is about, if any.
        notice: for people: the stores that did not answer, or what was left out.
        known: whether the vault surely knows what is asked; a small vault shows the nearest
            memories anyway.
    """

    hits: list[Hit]
    mode: Mode = Mode.DEFAULT
    topic: str | None = None
    notice: str | None = None
    known: bool = True

    @property
    def claims(self) -> list[Hit]:
        """The hits that are not the person's words and not verified."""
        checks = ((hit, hit.verification) for hit in self.hits)
        return [hit for hit, check in checks if not (check.verified or check.by_person)]
