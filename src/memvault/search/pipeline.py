"""The one way in which memories are found: every question passes these stages, in this order.

mode → time → hybrid search → association → relations → passages → reranker (if configured) →
confidence → verification → preference (what use has taught) → order → threshold → diversity

A memory found is one `Hit`, which the stages enrich in place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np

from memvault.model.errors import GraphQueryError, StoreUnavailable
from memvault.model.memory import Memory
from memvault.model.note import ChunkSize
from memvault.model.search import (
    FoundBy,
    Hit,
    Mode,
    Scope,
    SearchResult,
    Tuning,
    Verification,
)
from memvault.model.state import Background
from memvault.search.association import POOL, Association, LinkWeight, with_own
from memvault.search.calibration import (
    ANSWERS,
    CONCERNS,
    background,
    confidence,
    features,
    relevance_shift,
    told,
    word_shares,
)
from memvault.search.dates import AskedTime, asks_for_newest, day_named
from memvault.search.fallback import NO_GRAPH, AnswerCache, Fallback, FallbackResult, SearchRequest
from memvault.search.hybrid import HybridSearch
from memvault.search.listing import Listing
from memvault.search.modes import PLANS, Floats, detect_mode, diverse
from memvault.search.notices import (
    NOTHING_THEN,
    UNSURE,
    below_threshold,
    not_all,
    unknown,
    withheld,
)
from memvault.search.order import (
    claims_after_own,
    newest_first,
    preferred,
    superseding_first,
    verified_first,
)
from memvault.search.relations.relation_search import MOST_HOPS, Indexed, RelationSearch
from memvault.search.scope import in_scope, widened
from memvault.search.time_spans import Calendar
from memvault.stores.graph_view import GraphView
from memvault.stores.open import Stores
from memvault.text.embedding import Embedder
from memvault.text.reranker import Reranker
from memvault.text.words import STOP_WORDS, words

CANDIDATES = 20  # verified at least, on sensitive matters and in execution mode (FR-44)
VARIED = 60  # candidates that planning chooses from
KNOWN = 0.34  # relevance and share of words of the best texts below which a vault knows nothing
MANY = 300  # chunks; of fewer, the nearest that have nothing to do with it are less near
BEST = 3  # of what is found, texts whose words count there
TOLD = 0.8  # share of a question's words in one of these, from which no relation is followed
WORDS = 0.3  # what having all words of a question adds to the relevance there

# What asks for an answer rather than saying of what: no note need have these words.
_REQUEST = re.compile(r"^\W*(?:please )?(?:list|show|find|give|tell|name)\b(?: me| us)?", re.I)

Fitting = Callable[[Sequence[Memory]], Collection[str]]
Preference = Callable[[str, Sequence[str]], Sequence[float] | None]
"""What use says for or against memories (by id) as answers to a question, each in [-1, 1]; None if
that is nothing."""


class Checker(Protocol):
    """Verification, which knows what other notes say (`verification.verifier.Verifier`)."""

    def matter_of(self, query: str) -> str | None:
        """The sensitive matter that a question is about, if any."""
        ...

    def verify(
        self, query: str, hits: Sequence[Hit], scope: Scope | None = None
    ) -> list[Verification]:
        """What other notes say about each hit, in the same order."""
        ...

    def withhold(self, hits: Sequence[Hit]) -> None:
        """Leave of these hits what a sensitive question may be answered with."""
        ...


@dataclass(frozen=True, slots=True)
class _Request:
    """A question with what its caller asks for (`Searcher.search`)."""

    query: str
    top_k: int | None
    scope: Scope
    fitting: Fitting | None
    allow_unverified: bool
    max_hops: int
    patience: float
    matter: str | None
    time: AskedTime | None = None


class Searcher:
    """Answers questions with memories; safe in any thread.

    Args:
        view: the graph in memory.
        read: a note's bytes, by path.
        cache: what the same questions found before, for when no store answers.
        limit_seconds: what an answer may take.
        reranker: orders what was found by its text, if the person has configured one.
        calendar: today, in the person's calendar.
        background: a worker that reads changed relations; without one, questions do.
        preference: what use says for or against memories.
        link_weight: what use says for the link between two memories, in [-1, 1].
        ranking_share: how much of its relevance that adds to a memory or takes from it, at most.
        tuning: how modulation turns search at the moment.
    """

    def __init__(
        self,
        stores: Stores,
        embedder: Embedder,
        indexed: Indexed,
        view: GraphView,
        checker: Checker,
        *,
        read: Callable[[str], bytes],
        cache: AnswerCache,
        limit_seconds: float,
        reranker: Reranker | None = None,
        calendar: Callable[[], Calendar] = Calendar,
        background: Background | None = None,
        preference: Preference = lambda question, ids: None,
        link_weight: LinkWeight = lambda one, other: 0.0,
        ranking_share: float = 0.0,
        tuning: Callable[[], Tuning] = Tuning,
    ) -> None:
        by_id = indexed.catalogue.by_id
        self.hybrid = HybridSearch(stores.vectors, embedder, by_id)
        self._listing = Listing(self.hybrid, indexed)
        self._association = Association(view, embedder, by_id, self.hybrid.telling, link_weight)
        self._relations = RelationSearch(
            stores, embedder, indexed, view, today=calendar, background=background
        )
        self._fallback = Fallback(
            self.hybrid,
            self._association,
            indexed.catalogue,
            read=read,
            cache=cache,
            limit_seconds=limit_seconds,
        )
        self._reranker = reranker
        self._preference = preference
        self._ranking_share = ranking_share
        self._tuning = tuning
        self._checker = checker
        self._vectors = stores.vectors
        self._keywords_only = stores.outdated
        self._embedder = embedder
        self._indexed = indexed
        self._calendar = calendar
        self._background = background
        self._shift: float | None = None

    def warm_up(self) -> None:
        """Load what answers questions now rather than with the first one."""
        self._relations.warm_up()
        if self._background is not None:
            self._background.run("read the words of the vault", self.hybrid.vocabulary.load)
        else:
            self.hybrid.vocabulary.load()

    def close(self) -> None:
        """Start no more searches."""
        self._fallback.close()

    def search(
        self,
        query: str,
        *,
        mode: Mode | None = None,
        top_k: int | None = None,
        scope: Scope | None = None,
        fitting: Fitting | None = None,
        allow_unverified: bool = False,
        max_hops: int = MOST_HOPS,
        patience: float = 0.0,
    ) -> SearchResult:
        """The memories that answer a question, best first, each once.

        Args:
            mode: None finds it by the question.
            top_k: the most that is shown, in place of the mode's own number.
            fitting: ids of those memories that pass a filter which stores cannot apply.
            allow_unverified: show unverified memories on sensitive matters too.
            patience: seconds to wait for relations that are read for the first time; where it is
                not 0, relations are also shown that explain what was found.

        Raises:
            StoreUnavailable: no store answers.
        """
        self._embedder.begin_query(query)  # while names and keywords are looked for
        chosen = mode or detect_mode(query)
        request = _Request(
            query,
            top_k,
            scope or Scope(),
            fitting,
            allow_unverified,
            max_hops,
            patience,
            self._checker.matter_of(query),
            self._time_of(query),
        )
        found = self._find(request, self._wanted(request, chosen))
        knowledge = self._knowledge(request, found.hits)
        known = knowledge >= KNOWN
        if not known and knowledge < self._least_shown():
            matter = request.matter
            return SearchResult([], mode or Mode.DEFAULT, matter, unknown(found), known=False)
        if not known:
            found = replace(found, notice=" ".join(filter(None, (found.notice, UNSURE))))
        result = self._judged(request, found, chosen)
        if mode is None and chosen is not Mode.DEFAULT and not result.hits:
            result = self._judged(request, found, Mode.DEFAULT)
        result.known = known
        return result

    def check(
        self,
        query: str,
        hits: Sequence[Hit],
        scope: Scope | None = None,
        *,
        allow_unverified: bool = False,
    ) -> SearchResult:
        """Hits that were found in another way, judged by the same rules, in the same order."""
        request = _Request(
            query, None, scope or Scope(), None, allow_unverified, MOST_HOPS, 0.0,
            self._checker.matter_of(query),
        )  # fmt: skip
        self._estimate(query, hits, Mode.DEFAULT)
        self._verify(request, hits)
        if request.matter is not None and not allow_unverified:
            self._checker.withhold(hits)
        return SearchResult(
            list(hits), Mode.DEFAULT, request.matter, withheld(request.matter, hits)
        )  # fmt: skip

    def find(self, query: str, limit: int, scope: Scope | None = None) -> list[Hit]:
        """The memories nearest to a text, best first, unverified and without a confidence: for
        what reasons over memories rather than showing them.

        Raises:
            StoreUnavailable: no store answers.
        """
        request = _Request(
            query, limit, scope or Scope(), None, True, MOST_HOPS, 0.0, None, self._time_of(query)
        )  # fmt: skip
        return self._find(request, limit).hits[:limit]

    @property
    def shift(self) -> float:
        """What to take off relevances for the embedding model; measured once."""
        if self._shift is None:
            self._shift = relevance_shift(background(self._embedder.embed_few))
        return self._shift

    # -- finding --------------------------------------------------------------------------------

    def _wanted(self, request: _Request, mode: Mode) -> int:
        """How many memories to look at."""
        most = request.top_k or PLANS[mode].most
        if mode is Mode.PLANNING:
            return max(VARIED, most)
        if mode is Mode.EXECUTION or request.matter is not None:
            return max(CANDIDATES, most)
        return most

    def _find(self, request: _Request, wanted: int) -> FallbackResult:
        notice: str | None = None

        def look(limit: int) -> list[Hit]:
            nonlocal notice
            asked = SearchRequest(request.query, limit, request.scope, request.max_hops)
            found = self._fallback.answer(asked, lambda: self._candidates(request, limit))
            notice = found.notice
            return found.hits

        if request.fitting is None:
            return FallbackResult(look(wanted), notice)
        fitting = request.fitting

        def fits(hits: Sequence[Hit]) -> list[Hit]:
            ids = fitting([hit.memory for hit in hits])
            return [hit for hit in hits if hit.memory.id in ids]

        hits = widened(look, fits, wanted)[:wanted]
        return FallbackResult(hits, notice)

    def _candidates(self, request: _Request, limit: int) -> FallbackResult:
        query, scope, notice = request.query, request.scope, None
        if hits := self._listing.of(query, request.time, limit, scope):
            return FallbackResult(hits, None)
        if request.time is not None and request.time.only_time:
            notice = NOTHING_THEN
        try:
            lexicon = self._relations.may_lead(query, request.patience)
        except (StoreUnavailable, GraphQueryError):
            lexicon, notice = None, NO_GRAPH
        hits = self._nearest(request, max(limit, POOL))
        if lexicon is not None and request.patience == 0.0 and self._tells(query, hits[:BEST]):
            lexicon = None
        try:
            reading = self._relations.read(lexicon, query) if lexicon is not None else None
            hits = self._association.extend(query, hits, scope, seeds=self._tuning().seeds)
            if reading is not None:
                hits = self._relations.lead(
                    reading,
                    hits,
                    limit,
                    scope,
                    request.max_hops,
                    explain=request.patience > 0.0,
                )
        except (StoreUnavailable, GraphQueryError):
            notice = NO_GRAPH
        hits = with_own(hits, max(limit, self._reranker.first if self._reranker else 0))
        self.hybrid.read_passages(query, hits)
        return FallbackResult(self._reranked(query, hits)[:limit], notice)

    def _time_of(self, query: str) -> AskedTime | None:
        named = partial(day_named, self._indexed.names, self._indexed.catalogue)
        return AskedTime.of(query, self._calendar(), named)

    def _nearest(self, request: _Request, limit: int) -> list[Hit]:
        """What hybrid search finds, of the time first that the question names."""
        query, scope, asked = request.query, request.scope, request.time
        hits = self.hybrid.search(query, limit, scope)
        if asked is None:
            return hits
        known = {hit.memory.id: hit for hit in hits}
        for hit in self.hybrid.search(query, limit, asked.narrowed(scope)):
            known.setdefault(hit.memory.id, hit)
        hits = list(known.values())
        self.hybrid.read_passages(query, hits)
        return asked.first_of_it(hits)[:limit]

    def _tells(self, query: str, hits: Sequence[Hit]) -> bool:
        """Whether one of these notes has most words of a question that say something, properties
        included: then it answers by itself, or it is quoted, and no relation is followed."""
        self.hybrid.read_passages(query, hits)
        asked = " ".join(word for word in words(query) if word not in STOP_WORDS)
        texts = [told(hit, query) for hit in hits]
        return max(word_shares(asked, texts), default=0.0) >= TOLD

    def _reranked(self, query: str, hits: list[Hit]) -> list[Hit]:
        """In the reranker's order, unless relations led to some: it cannot judge those by text."""
        if self._reranker is None or any(hit.found_by is FoundBy.RELATION for hit in hits):
            return hits
        return [hits[k] for k in self._reranker.order(query, [hit.text for hit in hits])]

    def _knowledge(self, request: _Request, hits: Sequence[Hit]) -> float:
        """How surely the vault knows of what is asked: `KNOWN` or more if relations lead to it, or
        the best texts are relevant and have its words, or one has every word that says something,
        or one like it (a word that most notes have makes none of them relevant).

        What is narrowed by filters is always shown: there the person has said what they want. So
        is what a question finds that has no word to look for."""
        if not hits or request.fitting is not None or request.scope.filters is not None:
            return 1.0
        if request.time is not None and request.time.only_time:
            return 1.0
        return self._knowledge_of(request, hits)

    def _least_shown(self) -> float:
        """`KNOWN`, in a small vault less: of few texts the nearest is less near."""
        try:
            chunks = self.hybrid.chunks()
        except StoreUnavailable:
            return KNOWN
        return KNOWN * min(1.0, math.log(2.0 + chunks) / math.log(2.0 + MANY))

    def _knowledge_of(self, request: _Request, hits: Sequence[Hit]) -> float:
        """The same if the vault had only these."""
        if self._keywords_only:  # without vectors all relevances are low
            return 1.0
        if any(hit.found_by is FoundBy.RELATION for hit in hits):
            return 1.0
        relevance = max(hit.relevance for hit in hits) - self.shift
        if relevance >= KNOWN:
            return relevance
        texts = [f"{told(hit, request.query)} {hit.context}" for hit in hits]
        shares = self.hybrid.vocabulary.shares(_REQUEST.sub("", request.query), texts)
        if not shares or max(shares) == 1.0 or self._is_in_another_language(request.query):
            return 1.0
        return relevance + WORDS * max(shares[:BEST])

    def _is_in_another_language(self, query: str) -> bool:
        """Whether a question is in another language than English, in which relevances say little of
        what is unknown."""
        try:
            return self._vectors.language_of(query) is not None
        except StoreUnavailable:
            return False

    # -- judging --------------------------------------------------------------------------------

    def _judged(self, request: _Request, found: FallbackResult, mode: Mode) -> SearchResult:
        plan, matter = PLANS[mode].tuned(self._tuning()), request.matter
        most = request.top_k or plan.most
        hits = found.hits[: self._wanted(request, mode)]
        self._estimate(request.query, hits, mode)
        self._verify(request, hits)
        hits = self._ordered(request, hits, mode)
        sure = [hit for hit in hits if hit.confidence >= plan.threshold]
        shown = self._varied(request.query, sure, most, plan.diversity)
        if matter is not None and not request.allow_unverified:
            self._checker.withhold(shown)
        notices = (
            found.notice,
            below_threshold(mode, plan, hits, shown),
            withheld(matter, shown),
            not_all(request.query, partial(self._count, request.scope), shown),
        )
        return SearchResult(shown, mode, matter, " ".join(filter(None, notices)) or None)

    def _count(self, scope: Scope, kind: str) -> int:
        """How many notes of a type there are in a scope."""
        return sum(in_scope(memory, scope) for memory in self._indexed.catalogue.of_type(kind))

    def _estimate(self, query: str, hits: Sequence[Hit], mode: Mode) -> None:
        """The chance that each hit answers, before others are asked."""
        if not hits:
            return
        calibration = CONCERNS if mode is Mode.PLANNING else ANSWERS
        likely = calibration.confidences(features(query, hits, self.shift))
        for hit, chance in zip(hits, likely, strict=True):
            hit.confidence = chance

    def _verify(self, request: _Request, hits: Sequence[Hit]) -> None:
        if not hits:
            return
        checked = self._checker.verify(request.query, hits, request.scope)
        for hit, verification in zip(hits, checked, strict=True):
            hit.verification = verification
            hit.confidence = confidence(hit.confidence, verification)

    def _ordered(self, request: _Request, hits: Sequence[Hit], mode: Mode) -> list[Hit]:
        """What use prefers; newest first where the question asks for what is current; what
        supersedes a memory in front of it; on sensitive matters also what is verified in front of
        what is nearly as relevant and of what it contradicts, and the person's own notes that
        answer in front of the claims of others."""
        ordered = list(hits)
        if request.time is None and self._ranking_share > 0.0:
            weights = self._preference(request.query, [hit.memory.id for hit in ordered])
            ordered = preferred(ordered, weights or (), self._ranking_share)
        if asks_for_newest(request.query):
            ordered = newest_first(ordered)
        if request.matter is None or mode is Mode.PLANNING:
            return superseding_first(ordered)
        ordered = superseding_first(verified_first(ordered), contradicting=True)
        return claims_after_own(ordered, lambda hit: self._knowledge_of(request, [hit]) >= KNOWN)

    def _varied(self, query: str, hits: list[Hit], most: int, diversity: float) -> list[Hit]:
        if diversity <= 0.0 or len(hits) < 2:
            return hits[:most]
        try:
            vectors = self._passages(query, [hit.memory.id for hit in hits])
        except StoreUnavailable:
            return hits[:most]
        order = diverse([hit.confidence for hit in hits], vectors, most, diversity)
        return [hits[k] for k in order]

    def _passages(self, query: str, ids: Sequence[str]) -> Floats:
        """(n, dim): of each memory the passage that is nearest to the question."""
        asked = self._embedder.embed_query(query)
        passages = self._vectors.vectors(ids, ChunkSize.PASSAGE)
        nothing = np.zeros_like(asked)
        return np.stack(
            [max(passages.get(key, ()), key=lambda v: float(v @ asked), default=nothing)
             for key in ids]
        )  # fmt: skip
