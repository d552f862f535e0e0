"""What other notes say about a memory: whether it is verified, the evidence, and newer claims."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memvault.model.memory import Memory
from memvault.model.moments import day_of
from memvault.model.note import LineRange
from memvault.model.provenance import OriginKind

MAX_CHARS = 200  # of a claim that is named next to another memory


@dataclass(frozen=True, slots=True)
class NewerClaim:
    """A sentence of a memory that the person neither wrote nor verified.

    ``sentence`` is empty if it must not be shown. ``claimed_at`` is when its note was last saved.
    """

    memory: Memory
    lines: LineRange
    sentence: str
    claimed_at: datetime

    @property
    def claimant(self) -> str:
        """The name of who wrote it."""
        return " ".join(self.memory.provenance.claimant.writer.split())[:60]

    @property
    def day(self) -> str:
        """The local day on which it was written, as ISO 8601."""
        return day_of(self.claimed_at).isoformat()

    @property
    def path(self) -> str | None:
        """The path of its note, whose name may say what must not be shown."""
        return self.memory.path if self.sentence else None

    @property
    def mark(self) -> str:
        """The claim with its claimant and day, to show next to what it may replace.

        The claim's own quotation marks become single ones, so that it cannot end its quotation.
        """
        sentence = self.sentence[:MAX_CHARS].replace('"', "'")
        said = f': "{sentence}"' if sentence else " and withheld"
        return f"newer, claimed by {self.claimant} on {self.day}, unverified{said}"


class ConflictKind(StrEnum):
    CONTRADICTION = "contradiction"  # one note says that it contradicts the other
    SUPERSESSION = "supersession"  # one note says that it replaces the other
    DIFFERENT_VALUES = "different_values"  # both give different values of a single-valued property


class Status(StrEnum):
    VERIFIED = "verified"
    UNVERIFIED = "unverified"
    CONTRADICTED = "contradicted"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence of another note; ``said`` is the value that it states, or how it contradicts.
    ``is_claim``: only a client, an import, the web or memvault says so. ``stated_in``: the path of
    the note whose ``lines`` say that this note supersedes it; None if this note says so.
    ``origin``: the person, if they wrote the sentence; None leaves it to the ``lines``, which may
    have sentences of others, too."""

    note_id: str
    title: str
    path: str
    lines: LineRange
    sentence: str
    said: str
    is_claim: bool = False
    stated_in: str | None = None
    origin: OriginKind | None = None


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of checking a memory against other notes.

    Attributes:
        score: 1.0 if verified, below 0.7 if unverified, lowest if contradicted (FR-46).
        by_person: these are the person's own words, or they marked the note as verified.
        marked: the person marked the note as verified.
        stated: the sentences that answer the question and were checked.
        answers: the memory states a value that the question asks for, and this was checked.
        newer: what others claim on its matter since it was saved, newest first.
    """

    status: Status
    score: float
    by_person: bool
    answers: bool
    confirmed_by: tuple[Evidence, ...] = ()
    contradicted_by: tuple[Evidence, ...] = ()
    marked: bool = False
    stated: tuple[str, ...] = ()
    newer: tuple[NewerClaim, ...] = ()

    @property
    def verified(self) -> bool:
        return self.status is Status.VERIFIED

    def of_own_part(self) -> Verification:
        """The same if only the person's own part of the note is shown, which states no more."""
        return Verification(
            Status.VERIFIED,
            1.0,
            by_person=True,
            answers=False,
            contradicted_by=self.contradicted_by,
            newer=self.newer,
        )

    @property
    def superseding(self) -> tuple[Evidence, ...]:
        """The notes that supersede the memory, unless only another's claim says so of the person's
        words."""
        return tuple(
            evidence
            for evidence in self.contradicted_by
            if evidence.said == ConflictKind.SUPERSESSION
            and not (evidence.is_claim and self.by_person)
        )

    @property
    def superseded_by(self) -> str | None:
        """The title of the first of `superseding`."""
        return next((evidence.title for evidence in self.superseding), None)


UNCHECKED = Verification(Status.UNVERIFIED, 0.0, by_person=False, answers=False)
