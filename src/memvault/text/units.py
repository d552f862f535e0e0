"""Splits a note's blocks into units: groups of sentences and short lines, the texts to embed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from memvault.model.note import Block, LineRange, ParsedNote
from memvault.text.encoders.embedding import Embedder
from memvault.text.tokens import TokenCounter

UNIT_TOKENS = 40  # sentences are grouped up to this many tokens
PASSAGE_TOKENS = 160  # maximum of a passage, if the window is not smaller


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest embedded text: some consecutive sentences under one heading."""

    text: str
    lines: LineRange
    heading: tuple[str, ...]
    tokens: int

    def with_tokens(self, tokens: int) -> Unit:
        """The unit with its tokens counted."""
        return replace(self, tokens=tokens)


def units_of(
    notes: Sequence[ParsedNote],
    embedder: Embedder,
    counted: Mapping[str, Sequence[Unit]] = MappingProxyType({}),
) -> list[list[Unit]]:
    """Each note's text as units that fit a passage; a note without text has one unit, its title.
    ``counted`` are the pieces of `chunk_notes`."""
    tokens, limit = embedder.tokens, passage_limit(embedder)
    pieces_by_note = [list(counted.get(note.path) or pieces_of(note)) for note in notes]
    for note, pieces in zip(notes, pieces_by_note, strict=True):
        if not pieces:
            lines = LineRange(min(note.body_line, note.line_count), note.line_count)
            pieces.append(Unit(note.title, lines, (), 0))
    uncounted = [piece.text for pieces in pieces_by_note for piece in pieces if not piece.tokens]
    counts = iter(tokens.count_all(uncounted))
    units_by_note = []
    for pieces in pieces_by_note:
        sized = (piece if piece.tokens else piece.with_tokens(next(counts)) for piece in pieces)
        parts = (part for piece in sized for part in _split(piece, tokens, limit))
        units_by_note.append(joined(parts)[0])
    return units_by_note


def passage_limit(embedder: Embedder) -> int:
    """The maximum number of tokens of a passage."""
    return min(embedder.window, PASSAGE_TOKENS)


def pieces_of(note: ParsedNote) -> list[Unit]:
    """The pieces of the note's blocks, and the headings without text below them."""
    pieces = [piece for block in note.blocks for piece in _pieces(block)]
    above_text = {note.title, *(part for block in note.blocks for part in block.heading)}
    without_text = [heading for heading in note.headings if heading.text not in above_text]
    if not without_text:
        return pieces
    pieces += [
        Unit(heading.text, LineRange(heading.line, heading.line), (), 0) for heading in without_text
    ]
    return sorted(pieces, key=lambda piece: piece.lines)


def joined(pieces: Iterable[Unit]) -> tuple[list[Unit], list[int]]:
    """The pieces, adjacent short ones joined to units, and for each piece its unit's index."""
    units: list[Unit] = []
    owners: list[int] = []
    for piece in pieces:
        if units and _joins(units[-1], piece):
            units[-1] = _join(units[-1], piece)
        else:
            units.append(piece)
        owners.append(len(units) - 1)
    return units, owners


def _pieces(block: Block) -> Iterator[Unit]:
    """The block's sentences if they contain all its words, else the whole block."""
    sentences = block.sentences
    joined = " ".join(sentence.text for sentence in sentences)
    if joined.split() != block.text.split():
        yield Unit(block.text, block.lines, block.heading, 0)
        return
    for sentence, following in zip(sentences, (*sentences[1:], None), strict=True):
        last_line = (
            block.lines.last if following is None else max(sentence.line, following.line - 1)
        )
        lines = LineRange(sentence.line, min(last_line, block.lines.last))
        yield Unit(sentence.text, lines, block.heading, 0)


def _split(unit: Unit, tokens: TokenCounter, limit: int) -> Iterator[Unit]:
    """The unit in parts of at most ``limit`` tokens."""
    if unit.tokens <= limit:
        yield unit
        return
    for text in tokens.split(unit.text, limit):
        yield Unit(text, unit.lines, unit.heading, tokens.count(text))


def _joins(previous: Unit, unit: Unit) -> bool:
    """Whether a piece belongs to the same unit as the one before it."""
    return previous.heading == unit.heading and previous.tokens + unit.tokens <= UNIT_TOKENS


def _join(first: Unit, second: Unit) -> Unit:
    """Two adjacent pieces as one."""
    return Unit(
        first.text + separator(first, second) + second.text,
        LineRange(first.lines.first, max(first.lines.last, second.lines.last)),
        first.heading,
        first.tokens + second.tokens + 1,
    )


def separator(first: Unit, second: Unit) -> str:
    """What is between two adjacent units in the text of a chunk."""
    return "\n" if second.lines.first > first.lines.last else " "
