"""Records the findings of dreams in the journal.

Each phase is one entry, so it is recorded completely or not at all.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from math import fsum

from pydantic import BaseModel, ConfigDict, ValidationError

from memvault.model.change import SYSTEM
from memvault.vault.journal import Actor, Journal, JournalEntry
from memvault.vault.journal_reader import JournalReader

DREAMED, KEPT = "dreamed", "dream_kept"
MAX_STRENGTHENED = 500  # pairs of one phase that are recorded, the strongest first
_UNIT = 10_000
HALF_LIFE_DAYS = 30.0  # of the strength that a dream added


class DreamPhase(StrEnum):
    NREM = "nrem"  # replays recent memories
    REM = "rem"  # explores


class DiscoveryKind(StrEnum):
    LINK = "link"  # two unlinked notes that are related, or one of which names the other
    BLIND_SPOT = "blind_spot"  # far in meaning, near in causes, people or dates
    SHORTCUT = "shortcut"  # the ends of an often walked chain
    SUMMARY = "summary"  # a summary of a cluster of notes
    QUESTION = "question"  # an open question
    ANSWER = "answer"  # a note that may answer a question which found nothing


class CitedSentence(BaseModel):
    """A sentence and where it is."""

    model_config = ConfigDict(frozen=True)

    path: str
    line: int
    sentence: str


class Discovery(BaseModel):
    """One proposal to the person.

    Attributes:
        notes: ids of the notes concerned; a link goes from the first to the second.
        paths: their paths at the time of the proposal.
        title: the title of the summary, or the question; empty for a link.
        reason: why this is proposed, in one sentence.
        evidence: for a link one sentence of each note; for a summary its key sentences.
    """

    model_config = ConfigDict(frozen=True)

    kind: DiscoveryKind
    notes: tuple[str, ...]
    paths: tuple[str, ...]
    title: str = ""
    reason: str
    evidence: tuple[CitedSentence, ...] = ()

    @property
    def is_link(self) -> bool:
        return self.kind in (
            DiscoveryKind.LINK, DiscoveryKind.BLIND_SPOT, DiscoveryKind.SHORTCUT,
        )  # fmt: skip

    @property
    def key(self) -> str:
        """Identifies a proposal, however it was found."""
        if self.kind is DiscoveryKind.QUESTION:
            return f"question {self.title}"
        if self.kind is DiscoveryKind.ANSWER:
            return f"answer {self.notes[0]} {self.title}"
        kind = "link" if self.is_link else str(self.kind)
        return " ".join([kind, *sorted(self.notes)])


class Strengthened(BaseModel):
    """Two memories and the strength that a phase added to their relation."""

    model_config = ConfigDict(frozen=True)

    first: str
    second: str
    added: float


class PhaseReport(BaseModel):
    """The results of one phase.

    Attributes:
        replayed: number of memories that NREM replayed; ``consolidated`` of them gained strength.
        queries: number of questions that REM asked; ``unanswered`` of them found nothing.
        seconds: its duration, without pauses.
        complete: False if its time ran out.
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


class DreamRecord(JournalReader):
    """The dreams of one vault. Thread-safe."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal, (DREAMED, KEPT))
        self._seen: set[str] = set()  # ids of entries; a synced journal may repeat them
        # By key, with the phase that first proposed it.
        self._proposals: dict[str, tuple[tuple[datetime, str], Discovery]] = {}
        self._accepted: set[str] = set()
        # Memory → other memory → day → strength in ten-thousandths: integer sums are exact in any
        # order.
        self._gained: dict[str, dict[str, dict[int, int]]] = {}
        self._reports: list[PhaseReport] = []

    def add(self, report: PhaseReport, rationale: str | None = None) -> None:
        """Record a phase.

        Raises:
            StorageError, DiskFull: it cannot be recorded; then its findings are lost.
        """
        ids = tuple(dict.fromkeys(key for discovery in report.found for key in discovery.notes))
        entry = JournalEntry(
            ts=report.at, kind=DREAMED, actor=SYSTEM, rationale=rationale,
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
        """The proposals that were not accepted, oldest first."""
        with self._current():
            proposals = sorted(self._proposals.items(), key=lambda item: (item[1][0], item[0]))
            return [discovery for key, (_, discovery) in proposals if key not in self._accepted]

    def get(self, key: str) -> Discovery | None:
        """The proposal with this key; None if there is none that waits."""
        return next((waiting for waiting in self.waiting() if waiting.key == key), None)

    def known(self) -> set[str]:
        """The keys of all proposals ever made."""
        with self._current():
            return set(self._proposals)

    def reports(self) -> Sequence[PhaseReport]:
        """Every phase, oldest first."""
        with self._current():
            return tuple(self._reports)

    def kept(self) -> int:
        """The number of accepted proposals."""
        with self._current():
            return len(self._accepted)

    def strengths(self, memory_id: str, at: datetime) -> dict[str, float]:
        """The strengths that dreams added to a memory's relations, by other memory.

        In [0, 1], halved every 30 days.
        """
        today = at.toordinal()
        with self._current():
            return {
                other_id: min(1.0, fsum(_faded(gain, today - day) for day, gain in days.items()))
                for other_id, days in self._gained.get(memory_id, {}).items()
            }

    def _take(self, entries: Sequence[JournalEntry]) -> None:
        for entry in entries:
            if entry.id in self._seen:
                continue
            self._seen.add(entry.id)
            if entry.kind == KEPT:
                self._accepted.add(str(entry.data.get("key", "")))
                continue
            try:
                self._add_report(PhaseReport.model_validate(entry.data.get("report")))
            except ValidationError:
                continue  # written by a newer memvault

    def _add_report(self, report: PhaseReport) -> None:
        insort(self._reports, report, key=lambda phase: (phase.at, phase.phase))
        for discovery in report.found:
            first = (report.at, report.phase)
            if discovery.key not in self._proposals or first < self._proposals[discovery.key][0]:
                self._proposals[discovery.key] = (first, discovery)
        day = report.at.toordinal()
        for pair in report.strengthened:
            for memory_id, other_id in ((pair.first, pair.second), (pair.second, pair.first)):
                days = self._gained.setdefault(memory_id, {}).setdefault(other_id, {})
                days[day] = days.get(day, 0) + round(pair.added * _UNIT)


def _faded(gain: int, days: int) -> float:
    return float(gain / _UNIT * 2.0 ** (-max(0, days) / HALF_LIFE_DAYS))
