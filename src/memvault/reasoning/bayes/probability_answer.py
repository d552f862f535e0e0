"""The answers to questions about probability."""

from __future__ import annotations

from dataclasses import dataclass

from memvault.model.note import LineRange
from memvault.model.search import NodeRef


@dataclass(frozen=True, slots=True)
class Outcome:
    """A possible answer; ``low`` and ``high`` are the 95% interval of its probability."""

    value: str
    probability: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class EvidenceUsed:
    """A statement that informs the answer.

    Attributes:
        bearing: what it states, in words.
        weight: in ordinary sources.
        lines: None if it is the whole note.
    """

    memory_id: str
    title: str
    path: str
    bearing: str
    weight: float
    lines: LineRange | None = None
    sentence: str = ""
    origin: str | None = None  # who stated a value


@dataclass(frozen=True, slots=True)
class ProbabilityResult:
    """The outcomes, most probable first; empty if no note concerns the question.

    ``approximate`` means that the probabilities come from samples.
    """

    target: str
    outcomes: tuple[Outcome, ...] = ()
    evidence: tuple[EvidenceUsed, ...] = ()
    given: tuple[tuple[NodeRef, bool], ...] = ()
    done: tuple[tuple[NodeRef, bool], ...] = ()
    approximate: bool = False
    notice: str | None = None
