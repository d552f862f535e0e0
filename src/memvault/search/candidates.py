"""Finds the memories that may answer a question; `pipeline` judges them.

time → hybrid search → association → relations → passages → tokens → reranker (if configured)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from memvault.model.distinct import distinct_by
from memvault.model.errors import GraphQueryError, StoreUnavailable
from memvault.model.search import FoundBy, Hit, Tuning
from memvault.model.state import Background
from memvault.search.association import POOL_SIZE, Association, LinkWeight, with_persons_notes
from memvault.search.calibration import text_with_properties, word_shares
from memvault.search.fallback import NO_GRAPH, AnswerCache, Fallback
from memvault.search.hybrid import HybridSearch
from memvault.search.late_interaction import FIRST, by_tokens
from memvault.search.lists.listing import Listing
from memvault.search.notices import NONE_OF_THAT_TIME
from memvault.search.property_text import terms_of
from memvault.search.relations.lexicon import Lexicon
from memvault.search.relations.relation_search import Indexed, RelationSearch
from memvault.search.request import Candidates, SearchRequest
from memvault.search.scope import filtered
from memvault.search.times import time_translation
from memvault.search.times.question_time import QuestionTime, day_named
from memvault.search.times.time_spans import Calendar
from memvault.stores.graph_view import GraphView
from memvault.stores.open import Stores
from memvault.text.encoders.embedding import Embedder
from memvault.text.encoders.reranker import Reranker
from memvault.text.words import STOP_WORDS, words

BEST_NOTES = 3  # best notes whose texts are searched for the question's words
ANSWERED_SHARE = 0.8  # of a question's words; if one of these has it, no relation is followed


class CandidateFinder:
    """Finds memories; safe in any thread.

    Args:
        phrases: embeds relations and the words of questions for them.
        view: the graph in memory.
        read: returns the bytes of the note at a path.
        cache: earlier results of the same questions, used if no store answers.
        limit_seconds: time limit of an answer.
        reranker: orders hits by their text, if the person has configured one.
        calendar: today, in the person's calendar.
        background: a worker that reads changed relations; without one, questions do.
        link_weight: weight learnt from use for the link between two memories, in [-1, 1].
        tuning: the current adjustments by modulation.
    """

    def __init__(
        self,
        stores: Stores,
        embedder: Embedder,
        indexed: Indexed,
        view: GraphView,
        *,
        phrases: Embedder,
        read: Callable[[str], bytes],
        cache: AnswerCache,
        limit_seconds: float,
        reranker: Reranker | None = None,
        calendar: Callable[[], Calendar] = Calendar,
        background: Background | None = None,
        link_weight: LinkWeight = lambda one, other: 0.0,
        tuning: Callable[[], Tuning] = Tuning,
    ) -> None:
        by_id = indexed.catalogue.by_id
        self.hybrid = HybridSearch(stores.vectors, embedder, by_id)
        self._listing = Listing(self.hybrid, indexed, view, embedder, lambda: calendar().today)
        self._association = Association(
            view, embedder, by_id, self.hybrid.languages.question_vector, link_weight
        )
        self._relations = RelationSearch(
            stores, phrases, indexed, view, today=calendar, background=background
        )
        self._fallback = Fallback(
            self.hybrid,
            self._association,
            indexed.catalogue,
            indexed.names,
            read=read,
            cache=cache,
            limit_seconds=limit_seconds,
        )
        self._embedder = embedder
        self._reranker = reranker
        self._tuning = tuning
        self._calendar = calendar
        self._indexed = indexed
        self._background = background

    def warm_up(self) -> None:
        """Load tables, relations and vocabulary now rather than at the first question."""
        time_translation.warm_up()
        self._relations.warm_up()
        if self._background is not None:
            self._background.run("read the words of the vault", self.hybrid.vocabulary.load)
        else:
            self.hybrid.vocabulary.load()

    def close(self) -> None:
        """Start no more searches."""
        self._fallback.close()

    def time_of(self, query: str) -> QuestionTime | None:
        """The time that a question names."""
        event_day = partial(day_named, self._indexed.names, self._indexed.catalogue)
        return QuestionTime.read(query, self._calendar(), event_day)

    def find(self, request: SearchRequest, limit: int) -> Candidates:
        """At most ``limit`` candidates; a partial result if a store fails or is slow.

        Raises:
            StoreUnavailable: no store answers.
        """
        notice: str | None = None

        def candidates_of(search_limit: int) -> Candidates:
            return self._fallback.answer(
                request, search_limit, lambda: self._all_stages(request, search_limit)
            )

        def search(search_limit: int) -> list[Hit]:
            nonlocal notice
            candidates = candidates_of(search_limit)
            notice = candidates.notice
            return candidates.hits

        if request.memory_filter is None:
            return candidates_of(limit)
        return Candidates(filtered(search, request.memory_filter, limit), notice)

    def _all_stages(self, request: SearchRequest, limit: int) -> Candidates:
        """The candidates of all stages; without relations if the graph does not answer."""
        query, scope, notice = request.query, request.scope, None
        hits, total = self._listing.notes_for(query, request.time, limit, scope)
        if hits:
            return Candidates(hits, total=total)
        if request.time is not None and request.time.only_time:
            notice = NONE_OF_THAT_TIME
        listed, list_notice = self._listing.matching(query, request.time, limit, scope)
        if not listed:
            notice = notice or list_notice
        hits = self._nearest(request, max(limit, POOL_SIZE))
        if listed and request.patience == 0.0:  # else the relations must explain what is found
            listed_ids = {hit.memory.id for hit in listed}
            hits = [*listed, *(hit for hit in hits if hit.memory.id not in listed_ids)][:limit]
            self.hybrid.read_passages(query, hits)
            return Candidates(hits, list_notice)
        try:
            lexicon = self._lexicon_for(request, hits)
        except (StoreUnavailable, GraphQueryError):
            lexicon, notice = None, NO_GRAPH
        try:
            question = self._relations.parse(lexicon, query) if lexicon is not None else None
            hits = self._association.extend(query, hits, scope, seeds=self._tuning().seeds)
            if question is not None:
                hits = self._relations.follow(
                    question,
                    hits,
                    limit,
                    scope,
                    request.max_hops,
                    explain=request.patience > 0.0,
                )
        except (StoreUnavailable, GraphQueryError):
            notice = NO_GRAPH
        ordered_count = max(FIRST, self._reranker.first if self._reranker else 0)
        hits = with_persons_notes(hits, max(limit, ordered_count))
        self.hybrid.read_passages(query, hits)
        if request.time is None:  # else notes of the time that the question names are first
            hits = self._by_tokens(query, hits)
        hits = with_persons_notes(self._reranked(query, hits), limit)
        if notice == NONE_OF_THAT_TIME and _names_its_time(request, hits):
            notice = None
        return Candidates(hits, notice)

    def _nearest(self, request: SearchRequest, limit: int) -> list[Hit]:
        """The results of hybrid search, those of the time that the question names first."""
        query, scope, time = request.query, request.scope, request.time
        hits = self.hybrid.search(query, limit, scope)
        if time is None:
            return hits
        within = self.hybrid.search(query, limit, time.narrowed(scope))
        hits = distinct_by([*hits, *within], lambda hit: hit.memory.id)
        self.hybrid.read_passages(query, hits)
        subject = terms_of(" ".join(time.subject_words(query)))

        def has_subject(hit: Hit) -> bool:
            return bool(subject) and subject <= terms_of(f"{hit.context} {hit.text}")

        return time.of_this_time_first(hits, has_subject)[:limit]

    def _lexicon_for(self, request: SearchRequest, hits: Sequence[Hit]) -> Lexicon | None:
        """The lexicon to read the question's relations with; None if none are to be followed."""
        query, relations = request.query, self._relations
        if request.patience > 0.0:
            return relations.lexicon_for(query, request.patience)
        # The cheaper check first: reading relations for the first time takes seconds.
        if not relations.are_read:
            return None if self._is_answered(query, hits) else relations.lexicon_for(query)
        lexicon = relations.lexicon_for(query)
        return None if lexicon is None or self._is_answered(query, hits) else lexicon

    def _is_answered(self, query: str, hits: Sequence[Hit]) -> bool:
        """Whether one of the best notes, with its properties, has most content words of a question.

        Then that note answers or is quoted, and no relation is followed.
        """
        self.hybrid.read_passages(query, hits[:BEST_NOTES])
        content = " ".join(word for word in words(query) if word not in STOP_WORDS)
        texts = [text_with_properties(hit, query) for hit in hits[:BEST_NOTES]]
        return max(word_shares(content, texts), default=0.0) >= ANSWERED_SHARE

    def _by_tokens(self, query: str, hits: list[Hit]) -> list[Hit]:
        """The hits in the order of `by_tokens`, if the model knows the question's language."""
        if not self._embedder.knows_language(query):
            return hits
        return by_tokens(self._embedder.query_tokens(query), hits)

    def _reranked(self, query: str, hits: list[Hit]) -> list[Hit]:
        """The hits in the reranker's order; unchanged if relations led to one, since a reranker
        cannot judge that by its text."""
        if self._reranker is None or any(hit.found_by is FoundBy.RELATION for hit in hits):
            return hits
        return [hits[index] for index in self._reranker.order(query, [hit.text for hit in hits])]


def _names_its_time(request: SearchRequest, hits: Sequence[Hit]) -> bool:
    """Whether a text that was found names a day or year of the time that is asked for."""
    time = request.time
    return time is not None and any(time.is_named_in(hit.memory, hit.text) for hit in hits)
