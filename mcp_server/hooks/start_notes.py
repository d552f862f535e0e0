"""Chooses the notes of a project that are given at a session's start."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from mcp_server.hooks.checked_search import CheckedSearch
from memvault.capture.quotations import LASTING, Quotation, by_origin, on_one_line
from memvault.consolidation.distillation import DistillationLog
from memvault.curation.indexed_changes import IndexedVault
from memvault.model.errors import MemvaultError
from memvault.model.memory import Memory
from memvault.model.note import LineRange, Sentence
from memvault.model.search import Hit, Scope
from memvault.reasoning.conflicts import stated_conflicts
from memvault.search.excerpt import Excerpts
from memvault.search.scope import allowed_in
from memvault.vault.parse import parse_note
from memvault.vault.session_lines import is_captured
from memvault.verification.claims.claim_sources import outdated_notes

MAX_AT_START = 20
RECENCY_DAYS = 30.0  # after which a memory's recency is one half
_WEIGHTS = {"recency": 0.2, "access": 0.3, "fit": 0.3, "importance": 0.2}  # REQ-AUTO-06
_OPEN = ("question", "open question", "task")
_IMPORTANT = 0.8  # importance from which a memory of the project is given at a session's start
_CONCERNING_GOAL = 50  # memories found for the session's goal
_OPENING_BYTES = 220  # of a note given at a session's start
_PREFERENCE_BYTES = 600  # of a note with preferences
_CANDIDATES = 300


@dataclass(frozen=True, slots=True)
class StartNotes:
    """Chooses notes, and quotes their beginnings. Thread-safe.

    Attributes:
        indexed: gives the vault as it is indexed now.
        access_count: how often the memory with an id was read.
        read: returns the bytes of the note at a path.
    """

    search: CheckedSearch
    indexed: Callable[[], IndexedVault]
    access_count: Callable[[str], int]
    distilled: DistillationLog
    read: Callable[[str], bytes]
    excerpts: Excerpts

    def best(
        self, project: str | None, goal: str, client: str, *, only: Collection[str] | None = None
    ) -> list[Quotation]:
        """Decisions, open questions and preferences for a project, best first (REQ-AUTO-06).

        Superseded notes come last and are marked.

        Args:
            goal: the session's subject, as far as it is known.
            only: ids of notes to choose from, captured sessions aside; None chooses from all.
        """
        now = datetime.now(UTC)
        memories = list(self.indexed().notes.memories.all())
        if only is None:
            memories = [memory for memory in memories if self._is_for_start(memory, project)]
        else:
            memories = [
                memory for memory in memories if memory.id in only and not is_captured(memory)
            ]
        memories.sort(key=lambda memory: memory.created_at, reverse=True)
        memories = memories[:_CANDIDATES]
        fits = self._fits(goal, project, {memory.id for memory in memories}, client)
        used = {m.id: self.access_count(m.id) for m in memories}
        most_used = max(used.values(), default=0)

        def score(memory: Memory) -> float:
            age = max(0.0, (now - memory.moment).total_seconds() / 86_400)
            return float(
                _WEIGHTS["recency"] * 0.5 ** (age / RECENCY_DAYS)
                + _WEIGHTS["access"] * math.log1p(used[memory.id]) / math.log1p(max(1, most_used))
                + _WEIGHTS["fit"] * fits.get(memory.id, 0.0)
                + _WEIGHTS["importance"] * memory.importance
            )

        superseded = self._superseded([memory.id for memory in memories], project)
        memories.sort(key=lambda memory: (memory.id in superseded, -score(memory)))
        return [
            replace(quotation, text=f"(superseded) {quotation.text}")
            if memory.id in superseded
            else quotation
            for memory in memories[:MAX_AT_START]
            for quotation in self._opening_of(memory, goal)
        ]

    def _superseded(self, ids: Sequence[str], project: str | None) -> frozenset[str]:
        """Ids of the notes that another one of the project, or of none, replaces."""
        indexed = self.indexed()
        by_id = indexed.notes.memories.by_id
        is_in_project = allowed_in(Scope(project=project), by_id)
        stated = stated_conflicts(indexed.edges, ids)
        conflicts = (c for c in stated if all(is_in_project(side.node.id) for side in c.sides))
        return outdated_notes(conflicts, by_id)

    def _is_for_start(self, memory: Memory, project: str | None) -> bool:
        if memory.type == "preference":
            return memory.project in (None, project)
        if project is None or memory.project != project:
            return False
        if memory.type in (*LASTING, *_OPEN) or memory.importance >= _IMPORTANT or memory.pinned:
            return True
        return self.distilled.of(memory) is not None

    def _fits(
        self, goal: str, project: str | None, ids: Collection[str], client: str
    ) -> dict[str, float]:
        """The fit of each memory to a goal, in [0, 1], by id."""
        if not goal or not ids:
            return {}
        try:
            scope = Scope(None, project)
            concerning = self.search.concerning(goal, scope, _CONCERNING_GOAL, client)
        except MemvaultError:
            return {}  # a store does not answer: the other three weights rank
        return {hit.memory.id: chance for hit, chance in concerning if hit.memory.id in ids}

    def _opening_of(self, memory: Memory, goal: str) -> list[Quotation]:
        """The note's distillate, else its excerpt for the goal or title, by origin; empty without
        text."""
        if (distilled := self.distilled.of(memory)) is not None:
            note = parse_note(memory.path, self.read(memory.path))
            sentences = note.sentences
            chosen = [sentences[index] for index in distilled.sentences if index < len(sentences)]
            if chosen and all(_is_own(memory, sentence) for sentence in chosen):
                texts = [sentence.text for sentence in chosen]
                return [Quotation(memory, " ".join([f"{memory.title}:", *texts]))]
        limits = [_PREFERENCE_BYTES if memory.type == "preference" else _OPENING_BYTES]
        (excerpt,) = self.excerpts.of(goal or memory.title, [Hit(memory, 1.0)], limits)
        return [
            Quotation(memory, f"{memory.title}: {on_one_line(text)}", origin=origin)
            for text, origin in by_origin(memory, excerpt.text, excerpt.lines)
            if text
        ]


def _is_own(memory: Memory, sentence: Sentence) -> bool:
    lines = LineRange(sentence.line, sentence.line)
    return memory.provenance.of_sentence(sentence.text, lines).is_person
