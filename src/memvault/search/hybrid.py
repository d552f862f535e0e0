"""Hybrid search: the notes nearest to a question in meaning and in words.

A note is searched at every chunk size at once. Its cosine and its BM25 score are means over the
sizes, each of the best chunk; together they make its relevance. Measured on dialogues, this finds
more than any one size, than the best chunk of any size, and than fusion of ranks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from memvault.model.memory import DEFAULT_IMPORTANCE, Memory, balanced_importance, importance_is_own
from memvault.model.note import Chunk, ChunkSize
from memvault.model.search import FoundBy, Hit, Scope
from memvault.search.fusion import Fused, FusionSettings, ScoreList, best_first
from memvault.search.note_languages import NoteLanguages
from memvault.search.question_names import QuestionNames
from memvault.search.task_words import task_words
from memvault.search.vocabulary import Vocabulary
from memvault.stores.vectors import VectorStore, bm25
from memvault.text.encoders.embedding import Embedder

IMPORTANCE_SHARE = 0.05  # share of the relevance that the least important note loses
SPARE_FACTOR = 2  # of results that are looked at for each one wanted: some are gone or lose places
CHUNKS_PER_HIT = 10  # chunks that are searched for each hit: a note has several
COUNTED_SECONDS = 10.0  # for which a number of chunks is reused
UNVERIFIED_SHARE = 0.02  # of the relevance, which an unverified note loses, and a claim twice
NAMED_BONUS = 0.1  # is added to the relevance of a note that the question names


class HybridSearch:
    """Searches the vector store; safe in any thread.

    Args:
        memory_of: returns the memory of an id; None if it is gone.
    """

    def __init__(
        self,
        vectors: VectorStore,
        embedder: Embedder,
        memory_of: Callable[[str], Memory | None],
    ) -> None:
        self._vectors = vectors
        self._embedder = embedder
        self._memory_of = memory_of
        self._settings = FusionSettings()
        self.vocabulary = Vocabulary(vectors, embedder)
        self._chunk_count, self._counted_until = 0, 0.0
        self.languages = NoteLanguages(vectors, embedder, self._settings)

    def begin(self, query: str) -> None:
        """Start to embed the texts that `search` compares, to shorten its wait."""
        self._embedder.begin_query(query)
        self.vocabulary.begin(query)

    def search(self, query: str, limit: int, scope: Scope | None = None) -> list[Hit]:
        """The ``limit`` most relevant notes, best first, without their texts (`read_passages`).

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        chunks = max(self._settings.candidates, CHUNKS_PER_HIT * limit)
        fused = self._search(query, chunks, scope)
        notes, relevances = fused.of_notes()
        now, names = datetime.now(UTC), QuestionNames(query)
        hits, subject_ids = [], set()
        for index in best_first(notes, relevances, SPARE_FACTOR * limit):
            if (memory := self._memory_of(notes[index])) is not None:
                is_named = names.has(memory)
                bonus = NAMED_BONUS if is_named else 0.0
                relevance = min(1.0, float(relevances[index]) + bonus)
                hits.append(Hit(memory, relevance * prior(memory, now), is_named=is_named))
                if names.is_only(memory):
                    subject_ids.add(memory.id)
        best_relevance = max((hit.relevance for hit in hits), default=0.0)
        for hit in hits:
            if hit.memory.id in subject_ids:
                hit.relevance, hit.is_named = best_relevance, True
        hits.sort(key=lambda hit: (-hit.relevance, hit.memory.id not in subject_ids))
        hits = hits[:limit]
        passages = self._best_passages(fused, {hit.memory.id for hit in hits})
        for hit in hits:
            hit.chunk_id = passages.get(hit.memory.id)
        return hits

    def search_passages(self, query: str, top_k: int, scope: Scope | None = None) -> list[Hit]:
        """The ``top_k`` most relevant passages, best first; a note may have several.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        limit = max(self._settings.candidates, SPARE_FACTOR * top_k)
        fused = self._search(query, limit, scope, ChunkSize.PASSAGE)
        chunk_ids = list(fused.passages())
        relevances = fused.of_chunks(chunk_ids)
        best = best_first(chunk_ids, relevances, top_k)
        chunks = self._vectors.read([chunk_ids[index] for index in best])
        hits = []
        for index in best:
            chunk = chunks.get(chunk_ids[index])
            memory = self._memory_of(chunk.note_id) if chunk is not None else None
            if chunk is not None and memory is not None:
                hits.append(Hit(memory, float(relevances[index]), chunk_ids[index]))
                _fill_in(hits[-1], chunk)
        return hits

    def read_passages(
        self,
        query: str,
        hits: Sequence[Hit],
        states: Callable[[Memory, Chunk], bool] | None = None,
    ) -> None:
        """Fill in the passage of every hit that has none.

        It is the best passage that the search found. Else, among those that ``states`` accepts (or
        all, if it accepts none), it is the one that states the link to the hit, or else the one
        with most of the question's words.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        unread = [hit for hit in hits if not hit.text]
        chunks = self._vectors.read([hit.chunk_id for hit in unread if hit.chunk_id is not None])
        without_chunk = []
        for hit in unread:
            if hit.chunk_id in chunks:
                _fill_in(hit, chunks[hit.chunk_id])
            else:
                without_chunk.append(hit)
        if not without_chunk:
            return
        terms = frozenset(bm25.terms(query))
        passages_of = self._vectors.passages([hit.memory.id for hit in without_chunk])
        for hit in without_chunk:
            passages = passages_of.get(hit.memory.id)
            if passages:
                stating = [chunk for chunk in passages if states and states(hit.memory, chunk)]
                _fill_in(hit, _best_passage_of(hit, stating or passages, terms))
            else:
                hit.text = hit.memory.title

    def _search(
        self, query: str, limit: int, scope: Scope | None, size: ChunkSize | None = None
    ) -> Fused:
        """Search by meaning and by words, and fuse the scores as the question's language needs."""
        self.begin(query)
        half_score = self._settings.half_of(self.chunk_count())
        extra_words, language = self._similar_words(query), self._vectors.language_of(query)
        if language is not None or not query.isascii():
            extra_words |= dict.fromkeys(task_words(query), 1.0)
        keywords = self._vectors.rank_keywords(
            query, limit, size=size, scope=scope, extra_words=extra_words
        )
        common_part = self.languages.common_part(language)
        vector, settings = self._embedder.embed_query(query), self._settings
        cosine_lift, mean_cosine, usual_cosine, stretch = 0.0, 0.0, 0.0, 1.0
        if common_part is not None:
            usual_cosine = max(0.0, float(vector @ common_part.mean))
            if self.languages.is_foreign_and_known(query, language):
                settings = replace(settings, dense_weight=settings.foreign_weight)
                stretch = common_part.stretch(vector, settings.spread)
            else:
                mean_cosine = common_part.mean_cosine
                if language is not None:
                    vector, cosine_lift = common_part.subtracted_from(vector)
        nearest = self._vectors.rank_dense(vector, limit, size=size, scope=scope)
        by_meaning = ScoreList.from_ranking(nearest, limit, cosine_lift)
        by_words = ScoreList.from_ranking(keywords, limit)
        if stretch > 1.0:
            by_meaning = by_meaning.stretched(usual_cosine, stretch)
        return Fused(by_meaning, by_words, half_score, settings, mean_cosine, usual_cosine)

    def _similar_words(self, query: str) -> dict[str, float]:
        """The words of the vault that are like rare words of the question, with their weights."""
        weights: dict[str, float] = {}
        for similar in self.vocabulary.similar(query).values():
            weights |= similar
        return weights

    def chunk_count(self) -> int:
        """The number of chunks, counted at most `COUNTED_SECONDS` ago."""
        now = time.monotonic()
        if now >= self._counted_until:
            count = self._vectors.count()
            if count != self._chunk_count:
                self.languages.forget()
            self._chunk_count, self._counted_until = count, now + COUNTED_SECONDS
        return self._chunk_count

    def _best_passages(self, fused: Fused, note_ids: Collection[str]) -> dict[str, int]:
        """For each of these notes the most relevant of its passages that were found."""
        passages = fused.passages(note_ids)
        worst_first = sorted(
            zip((-fused.of_chunks(passages)).tolist(), passages, strict=True), reverse=True
        )
        return {passages[chunk_id]: chunk_id for _, chunk_id in worst_first}


def prior(memory: Memory, now: datetime) -> float:
    """Factor of a note's relevance, in (0, 1].

    Among notes about equally relevant, important and verified ones come first, and the person's
    words before claims, however important a client calls the claims.
    """
    importance = balanced_importance(memory, now)
    doubts = 0 if memory.verified else 1 if memory.provenance.origin.is_person else 2
    if doubts == 2 and not importance_is_own(memory):
        importance = min(importance, DEFAULT_IMPORTANCE)
    return 1.0 - IMPORTANCE_SHARE * (1.0 - importance) - doubts * UNVERIFIED_SHARE


def _fill_in(hit: Hit, chunk: Chunk) -> None:
    hit.heading, hit.lines, hit.text = chunk.heading, chunk.lines, chunk.text
    hit.context, hit.token_signs = chunk.context, chunk.token_signs


def _best_passage_of(hit: Hit, passages: Sequence[Chunk], terms: frozenset[int]) -> Chunk:
    """The passage with the line that states the link to the hit, else the one with most terms.

    If the hit's own note states the link, ``hit.lines`` is that line.
    """
    line = hit.lines.first
    for chunk in passages if hit.found_by is FoundBy.LINK and line > 1 else ():
        if chunk.lines.first <= line <= chunk.lines.last:
            return chunk
    return max(passages, key=lambda chunk: len(terms.intersection(bm25.terms(chunk.text))))
