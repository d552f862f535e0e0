"""Hybrid search: the notes nearest to a question in meaning and in words.

A note is searched at every size of its text at once. Its cosine and its BM25 score are the means
over the sizes of its best chunk's; together they make its relevance. Measured on dialogues, that
finds more than any one size, than the best chunk of any size, and than fusion of ranks.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from memvault.model.errors import StoreUnavailable
from memvault.model.memory import DEFAULT_IMPORTANCE, Memory, balanced_importance, importance_is_own
from memvault.model.note import Chunk, ChunkSize, Vector
from memvault.model.search import ChunkHit, FoundBy, Hit, Ranking, Scope
from memvault.search.task_words import task_words
from memvault.search.vocabulary import Vocabulary
from memvault.stores.vectors import VectorStore, bm25
from memvault.stores.vectors.languages import is_foreign
from memvault.text.chunking import normalised
from memvault.text.embedding import Embedder

Floats = npt.NDArray[np.float64]
Key = TypeVar("Key", str, int)
_SIZES = len(ChunkSize)
IMPORTANCE = 0.05  # share of the relevance that the least important note lacks
COUNTED_SECONDS = 10.0  # for which a number of chunks is taken to hold
VERIFIED = 0.02  # share of the relevance that an unverified note lacks, and a claim twice
SHARED = 0.8  # of what all notes in a language have in common, the share taken off a question
SAMPLED = 300  # notes in a language that show what all have in common
MOST_STRETCH = 4.0  # of cosines
FEWEST = 30  # notes of a vault in English: what fewer have in common may be what they are about


@dataclass(frozen=True, slots=True)
class FusionSettings:
    """How dense and keyword scores become one relevance; chosen by measurement.

    Attributes:
        dense_weight: share of the cosine in the relevance, in [0, 1]; the rest is the keywords'.
        foreign_weight: the same where a question or most notes are in another language than
            English that the model knows: its words are less often the words of the notes.
        half_keywords: BM25 score that counts as half of the greatest possible, for each unit of the
            greatest inverse document frequency, ln(1 + chunks): so that scores mean the same in
            vaults of ten notes and of ten thousand.
        candidates: chunks asked of each search, at least.
        told_apart: mean cosine of two notes up to which the model tells a vault's notes apart.
        spread: standard deviation of a question's cosines with all notes that the default model
            has in English (0.08 to 0.11).
    """

    dense_weight: float = 0.4
    foreign_weight: float = 0.6
    half_keywords: float = 4.0
    candidates: int = 200
    told_apart: float = 0.4
    spread: float = 0.11

    def half_of(self, chunks: int) -> float:
        """The BM25 score that counts as half, in a store of so many chunks."""
        return self.half_keywords * math.log(2.0 + chunks)

    def told_by_cosines(self, alike: float) -> float:
        """How much of what cosines say counts where two notes have this mean cosine, in [0, 1]: in
        a language that it hardly knows a model finds all notes alike, and says little by that."""
        return min(1.0, (1.0 - alike) / (1.0 - self.told_apart))

    def relevances(
        self,
        cosines: Floats,
        keywords: Floats,
        best_keywords: float,
        half: float,
        *,
        alike: float = 0.0,
        usual: float = 0.0,
    ) -> Floats:
        """In [0, 1], and comparable between queries.

        BM25 has no upper bound. The best score of a query is saturated as BM25 saturates a term's
        frequency, s / (s + half), and the others keep their ratio to it: saturating each score by
        itself would make the results of a long question, which all score high, nearly equal.

        Where cosines tell little (`told_by_cosines`) their share is less. What it loses counts as
        the question's usual cosine, so that relevances mean the same.

        Args:
            alike: mean cosine of two notes in the question's language; ``usual`` of the question
                and a note.
        """
        named = keywords / (best_keywords + half)
        share = self.dense_weight * self.told_by_cosines(alike)
        lost = (self.dense_weight - share) * usual
        relevance = share * np.minimum(cosines, 1.0) + (1.0 - share) * named + lost
        return np.minimum(relevance, 1.0)


@dataclass(frozen=True, slots=True)
class ScoreList:
    """What one search found: scores, of which negative ones count as nothing, and ``floor``, the
    most that anything else can have."""

    found: Ranking
    scores: Floats
    floor: float

    @classmethod
    def of(cls, found: Ranking, limit: int, lift: float = 0.0) -> ScoreList:
        """A search that filled its limit may have left others just below its last hit; one that did
        not has left nothing.

        Args:
            lift: added to all scores.
        """
        scores = np.maximum(found.scores + lift, 0.0)
        return cls(found, scores, float(scores[-1]) if 0 < limit <= len(scores) else 0.0)

    def stretched(self, usual: float, factor: float) -> ScoreList:
        """With so many times the difference to the usual score."""

        def far(score: Floats) -> Floats:
            return np.maximum(usual + factor * (score - usual), 0.0)

        return ScoreList(self.found, far(self.scores), float(far(np.array(self.floor))))

    def of_chunks(self, chunk_ids: Collection[int]) -> Floats:
        """The score of each of these chunks, (len(chunk_ids),)."""
        known = dict(zip(self.found.chunk_ids, self.scores.tolist(), strict=True))
        return np.array([known.get(key, self.floor) for key in chunk_ids])

    def of_notes(self, place: Mapping[str, int]) -> Floats:
        """Of each note the mean over the sizes of its best chunk of each, (len(place),)."""
        best = np.full((_SIZES, len(place)), self.floor)
        note_ids = self.found.note_ids
        at = np.fromiter(map(place.__getitem__, note_ids), np.intp, len(note_ids))
        for row, size in zip(best, ChunkSize, strict=True):
            has = np.flatnonzero(self.found.sizes & size.bit)[::-1]
            row[at[has]] = self.scores[has]  # a note's best comes last, and stays
        mean: Floats = best.sum(axis=0) / _SIZES
        return mean


def best_first(keys: Sequence[Key], relevances: Floats, most: int) -> list[int]:
    """Places of the ``most`` most relevant, best first, ties by key."""
    near = np.arange(len(keys))
    if most < len(keys):
        near = np.flatnonzero(relevances >= np.partition(relevances, -most)[-most])
    return sorted(near.tolist(), key=lambda k: (-relevances[k], keys[k]))[:most]


@dataclass(frozen=True, slots=True)
class SharedPart:
    """What the vectors of a vault's notes, or of those in one language, have in common.

    A model finds all texts alike that are in a language which it hardly knows. That says nothing
    about any one of them, and hides what does (Mu and Viswanath, *All-but-the-top*, ICLR 2018).
    """

    vectors: npt.NDArray[np.float32]  # (n, dim)
    mean: Vector
    alike: float  # mean cosine of two of them
    share: float  # of the mean to take off a question

    @classmethod
    def of(cls, vectors: Sequence[Vector]) -> SharedPart | None:
        """None for too few vectors to have a mean that is not mostly their own."""
        count = len(vectors)
        if count < 2:
            return None
        rows = np.asarray(vectors, np.float32)
        mean: Vector = rows.mean(axis=0)
        square = float(mean @ mean)
        alike = (count * square - 1.0) / (count - 1.0)
        return cls(rows, mean, alike, SHARED * alike / square) if alike > 0.0 else None

    def taken_off(self, question: Vector) -> tuple[Vector, float]:
        """The question's vector without it, and what to add to its cosines so that those of an
        average note stay as they were."""
        rest = normalised(question - self.share * self.mean)
        return rest, float((question - rest) @ self.mean)

    def stretch(self, question: Vector, spread: float) -> float:
        """The factor by which a question's cosines with these notes have this standard deviation,
        from 1 to `MOST_STRETCH`."""
        own = float((self.vectors @ question).std())
        return min(MOST_STRETCH, max(1.0, spread / max(own, 1e-6)))


@dataclass(frozen=True, slots=True)
class Fused:
    """The results of both searches and the BM25 score that counts as half; ``alike`` and ``usual``
    as `FusionSettings.relevances` takes them."""

    dense: ScoreList
    keywords: ScoreList
    half: float
    settings: FusionSettings
    alike: float = 0.0
    usual: float = 0.0

    def of_notes(self) -> tuple[list[str], Floats]:
        """Every note that either search found, and their relevances, (n,)."""
        notes = dict.fromkeys(chain(self.dense.found.note_ids, self.keywords.found.note_ids))
        place = dict(zip(notes, range(len(notes)), strict=True))
        named = self.keywords.of_notes(place)
        best = float(named.max(initial=0.0))
        return list(place), self._relevances(self.dense.of_notes(place), named, best)

    def of_chunks(self, chunk_ids: Collection[int]) -> Floats:
        """The relevances of some of the chunks that either search found, (len(chunk_ids),)."""
        best = float(self.keywords.scores.max(initial=0.0))
        named = self.keywords.of_chunks(chunk_ids)
        return self._relevances(self.dense.of_chunks(chunk_ids), named, best)

    def passages(self, note_ids: Collection[str] | None = None) -> dict[int, str]:
        """The passages that either search found, each with its note.

        Args:
            note_ids: of these notes only.
        """
        passage = ChunkSize.PASSAGE.bit
        return {
            chunk_id: note_id
            for found in (self.dense.found, self.keywords.found)
            for chunk_id, note_id, sizes in zip(
                found.chunk_ids, found.note_ids, found.sizes.tolist(), strict=True
            )
            if (note_ids is None or note_id in note_ids) and sizes & passage
        }

    def _relevances(self, cosines: Floats, keywords: Floats, best_keywords: float) -> Floats:
        return self.settings.relevances(
            cosines, keywords, best_keywords, self.half, alike=self.alike, usual=self.usual
        )


class HybridSearch:
    """Searches the vector store; safe in any thread.

    Args:
        memory_of: the memory of an id; None if it is gone.
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
        self._count, self._counted_until = 0, 0.0
        self._shared: dict[str | None, SharedPart | None] = {}  # by language

    def search(self, query: str, limit: int, scope: Scope | None = None) -> list[Hit]:
        """The ``limit`` most relevant notes, best first, without their texts (`read_passages`).

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        found = self._search(query, max(self._settings.candidates, 10 * limit), scope)
        notes, relevances = found.of_notes()
        now = datetime.now(UTC)
        hits = [
            Hit(memory, float(relevances[place]) * prior(memory, now))
            for place in best_first(notes, relevances, 2 * limit)
            if (memory := self._memory_of(notes[place])) is not None
        ]
        hits = sorted(hits, key=lambda hit: -hit.relevance)[:limit]
        passages = self._best_passages(found, {hit.memory.id for hit in hits})
        for hit in hits:
            hit.chunk_id = passages.get(hit.memory.id)
        return hits

    def search_chunks(self, query: str, top_k: int, scope: Scope | None = None) -> list[ChunkHit]:
        """The ``top_k`` most relevant passages, best first; scores are relevances in [0, 1].

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        limit = max(self._settings.candidates, 2 * top_k)
        fused = self._search(query, limit, scope, ChunkSize.PASSAGE)
        found = list(fused.passages())
        relevances = fused.of_chunks(found)
        places = best_first(found, relevances, top_k)
        chunks = self._vectors.read([found[place] for place in places])
        return [
            ChunkHit(
                found[place], chunk.note_id, chunk.size, chunk.heading, chunk.lines, chunk.text,
                float(relevances[place]),
            )
            for place in places
            if (chunk := chunks.get(found[place])) is not None
        ]  # fmt: skip

    def read_passages(
        self,
        query: str,
        hits: Sequence[Hit],
        states: Callable[[Memory, str], bool] | None = None,
    ) -> None:
        """Fill in the passage of every hit that has none: the best one that the search found, else
        the one that states the link to it, else one that ``states`` what is asked, else the one
        with most of the question's words.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        unread = [hit for hit in hits if not hit.text]
        chunks = self._vectors.read([hit.chunk_id for hit in unread if hit.chunk_id is not None])
        others = []
        for hit in unread:
            if hit.chunk_id in chunks:
                _show(hit, chunks[hit.chunk_id])
            else:
                others.append(hit)
        if not others:
            return
        terms = frozenset(bm25.terms(query))
        passages = self._vectors.passages([hit.memory.id for hit in others])
        for hit in others:
            own = passages.get(hit.memory.id)
            if own:
                stating = [chunk for chunk in own if states and states(hit.memory, chunk.text)]
                _show(hit, _best_passage_of(hit, stating or own, terms))
            else:
                hit.text = hit.memory.title

    def _search(
        self, query: str, limit: int, scope: Scope | None, size: ChunkSize | None = None
    ) -> Fused:
        self._embedder.begin_query(query)  # while keywords are searched
        half = self._settings.half_of(self.chunks())
        also = {key: x for like in self.vocabulary.like(query).values() for key, x in like.items()}
        language = self._vectors.language_of(query)
        if language is not None or not query.isascii():
            also |= dict.fromkeys(task_words(query), 1.0)
        keywords = self._vectors.rank_keywords(query, limit, size=size, scope=scope, also=also)
        shared = self._shared_in(language)
        vector, lift, alike, usual, stretch = self._embedder.embed_query(query), 0.0, 0.0, 0.0, 1.0
        settings = self._settings
        if shared is not None:
            usual = max(0.0, float(vector @ shared.mean))
            if self.is_foreign_and_read(query, language):
                settings = replace(settings, dense_weight=settings.foreign_weight)
                stretch = shared.stretch(vector, settings.spread)
            else:
                alike = shared.alike
                if language is not None:
                    vector, lift = shared.taken_off(vector)
        near = self._vectors.rank_dense(vector, limit, size=size, scope=scope)
        dense, named = ScoreList.of(near, limit, lift), ScoreList.of(keywords, limit)
        if stretch > 1.0:
            dense = dense.stretched(usual, stretch)
        return Fused(dense, named, half, settings, alike, usual)

    def is_foreign_and_read(self, query: str, language: str | None) -> bool:
        """Whether a question or most notes are in another language than English, and the model
        knows the question's language: then cosines tell as much as in English, but the notes that
        it compares are nearer to each other, and words tell less where the two are in different
        languages.

        Args:
            language: as `VectorStore.language_of` tells.
        """
        foreign = language is not None or is_foreign(query) or self._vectors.is_mostly_foreign()
        return foreign and self._embedder.tokens.reads(query)

    def question_vector(self, query: str) -> Vector:
        """The question's vector without what the vault's notes in its language have in common: by
        its cosine, a sentence is hardly near because all sentences of the vault are. It is shorter
        than 1 where cosines tell little of that language, by the square of how much: of many
        sentences the nearest is near by chance more often than one note is."""
        vector = self._embedder.embed_query(query)
        try:
            language = self._vectors.language_of(query)
            shared = self._shared_in(language)
        except StoreUnavailable:
            return vector
        if shared is None:
            return vector
        told = 1.0
        if language is not None and not self.is_foreign_and_read(query, language):
            told = self._settings.told_by_cosines(shared.alike) ** 2
        return told * shared.taken_off(vector)[0]

    def _shared_in(self, language: str | None) -> SharedPart | None:
        """What notes in a language, or all notes, have in common."""
        if language not in self._shared:
            vectors = self._vectors.in_language(language, SAMPLED)
            tell = language is not None or len(vectors) >= FEWEST
            self._shared[language] = SharedPart.of(vectors) if tell else None
        return self._shared[language]

    def chunks(self) -> int:
        """How many chunks there are, or were some seconds ago."""
        now = time.monotonic()
        if now >= self._counted_until:
            count = self._vectors.count()
            if count != self._count:
                self._shared.clear()
            self._count, self._counted_until = count, now + COUNTED_SECONDS
        return self._count

    def _best_passages(self, found: Fused, notes: Collection[str]) -> dict[str, int]:
        """For each of these notes the most relevant of its passages that were found."""
        passages = found.passages(notes)
        worst_first = sorted(
            zip((-found.of_chunks(passages)).tolist(), passages, strict=True), reverse=True
        )
        return {passages[key]: key for _, key in worst_first}


def prior(memory: Memory, now: datetime) -> float:
    """Factor of a note's relevance, in (0, 1]: among notes that are about equally relevant the
    important and the verified come first, and the person's words before claims, however important
    a client calls these."""
    importance = balanced_importance(memory, now)
    doubts = 0 if memory.verified else 1 if memory.provenance.origin.is_person else 2
    if doubts == 2 and not importance_is_own(memory):
        importance = min(importance, DEFAULT_IMPORTANCE)
    return 1.0 - IMPORTANCE * (1.0 - importance) - doubts * VERIFIED


def _show(hit: Hit, chunk: Chunk) -> None:
    hit.heading, hit.lines, hit.text = chunk.heading, chunk.lines, chunk.text
    hit.context = chunk.context


def _best_passage_of(hit: Hit, passages: Sequence[Chunk], terms: frozenset[int]) -> Chunk:
    """``hit.lines`` is where the link to it is stated, if its own note states it."""
    line = hit.lines.first
    for chunk in passages if hit.found_by is FoundBy.LINK and line > 1 else ():
        if chunk.lines.first <= line <= chunk.lines.last:
            return chunk
    return max(passages, key=lambda chunk: len(terms.intersection(bm25.terms(chunk.text))))
