"""What dreams found, in the journal: each phase is one entry, so it is recorded whole or not at
all."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, ValidationError

from memvault.vault.journal import Actor, Journal, JournalEntry

DREAMED, KEPT = "dreamed", "dream_kept"
MOST_STRENGTHENED = 500  # pairs of one phase that are recorded, the strongest first
HALF_LIFE_DAYS = 30.0  # of what a dream strengthened
_SYSTEM = Actor(kind="system", name="memvault")


class DreamPhase(StrEnum):
    NREM = "nrem"  # replays recent memories
    REM = "rem"  # explores


class DiscoveryKind(StrEnum):
    LINK = "link"  # two notes that are named or related, and not linked
    BLIND_SPOT = "blind_spot"  # far in meaning, near in causes, people or dates
    SHORTCUT = "shortcut"  # the ends of a chain that is often walked
    SUMMARY = "summary"  # of a cluster of notes
    QUESTION = "question"  # that the notes leave open


class Evidence(BaseModel):
    """A sentence and where it is."""

    model_config = ConfigDict(frozen=True)

    path: str
    line: int
    sentence: str


class Discovery(BaseModel):
    """One proposal to the person.

    Attributes:
        notes: ids of the notes concerned; a link goes from the first to the second.
        paths: their paths when it was found.
        title: of the summary, or the question; empty for a link.
        reason: why this is proposed, in one sentence.
        evidence: for a link one sentence of each note; for a summary its key sentences.
    """

    model_config = ConfigDict(frozen=True)

    kind: DiscoveryKind
    notes: tuple[str, ...]
    paths: tuple[str, ...]
    title: str = ""
    reason: str
    evidence: tuple[Evidence, ...] = ()

    @property
    def is_link(self) -> bool:
        return self.kind not in (DiscoveryKind.SUMMARY, DiscoveryKind.QUESTION)

    @property
    def key(self) -> str:
        """The same for the same proposal, however it was found."""
        if self.kind is DiscoveryKind.QUESTION:
            return f"question {self.title}"
        what = "link" if self.is_link else str(self.kind)
        return " ".join([what, *sorted(self.notes)])


class Strengthened(BaseModel):
    """Two memories and what a phase added to the strength of their relation."""

    model_config = ConfigDict(frozen=True)

    first: str
    second: str
    added: float


class PhaseReport(BaseModel):
    """What one phase did.

    Attributes:
        replayed: memories that NREM replayed; ``consolidated`` of them gained strength.
        queries: questions that REM asked; ``unanswered`` of them found nothing.
        seconds: that it worked, without pauses.
        complete: whether its time was enough.
    """

    model_config = ConfigDict(frozen=True)

    phase: DreamPhase
    at: datetime
    seconds: float = 0.0
    complete: bool = True
    replayed: int = 0
    consolidated: int = 0
    strengthened: tuple[Strengthened, ...] = ()
    queries: int = 0
    unanswered: int = 0
    found: tuple[Discovery, ...] = ()

    @property
    def discoveries(self) -> int:
        return len(self.found)


@dataclass(slots=True)
class _Strength:
    value: float
    at: datetime

    def now(self, at: datetime) -> float:
        days = max(0.0, (at - self.at).total_seconds() / 86_400)
        return float(self.value * 2.0 ** (-days / HALF_LIFE_DAYS))


class DreamRecord:
    """The dreams of one vault. Thread-safe."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._marks: dict[str, int] = {}
        self._seen: set[str] = set()  # ids of entries; a synced journal may repeat them
        self._found: dict[str, Discovery] = {}
        self._kept: set[str] = set()
        self._strengths: dict[str, dict[str, _Strength]] = {}
        self._reports: list[PhaseReport] = []
        self._lock = threading.RLock()

    def add(self, report: PhaseReport, rationale: str | None = None) -> None:
        """Record a phase.

        Raises:
            StorageError, DiskFull: it cannot be recorded, and then counts for nothing.
        """
        ids = tuple(dict.fromkeys(key for each in report.found for key in each.notes))
        entry = JournalEntry(
            ts=report.at, kind=DREAMED, actor=_SYSTEM, rationale=rationale,
            data={"node_ids": ids, "report": report.model_dump(mode="json")},
        )  # fmt: skip
        self._journal.append(entry)

    def keep(self, key: str, actor: Actor) -> None:
        """Record that the person accepted a proposal.

        Raises:
            StorageError, DiskFull: it cannot be recorded.
        """
        self._journal.append(
            JournalEntry(ts=datetime.now(UTC), kind=KEPT, actor=actor, data={"key": key})
        )

    def waiting(self) -> list[Discovery]:
        """What was proposed and not accepted, oldest first."""
        with self._lock:
            self._refresh()
            return [each for key, each in self._found.items() if key not in self._kept]

    def known(self) -> set[str]:
        """The keys of everything that was ever proposed."""
        with self._lock:
            self._refresh()
            return set(self._found)

    def reports(self) -> Sequence[PhaseReport]:
        """Every phase, oldest first."""
        with self._lock:
            self._refresh()
            return tuple(self._reports)

    def kept(self) -> int:
        """How many proposals were accepted."""
        with self._lock:
            self._refresh()
            return len(self._kept)

    def strengths(self, memory_id: str, at: datetime) -> dict[str, float]:
        """What dreams added to the relations of a memory, by the other memory, in [0, 1], halved
        every 30 days. As of the last call of another method."""
        with self._lock:
            found = self._strengths.get(memory_id, {})
            return {other: strength.now(at) for other, strength in found.items()}

    def _refresh(self) -> None:
        entries, self._marks = self._journal.entries_after(self._marks)
        for entry in sorted(entries, key=lambda each: each.ts):
            if entry.kind not in (DREAMED, KEPT) or entry.id in self._seen:
                continue
            self._seen.add(entry.id)
            if entry.kind == KEPT:
                self._kept.add(str(entry.data.get("key", "")))
                continue
            try:
                self._take(PhaseReport.model_validate(entry.data.get("report")))
            except ValidationError:
                continue  # of a newer memvault

    def _take(self, report: PhaseReport) -> None:
        self._reports.append(report)
        for each in report.found:
            self._found.setdefault(each.key, each)
        for pair in report.strengthened:
            for one, other in ((pair.first, pair.second), (pair.second, pair.first)):
                of_one = self._strengths.setdefault(one, {})
                before = of_one[other].now(report.at) if other in of_one else 0.0
                of_one[other] = _Strength(min(1.0, before + pair.added), report.at)
