"""The part of the vector store that the Qdrant engines share: chunks as points."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from uuid import UUID

import numpy as np

from memvault.model.batched import batched
from memvault.model.note import Chunk, ChunkSize, EmbeddedChunk, Vector, chunk_id
from memvault.model.priority import make_way
from memvault.model.search import Ranking, Scope
from memvault.stores.vectors import bm25, languages
from memvault.stores.vectors.payload import (
    BODY,
    LABELS,
    TEXT_GLUE,
    Conditions,
    Parts,
    in_languages,
    note_id_of,
    of_notes,
    stored_chunk,
    visible,
)
from memvault.stores.vectors.points import (
    DENSE,
    NUMBERS,
    POINTS_PER_CALL,
    NewPoint,
    Note,
    Point,
    Terms,
    WithVector,
    batches,
    ids_of,
    new_points,
    note_language,
)

NOTES_PER_CALL = 64  # notes whose texts are read at once
LANGUAGES_SECONDS = 60.0
RARE_TERM_CHUNKS = 2_000  # a term in at most so many is selective enough to find a phrase
_LABELS, _ALL_FIELDS = [LABELS], [LABELS, BODY]


class PointVectorStore(ABC):
    """A vector store without the connection to its engine."""

    _chunks_in: Mapping[str, int] = MappingProxyType({})  # each language other than English
    _chunk_count = 0  # when these were counted
    _languages_until = 0.0  # when they are counted again: other machines write, too

    # -- what an engine implements --------------------------------------------------------------

    @abstractmethod
    def _writing(self, notes: Iterable[Note] = ()) -> AbstractContextManager[object]:
        """Lock for a write, of these notes."""

    @abstractmethod
    def _upsert(self, points: Sequence[NewPoint]) -> None:
        """Write these points, at most `POINTS_PER_CALL`."""

    @abstractmethod
    def _delete(self, chunk_ids: Iterable[int]) -> None:
        """Delete the points with these ids."""

    @abstractmethod
    def _ranked(self, query: list[float] | Terms, limit: int, allowed: Conditions) -> Ranking:
        """Search the dense vectors, or for terms the sparse ones; only points with a score."""

    @abstractmethod
    def _notes_with_term(self, term: int, limit: int) -> list[str]:
        """Note ids of the points whose text contains the term, one per point, up to a limit."""

    @abstractmethod
    def _retrieve(self, chunk_ids: Collection[int], fields: list[str]) -> Sequence[Point]:
        """The points with these ids that exist."""

    @abstractmethod
    def _scroll(
        self, conditions: Conditions, fields: list[str], *, with_vector: bool = False
    ) -> Iterator[WithVector]:
        """All matching points."""

    @abstractmethod
    def _count(self, conditions: Conditions) -> int:
        """The number of matching points."""

    # -- what `VectorStore` promises ------------------------------------------------------------

    def replace(self, notes: Sequence[Note]) -> None:
        latest = {memory.id: (memory, chunks) for memory, chunks in notes}
        with self._writing(latest.values()):
            stale = self._ids_of(latest)
            for batch in batches(latest.values()):
                ids = self._free_ids(batch, stale)
                unused_ids = iter(ids)
                points = [point for note in batch for point in new_points(note, unused_ids)]
                for part in batched(points, POINTS_PER_CALL):
                    make_way()
                    self._upsert(part)
                stale.difference_update(ids)
            self._delete(stale)
        self._written(latest.values())

    def remove(self, note_ids: Collection[str]) -> None:
        with self._writing():
            self._delete(self._ids_of(note_ids))

    def rank_dense(
        self,
        vector: Vector,
        limit: int,
        *,
        size: ChunkSize | None = None,
        scope: Scope | None = None,
    ) -> Ranking:
        return self._ranked(vector.tolist(), limit, visible(size, scope))

    def rank_keywords(
        self,
        query: str,
        limit: int,
        *,
        size: ChunkSize | None = None,
        scope: Scope | None = None,
        extra_words: Mapping[str, float] | None = None,
    ) -> Ranking:
        terms = bm25.with_words(bm25.query(query, self._languages_in_store()), extra_words or {})
        if not terms.indices:
            return Ranking.of([])
        return self._ranked(terms, limit, visible(size, scope))

    def language_of(self, query: str) -> str | None:
        language = languages.language_of_query(query, self._languages_in_store())
        return None if language == "english" else language

    def main_language(self) -> str | None:
        counts = self._counted_languages()
        return next((name for name in counts if 2 * counts[name] > self._chunk_count), None)

    def frequent_languages(self) -> tuple[str, ...]:
        counts = self._counted_languages()
        frequent = (name for name in counts if 10 * counts[name] >= self._chunk_count)
        return tuple(sorted(frequent, key=lambda name: -counts[name]))

    def in_language(self, language: str | None, limit: int) -> list[Vector]:
        of_language = in_languages([language]) if language is not None else ()
        conditions = (*of_language, *visible(ChunkSize.NOTE, None))
        records = islice(self._scroll(conditions, [], with_vector=True), limit)
        return [_vector_of(record) for record in records]

    def passages_in_language(self, language: str, limit: int) -> list[str]:
        conditions = (*in_languages([language]), *visible(ChunkSize.PASSAGE, None))
        records = islice(self._scroll(conditions, _ALL_FIELDS), limit)
        return [stored_chunk(record.payload).chunk.text for record in records]

    def _languages_in_store(self) -> tuple[str, ...]:
        """The languages of the stored notes, other than English."""
        return tuple(self._counted_languages())

    def _counted_languages(self) -> Mapping[str, int]:
        """The number of chunks in each of these languages, counted at most once a minute."""
        if time.monotonic() >= self._languages_until:
            counts: dict[str, int] = {}
            if self._count(in_languages(languages.LANGUAGES)):
                for language in languages.LANGUAGES:
                    if count := self._count(in_languages([language])):
                        counts[language] = count
                self._chunk_count = self._count(())
            self._chunks_in = counts
            self._languages_until = time.monotonic() + LANGUAGES_SECONDS
        return self._chunks_in

    def _written(self, notes: Iterable[Note]) -> None:
        """Count the languages again if there is a new one among the written notes."""
        known_languages = {"english", None, *self._chunks_in}
        if not {note_language(chunks) for _, chunks in notes} <= known_languages:
            self._languages_until = 0.0

    def read(self, chunk_ids: Collection[int]) -> dict[int, Chunk]:
        records = self._retrieve(chunk_ids, _ALL_FIELDS)
        return dict(zip(ids_of(records), self._chunks_of(records), strict=True))

    def containing(self, phrases: Collection[str]) -> set[str]:
        """See `VectorStore.containing`.

        The keyword index finds the notes with the rare words of a phrase, and their texts are then
        searched for it; for a phrase without a rare word all texts are searched. A phrase without
        letters and digits matches every note.
        """
        notes_of_term: dict[int, set[str] | None] = {}
        candidates: dict[str, set[str]] = {}  # phrases that a note may contain
        common: set[str] = set()  # phrases that any note may contain
        for words, terms in {
            (bm25.folded_words(text), tuple(bm25.terms(text))) for text in phrases
        }:
            make_way()
            if not terms:
                return set(self.note_ids())
            with_rare_term = [
                notes
                for term in terms
                if (notes := self._notes_if_rare(term, notes_of_term)) is not None
            ]
            if not with_rare_term:
                common.add(words)
            for note_id in set.intersection(*with_rare_term) if with_rare_term else ():
                candidates.setdefault(note_id, set()).add(words)
        return {
            note_id
            for group in batched(self.note_ids() if common else candidates, NOTES_PER_CALL)
            for note_id, text in self._words_of(group).items()
            if any(phrase in text for phrase in (*candidates.get(note_id, ()), *common))
        }

    def _words_of(self, note_ids: Collection[str]) -> dict[str, str]:
        """The words of these notes' passages in order, then of their titles and headings."""
        words = {}
        for note_id, passages in self.passages(note_ids).items():
            texts = [passage.text for passage in passages]
            contexts = [passage.context for passage in passages]
            words[note_id] = bm25.folded_words("\n".join((*texts, *contexts)))
        return words

    def _notes_if_rare(
        self, term: int, notes_of_term: dict[int, set[str] | None]
    ) -> set[str] | None:
        """The notes with this term; None if it is in too many chunks.

        Args:
            notes_of_term: earlier results, to which this one is added.
        """
        if term not in notes_of_term:
            note_ids = self._notes_with_term(term, RARE_TERM_CHUNKS + 1)
            notes_of_term[term] = set(note_ids) if len(note_ids) <= RARE_TERM_CHUNKS else None
        return notes_of_term[term]

    def vectors(self, note_ids: Collection[str], size: ChunkSize) -> dict[str, list[Vector]]:
        """See `VectorStore.vectors`; ordered by the lines of their chunks."""
        pairs_of: dict[str, list[tuple[Chunk, Vector]]] = {}
        for record in self._scroll(of_notes(note_ids, size), _ALL_FIELDS, with_vector=True):
            chunk = stored_chunk(record.payload).chunk
            pairs_of.setdefault(chunk.note_id, []).append((chunk, _vector_of(record)))
        return {
            note_id: [vector for _, vector in sorted(pairs, key=lambda pair: _place(pair[0]))]
            for note_id, pairs in pairs_of.items()
        }

    def chunks(self, note_id: str) -> list[EmbeddedChunk]:
        records = list(self._scroll(of_notes([note_id]), _ALL_FIELDS, with_vector=True))
        sizes = list(ChunkSize)
        return sorted(
            (
                EmbeddedChunk(chunk, _vector_of(record))
                for chunk, record in zip(self._chunks_of(records), records, strict=True)
            ),
            key=lambda embedded: (sizes.index(embedded.chunk.size), embedded.chunk.ordinal),
        )

    def passages(self, note_ids: Collection[str]) -> dict[str, list[Chunk]]:
        """See `VectorStore.passages`."""
        passages_of: dict[str, list[Chunk]] = {}
        for record in self._scroll(of_notes(note_ids, ChunkSize.PASSAGE), _ALL_FIELDS):
            make_way()
            passage = stored_chunk(record.payload).chunk
            passages_of.setdefault(passage.note_id, []).append(passage)
        for passages in passages_of.values():
            passages.sort(key=_place)
        return passages_of

    def note_ids(self) -> Iterator[str]:
        seen_ids = set[str]()
        for point in self._scroll((), _LABELS):
            note_id = note_id_of(point.payload)
            if note_id not in seen_ids:
                seen_ids.add(note_id)
                yield note_id

    def count(self) -> int:
        return self._count(())

    def chunk_counts(self) -> Mapping[str, int]:
        return Counter(note_id_of(point.payload) for point in self._scroll((), _LABELS))

    def _chunks_of(self, records: Sequence[Point]) -> list[Chunk]:
        """Chunks with their texts, some of which are assembled from passages."""
        stored = [stored_chunk(record.payload) for record in records]
        assembled_notes = {chunk.note_id for chunk, parts in stored if parts is not None}
        texts: dict[tuple[str, int], str] = {}
        for passages in self.passages(assembled_notes).values() if assembled_notes else ():
            texts.update(((passage.note_id, passage.ordinal), passage.text) for passage in passages)
        return [
            chunk if parts is None else replace(chunk, text=_text(chunk.note_id, parts, texts))
            for chunk, parts in stored
        ]

    def _ids_of(self, note_ids: Iterable[str]) -> set[int]:
        """Ids of these notes' chunks."""
        chunk_ids: set[int] = set()
        for group in batched(note_ids, POINTS_PER_CALL):
            chunk_ids.update(ids_of(self._scroll(of_notes(group), [])))
        return chunk_ids

    def _free_ids(self, notes: Iterable[Note], replaceable: Collection[int]) -> list[int]:
        """An id for each chunk: its hash, or the next number that no other chunk has.

        Args:
            replaceable: ids of points that these chunks may replace.
        """
        ids: list[int] = []
        for memory, chunks in notes:
            note = UUID(memory.id)
            ids += [chunk_id(note, row.chunk.size, row.chunk.ordinal) for row in chunks]
        used_ids = self._used_ids(ids, replaceable)
        for index in range(len(ids)):
            while ids[index] in used_ids:
                ids[index] = (ids[index] + 1) % NUMBERS
                used_ids |= self._used_ids([ids[index]], replaceable)
            used_ids.add(ids[index])
        return ids

    def _used_ids(self, chunk_ids: Iterable[int], replaceable: Collection[int]) -> set[int]:
        """The ids among these that other chunks have."""
        new_ids = [chunk_id for chunk_id in chunk_ids if chunk_id not in replaceable]
        return set(ids_of(self._retrieve(new_ids, [])))


def _vector_of(record: WithVector) -> Vector:
    return np.asarray(record.vector[DENSE], np.float32)


def _place(chunk: Chunk) -> tuple[int, int, int]:
    return (*chunk.lines, chunk.ordinal)


def _text(note_id: str, parts: Parts, texts: Mapping[tuple[str, int], str]) -> str:
    """The text of a chunk; ``texts`` are those of passages, by note and ordinal."""
    first, last = parts
    return TEXT_GLUE.join(texts.get((note_id, k), "") for k in range(first, last + 1))
