"""Cutting notes into chunks of several sizes, each text embedded once.

A note's blocks become *units* (sentences and short lines taken together), which alone pass the
encoder. Units are joined to *sections* by Max-Min semantic chunking, sections are cut into
*passages* that fit the model's window, and the note itself is the largest chunk. A larger
chunk's vector is the mean direction of its units', weighted by their tokens.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memvault.model.chunk import Chunk, ChunkSize, EmbeddedChunk, Vector
from memvault.model.memory import Memory
from memvault.model.note import Block, LineRange, ParsedNote
from memvault.text.embedding import Embedder
from memvault.text.tokens import TokenCounter

UNIT_TOKENS = 64  # a unit is closed when it has as many
SECTION_TOKENS = (200, 500)  # least and most of a section (FR-11)
HARD_THRESHOLD = 0.6  # similarity above which a unit always joins (Max-Min)
SLACK = 0.9  # c: how far below the least similar pair a newcomer may lie (Max-Min)
FIRST_SLACK = 1.5  # the same for the second unit of a section


@dataclass(frozen=True, slots=True)
class Unit:
    """The least that is embedded: some sentences of one part of a note."""

    text: str
    lines: LineRange
    heading: tuple[str, ...]
    tokens: int


def chunk_notes(
    notes: Sequence[tuple[ParsedNote, Memory]], embedder: Embedder
) -> list[list[EmbeddedChunk]]:
    """The chunks of each note, ordered by size and place; the same for the same bytes.

    Every word of every block stands in a passage, no passage is longer than the model's window
    and every note has at least one chunk. A chunk that is also all there is of a larger size is
    kept once and `Chunk.covers` names that size.
    """
    outlines = [units_of(note, embedder.tokens, embedder.window) for note, _ in notes]
    vectors = embedder.embed([unit.text for units in outlines for unit in units])
    chunked: list[list[EmbeddedChunk]] = []
    start = 0
    for (note, memory), units in zip(notes, outlines, strict=True):
        own = vectors[start : start + len(units)]
        start += len(units)
        chunked.append(list(_chunks(note, memory, units, own, embedder.window)))
    return chunked


def units_of(note: ParsedNote, tokens: TokenCounter, window: int) -> list[Unit]:
    """A note's text as units, in order; a note without text has its title."""
    pieces = [piece for block in note.blocks for piece in _pieces(block)]
    counts = tokens.count_all([piece.text for piece in pieces])
    units: list[Unit] = []
    for piece, count in zip(pieces, counts, strict=True):
        sized = Unit(piece.text, piece.lines, piece.heading, count)
        for part in _fitting(sized, tokens, window):
            last = units[-1] if units else None
            if last is not None and _joins(last, part):
                units[-1] = _join(last, part)
            else:
                units.append(part)
    if not units:
        line = LineRange(note.body_line, note.line_count)
        units.append(Unit(note.title, line, (), tokens.count(note.title)))
    return units


def _pieces(block: Block) -> Iterator[Unit]:
    """The block's sentences if they hold all its words, else the block as it is."""
    sentences = block.sentences
    joined = " ".join(sentence.text for sentence in sentences)
    if joined.split() != block.text.split():
        yield Unit(block.text, block.lines, block.heading, 0)
        return
    for sentence, after in zip(sentences, (*sentences[1:], None), strict=True):
        last = block.lines.last if after is None else max(sentence.line, after.line - 1)
        lines = LineRange(sentence.line, min(last, block.lines.last))
        yield Unit(sentence.text, lines, block.heading, 0)


def _fitting(unit: Unit, tokens: TokenCounter, window: int) -> Iterator[Unit]:
    if unit.tokens <= window:
        yield unit
        return
    for text in tokens.split(unit.text, window):
        yield Unit(text, unit.lines, unit.heading, tokens.count(text))


def _joins(last: Unit, unit: Unit) -> bool:
    return last.heading == unit.heading and last.tokens + unit.tokens <= UNIT_TOKENS


def _join(first: Unit, second: Unit) -> Unit:
    gap = "\n" if second.lines.first > first.lines.last else " "
    return Unit(
        first.text + gap + second.text,
        LineRange(first.lines.first, max(first.lines.last, second.lines.last)),
        first.heading,
        first.tokens + second.tokens + 1,
    )


def _chunks(
    note: ParsedNote,
    memory: Memory,
    units: Sequence[Unit],
    vectors: npt.NDArray[np.float32],
    window: int,
) -> Iterator[EmbeddedChunk]:
    sections = sections_of(units, vectors)
    passages = [part for section in sections for part in _passages(units, section, window)]
    whole = range(len(units))
    sizes = (
        (ChunkSize.PASSAGE, passages),
        (ChunkSize.SECTION, sections),
        (ChunkSize.NOTE, [whole]),
    )
    covers: dict[range, list[ChunkSize]] = {}
    for size, spans in sizes:
        for span in spans:
            covers.setdefault(span, []).append(size)
    for size, spans in sizes:
        for ordinal, span in enumerate(spans):
            if covers[span][0] is size:
                chunk = _chunk(memory, units, span, size, ordinal, tuple(covers[span][1:]))
                weights = [units[index].tokens for index in span]
                yield EmbeddedChunk(chunk, _mean(vectors[span.start : span.stop], weights))


def _chunk(
    memory: Memory,
    units: Sequence[Unit],
    span: range,
    size: ChunkSize,
    ordinal: int,
    covers: tuple[ChunkSize, ...],
) -> Chunk:
    inside = [units[index] for index in span]
    heading = _common([unit.heading for unit in inside])
    return Chunk(
        note_id=memory.id,
        size=size,
        ordinal=ordinal,
        heading=" > ".join(heading),
        lines=LineRange(inside[0].lines.first, max(unit.lines.last for unit in inside)),
        text="\n".join(unit.text for unit in inside),
        context=context_of(memory, inside),
        covers=covers,
    )


def context_of(memory: Memory, units: Sequence[Unit]) -> str:
    """What is said about a chunk's text outside of it: searched with it, not shown."""
    headings = dict.fromkeys(heading for unit in units for heading in unit.heading)
    date = memory.date.date().isoformat() if memory.date is not None else ""
    parts = [memory.title, *memory.aliases, *headings, *memory.tags, date]
    return "\n".join(dict.fromkeys(part for part in parts if part))


def _common(headings: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The heading path that all share; that of the first where they share none."""
    shared = headings[0]
    for heading in headings[1:]:
        length = 0
        for one, other in zip(shared, heading, strict=False):
            if one != other:
                break
            length += 1
        shared = shared[:length]
    return shared or headings[0]


def _mean(vectors: npt.NDArray[np.float32], weights: Sequence[float]) -> Vector:
    mean = np.asarray(weights, np.float32) @ vectors
    norm = float(np.linalg.norm(mean))
    return np.asarray(mean / norm if norm > 0.0 else vectors[0], np.float32)


def sections_of(units: Sequence[Unit], vectors: npt.NDArray[np.float32]) -> list[range]:
    """Spans of consecutive units by Max-Min semantic chunking (Kiss et al., *Max-Min semantic
    chunking of documents for RAG application*, Discover Computing 28, 2025).

    A unit joins if its greatest similarity to the section's units exceeds the larger of the hard
    threshold and c * (least similarity among them) * sigmoid(their number); a section of one unit
    takes another if FIRST_SLACK * similarity exceeds the hard threshold. Below the least size any
    unit joins, above the greatest none; a section of enough size ends at a heading.
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


def _passages(units: Sequence[Unit], section: range, window: int) -> Iterator[range]:
    """The section cut into the fewest even parts that fit the window, between units."""
    total = sum(units[index].tokens + 1 for index in section)
    parts = math.ceil(total / window)
    aim = total / parts
    start, tokens = section.start, 0
    for index in section:
        size = units[index].tokens + 1
        full = tokens + size > window + 1
        if index > start and (full or tokens + size / 2 > aim):
            yield range(start, index)
            start, tokens = index, 0
        tokens += size
    yield range(start, section.stop)
