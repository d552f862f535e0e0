"""Hybrid recall: the notes nearest to a question in meaning and in words.

A note is searched at every size of its text at once. Its cosine and its BM25 score are the means
over the sizes of its best chunk's; together they make its relevance. Measured on dialogues, that
finds more than any one size, than the best chunk of any size, and than fusion of ranks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memvault.model.note import Chunk, ChunkSize, Vector
from memvault.model.search import ChunkHit, Recalled, Scope
from memvault.stores.vectors import VectorStore
from memvault.text.embedding import Embedder

_SIZES = len(ChunkSize)


@dataclass(frozen=True, slots=True)
class FusionSettings:
    """How dense and keyword scores become one relevance; chosen by measurement.

    Attributes:
        dense_weight: share of the cosine in the relevance, in [0, 1]; the rest is the keywords'.
        half_keywords: BM25 score that counts as half of the greatest possible.
        candidates: chunks asked of each search, at least.
    """

    dense_weight: float = 0.4
    half_keywords: float = 20.0
    candidates: int = 200

    def relevance(self, cosine: float, keywords: float, best_keywords: float) -> float:
        """In [0, 1], and comparable between queries.

        BM25 has no upper bound. The best score of a query is saturated as BM25 saturates a term's
        frequency, s / (s + half), and the others keep their ratio to it: saturating each score by
        itself would make the results of a long question, which all score high, nearly equal.
        """
        named = keywords / (best_keywords + self.half_keywords)
        return self.dense_weight * min(cosine, 1.0) + (1.0 - self.dense_weight) * named


@dataclass(frozen=True, slots=True)
class ScoreList:
    """What one search found, and ``floor``, the most that anything else can have.

    Negative scores count as nothing.
    """

    chunks: Mapping[str, float]
    notes: Mapping[str, Mapping[ChunkSize, float]]  # each size's best chunk
    floor: float

    @classmethod
    def of(cls, hits: Sequence[ChunkHit], limit: int) -> ScoreList:
        """From hits, best first. A search that filled its limit may have left others just below
        its last hit; one that did not has left nothing."""
        notes: dict[str, dict[ChunkSize, float]] = {}
        chunks: dict[str, float] = {}
        for hit in hits:
            score = chunks[hit.chunk_id] = max(hit.score, 0.0)
            best = notes.setdefault(hit.note_id, {})
            best.setdefault(hit.size, score)
            for size in hit.covers:
                best.setdefault(size, score)
        floor = chunks[hits[-1].chunk_id] if hits and len(hits) >= limit else 0.0
        return cls(chunks, notes, floor)

    def of_chunk(self, chunk_id: str) -> float:
        return self.chunks.get(chunk_id, self.floor)

    def of_note(self, note_id: str) -> float:
        """The mean over the sizes of the note's best chunk of each."""
        best = self.notes.get(note_id)
        if best is None:
            return self.floor
        return (sum(best.values()) + (_SIZES - len(best)) * self.floor) / _SIZES


def note_relevances(
    dense: ScoreList, keywords: ScoreList, settings: FusionSettings
) -> dict[str, float]:
    """The relevance of every note that either search found."""
    named = {note: keywords.of_note(note) for note in dense.notes.keys() | keywords.notes.keys()}
    best = max(named.values(), default=0.0)
    return {
        note: settings.relevance(dense.of_note(note), score, best) for note, score in named.items()
    }


def chunk_relevances(
    dense: ScoreList, keywords: ScoreList, settings: FusionSettings
) -> dict[str, float]:
    """The relevance of every chunk that either search found."""
    best = max(keywords.chunks.values(), default=0.0)
    return {
        chunk: settings.relevance(dense.of_chunk(chunk), keywords.of_chunk(chunk), best)
        for chunk in dense.chunks.keys() | keywords.chunks.keys()
    }


def best_first(relevances: Mapping[str, float]) -> Iterable[str]:
    """By relevance, ties by id."""
    return sorted(relevances, key=lambda key: (-relevances[key], key))


@dataclass(frozen=True, slots=True)
class _Found:
    """What both searches found."""

    dense: ScoreList
    keywords: ScoreList
    hits: Mapping[str, ChunkHit]


class Recall:
    """Searches the vector store; safe in any thread."""

    def __init__(
        self, vectors: VectorStore, embedder: Embedder, settings: FusionSettings | None = None
    ) -> None:
        self._vectors = vectors
        self._embedder = embedder
        self._settings = settings or FusionSettings()

    def recall(self, query: str, top_k: int, scope: Scope | None = None) -> list[Recalled]:
        """The ``top_k`` most relevant notes, best first, each once with its best passage.

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        vector = self._embedder.embed_query(query)
        found = self._search(query, vector, max(self._settings.candidates, 10 * top_k), scope)
        relevance = note_relevances(found.dense, found.keywords, self._settings)
        ranked = list(best_first(relevance))[:top_k]
        passages = self._best_passages(found, set(ranked))
        chunks = self._vectors.read([passages[note] for note in ranked if note in passages])
        recalled = []
        for note in ranked:
            chunk = chunks.get(passages.get(note, "")) or self._nearest_passage(note, vector)
            if chunk is not None:
                shown = (chunk.heading, chunk.lines, chunk.text)
                recalled.append(Recalled(note, relevance[note], *shown))
        return recalled

    def search_chunks(self, query: str, top_k: int, scope: Scope | None = None) -> list[ChunkHit]:
        """The ``top_k`` most relevant passages, best first; scores are relevances in [0, 1].

        Raises:
            StoreUnavailable: the vector store does not answer.
        """
        vector = self._embedder.embed_query(query)
        limit = max(self._settings.candidates, 2 * top_k)
        found = self._search(query, vector, limit, scope, ChunkSize.PASSAGE)
        relevance = chunk_relevances(found.dense, found.keywords, self._settings)
        best = list(best_first(relevance))[:top_k]
        chunks = self._vectors.read(best)
        return [
            found.hits[key]._replace(
                score=relevance[key],
                heading=chunk.heading,
                lines=chunk.lines,
                text=chunk.text,
            )
            for key in best
            if (chunk := chunks.get(key)) is not None
        ]

    def _search(
        self,
        query: str,
        vector: Vector,
        limit: int,
        scope: Scope | None,
        size: ChunkSize | None = None,
    ) -> _Found:
        dense = self._vectors.search_dense(vector, limit, size=size, scope=scope, texts=False)
        keywords = self._vectors.search_keywords(query, limit, size=size, scope=scope, texts=False)
        return _Found(
            ScoreList.of(dense, limit),
            ScoreList.of(keywords, limit),
            {hit.chunk_id: hit for hit in (*dense, *keywords)},
        )

    def _best_passages(self, found: _Found, notes: Collection[str]) -> dict[str, str]:
        """For each of these notes the most relevant of its passages that were found."""
        most = max(found.keywords.chunks.values(), default=0.0)
        scores = {
            hit.chunk_id: self._settings.relevance(
                found.dense.of_chunk(hit.chunk_id), found.keywords.of_chunk(hit.chunk_id), most
            )
            for hit in found.hits.values()
            if hit.size is ChunkSize.PASSAGE and hit.note_id in notes
        }
        best: dict[str, str] = {}
        for key in best_first(scores):
            best.setdefault(found.hits[key].note_id, key)
        return best

    def _nearest_passage(self, note_id: str, vector: Vector) -> Chunk | None:
        """For a note that only its larger chunks brought up; None if it has just been removed."""
        own = [
            embedded
            for embedded in self._vectors.chunks(note_id)
            if embedded.chunk.size is ChunkSize.PASSAGE
        ]
        best = max(own, key=lambda embedded: float(embedded.vector @ vector), default=None)
        return None if best is None else best.chunk
