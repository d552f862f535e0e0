"""Splits notes into chunks of several sizes and embeds each text once.

A note's blocks become *units* (`units`), the only texts that are encoded. Units are joined to
*sections* by meaning, sections are split into *passages* that fit the model's window (`sections`),
and the whole note is the largest chunk. A chunk's vector is the mean of its units' vectors,
weighted by their tokens, plus the vector of its name: the title and headings above it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import takewhile
from types import MappingProxyType

import numpy as np

from memvault.model.graph import NodeKind
from memvault.model.memory import Memory
from memvault.model.note import (
    Chunk,
    ChunkSize,
    EmbeddedChunk,
    LineRange,
    ParsedNote,
    normalised,
)
from memvault.model.priority import make_way
from memvault.text.encoders.embedding import Embedder
from memvault.text.encoders.embedding_cache import Embedded
from memvault.text.names import KIND_OF_FIELD, field_values
from memvault.text.note_graph import NOT_FIELDS
from memvault.text.sections import sections_of, split_section
from memvault.text.units import Unit, passage_limit, separator, units_of
from memvault.vault.parse import stem_of

NAME_WEIGHT = 0.5  # weight of title and headings in a chunk's vector, relative to the text
KEYWORD_CHARS = 400  # characters of a note's other properties, searched as keywords
MAX_ALIASES = 10  # whose tokens each passage has
CODE_CHARS = 1000  # characters of the words of its code
OPEN_TASK = "open task todo"  # the words with which people ask for one
_TASK_WORDS = {False: OPEN_TASK, True: "done completed task"}


def chunk_notes(
    notes: Sequence[tuple[ParsedNote, Memory]],
    embedder: Embedder,
    *,
    pieces: Mapping[str, Sequence[Unit]] = MappingProxyType({}),
    extra_texts: Iterable[str] = (),
) -> list[list[EmbeddedChunk]]:
    """The chunks of each note, ordered by size and position; deterministic.

    Args:
        pieces: of some notes, by path, with their tokens (`pieces_of`).
        extra_texts: texts that are embedded with them, which caches their vectors.

    Every word of every block is in a passage, no passage is longer than the model's window and
    every note has at least one chunk. A chunk that is identical to one of a larger size is stored
    once, and `Chunk.covers` names that size.
    """
    outlines = units_of([note for note, _ in notes], embedder, pieces)
    names = [
        dict.fromkeys(section_name(memory.title, heading) for heading in _headings(units))
        for (_, memory), units in zip(notes, outlines, strict=True)
    ]
    texts = [unit.text for units in outlines for unit in units]
    texts += [name for names_of_note in names for name in names_of_note]
    texts += [alias for _, memory in notes for alias in memory.aliases[:MAX_ALIASES]]
    texts += extra_texts
    embedded = embedder.embed_all(texts)
    limit = passage_limit(embedder)
    return [
        list(_Chunker(memory, units, embedded, limit, note).chunks())
        for (note, memory), units in zip(notes, outlines, strict=True)
    ]


class _Chunker:
    """Builds one note's chunks from its units and their embedded texts and names."""

    def __init__(
        self,
        memory: Memory,
        units: Sequence[Unit],
        embedded: Mapping[str, Embedded],
        limit: int,
        note: ParsedNote,
    ) -> None:
        self._memory = memory
        self._units = units
        self._by_text = embedded
        self._vectors = np.stack([embedded[unit.text].vector for unit in units])
        self._limit = limit
        self._tasks = note.tasks
        self._code = note.code

    def chunks(self) -> Iterator[EmbeddedChunk]:
        make_way()
        sections = sections_of(self._units, self._vectors)
        passages = [
            passage
            for section in sections
            for passage in split_section(self._units, section, self._limit)
        ]
        sizes = (
            (ChunkSize.PASSAGE, passages),
            (ChunkSize.SECTION, sections),
            (ChunkSize.NOTE, [range(len(self._units))]),
        )
        sizes_of: dict[range, list[ChunkSize]] = {}
        for size, spans in sizes:
            for span in spans:
                sizes_of.setdefault(span, []).append(size)
        texts = {span: self._text(span) for span in passages}
        for size, spans in sizes:
            for ordinal, span in enumerate(spans):
                if sizes_of[span][0] is size:
                    passage_texts = [
                        texts[passage] for passage in passages if _is_within(passage, span)
                    ]
                    yield self._chunk(span, sizes_of[span], ordinal, "\n".join(passage_texts))

    def _chunk(
        self, span: range, sizes: Sequence[ChunkSize], ordinal: int, text: str
    ) -> EmbeddedChunk:
        units = self._units[span.start : span.stop]
        heading = _common_prefix([unit.heading for unit in units])
        lines = LineRange(units[0].lines.first, max(unit.lines.last for unit in units))
        name = section_name(self._memory.title, units[0].heading)
        states = {task.done for task in self._tasks if lines.first <= task.line <= lines.last}
        keywords = [words for is_done, words in _TASK_WORDS.items() if is_done in states]
        if ChunkSize.NOTE in sizes:
            keywords.append(self._code_without(text))
        chunk = Chunk(
            note_id=self._memory.id,
            size=sizes[0],
            ordinal=ordinal,
            heading=" > ".join(heading),
            lines=lines,
            text=text,
            context=_context(
                self._memory,
                _headings(units),
                keywords,
                is_whole=ChunkSize.NOTE in sizes,
            ),
            covers=tuple(sizes[1:]),
            token_signs=self._signs(name, units) if sizes[0] is ChunkSize.PASSAGE else b"",
        )
        weights = np.array([max(unit.tokens, 1) for unit in units], np.float32)
        text_vector = normalised(weights @ self._vectors[span.start : span.stop])
        name_vector = self._by_text[name].vector
        return EmbeddedChunk(chunk, normalised(text_vector + NAME_WEIGHT * name_vector))

    def _signs(self, name: str, units: Sequence[Unit]) -> bytes:
        aliases = self._memory.aliases[:MAX_ALIASES]
        texts = (name, *aliases, *(unit.text for unit in units))
        return b"".join(self._by_text[text].signs for text in texts)

    def _code_without(self, text: str) -> str:
        """The words of the note's code that a text lacks.

        They are keywords of the whole note only, since they would make its passages alike.
        """
        text_words = set(text.split())
        words = dict.fromkeys(word for code in self._code for word in code.text.split())
        return " ".join(word for word in words if word not in text_words)[:CODE_CHARS]

    def _text(self, span: range) -> str:
        text = self._units[span.start].text
        for index in span[1:]:
            text += separator(self._units[index - 1], self._units[index]) + self._units[index].text
        return text


def _is_within(inner: range, outer: range) -> bool:
    return outer.start <= inner.start and inner.stop <= outer.stop


def _headings(units: Sequence[Unit]) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(unit.heading for unit in units))


def section_name(title: str, heading: tuple[str, ...]) -> str:
    """Title and headings, which a chunk's own text need not contain."""
    return " > ".join(dict.fromkeys((title, *heading)))


def _context(
    memory: Memory, headings: Sequence[tuple[str, ...]], keywords: Sequence[str], *, is_whole: bool
) -> str:
    """The keywords of a chunk in addition to its text.

    These are title, file name, aliases, headings, ``keywords`` (such as the states of its tasks)
    and the people whom its properties name; for the whole note also its other properties, which do
    not distinguish passages.
    """
    names = [memory.title, stem_of(memory.path), *memory.aliases]
    parts = [*names, *(part for path in headings for part in path), *keywords]
    parts += [
        name
        for key, value in memory.metadata.items()
        if KIND_OF_FIELD.get(key.casefold()) == NodeKind.PERSON
        for name in field_values(value)
    ]
    if is_whole:
        date = memory.date.date().isoformat() if memory.date is not None else ""
        kind = memory.type if memory.type != "note" else ""
        parts += [kind, memory.project or "", *memory.tags, date]
        parts.append(" ".join(_property_words(memory.metadata))[:KEYWORD_CHARS])
    return "\n".join(dict.fromkeys(part for part in parts if part))


def _property_words(value: object) -> Iterator[str]:
    """The readable values among a note's other properties, each after its key."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            words = list(_property_words(inner))
            if (words or inner is True) and str(key).casefold() not in NOT_FIELDS:
                yield str(key)
            yield from words
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _property_words(inner)
    elif isinstance(value, str | int | float | date) and not isinstance(value, bool):
        yield str(value)


def _common_prefix(headings: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The longest common prefix of the heading paths; the first path if there is none."""
    prefix = headings[0]
    for heading in headings[1:]:
        pairs = zip(prefix, heading, strict=False)
        equal = takewhile(lambda pair: pair[0] == pair[1], pairs)
        prefix = tuple(part for part, _ in equal)
    return prefix or headings[0]
