"""What checking a memory against other notes found (triple 2.7)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from memvault.model.note import LineRange


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
