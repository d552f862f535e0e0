"""Lets old sessions fade in the background while no request runs."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

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
    hastened,
    may_fade,
    next_fading,
)
from memvault.curation.changes.plan import Attribution
from memvault.curation.operations.fade import (
    FadedText,
    body_is_unchanged,
    counted_from,
    fadings_by_note,
    last_fading,
    last_fading_in,
)
from memvault.curation.origins.sentence_digests import units
from memvault.model.change import Change, TaskType
from memvault.model.errors import DiskFull, InvalidParams, MemvaultError, NoteConflict
from memvault.model.graph import STATED, NodeKind
from memvault.model.memory import Lifecycle, Memory
from memvault.vault.parse import content_hash, parse_note

if TYPE_CHECKING:
    from indexer.catalogue import NoteRecord
    from mcp_server.runtime.container import Container

logger = logging.getLogger(__name__)
FADE = "fade old sessions"
FIRST_SECONDS = 60.0  # after the start
EVERY_SECONDS = 3600.0
QUIET_SECONDS = 20.0  # without a call, before a session fades
RETRY_SECONDS = 10.0  # while requests run
SAMPLED = 500  # notes that decide which words are rare
_CONFLICTS = {
    TaskType.MALFORMED_FRONTMATTER, TaskType.MALFORMED_TEXT, TaskType.CONFLICTING_FACTS,
}  # fmt: skip
_REASONS = {
    FadingStage.SUMMARY: "Old: reduced to a summary",
    FadingStage.KEYS: "Older: reduced to keywords",
}


class FadingService:
    """Announces which notes will fade, then lets them fade; one per container. Thread-safe."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self.log = container.fading_log
        self._can_fade_cache: dict[str, bool] = {}  # whether a note can fade, by content hash

    @property
    def enabled(self) -> bool:
        """Whether the settings allow fading; the person may still turn it off."""
        return self._container.settings.fading.enabled

    @property
    def is_on(self) -> bool:
        return self.enabled and self.log.is_on

    def start(self) -> None:
        self._container.worker.run(FADE, self.step, after=FIRST_SECONDS)

    def upcoming(self) -> list[tuple[Fading, datetime]]:
        """The memories that fade within a week, each with its time, the soonest first."""
        notice, now = self._notice(), self._container.now()
        times = [
            (fading, self.log.fades_at(fading, notice) or max(fading.due, now + notice))
            for fading in self._due_within_notice()
        ]
        return sorted(times, key=lambda pair: (pair[1], pair[0].memory.path))

    def announce(self) -> None:
        """Record the memories that *Today* now shows as fading soon."""
        self.log.announce(self._due_within_notice(), self._container.now())

    def due(self) -> list[Fading]:
        """The memories to fade now; they were announced long enough ago."""
        now, notice = self._container.now(), self._notice()
        times = [
            (fading, self.log.fades_at(fading, notice)) for fading in self._due_within_notice()
        ]
        return [fading for fading, at in times if at is not None and at <= now]

    def fade(self, fading: Fading, rarity: Rarity) -> Change | None:
        """Let one memory fade; None if its note has changed or cannot fade.

        Raises:
            StorageError, DiskFull: nothing was changed.
        """
        container, memory = self._container, fading.memory
        last = last_fading(container.curator.history, memory) if memory.faded else None
        data = container.vault.read(memory.path)
        if content_hash(data) != memory.content_hash:
            return None
        source = container.curator.history.content(last.memo["original"]) if last else data
        if source is None:
            return None
        original = Original(parse_note(memory.path, source), memory, self._people(memory))
        body = faded_body(
            original, fading.stage, container.embedder.embed, rarity, is_order=self._is_order
        )
        original_words = {unit.words for unit in units(source)}
        new_text = "\n".join(
            unit.text for unit in units(body.encode()) if unit.words not in original_words
        )
        if self._is_order(new_text):
            self._can_fade_cache[memory.content_hash] = False
            return None
        faded = FadedText(memory, fading.stage, body, memory.content_hash, fading.since)
        why = Attribution(name="memvault", rationale=_REASONS[fading.stage], kind="system")
        try:
            return container.actions.fade(faded, last, why).change
        except (NoteConflict, InvalidParams) as error:
            logger.info("%s", error.message)
            self._can_fade_cache[memory.content_hash] = False
            return None

    def _is_order(self, text: str) -> bool:
        """Whether a text written by memvault would be put in quarantine."""
        return self._container.immunity.check(text).adversarial

    def rarity(self) -> Rarity:
        """The rarity of words in this vault, from a sample of its notes."""
        return Rarity(self._sample())

    def step(self) -> float:
        """Announce and fade memories that are due, one after another, until a request comes.

        Returns the seconds until the next step.
        """
        container = self._container
        if not (self.is_on and container.indexing.is_settled):
            return EVERY_SECONDS
        self.announce()
        if not (due := self.due()):
            return EVERY_SECONDS
        rarity = self.rarity()
        for fading in due:
            if container.worker.stopped or container.requests.idle_seconds() < QUIET_SECONDS:
                return RETRY_SECONDS
            try:
                self.fade(fading, rarity)
            except DiskFull as error:
                logger.warning("fading waits: %s", error.message)
                break
            except MemvaultError as error:
                logger.warning("%s does not fade now: %s", fading.memory.path, error.message)
        return EVERY_SECONDS

    def _due_within_notice(self) -> list[Fading]:
        """The next fadings that are due within a week."""
        if not self.is_on:
            return []
        until = self._container.now() + NOTICE
        settings = self._container.settings.fading
        if self._container.upkeep.low_disk():
            settings = hastened(settings)
        quarantined = {text.path for text in self._container.guarded.held_texts()}
        fadings: list[Fading] = []
        by_note = fadings_by_note(self._container.curator.history)
        for record in self._container.live.catalogue.records():
            memory = record.memory
            if not may_fade(memory) or record.frontmatter_problem or record.warnings:
                continue
            last = last_fading_in(by_note, memory) if memory.faded else None
            fading = next_fading(self._aging(record, last), settings)
            if fading is None or fading.due > until or memory.path in quarantined:
                continue
            if self._can_fade(memory):
                fadings.append(fading)
        return fadings

    def _notice(self) -> timedelta:
        return HASTY_NOTICE if self._container.upkeep.low_disk() else NOTICE

    def _aging(self, record: NoteRecord, last: Change | None) -> Aging:
        memory, saved = record.memory, record.changed_at
        last_read = self._container.activity.of(memory.id).last_accessed
        counted = counted_from(last, memory, saved)
        return Aging(memory, saved, last_read, self._permanent_links(memory), counted)

    def _permanent_links(self, memory: Memory) -> int:
        """The number of permanent notes that link to the memory."""
        graph, by_id = self._container.live.graph_view, self._container.live.catalogue.by_id
        sources = {
            edge.source
            for edge in graph.touching(memory.id)
            if edge.target == memory.id and edge.origin in STATED
        }
        notes = (by_id(source) for source in sources)
        return sum(note is not None and note.lifecycle is Lifecycle.PERMANENT for note in notes)

    def _can_fade(self, memory: Memory) -> bool:
        """Whether the memory is longer than its summary, has no open conflict, and was not edited
        since it faded."""
        if self._container.curation.kinds([memory.id]) & _CONFLICTS:
            return False
        if memory.content_hash not in self._can_fade_cache:
            self._can_fade_cache[memory.content_hash] = self._has_text_to_lose(memory)
        return self._can_fade_cache[memory.content_hash]

    def _has_text_to_lose(self, memory: Memory) -> bool:
        container = self._container
        try:
            data = container.vault.read(memory.path)
        except MemvaultError:
            return False  # deleted, or not readable now: then it does not fade
        if not memory.faded:
            return is_worth_fading(parse_note(memory.path, data))
        last = last_fading(container.curator.history, memory)
        return last is not None and body_is_unchanged(data, last)

    def _people(self, memory: Memory) -> tuple[str, ...]:
        graph = self._container.live.graph_view
        nodes = (graph.node(edge.target) for edge in graph.stated_by(memory.id))
        names = (node.name for node in nodes if node is not None and node.kind == NodeKind.PERSON)
        return tuple(dict.fromkeys(names))

    def _sample(self) -> Iterator[str]:
        paths = sorted(self._container.live.catalogue.paths())
        for path in paths[:: max(1, len(paths) // SAMPLED)]:
            try:
                yield self._container.vault.read(path).decode("utf-8", "replace")
            except MemvaultError:
                continue  # a sample needs no particular note
