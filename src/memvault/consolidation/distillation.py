"""Distils memories that are used much into the sentences that say most of them (REQ-AUTO-23).

A memory is distilled while the engine dreams if it was read more than 10 times, is older than a
week, and at least 70% of the rewards that it got from use were for it. What is left are at most 40
words of its own sentences; they are taken only if the cosine between their meaning and that of the
whole note is at least 0.8, else those of at most 80 words, else none (EC-AUTO-15). Hooks give them
at a session's start, where there is no question to search for. The journal has the places of the
sentences, never their words; once the note is changed, they count no more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, ValidationError

from memvault.consolidation.rewards import Use
from memvault.model.change import SYSTEM
from memvault.model.memory import Memory
from memvault.model.note import ParsedNote, Sentence
from memvault.search.modes import diverse
from memvault.text.words import composed, words
from memvault.vault.journal import Journal, JournalEntry

MIN_READ, MIN_AGE, MIN_ALIGNMENT = 10, timedelta(days=7), 0.7  # the first is exceeded
FIDELITY = 0.8
WORDS = (40, 80)  # of the first attempt and the second
MIN_WORDS = 4  # of a sentence
MAX_SENTENCES = 200  # that are compared; a longer note is not distilled
VARIETY = 0.3  # weight of novelty in maximal marginal relevance
DISTILLED = "distilled"

Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]


class Distillate(BaseModel):
    """What stands for a memory.

    Attributes:
        version: the hash of the note that the sentences are of.
        sentences: their places among the sentences of the note.
        fidelity: the cosine to the meaning of the whole note.
        ratio: the share of its words that they save.
    """

    model_config = ConfigDict(frozen=True)

    memory: str
    version: str
    sentences: tuple[int, ...]
    fidelity: float
    ratio: float


def alignment(use: Use | None) -> float:
    """The share of gains in what a memory gained and lost by use; 0 before it was used."""
    days = list(use.days.values()) if use is not None else []
    gained = sum(max(0, each) for each in days)
    return gained / sum(map(abs, days)) if gained else 0.0


def is_candidate(memory: Memory, times_read: int, use: Use | None, now: datetime) -> bool:
    """Whether a memory is used enough, and well enough, to be distilled."""
    is_old = now - memory.created_at > MIN_AGE
    is_used = times_read > MIN_READ and alignment(use) >= MIN_ALIGNMENT
    return is_old and is_used and memory.faded is None


def sentences_of(note: ParsedNote) -> list[Sentence]:
    return [sentence for block in note.blocks for sentence in block.sentences]


def distil(memory: Memory, note: ParsedNote, embed: Embed) -> Distillate | None:
    """The fewest sentences that stand for the note; None where no attempt is faithful to it.

    Args:
        embed: (n, dim) of texts, L2-normalised.
    """
    found = sentences_of(note)
    lengths = np.array([sum(word.isalnum() for word in words(composed(s.text))) for s in found])
    total = int(lengths.sum())
    if not found or len(found) > MAX_SENTENCES or total <= WORDS[0]:
        return None
    vectors = np.asarray(embed([each.text for each in found]), np.float32)
    whole = _unit((vectors * lengths[:, None]).sum(axis=0))
    order = diverse(np.clip(vectors @ whole, 0, 1).tolist(), vectors, len(found), VARIETY)
    for most in WORDS:
        chosen, spent = [], 0
        for at in order:
            if lengths[at] >= MIN_WORDS and spent + lengths[at] <= most:
                chosen.append(at)
                spent += int(lengths[at])
        left = (vectors[chosen] * lengths[chosen, None]).sum(axis=0)
        fidelity = float(_unit(left) @ whole)
        if chosen and fidelity >= FIDELITY:
            return Distillate(
                memory=memory.id, version=memory.content_hash, sentences=tuple(sorted(chosen)),
                fidelity=round(fidelity, 3), ratio=round(1.0 - spent / total, 3),
            )  # fmt: skip
    return None


def _unit(vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.asarray(vector / (float(np.linalg.norm(vector)) or 1.0), np.float32)


class DistillationLog:
    """What was distilled, as the journal has it. Thread-safe."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._marks: dict[str, int] = {}
        self._found: dict[str, tuple[datetime, Distillate]] = {}
        self._lock = threading.Lock()

    def add(self, distilled: Iterable[Distillate], now: datetime) -> None:
        """Raises StorageError, DiskFull: it cannot be recorded."""
        if told := [each.model_dump(mode="json") for each in distilled]:
            entry = JournalEntry(ts=now, kind=DISTILLED, actor=SYSTEM, data={DISTILLED: told})
            self._journal.append(entry)

    def of(self, memory: Memory) -> Distillate | None:
        """What stands for a memory as its note is now."""
        return next(iter(self.of_all([memory])), None)

    def of_all(self, memories: Iterable[Memory]) -> list[Distillate]:
        """What stands for those that have a distillate."""
        with self._lock:
            self._refresh()
            known = [(each, self._found.get(each.id)) for each in memories]
        return [d[1] for each, d in known if d is not None and d[1].version == each.content_hash]

    def _refresh(self) -> None:
        entries, self._marks = self._journal.entries_after(self._marks)
        for entry in entries:
            for told in entry.data.get(DISTILLED, ()) if entry.kind == DISTILLED else ():
                try:
                    each = Distillate.model_validate(told)
                except ValidationError:
                    continue  # of a newer memvault
                known = self._found.get(each.memory)
                if known is None or known[0] <= entry.ts:
                    self._found[each.memory] = entry.ts, each
