"""Finds the memories that fade soon, announces them, and reduces their notes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from memvault.config.settings import FadingSettings
from memvault.consolidation.faded_text import (
    FadingStage,
    Original,
    Rarity,
    faded_body,
    is_worth_fading,
)
from memvault.consolidation.fading import (
    HASTY_NOTICE,
    NOTICE,
    Aging,
    Fading,
    FadingLog,
    hastened,
    may_fade,
    next_fading,
)
from memvault.curation.changes.plan import Attribution
from memvault.curation.indexed_changes import IndexedChanges
from memvault.curation.operations.fade import (
    FadedText,
    body_is_unchanged,
    counted_from,
    fadings_by_note,
    last_fading,
    last_fading_in,
    stage_fading,
)
from memvault.curation.origins.sentence_digests import units
from memvault.model.change import Change, ChangeKind
from memvault.model.errors import InvalidParams, MemvaultError, NoteConflict
from memvault.model.graph import STATED, NodeKind
from memvault.model.memory import Lifecycle, Memory
from memvault.model.note import Embed
from memvault.search.scope import SavedNote
from memvault.vault.parse import content_hash, parse_note

logger = logging.getLogger(__name__)
SAMPLED = 500  # notes that decide which words are rare
_REASONS = {
    FadingStage.SUMMARY: "Old: reduced to a summary",
    FadingStage.KEYS: "Older: reduced to keywords",
}


@dataclass(eq=False)
class SessionFading(IndexedChanges):
    """Announces which memories will fade, then lets them fade. Thread-safe.

    Attributes:
        notes: gives the notes that were read without problems.
        is_disputed: whether a memory's text is in quarantine, or a task asks the person about it.
        last_read: when a memory, by its id, was last in an answer.
        is_order: whether a text would be put in quarantine.
    """

    log: FadingLog
    settings: FadingSettings
    notes: Callable[[], Iterable[SavedNote]]
    is_disputed: Callable[[Memory], bool]
    last_read: Callable[[str], datetime | None]
    is_disk_low: Callable[[], bool]
    embed: Embed
    is_order: Callable[[str], bool]
    # Whether a note can fade, by content hash.
    _can_fade_cache: dict[str, bool] = field(default_factory=dict, init=False)

    @property
    def enabled(self) -> bool:
        """Whether the settings allow fading; the person may still turn it off."""
        return self.settings.enabled

    @property
    def is_on(self) -> bool:
        return self.enabled and self.log.is_on

    def upcoming(self) -> list[tuple[Fading, datetime]]:
        """The memories that fade within a week, each with its time, the soonest first."""
        notice, now = self._notice(), self.curator.now()
        times = [
            (fading, self.log.fades_at(fading, notice) or max(fading.due, now + notice))
            for fading in self._due_within_notice()
        ]
        return sorted(times, key=lambda pair: (pair[1], pair[0].memory.path))

    def announce(self) -> None:
        """Record the memories that *Today* now shows as fading soon."""
        self.log.announce(self._due_within_notice(), self.curator.now())

    def due(self) -> list[Fading]:
        """The memories to fade now; they were announced long enough ago."""
        now, notice = self.curator.now(), self._notice()
        times = [
            (fading, self.log.fades_at(fading, notice)) for fading in self._due_within_notice()
        ]
        return [fading for fading, at in times if at is not None and at <= now]

    def fade(self, fading: Fading, rarity: Rarity) -> Change | None:
        """Let one memory fade; None if its note has changed or cannot fade.

        Raises:
            StorageError, DiskFull: nothing was changed.
        """
        history, memory = self.curator.history, fading.memory
        last = last_fading(history, memory) if memory.faded else None
        data = self.curator.vault.read(memory.path)
        if content_hash(data) != memory.content_hash:
            return None
        source = history.content(last.memo["original"]) if last else data
        if source is None:
            return None
        original = Original(parse_note(memory.path, source), memory, self._people(memory))
        body = faded_body(original, fading.stage, self.embed, rarity, is_order=self.is_order)
        original_words = {unit.words for unit in units(source)}
        new_text = "\n".join(
            unit.text for unit in units(body.encode()) if unit.words not in original_words
        )
        if self.is_order(new_text):
            self._can_fade_cache[memory.content_hash] = False
            return None
        faded = FadedText(memory, fading.stage, body, memory.content_hash, fading.since)
        why = Attribution(name="memvault", rationale=_REASONS[fading.stage], kind="system")
        try:
            return self._perform(
                lambda staging: stage_fading(staging, faded, last),
                ChangeKind.FADED, (memory.title,), (memory.id,), why,
            ).change  # fmt: skip
        except (NoteConflict, InvalidParams) as error:
            logger.info("%s", error.message)
            self._can_fade_cache[memory.content_hash] = False
            return None

    def rarity(self) -> Rarity:
        """The rarity of words in this vault, from a sample of its notes."""
        return Rarity(self._sample())

    def _due_within_notice(self) -> list[Fading]:
        """The next fadings that are due within a week."""
        if not self.is_on:
            return []
        until = self.curator.now() + NOTICE
        settings = hastened(self.settings) if self.is_disk_low() else self.settings
        by_note = fadings_by_note(self.curator.history)
        fadings: list[Fading] = []
        for note in self.notes():
            memory = note.memory
            if not may_fade(memory):
                continue
            last = last_fading_in(by_note, memory) if memory.faded else None
            fading = next_fading(self._aging(note, last), settings)
            if fading is not None and fading.due <= until and self._can_fade(memory):
                fadings.append(fading)
        return fadings

    def _notice(self) -> timedelta:
        return HASTY_NOTICE if self.is_disk_low() else NOTICE

    def _aging(self, note: SavedNote, last: Change | None) -> Aging:
        memory, saved = note.memory, note.changed_at
        last_read, counted = self.last_read(memory.id), counted_from(last, memory, saved)
        return Aging(memory, saved, last_read, self._permanent_links(memory), counted)

    def _permanent_links(self, memory: Memory) -> int:
        """The number of permanent notes that link to the memory."""
        indexed = self.indexed()
        sources = {
            edge.source
            for edge in indexed.edges.touching(memory.id)
            if edge.target == memory.id and edge.origin in STATED
        }
        notes = map(indexed.notes.memories.by_id, sources)
        return sum(note is not None and note.lifecycle is Lifecycle.PERMANENT for note in notes)

    def _can_fade(self, memory: Memory) -> bool:
        """Whether the memory is longer than its summary, is not disputed, and was not edited since
        it faded."""
        if self.is_disputed(memory):
            return False
        if memory.content_hash not in self._can_fade_cache:
            self._can_fade_cache[memory.content_hash] = self._has_text_to_lose(memory)
        return self._can_fade_cache[memory.content_hash]

    def _has_text_to_lose(self, memory: Memory) -> bool:
        try:
            data = self.curator.vault.read(memory.path)
        except MemvaultError:
            return False  # deleted, or not readable now: then it does not fade
        if not memory.faded:
            return is_worth_fading(parse_note(memory.path, data))
        last = last_fading(self.curator.history, memory)
        return last is not None and body_is_unchanged(data, last)

    def _people(self, memory: Memory) -> tuple[str, ...]:
        graph = self.indexed().edges
        nodes = (graph.node(edge.target) for edge in graph.stated_by(memory.id))
        names = (node.name for node in nodes if node is not None and node.kind == NodeKind.PERSON)
        return tuple(dict.fromkeys(names))

    def _sample(self) -> Iterator[str]:
        paths = sorted(memory.path for memory in self.indexed().notes.memories.all())
        for path in paths[:: max(1, len(paths) // SAMPLED)]:
            try:
                yield self.curator.vault.read(path).decode("utf-8", "replace")
            except MemvaultError:
                continue  # a sample needs no particular note
