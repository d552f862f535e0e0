"""The search pipeline: every question passes these stages, in this order.

mode → time → candidates (`candidates`) → confidence → verification → preference (learnt from use)
→ order → threshold → diversity

A memory found is one `Hit`, which the stages enrich in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np

from memvault.model.errors import StoreUnavailable
from memvault.model.note import ChunkSize, Vector
from memvault.model.search import FoundBy, Hit, Mode, Scope, SearchResult, Tuning
from memvault.model.verification import Verification
from memvault.search.calibration import (
    ANSWERS,
    CONCERNS,
    confidence,
    features,
    is_unrelated_title,
    may_answer,
)
from memvault.search.candidates import CandidateFinder
from memvault.search.knowledge import Knowledge, surely_known
from memvault.search.lists.named_groups import names_any
from memvault.search.modes import PLANS, Floats32, detect_mode, diverse
from memvault.search.notices import (
    MAX_NEAREST,
    OTHER_LANGUAGE,
    UNSURE,
    cut_list_notice,
    incomplete_list_notice,
    threshold_notice,
    unanswered_notice,
    unseen_names_notice,
    withheld_notice,
)
from memvault.search.order import (
    newest_first,
    originals_first,
    persons_notes_before_claims,
    preferred,
    superseding_first,
    verified_first,
)
from memvault.search.question_names import SHARE_ANSWERED, unseen_names
from memvault.search.relations.relation_search import MAX_HOPS
from memvault.search.request import Candidates, SearchRequest
from memvault.search.scope import MemoryFilter, MemoryLookup, filtered, in_scope
from memvault.search.times.question_time import asks_for_newest
from memvault.stores.open import Stores
from memvault.text.encoders.embedding import Embedder

MIN_CANDIDATES = 20  # least number verified on sensitive topics and in execution mode (FR-44)
PLANNING_CANDIDATES = 60  # candidates that planning chooses from

Preference = Callable[[str, Sequence[str]], Sequence[float] | None]
"""Returns weights learnt from use for memories (by id) as answers to a question, each in [-1, 1];
None if nothing was learnt."""


class Checker(Protocol):
    """Verifies hits by what other notes say (`verification.verifier.Verifier`)."""

    def topic_of(self, query: str) -> str | None:
        """The sensitive topic that a question is about, if any."""
        ...

    def verify(
        self, query: str, hits: Sequence[Hit], scope: Scope | None = None
    ) -> list[Verification]:
        """The verification of each hit by other notes, in the same order."""
        ...

    def withhold(self, hits: Sequence[Hit]) -> None:
        """Reduce these hits to the text that may answer a sensitive question."""
        ...


class Searcher:
    """Answers questions with memories; safe in any thread.

    Args:
        candidates: finds the memories that are judged here.
        preference: returns the weights of memories learnt from use.
        ranking_share: greatest share of its relevance that a memory gains or loses by preference.
        tuning: the current adjustments by modulation.
    """

    def __init__(
        self,
        candidates: CandidateFinder,
        stores: Stores,
        embedder: Embedder,
        memories: MemoryLookup,
        checker: Checker,
        *,
        preference: Preference = lambda question, ids: None,
        ranking_share: float = 0.0,
        tuning: Callable[[], Tuning] = Tuning,
    ) -> None:
        self.candidates = candidates
        self.hybrid = candidates.hybrid
        self._vectors = stores.vectors
        self._knowledge = Knowledge(self.hybrid, stores)
        self._embedder = embedder
        self._memories = memories
        self._checker = checker
        self._preference = preference
        self._ranking_share = ranking_share
        self._tuning = tuning

    def warm_up(self) -> None:
        """Load tables, relations and vocabulary now rather than at the first question."""
        self.candidates.warm_up()

    def begin(self, query: str) -> None:
        """Start to embed the texts that `search` compares, to shorten its wait."""
        self.hybrid.begin(query)

    def close(self) -> None:
        """Start no more searches."""
        self.candidates.close()

    def search(
        self,
        query: str,
        *,
        mode: Mode | None = None,
        top_k: int | None = None,
        scope: Scope | None = None,
        memory_filter: MemoryFilter | None = None,
        allow_unverified: bool = False,
        max_hops: int = MAX_HOPS,
        patience: float = 0.0,
    ) -> SearchResult:
        """The memories that answer a question, best first, each once.

        Args:
            mode: None detects it from the question.
            top_k: number of memories shown at most; None for the mode's own number.
            memory_filter: a filter that stores cannot apply.
            allow_unverified: show unverified memories on sensitive topics too.
            patience: seconds to wait for relations that are read for the first time; unless it is
                0, relations that explain the results are shown too.

        Raises:
            StoreUnavailable: no store answers.
        """
        self.begin(query)  # while names are looked for
        chosen_mode = mode or detect_mode(query)
        request = SearchRequest(
            query,
            scope or Scope(),
            top_k=top_k,
            memory_filter=memory_filter,
            allow_unverified=allow_unverified,
            max_hops=max_hops,
            patience=patience,
            topic=self._checker.topic_of(query),
            time=self.candidates.time_of(query),
        )
        found = self.candidates.find(request, _candidate_count(request, chosen_mode))
        candidates = replace(found, notice=self._language_notice(request, found) or found.notice)
        knowledge = self._knowledge.of(request, candidates.hits)
        if knowledge < self._knowledge.least_shown(query):
            if request.topic is not None and not allow_unverified:
                self._verify(request, candidates.hits[:MAX_NEAREST])
                self._checker.withhold(candidates.hits[:MAX_NEAREST])
            notice = unanswered_notice(candidates)
            return SearchResult([], mode or Mode.DEFAULT, request.topic, notice, known=False)
        result = self._judge(request, candidates, chosen_mode)
        if mode is None and chosen_mode is not Mode.DEFAULT and not result.hits:
            result = self._judge(request, candidates, Mode.DEFAULT)
        result.known = surely_known(knowledge, result.hits)
        if result.hits and not result.known:
            result.notice = " ".join(filter(None, (UNSURE, result.notice)))
        return result

    def check(
        self,
        query: str,
        hits: Sequence[Hit],
        scope: Scope | None = None,
        *,
        allow_unverified: bool = False,
    ) -> SearchResult:
        """Judge hits that were found in another way by the same rules; keeps their order."""
        topic = self._checker.topic_of(query)
        request = SearchRequest(query, scope or Scope(), topic=topic)
        self._set_confidences(query, hits, Mode.DEFAULT)
        self._verify(request, hits)
        if topic is not None and not allow_unverified:
            self._checker.withhold(hits)
        return SearchResult(list(hits), Mode.DEFAULT, topic, withheld_notice(topic, query, hits))

    def search_passages(
        self,
        query: str,
        top_k: int,
        scope: Scope | None = None,
        memory_filter: MemoryFilter | None = None,
        *,
        allow_unverified: bool = False,
    ) -> SearchResult:
        """The passages nearest to a text, best first, judged; a note may have several.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """

        def search(limit: int) -> list[Hit]:
            return self.hybrid.search_passages(query, limit, scope)

        hits = filtered(search, memory_filter, top_k) if memory_filter else search(top_k)
        return self.check(query, hits, scope, allow_unverified=allow_unverified)

    def find(self, query: str, limit: int, scope: Scope | None = None) -> list[Hit]:
        """The memories nearest to a text, best first, unverified and without a confidence, for code
        that reasons over memories rather than shows them.

        Raises:
            StoreUnavailable: no store answers.
        """
        time = self.candidates.time_of(query)
        request = SearchRequest(query, scope or Scope(), time=time)
        return self.candidates.find(request, limit).hits[:limit]

    def _language_notice(self, request: SearchRequest, candidates: Candidates) -> str | None:
        """Says that the question would find more in the language of the notes; None if it would
        not, or if it gets nothing, a list, which no text has to fit, or a text that answers."""
        hits = candidates.hits
        if not hits or any(hit.relevance == 1.0 for hit in hits):
            return None
        with suppress(StoreUnavailable):
            texts = [hit.text for hit in hits]
            is_in_other = self.hybrid.languages.is_in_other_language(request.query, texts)
            if is_in_other and not self._knowledge.is_answer(request, hits[0]):
                return " ".join(filter(None, (candidates.notice, OTHER_LANGUAGE)))
        return None

    # -- judging --------------------------------------------------------------------------------

    def _judge(self, request: SearchRequest, candidates: Candidates, mode: Mode) -> SearchResult:
        """Verify, order and choose candidates by the rules of a mode, and say what is missing."""
        plan, topic = PLANS[mode].tuned(self._tuning()), request.topic
        top_k = request.top_k or plan.top_k
        hits = candidates.hits[: _candidate_count(request, mode)]
        unseen = self._unseen_names(request, hits)
        self._set_confidences(request.query, hits, mode)
        self._verify(request, hits)
        for hit in hits if unseen else ():
            hit.confidence *= SHARE_ANSWERED
        most_relevant = hits[:top_k]
        hits = originals_first(self._ordered(request, hits, mode))
        confident = [hit for hit in hits if hit.confidence >= plan.threshold]
        if not request.is_narrowed:
            confident = [hit for hit in confident if not is_unrelated_title(hit)]
        shown = self._diversify(request.query, confident, top_k, plan.diversity)
        cut_off = [hit for hit in most_relevant if hit not in shown]
        if request.top_k is None and not request.is_narrowed:
            shown = self._likely(request.query, shown)
        may_be_withheld = shown
        if topic is not None and not request.allow_unverified:
            # Claims that came before the person's notes count as withheld where they are cut off.
            may_be_withheld = [*shown, *cut_off]
            self._checker.withhold(may_be_withheld if shown else hits)  # else one of all is named
        count = partial(self._count_notes, request.scope)
        notices = (
            candidates.notice or incomplete_list_notice(request.query, count, shown),
            cut_list_notice(candidates.total, len(shown)),
            unseen_names_notice(unseen),
            threshold_notice(mode, plan, hits, shown),
            withheld_notice(topic, request.query, may_be_withheld),
        )
        return SearchResult(shown, mode, topic, " ".join(filter(None, notices)) or None)

    def _likely(self, query: str, hits: list[Hit]) -> list[Hit]:
        """The hits without those that hardly answer; all if the model does not know the language
        of notes and question, since relevances, and so confidences, then say little."""
        with suppress(StoreUnavailable):
            languages, texts = self.hybrid.languages, [hit.text for hit in hits]
            unknown = languages.is_in_unknown_language(query)
            if unknown and not languages.is_in_other_language(query, texts):
                return hits
        return [hit for rank, hit in enumerate(hits) if may_answer(hit, rank)]

    def _count_notes(self, scope: Scope, kind: str) -> int:
        """How many notes of a type, or in a folder or with a tag of this name, a scope has."""
        paths = self._memories.paths_of_type(kind) or self._memories.paths_in_group(kind)
        return sum(in_scope(memory, scope) for memory in self._memories.by_paths(paths))

    def _unseen_names(self, request: SearchRequest, hits: Sequence[Hit]) -> list[str]:
        """The names in a question, besides its times, that no note has."""
        text = " ".join(f"{hit.memory.title} {hit.text}" for hit in hits).casefold()

        def is_in_vault(name: str) -> bool:
            return (
                name.casefold() in text
                or names_any(name, self._memories)
                or bool(self._vectors.rank_keywords(name, 1).note_ids)
            )

        question = request.query if request.time is None else request.time.rest
        try:
            return unseen_names(question, self._vectors.language_of(request.query), is_in_vault)
        except StoreUnavailable:
            return []

    def _set_confidences(self, query: str, hits: Sequence[Hit], mode: Mode) -> None:
        """Set each hit's confidence to the chance that it answers, before verification."""
        if not hits:
            return
        calibration = CONCERNS if mode is Mode.PLANNING else ANSWERS
        chances = calibration.confidences(features(query, hits))
        for hit, chance in zip(hits, chances, strict=True):
            hit.confidence = chance

    def _verify(self, request: SearchRequest, hits: Sequence[Hit]) -> None:
        """Add to each hit what other notes say about it, and adjust its confidence."""
        if not hits:
            return
        verifications = self._checker.verify(request.query, hits, request.scope)
        for hit, verification in zip(hits, verifications, strict=True):
            hit.verification = verification
            hit.confidence = confidence(hit.confidence, verification)

    def _ordered(self, request: SearchRequest, hits: Sequence[Hit], mode: Mode) -> list[Hit]:
        """The hits in order: preferred by use first; newest first if the question asks for what is
        current; a superseding memory before the superseded one.

        On sensitive topics also verified hits before those nearly as relevant and before those
        that they contradict, and the person's own notes that answer before the claims of others.
        """
        ordered = list(hits)
        if request.time is None and self._ranking_share > 0.0:
            weights = self._preference(request.query, [hit.memory.id for hit in ordered])
            ordered = preferred(ordered, weights or (), self._ranking_share)
        if asks_for_newest(request.query, request.time):
            ordered = newest_first(ordered)
        if request.topic is None or mode is Mode.PLANNING or _comes_from_a_list(ordered):
            return superseding_first(ordered)
        ordered = superseding_first(verified_first(ordered), contradicting=True)
        return persons_notes_before_claims(
            ordered, lambda hit: self._knowledge.is_answer(request, hit)
        )

    def _diversify(self, query: str, hits: list[Hit], count: int, diversity: float) -> list[Hit]:
        """The first hits, or a choice of different ones if the mode wants diversity."""
        if diversity <= 0.0 or len(hits) < 2:
            return hits[:count]
        try:
            vectors = self._nearest_passages(query, [hit.memory.id for hit in hits])
        except StoreUnavailable:
            return hits[:count]
        order = diverse([hit.confidence for hit in hits], vectors, count, diversity)
        return [hits[k] for k in order]

    def _nearest_passages(self, query: str, ids: Sequence[str]) -> Floats32:
        """(n, dim): for each memory the vector of its passage nearest to the question."""
        query_vector = self._embedder.embed_query(query)
        passages = self._vectors.vectors(ids, ChunkSize.PASSAGE)
        zeros = np.zeros_like(query_vector)

        def cosine(vector: Vector) -> float:
            return float(vector @ query_vector)

        return np.stack([max(passages.get(key, ()), key=cosine, default=zeros) for key in ids])


def _comes_from_a_list(hits: Sequence[Hit]) -> bool:
    """Whether the order is that of a list: which memory comes first is the answer."""
    return any(hit.found_by is FoundBy.LIST for hit in hits)


def _candidate_count(request: SearchRequest, mode: Mode) -> int:
    """The number of candidates to judge."""
    shown_count = request.top_k or PLANS[mode].top_k
    if mode is Mode.PLANNING:
        return max(PLANNING_CANDIDATES, shown_count)
    if mode is Mode.EXECUTION or request.topic is not None:
        return max(MIN_CANDIDATES, shown_count)
    return shown_count
