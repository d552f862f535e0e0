"""Decides which ephemeral memories fade, and when (triple 2.9, FR-53 to FR-56).

After ``summary_days`` a memory is reduced to its summary and keys, after ``keys_days`` to its keys.
The days count from the latest of: its own date, its creation, its last change in the vault, and the
last time that it was read. They are multiplied by

    1 + 2 max(0, importance - 0.5) + 0.5 min(2, permanent notes that link to it)

so that a critical memory with two such links keeps its full text three times as long. Pinned,
permanent and temporary memories never fade. Each fading is announced a week before. On a nearly
full disk (E-03) the number of days is halved, and a day of notice is enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memvault.config.settings import FadingSettings
from memvault.consolidation.faded_text import FadingStage
from memvault.model.change import SYSTEM, Actor
from memvault.model.memory import DEFAULT_IMPORTANCE, Lifecycle, Memory
from memvault.vault.frontmatter.properties import lifecycle_of_folder
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.journal_reader import JournalReader

ANNOUNCED, SWITCHED = "fading_announced", "fading_switched"
NOTICE = timedelta(days=7)
HASTE, HASTY_NOTICE = 0.5, timedelta(days=1)  # factor of days, and notice, on a nearly full disk
IMPORTANCE_FACTOR, LINK_FACTOR, MAX_LINKS = 2.0, 0.5, 2


@dataclass(frozen=True, slots=True)
class Aging:
    """A memory with the facts that delay its fading.

    Attributes:
        saved: when its note was last written.
        read: when it was last returned in an answer.
        links: number of permanent notes that link to it.
        counted_from: for a note unchanged since it faded, the start of its age at that time.
    """

    memory: Memory
    saved: datetime
    read: datetime | None = None
    links: int = 0
    counted_from: datetime | None = None

    @property
    def since(self) -> datetime:
        """The moment from which its age counts."""
        memory = self.memory
        counted_from = self.counted_from or max(self.saved, memory.created_at)
        moments = (counted_from, memory.date, self.read)
        return max(moment for moment in moments if moment is not None)


@dataclass(frozen=True, slots=True)
class Fading:
    """The next fading step of a memory: its stage, and when it is due."""

    memory: Memory
    stage: FadingStage
    due: datetime
    since: datetime  # from when the memory's age counts

    @property
    def key(self) -> tuple[str, str]:
        return self.memory.id, self.stage


def stretch(importance: float, links: int) -> float:
    """The factor by which the days until a memory fades are multiplied, in [1, 3]."""
    important = IMPORTANCE_FACTOR * max(0.0, importance - DEFAULT_IMPORTANCE)
    return 1.0 + important + LINK_FACTOR * min(MAX_LINKS, links)


def hastened(settings: FadingSettings) -> FadingSettings:
    """The settings on a nearly full disk."""
    days = {key: HASTE * getattr(settings, key) for key in ("summary_days", "keys_days")}
    return settings.model_copy(update=days)


def may_fade(memory: Memory) -> bool:
    """Whether a memory can fade at all, at any age."""
    is_ephemeral = memory.lifecycle is Lifecycle.EPHEMERAL and memory.path.endswith(".md")
    may = is_ephemeral and not memory.pinned and memory.faded != FadingStage.KEYS
    return may and not _is_made_ephemeral_by_client(memory)


def _is_made_ephemeral_by_client(memory: Memory) -> bool:
    """Whether a client made a note ephemeral that contains the person's words."""
    written = memory.provenance
    in_folder = lifecycle_of_folder(memory.path) is Lifecycle.EPHEMERAL
    is_own = any(line.startswith("lifecycle ephemeral") for line in written.own_properties)
    return written.is_mixed and not in_folder and not is_own


def next_fading(aging: Aging, settings: FadingSettings) -> Fading | None:
    """The next step of a memory; None if it does not fade further."""
    memory = aging.memory
    if not may_fade(memory):
        return None
    stage = FadingStage.KEYS if memory.faded == FadingStage.SUMMARY else FadingStage.SUMMARY
    days = settings.keys_days if stage is FadingStage.KEYS else settings.summary_days
    days *= stretch(memory.importance, aging.links)
    return Fading(memory, stage, aging.since + timedelta(days=days), aging.since)


class FadingLog(JournalReader):
    """The announced fadings, and whether fading is on, according to the journal. Thread-safe."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal, (ANNOUNCED, SWITCHED))
        self._announced: dict[tuple[str, str], datetime] = {}
        self._switched: tuple[datetime, bool] | None = None

    @property
    def is_on(self) -> bool:
        with self._current():
            return self._switched is None or self._switched[1]

    def switch(self, now: datetime, actor: Actor, *, on: bool) -> None:
        """Turn fading on or off for this vault.

        Raises:
            StorageError, DiskFull: the journal cannot be written.
        """
        self._journal.append(JournalEntry(ts=now, kind=SWITCHED, actor=actor, data={"on": on}))

    def announce(self, fadings: Iterable[Fading], now: datetime) -> None:
        """Record that the person can see these fadings from now on, unless already announced.

        Raises:
            StorageError, DiskFull: the journal cannot be written.
        """
        new = [list(fading.key) for fading in fadings if self._announced_at(fading) is None]
        if new:
            self._journal.append(
                JournalEntry(ts=now, kind=ANNOUNCED, actor=SYSTEM, data={"fadings": new})
            )

    def fades_at(self, fading: Fading, notice: timedelta = NOTICE) -> datetime | None:
        """When a memory will fade: not before it is due, nor before the notice is over.

        None if it was not announced, or was read or changed since.
        """
        announced = self._announced_at(fading)
        return None if announced is None else max(fading.due, announced + notice)

    def _announced_at(self, fading: Fading) -> datetime | None:
        with self._current():
            at = self._announced.get(fading.key)
        return at if at is not None and at >= max(fading.due - NOTICE, fading.since) else None

    def _take(self, entries: Sequence[JournalEntry]) -> None:
        for entry in entries:
            if entry.kind == ANNOUNCED:
                for key in entry.listed("fadings"):
                    note_id, stage = map(str, key)
                    earlier = self._announced.get((note_id, stage), entry.ts)
                    self._announced[note_id, stage] = max(earlier, entry.ts)
            elif self._switched is None or entry.ts >= self._switched[0]:
                self._switched = entry.ts, bool(entry.data.get("on"))
