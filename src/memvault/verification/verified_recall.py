"""Recall in two stages (triple 2.7, 2.8): what is found in the question's mode, then checked.

The mode says how many memories, how sure and how varied; checking says which of them other notes
confirm or contradict. On critical matters only what is verified is told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memvault.model.errors import StoreUnavailable
from memvault.model.memory import Memory
from memvault.model.note import ChunkSize
from memvault.model.search import Mode, Recalled, Scope, Status, Verification
from memvault.search.calibration import (
    ANSWERS,
    CONCERNS,
    background,
    features,
    relevance_shift,
)
from memvault.search.diversity import Floats, diverse
from memvault.search.modes import PLANS, detect_mode
from memvault.search.relations.multihop import Reached
from memvault.search.scope import widened
from memvault.stores.vectors import VectorStore
from memvault.text.embedding import Embedder
from memvault.verification.sensitive_topics import Matter, matter_of
from memvault.verification.verifier import Verifier

CANDIDATES = 20  # checked at least, on critical matters and in execution mode (FR-44)
VARIED = 60  # candidates that planning chooses from
UNVERIFIED_MOST = 0.69  # confidence of what nobody confirms, on critical matters (FR-46)

RecallMemories = Callable[[str, int, Scope | None], Reached]
Fitting = Callable[[Sequence[Memory]], Collection[str]]


@dataclass(frozen=True, slots=True)
class Weighed:
    """A memory found. ``confidence`` is calibrated; ``withheld`` tells that its text is not to be
    shown."""

    recalled: Recalled
    memory: Memory
    confidence: float
    verification: Verification
    withheld: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """Memories, best first; ``matter`` is set where the question is critical, ``notice`` where
    something was left out."""

    memories: list[Weighed]
    mode: Mode
    matter: Matter | None = None
    notice: str | None = None

    @property
    def unverified(self) -> list[Weighed]:
        return [each for each in self.memories if not each.verification.verified]


@dataclass(frozen=True, slots=True)
class _Narrowed:
    """What a caller asks for beside the question (`VerifiedRecall.ask`)."""

    top_k: int | None
    scope: Scope | None
    fitting: Fitting | None
    allow_unverified: bool


class VerifiedRecall:
    """Asks, weighs and checks; safe in any thread.

    Args:
        recall: hybrid and multi-hop recall of so many memories.
        memory_of: the memory of an id; None if it is gone.
    """

    def __init__(
        self,
        recall: RecallMemories,
        memory_of: Callable[[str], Memory | None],
        vectors: VectorStore,
        embedder: Embedder,
        verifier: Verifier,
    ) -> None:
        self._recall = recall
        self._memory_of = memory_of
        self._vectors = vectors
        self._embedder = embedder
        self._verifier = verifier
        self._shift: float | None = None

    def ask(
        self,
        query: str,
        *,
        mode: Mode | None = None,
        top_k: int | None = None,
        scope: Scope | None = None,
        fitting: Fitting | None = None,
        allow_unverified: bool = False,
    ) -> Answered:
        """What answers a question.

        Args:
            mode: None finds it by the question.
            top_k: the most that is shown, in place of the mode's own number.
            fitting: ids of those memories that pass a filter which stores cannot apply.
            allow_unverified: show unverified memories on critical matters too.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        chosen = mode or detect_mode(query)
        narrowed = _Narrowed(top_k, scope, fitting, allow_unverified)
        answered = self._in_mode(query, chosen, narrowed)
        if mode is None and chosen is not Mode.DEFAULT and not answered.memories:
            return self._in_mode(query, Mode.DEFAULT, narrowed)
        return answered

    def judge(
        self,
        query: str,
        found: Sequence[tuple[Recalled, Memory]],
        scope: Scope | None = None,
        *,
        allow_unverified: bool = False,
    ) -> Answered | None:
        """What another way of asking found, checked, in the same order; None unless the question
        is on a critical matter."""
        matter = matter_of(query)
        if matter is None:
            return None
        weighed = self._weighed(query, found, Mode.DEFAULT, matter, scope)
        if not allow_unverified:
            weighed = [replace(e, withheld=not e.verification.verified) for e in weighed]
        return Answered(
            weighed, Mode.DEFAULT, matter, _notice(Mode.DEFAULT, matter, weighed, weighed)
        )

    def _in_mode(self, query: str, mode: Mode, narrowed: _Narrowed) -> Answered:
        plan, matter = PLANS[mode], matter_of(query)
        most = narrowed.top_k or plan.most
        looked = most
        if mode is Mode.PLANNING:
            looked = max(VARIED, most)
        elif mode is Mode.EXECUTION or matter is not None:
            looked = max(CANDIDATES, most)
        found, lacking = self._found(query, looked, narrowed)
        if mode is Mode.DEFAULT and matter is None:
            found = found[:most]
        weighed = self._weighed(query, found, mode, matter, narrowed.scope)
        if matter is not None and mode is not Mode.PLANNING:
            weighed.sort(key=lambda each: not each.verification.verified)
        sure = [each for each in weighed if each.confidence >= plan.threshold]
        shown = self._varied(query, sure, most, plan.diversity)
        withheld = matter is not None and not narrowed.allow_unverified
        if withheld:
            shown = [replace(e, withheld=not e.verification.verified) for e in shown]
        notices = (lacking, _notice(mode, matter, weighed, shown))
        return Answered(shown, mode, matter, " ".join(filter(None, notices)) or None)

    def _found(
        self, query: str, looked: int, narrowed: _Narrowed
    ) -> tuple[list[tuple[Recalled, Memory]], str | None]:
        """Memories found, and what could not be asked for them."""
        lacking: str | None = None

        def look(limit: int) -> list[tuple[Recalled, Memory]]:
            nonlocal lacking
            reached = self._recall(query, limit, narrowed.scope)
            lacking = reached.notice
            pairs = ((each, self._memory_of(each.note_id)) for each in reached.memories)
            return [(each, memory) for each, memory in pairs if memory is not None]

        fitting = narrowed.fitting
        if fitting is None:
            found = look(looked)
            return found, lacking

        def fits(known: Sequence[tuple[Recalled, Memory]]) -> list[tuple[Recalled, Memory]]:
            ids = fitting([memory for _, memory in known])
            return [pair for pair in known if pair[1].id in ids]

        found = widened(look, fits, looked)[:looked]
        return found, lacking

    def _weighed(
        self,
        query: str,
        found: Sequence[tuple[Recalled, Memory]],
        mode: Mode,
        matter: Matter | None,
        scope: Scope | None,
    ) -> list[Weighed]:
        if not found:
            return []
        seen = features(
            query, [each for each, _ in found], [memory.title for _, memory in found], self.shift
        )
        likely = (CONCERNS if mode is Mode.PLANNING else ANSWERS).confidences(seen)
        standing = self._verifier.verify(query, found, scope)
        return [
            Weighed(each, memory, confidence(chance, check, critical=matter is not None), check)
            for (each, memory), chance, check in zip(found, likely, standing, strict=True)
        ]

    @property
    def shift(self) -> float:
        """What to take off relevances for the embedding model; measured once."""
        if self._shift is None:
            self._shift = relevance_shift(background(self._embedder.embed_few))
        return self._shift

    def _varied(
        self, query: str, found: list[Weighed], most: int, diversity: float
    ) -> list[Weighed]:
        if diversity <= 0.0 or len(found) < 2:
            return found[:most]
        try:
            vectors = self._passages(query, [each.memory.id for each in found])
        except StoreUnavailable:
            return found[:most]
        order = diverse([each.confidence for each in found], vectors, most, diversity)
        return [found[k] for k in order]

    def _passages(self, query: str, ids: Sequence[str]) -> Floats:
        """(n, dim): of each memory the passage that is nearest to the question."""
        asked = self._embedder.embed_query(query)
        passages = self._vectors.vectors(ids, ChunkSize.PASSAGE)
        nothing = np.zeros_like(asked)
        return np.stack(
            [max(passages.get(key, ()), key=lambda v: float(v @ asked), default=nothing)
             for key in ids]
        )  # fmt: skip


def confidence(likely: float, check: Verification, *, critical: bool) -> float:
    """Confidence in [0, 1] that a memory can be relied on for the question.

    Contradicted: its chance times its share of the witnesses. Confirmed in what the question asks:
    1 (FR-46). Verified by the person, whatever is asked: half of the way to 1. Nobody confirms it:
    its chance, on critical matters under 0.7.
    """
    if check.status is Status.CONTRADICTED:
        return likely * check.score
    if check.verified:
        return 1.0 if check.answers else (1.0 + likely) / 2.0
    return min(likely, UNVERIFIED_MOST) if critical else likely


def _notice(
    mode: Mode, matter: Matter | None, weighed: Sequence[Weighed], shown: Sequence[Weighed]
) -> str | None:
    threshold = PLANS[mode].threshold
    if weighed and not shown:
        best = max(weighed, key=lambda each: each.confidence)
        return (
            f"Nothing is sure enough for {mode.value} mode, which asks for a confidence of "
            f"{threshold}: the likeliest memory, {best.memory.title!r}, has {best.confidence:.2f}. "
            'Ask with mode="default" to see it.'
        )
    held = sum(each.withheld for each in shown)
    if not held or matter is None:
        return None
    memories = "1 memory is" if held == 1 else f"{held} memories are"
    return (
        f"{memories} named here without text: the question is on a {matter.value} matter, and no "
        "independent note nor the person confirms what they say. Ask the person to verify them "
        "(verified: true in the note), or call again with allow_unverified=true and say that it "
        "is unverified."
    )
