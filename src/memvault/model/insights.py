"""What can be said of memories beyond their text: causes, generality, surroundings, conflicts.

Everything rests on a sentence that somebody wrote, or on a tag or folder that somebody chose, and
names it. Lines are counted from 1; paths are relative to the vault.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

Aspect = Literal["causal_links", "entailment_cones", "neighborhood", "conflicts"]


@dataclass(frozen=True, slots=True)
class Thing:
    """A memory, or something that notes name; without ``path`` no note stands for it."""

    id: str
    name: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Where something is stated: the note, its line, and the sentence as the note has it."""

    path: str
    line: int
    sentence: str


@dataclass(frozen=True, slots=True)
class CausalLink:
    """``relation`` is as it is written; the direction is always from cause to effect."""

    cause: Thing
    effect: Thing
    relation: str
    source: Source


@dataclass(frozen=True, slots=True)
class Related:
    """A thing that is more general or more special than a memory, and why."""

    thing: Thing
    why: str
    source: Source | None = None  # None where a folder or a tag's own name says it


@dataclass(frozen=True, slots=True)
class EntailmentCone:
    """What one memory falls under, and what falls under it."""

    memory_id: str
    general: tuple[Related, ...] = ()
    special: tuple[Related, ...] = ()


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A thing reached from a memory; ``relation`` and ``source`` are of the last step.

    ``distance`` counts relations. ``weight`` lies in [0, 1], see `memvault.reasoning.edges`.
    ``outgoing`` says that the last step is stated by the note nearer to the memory.
    """

    thing: Thing
    kind: str
    distance: int
    relation: str
    outgoing: bool
    via: Thing
    weight: float
    relevance: float
    source: Source


class ConflictKind(StrEnum):
    CONTRADICTION = "contradiction"  # one note says that it and the other do not both hold
    SUPERSESSION = "supersession"  # one note says that it takes the other's place
    DIFFERENT_VALUES = "different_values"  # each gives another value of what can have but one


@dataclass(frozen=True, slots=True)
class ConflictSide:
    """One of the two that do not both hold, in the words of its note."""

    thing: Thing
    text: str
    path: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class Conflict:
    """``sides`` are the one to be relied on and the other, where anything tells which; ``about``
    says in what they differ."""

    kind: ConflictKind
    about: str
    sides: tuple[ConflictSide, ConflictSide]


@dataclass(frozen=True, slots=True)
class Insights:
    """What was not asked for is empty. ``neighborhood`` is by memory id."""

    causal_links: tuple[CausalLink, ...] = ()
    entailment_cones: tuple[EntailmentCone, ...] = ()
    neighborhood: dict[str, tuple[Neighbour, ...]] = field(default_factory=dict)
    conflicts: tuple[Conflict, ...] = ()
