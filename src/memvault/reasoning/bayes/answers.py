"""What an answer to a question of probability says."""

from __future__ import annotations

from dataclasses import dataclass

from memvault.model.insights import Thing
from memvault.model.note import LineRange


@dataclass(frozen=True, slots=True)
class Outcome:
    """``low`` and ``high`` bound the probability at 95%."""

    value: str
    probability: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class EvidenceUsed:
    """A statement that the answer rests on. ``bearing`` says what for; ``weight`` is in ordinary
    sources; without ``lines`` it is the note as a whole."""

    memory_id: str
    title: str
    path: str
    bearing: str
    weight: float
    lines: LineRange | None = None
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Probable:
    """Outcomes, the most probable first; none where nothing in the vault bears on the question.

    ``beliefs`` are of everything in the network, ``approximate`` says that samples were drawn.
    """

    target: str
    outcomes: tuple[Outcome, ...] = ()
    evidence: tuple[EvidenceUsed, ...] = ()
    given: tuple[tuple[Thing, bool], ...] = ()
    done: tuple[tuple[Thing, bool], ...] = ()
    approximate: bool = False
    notice: str | None = None
