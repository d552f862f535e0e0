"""Distils often used memories into their most representative sentences (REQ-AUTO-23).

While dreaming, the engine distils memories that were read more than 10 times, are older than a
week, and have at least 70% gains among their rewards and penalties. The distillate is at most 40
words of the note's own sentences, if the cosine of their vector to that of the whole note is at
least 0.8; else at most 80 words under the same condition; else there is none (EC-AUTO-15). Hooks
give distillates at the start of a session, when there is no question to search for. The journal has
the indexes of the sentences, never their words; a distillate is void once the note changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from memvault.consolidation.faded_text import word_count
from memvault.consolidation.rewards import Use
from memvault.model.change import SYSTEM
from memvault.model.memory import Memory
from memvault.model.note import Embed, ParsedNote, normalised
from memvault.search.modes import diverse
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.journal_reader import JournalReader

# Reads and age must exceed their limits.
MIN_READ, MIN_AGE, MIN_ALIGNMENT = 10, timedelta(days=7), 0.7
FIDELITY = 0.8
WORDS = (40, 80)  # most words, in the first and second attempt
MIN_WORDS = 4  # of a sentence
MAX_SENTENCES = 200  # a note with more is not distilled
VARIETY = 0.3  # weight of novelty in maximal marginal relevance
DISTILLED = "distilled"


class Distillate(BaseModel):
    """The sentences that represent a memory.

    Attributes:
        version: the hash of the distilled note.
        sentences: their indexes among the sentences of the note.
        fidelity: the cosine of their vector to that of the whole note.
        ratio: the share of the note's words that are left out.
    """

    model_config = ConfigDict(frozen=True)

    memory: str
    version: str
    sentences: tuple[int, ...]
    fidelity: float
    ratio: float


def alignment(use: Use | None) -> float:
    """The share of gains among a memory's gains and losses from use; 0 if it was not used."""
    days = list(use.days.values()) if use is not None else []
    gained = sum(max(0, reward) for reward in days)
    return gained / sum(map(abs, days)) if gained else 0.0


def is_candidate(memory: Memory, times_read: int, use: Use | None, now: datetime) -> bool:
    """Whether a memory is old enough, and used often and successfully enough, to be distilled."""
    is_old = now - memory.created_at > MIN_AGE
    is_used = times_read > MIN_READ and alignment(use) >= MIN_ALIGNMENT
    return is_old and is_used and memory.faded is None


def distil(memory: Memory, note: ParsedNote, embed: Embed) -> Distillate | None:
    """Choose few sentences that represent the note; None if no choice is faithful enough.

    Args:
        embed: gives the vectors of texts, (n, dim), L2-normalised.
    """
    sentences = note.sentences
    lengths = np.array([word_count(sentence.text) for sentence in sentences])
    total = int(lengths.sum())
    if not sentences or len(sentences) > MAX_SENTENCES or total <= WORDS[0]:
        return None
    vectors = np.asarray(embed([sentence.text for sentence in sentences]), np.float32)
    note_vector = normalised((vectors * lengths[:, None]).sum(axis=0))
    order = diverse(np.clip(vectors @ note_vector, 0, 1).tolist(), vectors, len(sentences), VARIETY)
    for most in WORDS:
        chosen, spent = [], 0
        for index in order:
            if lengths[index] >= MIN_WORDS and spent + lengths[index] <= most:
                chosen.append(index)
                spent += int(lengths[index])
        chosen_sum = (vectors[chosen] * lengths[chosen, None]).sum(axis=0)
        fidelity = float(normalised(chosen_sum) @ note_vector)
        if chosen and fidelity >= FIDELITY:
            return Distillate(
                memory=memory.id, version=memory.content_hash, sentences=tuple(sorted(chosen)),
                fidelity=round(fidelity, 3), ratio=round(1.0 - spent / total, 3),
            )  # fmt: skip
    return None


class DistillationLog(JournalReader):
    """The distillates that the journal has. Thread-safe."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal, (DISTILLED,))
        self._latest: dict[str, tuple[datetime, Distillate]] = {}

    def add(self, distilled: Iterable[Distillate], now: datetime) -> None:
        """Record distillates.

        Raises StorageError, DiskFull: the journal cannot be written.
        """
        if rows := [distillate.model_dump(mode="json") for distillate in distilled]:
            entry = JournalEntry(ts=now, kind=DISTILLED, actor=SYSTEM, data={DISTILLED: rows})
            self._journal.append(entry)

    def of(self, memory: Memory) -> Distillate | None:
        """The distillate of a memory, if it is of the current version of its note."""
        return next(iter(self.of_all([memory])), None)

    def of_all(self, memories: Iterable[Memory]) -> list[Distillate]:
        """The valid distillates of these memories."""
        with self._current():
            latest = [(memory, self._latest.get(memory.id)) for memory in memories]
        return [
            recorded[1]
            for memory, recorded in latest
            if recorded is not None and recorded[1].version == memory.content_hash
        ]

    def _take(self, entries: Sequence[JournalEntry]) -> None:
        for entry in entries:
            for row in entry.listed(DISTILLED):
                try:
                    distillate = Distillate.model_validate(row)
                except ValidationError:
                    continue  # written by a newer memvault
                recorded = self._latest.get(distillate.memory)
                if recorded is None or recorded[0] <= entry.ts:
                    self._latest[distillate.memory] = entry.ts, distillate
