"""The inputs of both phases of a dream, and the wording of their proposals."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memvault.cognition.similarity_index import SimilarityIndex
from memvault.consolidation.dreams.links import GoOn, are_linked
from memvault.consolidation.dreams.record import (
    CitedSentence,
    Discovery,
    DiscoveryKind,
    PhaseReport,
)
from memvault.consolidation.rewards import Use
from memvault.model.errors import MemvaultError
from memvault.model.graph import EdgeOrigin
from memvault.model.memory import Lifecycle, Memory, MemoryOf
from memvault.stores.graph_view import GraphView, edge_source

logger = logging.getLogger(__name__)


class TimeOver(Exception):
    """The time of a phase is over; its findings so far are kept."""


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """A memory that answers a question, with the answering sentence."""

    memory: Memory
    relevance: float
    evidence: CitedSentence


@dataclass(frozen=True)
class Phase(ABC):
    """One phase of a dream, with its inputs. It changes nothing; its report is recorded at its end.

    Args:
        memory_of: gives the indexed memory with an id.
        recent: gives the ids of up to n memories, the latest used or written first.
        together: pairs of memories that were used together.
        chains: chains of nodes that led to memories, with their use.
        strengths: gives the strengths that dreams added to a memory's relations, by other memory.
        utility: gives the sum of a memory's rewards; negative if penalties prevail.
        key_sentences: gives the most central sentences of some notes.
        lead: gives a note's first sentence.
        ask: gives the memories that answer a question, best first.
        questions: gives the open questions with the ids of their notes, the weightiest first.
        unanswered: questions that found nothing, when they were asked, and by which client (empty
            for the person).
        answer: gives a memory written since then that answers such a question.
        known: keys of earlier proposals.
        go_on: called between steps of some milliseconds; may pause, and raises to stop.
    """

    view: GraphView
    index: SimilarityIndex
    memory_of: MemoryOf
    recent: Callable[[int], Sequence[str]]
    together: Sequence[tuple[str, str]]
    chains: Sequence[tuple[tuple[str, ...], Use]]
    strengths: Callable[[str], Mapping[str, float]]
    utility: Callable[[str], float]
    key_sentences: Callable[[Sequence[Memory], int], Sequence[CitedSentence]]
    lead: Callable[[Memory], CitedSentence | None]
    ask: Callable[[str], Sequence[FoundAnswer]]
    questions: Callable[[], Sequence[tuple[str, tuple[str, ...]]]]
    unanswered: Sequence[tuple[str, datetime, str]]
    answer: Callable[[str, datetime], FoundAnswer | None]
    known: Collection[str]
    go_on: GoOn

    @abstractmethod
    def run(self, now: datetime) -> PhaseReport:
        """Dream until nothing is left to do or `go_on` raises `TimeOver`."""

    def may_link(self, key: str) -> bool:
        memory = self.memory_of(key)
        if memory is None or memory.type == "preference":
            return False
        return memory.lifecycle is not Lifecycle.EPHEMERAL

    def linked(self, first: str, second: str) -> bool:
        return are_linked(first, second, self.view)

    def link(
        self,
        kind: DiscoveryKind,
        ends: tuple[Memory, Memory],
        reason: str,
        sentences: tuple[list[CitedSentence], list[CitedSentence]] = ([], []),
        about: str | None = None,
    ) -> Discovery:
        """Propose a link, with a sentence from each note.

        That is the given one, else the first that names the node ``about``, else its first.
        """
        evidence = [
            sentence
            for memory, chosen in zip(ends, sentences, strict=True)
            for sentence in chosen
            or self._sentences_naming(memory, about)
            or self.first_sentence(memory)
        ]
        return Discovery(
            kind=kind,
            notes=tuple(memory.id for memory in ends),
            paths=tuple(memory.path for memory in ends),
            reason=reason,
            evidence=tuple(evidence),
        )

    def first_sentence(self, memory: Memory) -> list[CitedSentence]:
        lead = self.lead(memory)
        return [lead] if lead is not None else []

    def _sentences_naming(self, memory: Memory, about: str | None) -> list[CitedSentence]:
        """The first sentence of a note that names a node, in a list; empty if there is none."""
        for edge in self.view.stated_by(memory.id):
            is_about = edge.target == about and edge.origin is not EdgeOrigin.FRONTMATTER
            source = edge_source(edge, self.view) if is_about else None
            if source is not None and source.sentence:
                return [CitedSentence(path=source.path, line=source.line, sentence=source.sentence)]
        return []

    def add(
        self, discoveries: list[Discovery], candidates: Iterator[Discovery | None], most: int
    ) -> None:
        """Add the first ``most`` candidates that were never proposed."""
        proposed = {*self.known, *(earlier.key for earlier in discoveries)}
        try:
            for discovery in candidates:
                if discovery is not None and discovery.key not in proposed:
                    proposed.add(discovery.key)
                    discoveries.append(discovery)
                    most -= 1
                if most <= 0:
                    break
        except MemvaultError as error:  # a store or a note is unreadable now
            logger.warning("a dream is incomplete: %s", error.message)
