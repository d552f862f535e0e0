"""Insights about memories beyond their text: causes, entailment, neighbours, conflicts.

Each insight rests on, and cites, a sentence that somebody wrote or a tag or folder that somebody
chose. Lines are counted from 1; paths are relative to the vault.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

Aspect = Literal["causal_links", "entailment_cones", "neighborhood", "conflicts"]


@dataclass(frozen=True, slots=True)
class Thing:
    """A memory, or an entity that notes name; ``path`` is None for an entity without a note."""

    id: str
    name: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Where a relation is stated: note, line and sentence."""

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
    """A node that is more general or more specific than a memory, and why."""

    thing: Thing
    why: str
    source: Source | None = None  # None where a folder or a nested tag implies it


@dataclass(frozen=True, slots=True)
class EntailmentCone:
    """What a memory is part of or an instance of, and what is part or an instance of it."""

    memory_id: str
    general: tuple[Related, ...] = ()
    special: tuple[Related, ...] = ()


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A node reached from a memory; ``relation`` and ``source`` belong to the last step.

    ``distance`` counts relations. ``weight`` lies in [0, 1], see `memvault.reasoning.edges`.
    ``outgoing``: the note nearer to the memory states the last step.
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
    CONTRADICTION = "contradiction"  # one note says that it contradicts the other
    SUPERSESSION = "supersession"  # one note says that it replaces the other
    DIFFERENT_VALUES = "different_values"  # both give different values of a single-valued property


@dataclass(frozen=True, slots=True)
class ConflictSide:
    """One side of a conflict, in the words of its note."""

    thing: Thing
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
