"""Splits notes into chunks of several sizes and embeds each text once.

A note's blocks become *units*: groups of sentences and short lines, the only texts that are
encoded. Units are joined to *sections* by Max-Min semantic chunking, sections are split into
*passages* that fit the model's window, and the whole note is the largest chunk. A chunk's vector
is the mean of its units' vectors, weighted by their tokens, plus the vector of its name: the
title and headings above it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from memvault.model.graph import NodeKind
from memvault.model.memory import Memory
from memvault.model.note import (
    Block,
    Chunk,
    ChunkSize,
    EmbeddedChunk,
    LineRange,
    ParsedNote,
    Vector,
)
from memvault.model.priority import make_way
from memvault.text.embedding import Embedder
from memvault.text.names import KIND_OF_FIELD, field_values
from memvault.text.relations import NOT_FIELDS
from memvault.text.tokens import TokenCounter
from memvault.vault.parse import stem_of

UNIT_TOKENS = 40  # sentences are grouped up to this many tokens
PASSAGE_TOKENS = 160  # maximum of a passage, if the window is not smaller
SECTION_TOKENS = (250, 500)  # minimum and maximum of a section (FR-11: 200 to 500)
HARD_THRESHOLD = 0.6  # similarity above which a unit always joins (Max-Min)
SLACK = 0.9  # c: tolerance below the minimum pairwise similarity (Max-Min)
FIRST_SLACK = 1.5  # the same for the second unit of a section
NAME_WEIGHT = 0.5  # weight of title and headings in a chunk's vector, relative to the text
KEYWORD_CHARS = 400  # characters of a note's other properties, searched as keywords
CODE_CHARS = 1000  # characters of the words of its code
OPEN_TASK = "open task todo"  # the words with which people ask for one
_TASK_WORDS = {False: OPEN_TASK, True: "done completed task"}


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest embedded text: some consecutive sentences under one heading."""

    text: str
    lines: LineRange
    heading: tuple[str, ...]
    tokens: int

    def of(self, tokens: int) -> Unit:
        """The unit with its tokens counted."""
        return Unit(self.text, self.lines, self.heading, tokens)


def chunk_notes(
    notes: Sequence[tuple[ParsedNote, Memory]],
    embedder: Embedder,
    *,
    pieces: Mapping[str, Sequence[Unit]] = MappingProxyType({}),
    also: Iterable[str] = (),
) -> list[list[EmbeddedChunk]]:
    """The chunks of each note, ordered by size and position; deterministic.

    Args:
        pieces: of some notes, by path, with their tokens (`pieces_of`).
        also: texts that are embedded with them, which caches their vectors.

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
    texts += [name for own in names for name in own]
    texts += also
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    return [
        list(_Chunker(memory, units, vectors, _limit(embedder), note).chunks())
        for (note, memory), units in zip(notes, outlines, strict=True)
    ]


def units_of(
    notes: Sequence[ParsedNote],
    embedder: Embedder,
    known: Mapping[str, Sequence[Unit]] = MappingProxyType({}),
) -> list[list[Unit]]:
    """Each note's text as units that fit a passage; a note without text has one unit, its title.
    ``known`` are the pieces of `chunk_notes`."""
    tokens, limit = embedder.tokens, _limit(embedder)
    pieces = [list(known.get(note.path) or pieces_of(note)) for note in notes]
    for note, own in zip(notes, pieces, strict=True):
        if not own:
            lines = LineRange(min(note.body_line, note.line_count), note.line_count)
            own.append(Unit(note.title, lines, (), 0))
    uncounted = [piece.text for own in pieces for piece in own if not piece.tokens]
    counts = iter(tokens.count_all(uncounted))
    return [
        _joined([piece if piece.tokens else piece.of(next(counts)) for piece in own], tokens, limit)
        for own in pieces
    ]


def _limit(embedder: Embedder) -> int:
    """The maximum number of tokens of a passage."""
    return min(embedder.window, PASSAGE_TOKENS)


def pieces_of(note: ParsedNote) -> list[Unit]:
    """The pieces of the note's blocks, and the headings without text below them."""
    pieces = [piece for block in note.blocks for piece in _pieces(block)]
    shown = {note.title, *(part for block in note.blocks for part in block.heading)}
    lone = [heading for heading in note.headings if heading.text not in shown]
    if not lone:
        return pieces
    pieces += [Unit(each.text, LineRange(each.line, each.line), (), 0) for each in lone]
    return sorted(pieces, key=lambda piece: piece.lines)


def _joined(pieces: Sequence[Unit], tokens: TokenCounter, limit: int) -> list[Unit]:
    units: list[Unit] = []
    for piece in pieces:
        for part in _fitting(piece, tokens, limit):
            last = units[-1] if units else None
            if last is not None and joins(last, part):
                units[-1] = join(last, part)
            else:
                units.append(part)
    return units


def _pieces(block: Block) -> Iterator[Unit]:
    """The block's sentences if they contain all its words, else the whole block."""
    sentences = block.sentences
    joined = " ".join(sentence.text for sentence in sentences)
    if joined.split() != block.text.split():
        yield Unit(block.text, block.lines, block.heading, 0)
        return
    for sentence, after in zip(sentences, (*sentences[1:], None), strict=True):
        last = block.lines.last if after is None else max(sentence.line, after.line - 1)
        lines = LineRange(sentence.line, min(last, block.lines.last))
        yield Unit(sentence.text, lines, block.heading, 0)


def _fitting(unit: Unit, tokens: TokenCounter, limit: int) -> Iterator[Unit]:
    if unit.tokens <= limit:
        yield unit
        return
    for text in tokens.split(unit.text, limit):
        yield Unit(text, unit.lines, unit.heading, tokens.count(text))


def joins(last: Unit, unit: Unit) -> bool:
    """Whether a piece belongs to the same unit as the one before it."""
    return last.heading == unit.heading and last.tokens + unit.tokens <= UNIT_TOKENS


def join(first: Unit, second: Unit) -> Unit:
    return Unit(
        first.text + _glue(first, second) + second.text,
        LineRange(first.lines.first, max(first.lines.last, second.lines.last)),
        first.heading,
        first.tokens + second.tokens + 1,
    )


def _glue(first: Unit, second: Unit) -> str:
    return "\n" if second.lines.first > first.lines.last else " "


class _Chunker:
    """Builds one note's chunks from its units and the vectors of their texts and names."""

    def __init__(
        self,
        memory: Memory,
        units: Sequence[Unit],
        vectors: Mapping[str, Vector],
        limit: int,
        note: ParsedNote,
    ) -> None:
        self._memory = memory
        self._units = units
        self._by_text = vectors
        self._vectors = np.stack([vectors[unit.text] for unit in units])
        self._limit = limit
        self._tasks = note.tasks
        self._code = note.code

    def chunks(self) -> Iterator[EmbeddedChunk]:
        make_way()
        sections = sections_of(self._units, self._vectors)
        passages = [
            part for section in sections for part in _passages(self._units, section, self._limit)
        ]
        sizes = (
            (ChunkSize.PASSAGE, passages),
            (ChunkSize.SECTION, sections),
            (ChunkSize.NOTE, [range(len(self._units))]),
        )
        stands_for: dict[range, list[ChunkSize]] = {}
        for size, spans in sizes:
            for span in spans:
                stands_for.setdefault(span, []).append(size)
        texts = {span: self._text(span) for span in passages}
        for size, spans in sizes:
            for ordinal, span in enumerate(spans):
                if stands_for[span][0] is size:
                    inside = [texts[part] for part in passages if _within(part, span)]
                    yield self._chunk(span, stands_for[span], ordinal, "\n".join(inside))

    def _chunk(
        self, span: range, sizes: Sequence[ChunkSize], ordinal: int, text: str
    ) -> EmbeddedChunk:
        inside = self._units[span.start : span.stop]
        heading = _common([unit.heading for unit in inside])
        lines = LineRange(inside[0].lines.first, max(unit.lines.last for unit in inside))
        done = {task.done for task in self._tasks if lines.first <= task.line <= lines.last}
        states = [words for is_done, words in _TASK_WORDS.items() if is_done in done]
        chunk = Chunk(
            note_id=self._memory.id,
            size=sizes[0],
            ordinal=ordinal,
            heading=" > ".join(heading),
            lines=lines,
            text=text,
            context=_context(
                self._memory,
                _headings(inside),
                [*states, self._code_besides(text)] if ChunkSize.NOTE in sizes else states,
                whole=ChunkSize.NOTE in sizes,
            ),
            covers=tuple(sizes[1:]),
        )
        weights = np.array([max(unit.tokens, 1) for unit in inside], np.float32)
        text_vector = normalised(weights @ self._vectors[span.start : span.stop])
        name_vector = self._by_text[section_name(self._memory.title, inside[0].heading)]
        return EmbeddedChunk(chunk, normalised(text_vector + NAME_WEIGHT * name_vector))

    def _code_besides(self, text: str) -> str:
        """The words of the note's code that a text lacks. They are keywords of the whole note only,
        since they would make its passages alike."""
        had = set(text.split())
        words = dict.fromkeys(word for code in self._code for word in code.text.split())
        return " ".join(word for word in words if word not in had)[:CODE_CHARS]

    def _text(self, span: range) -> str:
        text = self._units[span.start].text
        for index in span[1:]:
            text += _glue(self._units[index - 1], self._units[index]) + self._units[index].text
        return text


def _within(part: range, span: range) -> bool:
    return span.start <= part.start and part.stop <= span.stop


def _headings(units: Sequence[Unit]) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(unit.heading for unit in units))


def section_name(title: str, heading: tuple[str, ...]) -> str:
    """Title and headings, which a chunk's own text need not contain."""
    return " > ".join(dict.fromkeys((title, *heading)))


def _context(
    memory: Memory, headings: Sequence[tuple[str, ...]], inside: Sequence[str], *, whole: bool
) -> str:
    """The keywords of a chunk in addition to its text.

    These are title, file name, aliases, headings, ``inside`` (such as the states of its tasks) and
    the people whom its properties name; for the ``whole`` note also its other properties, which do
    not distinguish passages.
    """
    names = [memory.title, stem_of(memory.path), *memory.aliases]
    parts = [*names, *(part for path in headings for part in path), *inside]
    parts += [
        name
        for key, value in memory.metadata.items()
        if KIND_OF_FIELD.get(key.casefold()) == NodeKind.PERSON
        for name in field_values(value)
    ]
    if whole:
        date = memory.date.date().isoformat() if memory.date is not None else ""
        kind = memory.type if memory.type != "note" else ""
        parts += [kind, memory.project or "", *memory.tags, date]
        parts.append(" ".join(_words(memory.metadata))[:KEYWORD_CHARS])
    return "\n".join(dict.fromkeys(part for part in parts if part))


def _words(value: object) -> Iterator[str]:
    """The readable values among a note's other properties, each after its key."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            said = list(_words(inner))
            if (said or inner is True) and str(key).casefold() not in NOT_FIELDS:
                yield str(key)
            yield from said
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _words(inner)
    elif isinstance(value, str | int | float | date) and not isinstance(value, bool):
        yield str(value)


def _common(headings: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The longest common prefix of the heading paths; the first path if there is none."""
    shared = headings[0]
    for heading in headings[1:]:
        length = 0
        for one, other in zip(shared, heading, strict=False):
            if one != other:
                break
            length += 1
        shared = shared[:length]
    return shared or headings[0]


def normalised(vector: Vector) -> Vector:
    norm = float(np.linalg.norm(vector))
    return np.asarray(vector / norm if norm > 0.0 else vector, np.float32)


def sections_of(units: Sequence[Unit], vectors: npt.NDArray[np.float32]) -> list[range]:
    """Group consecutive units by Max-Min semantic chunking (Kiss et al., *Max-Min semantic
    chunking of documents for RAG application*, Discover Computing 28, 2025).

    A unit joins if its maximum similarity to the section's units exceeds the larger of the hard
    threshold and c * (minimum similarity among them) * sigmoid(their number); it joins a section
    of one unit if FIRST_SLACK * similarity exceeds the hard threshold. Any unit joins a section
    below the minimum size, none joins above the maximum; a section of sufficient size ends at a
    heading.
    """
    spans: list[range] = []
    start, tokens, least = 0, units[0].tokens, 1.0
    for index in range(1, len(units)):
        unit = units[index]
        similarities = vectors[start:index] @ vectors[index]
        if _belongs(units[index - 1], unit, tokens, similarities, least):
            tokens += unit.tokens
            least = min(least, float(similarities.min()))
        else:
            spans.append(range(start, index))
            start, tokens, least = index, unit.tokens, 1.0
    spans.append(range(start, len(units)))
    return spans


def _belongs(
    before: Unit,
    unit: Unit,
    tokens: int,
    similarities: npt.NDArray[np.float32],
    least: float,
) -> bool:
    fewest, most = SECTION_TOKENS
    if tokens + unit.tokens > most:
        return False
    if tokens < fewest:
        return True
    if before.heading != unit.heading:
        return False
    nearest = float(similarities.max())
    if len(similarities) == 1:
        return FIRST_SLACK * nearest > HARD_THRESHOLD
    grown = SLACK * least / (1.0 + math.exp(-len(similarities)))
    return nearest > max(grown, HARD_THRESHOLD)


def _passages(units: Sequence[Unit], section: range, limit: int) -> Iterator[range]:
    """Split a section between units into the fewest parts of even size within the limit."""
    total = sum(units[index].tokens + 1 for index in section)
    aim = total / math.ceil(total / limit)
    start, tokens = section.start, 0
    for index in section:
        size = units[index].tokens + 1
        if index > start and (tokens + size > limit + 1 or tokens + size / 2 > aim):
            yield range(start, index)
            start, tokens = index, 0
        tokens += size
    yield range(start, section.stop)
