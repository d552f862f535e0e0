"""The part of the vector store that the Qdrant engines share: chunks as points."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol
from uuid import UUID

import numpy as np

from memvault.model.memory import Memory
from memvault.model.note import Chunk, ChunkSize, EmbeddedChunk, Vector, chunk_id
from memvault.model.priority import make_way
from memvault.model.search import Ranking, Scope
from memvault.stores.vectors import bm25, languages
from memvault.stores.vectors.payload import (
    BODY,
    LABELS,
    TEXT_GLUE,
    Conditions,
    StoredChunk,
    header,
    in_languages,
    note_id_of,
    of_notes,
    stored_chunk,
    visible,
)

DENSE, SPARSE = "dense", "bm25"
POINTS_PER_CALL = 500
NUMBERS = 2**64  # an engine's numeric ids are below this
NOTES_PER_CALL = 64  # notes whose texts are read at once
LANGUAGES_SECONDS = 60.0
RARE = 2_000  # a term in at most so many chunks is selective enough to find a phrase
_LABELS, _ALL_FIELDS = [LABELS], [LABELS, BODY]
Note = tuple[Memory, Sequence[EmbeddedChunk]]


class Terms(Protocol):
    """A sparse vector."""

    @property
    def indices(self) -> list[int]: ...

    @property
    def values(self) -> list[float]: ...


class Point(Protocol):
    """A point as the engine returns it, with the requested payload fields."""

    @property
    def id(self) -> Any: ...

    @property
    def payload(self) -> Any: ...


class Scored(Point, Protocol):
    @property
    def score(self) -> float: ...


class WithVector(Point, Protocol):
    @property
    def vector(self) -> Any: ...


class PointVectorStore(ABC):
    """A vector store without the connection to its engine."""

    _languages: tuple[str, ...] = ()  # of notes in the store, other than English
    _main_language: str | None = None  # the one of these that most chunks are in
    _languages_until = 0.0  # when they are counted again: other machines write, too

    # -- the way to the engine ------------------------------------------------------------------

    @abstractmethod
    def _nearest(
        self,
        query: list[float] | Terms,
        limit: int,
        allowed: Conditions,
        fields: list[str],
    ) -> Sequence[Scored]:
        """Search the dense vectors, or for terms the sparse ones; only points with a score."""

    @abstractmethod
    def _notes_with_term(self, term: int, limit: int) -> list[str]:
        """Note ids of the points whose text contains the term, one per point, up to a limit."""

    @abstractmethod
    def _retrieve(self, chunk_ids: Collection[int], fields: list[str]) -> Sequence[Point]:
        """The points with these ids that exist."""

    @abstractmethod
    def _scroll(
        self, wanted: Conditions, fields: list[str], *, with_vector: bool = False
    ) -> Iterator[WithVector]:
        """All matching points."""

    @abstractmethod
    def _count(self, wanted: Conditions) -> int:
        """The number of matching points."""

    # -- what the protocol promises -------------------------------------------------------------

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
        also: Mapping[str, float] | None = None,
    ) -> Ranking:
        terms = bm25.with_words(bm25.query(query, self._languages_in_store()), also or {})
        if not terms.indices:
            return Ranking.of([])
        return self._ranked(terms, limit, visible(size, scope))

    def language_of(self, query: str) -> str | None:
        language = languages.language_of_query(query, self._languages_in_store())
        return None if language == "english" else language

    def main_language(self) -> str | None:
        return self._main_language if self._languages_in_store() else None

    def in_language(self, language: str | None, limit: int) -> list[Vector]:
        spoken = in_languages([language]) if language is not None else ()
        wanted = (*spoken, *visible(ChunkSize.NOTE, None))
        return [
            _vector_of(each) for each in islice(self._scroll(wanted, [], with_vector=True), limit)
        ]

    def passages_in_language(self, language: str, limit: int) -> list[str]:
        wanted = (*in_languages([language]), *visible(ChunkSize.PASSAGE, None))
        records = islice(self._scroll(wanted, _ALL_FIELDS), limit)
        chunks = self._with_texts([stored_chunk(record.payload) for record in records])
        return [chunk.text for chunk in chunks]

    def _languages_in_store(self) -> tuple[str, ...]:
        """The languages of the stored notes, other than English."""
        if time.monotonic() >= self._languages_until:
            counts: dict[str, int] = {}
            if self._count(in_languages(languages.LANGUAGES)):
                counts = {each: self._count(in_languages([each])) for each in languages.LANGUAGES}
            found = [each for each, count in counts.items() if count]
            most = max(counts, key=lambda each: counts[each], default="")
            is_main = 2 * counts.get(most, 0) > self._count(())
            self._main_language = most if is_main else None
            self._languages = tuple(found)
            self._languages_until = time.monotonic() + LANGUAGES_SECONDS
        return self._languages

    def _written(self, notes: Iterable[Note]) -> None:
        """Count the languages again if there is a new one among the written notes."""
        if not {language_of(chunks) for _, chunks in notes} <= {None, *self._languages}:
            self._languages_until = 0.0

    def _ranked(self, query: list[float] | Terms, limit: int, allowed: Conditions) -> Ranking:
        found = self._nearest(query, limit, allowed, _LABELS)
        known = zip(ids_of(found), found, strict=True)
        near = sorted((-point.score, key, header(point.payload)) for key, point in known)
        return Ranking.of([(-score, key, own) for score, key, own in near])

    def read(self, chunk_ids: Collection[int]) -> dict[int, Chunk]:
        records = self._retrieve(chunk_ids, _ALL_FIELDS)
        chunks = self._with_texts([stored_chunk(record.payload) for record in records])
        return dict(zip(ids_of(records), chunks, strict=True))

    def containing(self, phrases: Collection[str]) -> set[str]:
        """See `VectorStore.containing`.

        The keyword index finds the notes with the rare words of a phrase, and their texts are then
        searched for it; for a phrase without a rare word all texts are searched. A phrase without
        letters and digits matches every note.
        """
        known: dict[int, set[str] | None] = {}
        having: dict[str, set[str]] = {}
        common: set[str] = set()
        for words, terms in {(bm25.words(each), tuple(bm25.terms(each))) for each in phrases}:
            make_way()
            if not terms:
                return set(self.note_ids())
            rare = [
                notes for term in terms if (notes := self._notes_if_rare(term, known)) is not None
            ]
            if not rare:
                common.add(words)
            for note_id in set.intersection(*rare) if rare else ():
                having.setdefault(note_id, set()).add(words)
        return {
            note_id
            for some in _some(self.note_ids() if common else having, NOTES_PER_CALL)
            for note_id, text in self._words_of(some).items()
            if any(phrase in text for phrase in (*having.get(note_id, ()), *common))
        }

    def _words_of(self, note_ids: Collection[str]) -> dict[str, str]:
        """The words of these notes' passages in order, then of their titles and headings."""
        found: dict[str, list[StoredChunk]] = {}
        for record in self._scroll(of_notes(note_ids, ChunkSize.PASSAGE), _ALL_FIELDS):
            make_way()
            chunk = stored_chunk(record.payload)
            found.setdefault(chunk.note_id, []).append(chunk)
        return {
            note_id: bm25.words(
                "\n".join(
                    (*(str(c.text) for c in sorted(own, key=_place)), *(c.context for c in own))
                )
            )
            for note_id, own in found.items()
        }

    def _notes_if_rare(self, term: int, known: dict[int, set[str] | None]) -> set[str] | None:
        """The notes with this term; None if it is in too many chunks."""
        if term not in known:
            found = self._notes_with_term(term, RARE + 1)
            known[term] = set(found) if len(found) <= RARE else None
        return known[term]

    def vectors(self, note_ids: Collection[str], size: ChunkSize) -> dict[str, list[Vector]]:
        """See `VectorStore.vectors`; ordered by the lines of their chunks."""
        found: dict[str, list[tuple[StoredChunk, Vector]]] = {}
        for record in self._scroll(of_notes(note_ids, size), _ALL_FIELDS, with_vector=True):
            chunk = stored_chunk(record.payload)
            found.setdefault(chunk.note_id, []).append((chunk, _vector_of(record)))
        return {
            note_id: [vector for _, vector in sorted(own, key=lambda pair: _place(pair[0]))]
            for note_id, own in found.items()
        }

    def chunks(self, note_id: str) -> list[EmbeddedChunk]:
        records = list(self._scroll(of_notes([note_id]), _ALL_FIELDS, with_vector=True))
        whole = self._with_texts([stored_chunk(record.payload) for record in records])
        embedded = [
            EmbeddedChunk(chunk, _vector_of(record))
            for chunk, record in zip(whole, records, strict=True)
        ]
        sizes = list(ChunkSize)
        return sorted(embedded, key=lambda own: (sizes.index(own.chunk.size), own.chunk.ordinal))

    def passages(self, note_ids: Collection[str]) -> dict[str, list[Chunk]]:
        """See `VectorStore.passages`."""
        conditions = of_notes(note_ids, ChunkSize.PASSAGE)
        stored = [stored_chunk(each.payload) for each in self._scroll(conditions, _ALL_FIELDS)]
        found: dict[str, list[Chunk]] = {}
        for chunk in self._with_texts(sorted(stored, key=_place)):
            found.setdefault(chunk.note_id, []).append(chunk)
        return found

    def note_ids(self) -> Iterator[str]:
        seen = set[str]()
        for point in self._scroll((), _LABELS):
            key = note_id_of(point.payload)
            if key not in seen:
                seen.add(key)
                yield key

    def _with_texts(self, chunks: Sequence[StoredChunk]) -> list[Chunk]:
        """Chunks with their texts, some of which are assembled from passages."""
        needed = {chunk.note_id for chunk in chunks if not isinstance(chunk.text, str)}
        texts: dict[tuple[str, int], str] = {}
        if needed:
            for record in self._scroll(of_notes(needed, ChunkSize.PASSAGE), _ALL_FIELDS):
                passage = stored_chunk(record.payload)
                texts[passage.note_id, passage.ordinal] = str(passage.text)
        return [chunk.with_text(_text(chunk, texts)) for chunk in chunks]

    def _ids_of(self, note_ids: Iterable[str]) -> set[int]:
        """Ids of these notes' chunks."""
        found: set[int] = set()
        for some in _some(note_ids, POINTS_PER_CALL):
            found.update(ids_of(self._scroll(of_notes(some), [])))
        return found

    def _free_ids(self, notes: Iterable[Note], own: Collection[int]) -> list[int]:
        """An id for each chunk: its hash, or the next number that no other chunk has.

        Args:
            own: ids of points that these chunks may replace.
        """
        ids = [
            chunk_id(note, embedded.chunk.size, embedded.chunk.ordinal)
            for memory, chunks in notes
            for note in (UUID(memory.id),)
            for embedded in chunks
        ]
        taken = self._others(ids, own)
        for place in range(len(ids)):
            while ids[place] in taken:
                ids[place] = (ids[place] + 1) % NUMBERS
                taken |= self._others([ids[place]], own)
            taken.add(ids[place])
        return ids

    def _others(self, chunk_ids: Iterable[int], own: Collection[int]) -> set[int]:
        """The ids among these that other chunks have."""
        new = [each for each in chunk_ids if each not in own]
        return set(ids_of(self._retrieve(new, [])))


def batches(notes: Iterable[Note]) -> Iterator[list[Note]]:
    """Batches of whole notes for one call each, because the engine writes a call atomically."""
    batch: list[Note] = []
    size = 0
    for note in notes:
        if batch and size + len(note[1]) > POINTS_PER_CALL:
            yield batch
            batch, size = [], 0
        batch.append(note)
        size += len(note[1])
    if batch:
        yield batch


def _some(items: Iterable[str], most: int) -> Iterator[list[str]]:
    waiting = iter(items)
    while some := list(islice(waiting, most)):
        yield some


def parts(points: Sequence[Any]) -> Iterator[list[Any]]:
    """Split a list into lists for one call each."""
    for start in range(0, len(points), POINTS_PER_CALL):
        yield list(points[start : start + POINTS_PER_CALL])


def language_of(chunks: Sequence[EmbeddedChunk]) -> str | None:
    """The language of a note, by the text of its longest chunk; see `languages.language_of`."""
    return languages.language_of(max((own.chunk.text for own in chunks), key=len, default=""))


def searchable(chunk: Chunk) -> str:
    """The text that is indexed by keyword."""
    return f"{chunk.context}\n{chunk.text}"


def ids_of(points: Iterable[Point]) -> list[int]:
    """The ids of chunks. Until format 15 of the indexes points had UUIDs: larger numbers."""
    ids = [point.id for point in points]
    if set(map(type, ids)) <= {int}:
        return ids
    return [each if isinstance(each, int) else UUID(str(each)).int for each in ids]


def point_of(chunk_id: int) -> int | UUID:
    """The id of a chunk as its engine knows it."""
    return chunk_id if chunk_id < NUMBERS else UUID(int=chunk_id)


def _vector_of(record: WithVector) -> Vector:
    return np.asarray(record.vector[DENSE], np.float32)


def _place(chunk: StoredChunk) -> tuple[int, int, int]:
    return (*chunk.lines, chunk.ordinal)


def _text(chunk: StoredChunk, texts: dict[tuple[str, int], str]) -> str:
    if isinstance(chunk.text, str):
        return chunk.text
    first, last = chunk.text
    return TEXT_GLUE.join(texts.get((chunk.note_id, k), "") for k in range(first, last + 1))
