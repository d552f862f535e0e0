"""The payload that a chunk's point carries, the conditions of a search, and cached chunk headers.

``labels`` is one string of words, indexed as such, for everything that is filtered by equality:
Edge converts and indexes one string several times faster than many fields. ``body`` is JSON of
what people see, and of the signs of a passage's tokens. The text of a section or a note is not
stored again if passages make it up: the ordinals of the first and last of these passages are stored
instead.

`Headers` caches the notes and sizes of chunks. The engine converts a point's payload into Python
values at about 10 us each, so a search that finds 200 points would spend more time on that than
on the search.
"""

from __future__ import annotations

import json
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from memvault.model.json_text import json_value
from memvault.model.memory import Memory
from memvault.model.moments import in_utc
from memvault.model.note import Chunk, ChunkSize, LineRange
from memvault.model.search import Filters, Scope

LABELS, BODY, IMPORTANCE, CREATED = "labels", "body", "importance", "created"
TEXT_GLUE = "\n"
NO_PROJECT = "project"  # label of memories without a project
_NOTE = "note:"
_NEVER = "never"  # a label that no chunk has
_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_SIZES = {size.value: size for size in ChunkSize}
_BITS = {size.value: size.bit for size in ChunkSize}

Parts = tuple[int, int]  # first and last of the passages that make up a text
Header = tuple[str, int]  # a chunk's note id, and the bits of its sizes


@dataclass(frozen=True, slots=True)
class AnyLabel:
    """Condition: a point has one of these labels."""

    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """Condition: a point's number in this field lies within these inclusive bounds."""

    field: str
    minimum: float | None = None
    maximum: float | None = None


Conditions = tuple[AnyLabel | Between, ...]  # all must hold


class StoredChunk(NamedTuple):
    """A chunk as stored; its text is empty if passages make it up, which ``parts`` names."""

    chunk: Chunk
    parts: Parts | None


def payloads(memory: Memory, chunks: Sequence[Chunk], language: str | None) -> list[dict[str, Any]]:
    """One payload per chunk, in order; ``language`` is the note's, see `language_of`."""
    labels = [_note_label(memory.id), *_labels(memory)]
    if language is not None and language != "english":
        labels.append(_label("language", language))
    shared = " ".join(labels)
    created = _seconds(memory.created_at)
    return [
        {
            LABELS: f"{shared} {' '.join(chunk.sizes)}",
            BODY: _to_json(
                [
                    *(chunk.ordinal, chunk.heading, *chunk.lines, chunk.context, text),
                    *([b64encode(chunk.token_signs).decode()] if chunk.token_signs else []),
                ]
            ),
            IMPORTANCE: memory.importance,
            CREATED: created,
        }
        for chunk, text in zip(chunks, _texts(chunks), strict=True)
    ]


def _labels(memory: Memory) -> Iterable[str]:
    yield _label("lifecycle", memory.lifecycle.value)
    yield _label("type", memory.type)
    yield NO_PROJECT if memory.project is None else _label("project", memory.project)
    for tag in sorted(memory.tag_keys):
        yield _label("tag", tag)


@lru_cache(maxsize=4096)
def _label(kind: str, value: str) -> str:
    return f"{kind}:{quote(value.casefold(), safe='')}"


def _note_label(note_id: str) -> str:
    return _NOTE + quote(note_id, safe="")


def _texts(chunks: Sequence[Chunk]) -> list[str | Parts]:
    """Each chunk's text, or the range of passages that make it up."""
    if len(chunks) == 1:
        return [chunks[0].text]
    passages = {chunk.ordinal: chunk for chunk in chunks if chunk.size is ChunkSize.PASSAGE}
    next_passage = dict.fromkeys(ChunkSize, 0)
    texts: list[str | Parts] = []
    for chunk in chunks:
        size, last_passage = chunk.size, None
        if size is not ChunkSize.PASSAGE:
            while (covered := passages.get(next_passage[size])) and size in covered.covers:
                next_passage[size] += 1
            last_passage = _last_part(chunk.text, passages, next_passage[size])
        if last_passage is None:
            texts.append(chunk.text)
        else:
            texts.append((next_passage[size], last_passage))
            next_passage[size] = last_passage + 1
    return texts


def _last_part(text: str, passages: Mapping[int, Chunk], first_passage: int) -> int | None:
    """The last passage of the text, if it consists of the passages from ``first_passage`` on."""
    position, ordinal = 0, first_passage
    while (passage := passages.get(ordinal)) and text.startswith(passage.text, position):
        position += len(passage.text)
        if position == len(text):
            return ordinal
        if not text.startswith(TEXT_GLUE, position):
            return None
        position += len(TEXT_GLUE)
        ordinal += 1
    return None


def note_id_of(payload: Mapping[str, Any] | None) -> str:
    return unquote((payload or {})[LABELS].split(" ", 1)[0].removeprefix(_NOTE))


def stored_chunk(payload: Mapping[str, Any] | None) -> StoredChunk:
    payload = payload or {}
    labels = payload[LABELS].split(" ")
    size, *covers = (_SIZES[label] for label in labels if label in _SIZES)
    ordinal, heading, first, last, context, text, *signs = json_value(payload[BODY])
    text, parts = (text, None) if isinstance(text, str) else ("", (text[0], text[1]))
    lines = LineRange(first, last)
    note_id = note_id_of(payload)
    token_signs = b64decode(signs[0]) if signs else b""
    chunk = Chunk(note_id, size, ordinal, heading, lines, text, context, tuple(covers), token_signs)
    return StoredChunk(chunk, parts)


def header(payload: Mapping[str, Any] | None) -> Header:
    labels = (payload or {})[LABELS].split(" ")
    return note_id_of(payload), sum(_BITS.get(label, 0) for label in labels)


def of_notes(note_ids: Iterable[str], size: ChunkSize | None = None) -> Conditions:
    in_notes = _any(_note_label(note_id) for note_id in note_ids)
    return (in_notes,) if size is None else (in_notes, _any([size]))


def in_languages(languages: Iterable[str]) -> Conditions:
    """Conditions for chunks of notes in any of these languages."""
    return (_any(_label("language", language) for language in languages),)


def visible(size: ChunkSize | None, scope: Scope | None) -> Conditions:
    """Conditions for chunks of a size (None: of any) within a scope."""
    conditions: list[AnyLabel | Between] = [] if size is None else [_any([size])]
    if scope is not None:
        if scope.project is not None:
            conditions.append(_any([NO_PROJECT, _label("project", scope.project)]))
        if scope.filters is not None:
            conditions += _conditions(scope.filters)
    return tuple(conditions)


def _conditions(filters: Filters) -> Iterable[AnyLabel | Between]:
    if filters.lifecycles is not None:
        yield _any(_label("lifecycle", lifecycle) for lifecycle in filters.lifecycles)
    if filters.types is not None:
        yield _any(_label("type", kind) for kind in filters.types)
    if filters.tags is not None:
        yield _any(_label("tag", tag.lstrip("#")) for tag in filters.tags)
    if filters.min_importance is not None:
        yield Between(IMPORTANCE, minimum=filters.min_importance)
    if filters.created_after is not None:
        yield Between(CREATED, minimum=_seconds(filters.created_after))
    if filters.created_before is not None:
        yield Between(CREATED, maximum=_seconds(filters.created_before))


def _seconds(moment: datetime) -> float:
    """Seconds since 1970; a time without a zone is UTC."""
    return in_utc(moment).timestamp()


def _any(labels: Iterable[str]) -> AnyLabel:
    return AnyLabel(tuple(labels) or (_NEVER,))


MAX_CACHED = 200_000  # points; about 0.3 kB each


class Headers:
    """A cache of headers by chunk id. Thread-safe.

    Args:
        read: returns the headers of these points, without deleted ones.
    """

    def __init__(self, read: Callable[[Collection[int]], dict[int, Header]]) -> None:
        self._read = read
        self._cached: dict[int, Header] = {}
        self._changes = 0
        self._lock = threading.Lock()

    def of(self, points: Sequence[int]) -> list[Header | None]:
        """The headers of these points, in order; None for a deleted one."""
        cache = self._cached
        headers = list(map(cache.get, points))
        if None not in headers:
            return headers
        changes = self._changes
        from_engine = self._read(
            [point for point, cached in zip(points, headers, strict=True) if cached is None]
        )
        with self._lock:
            if len(cache) > MAX_CACHED:
                cache = self._cached = {}
            if changes == self._changes:
                cache.update(from_engine)
        return [
            cached or from_engine.get(point) for point, cached in zip(points, headers, strict=True)
        ]

    def forget(self, points: Iterable[int]) -> None:
        """Invalidate points after the engine wrote or deleted them."""
        with self._lock:
            self._changes += 1
            for point in points:
                self._cached.pop(point, None)
