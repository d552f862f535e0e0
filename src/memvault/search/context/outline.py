"""Outlines: a note's sentences with their places, its code, and the vectors and words to compare.

Outlines are cached until the note changes. What they are made of is stored when a note is indexed:
parsing ten notes takes three times as long as all else that shows them.
"""

from __future__ import annotations

import json
import re
import threading
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache

from memvault.model.errors import NoteNotFound, StorageError, StoreUnavailable
from memvault.model.note import CodeBlock, LineRange, ParsedNote
from memvault.model.priority import make_way
from memvault.model.search import Hit
from memvault.stores.vectors import bm25
from memvault.text.chunking import (
    NAME_WEIGHT,
    Unit,
    join,
    joins,
    pieces_of,
    section_name,
)
from memvault.text.embedding import Embedder, TokenCounter
from memvault.text.words import STOP_WORDS, composed, some_words
from memvault.vault.markdown.labelled_sentences import sentence_starts
from memvault.vault.parse import decode, parse_note

NAMESPACE = "outlines"  # of the key-value store: what outlines are made of, by path
MOST_BYTES = 64_000  # of a note that is read whole; of a longer one the passage that was found
LEAST_NORM = 1e-12
MOST_KEPT = 30_000  # sentences in all outlines that are kept; about 1 kB each

_BULLET = re.compile(r"\A *(?:[-*+] )?")

Vectors = npt.NDArray[np.float16]  # (n, dim), normalised; a row of zeros if unknown


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence (or a table's row, or a short line) as it reads, markup removed.

    ``shown`` is the text with its list marker or task box, its kind of callout, or the heads of its
    table; empty for a table's head. ``unit`` is the row of the outline's vectors that it was
    embedded in, together with its short neighbours; ``terms`` are its words as BM25 knows them,
    ``telling`` how many of them are no function words. ``tokens`` are the model's own, of
    ``shown``.
    """

    text: str
    shown: str
    lines: LineRange
    heading: tuple[str, ...]
    tokens: int
    unit: int
    terms: tuple[int, ...]
    telling: int

    @property
    def quoted(self) -> str:
        """``shown`` without the bullet of a list, for text that has bullets of its own or none."""
        return _BULLET.sub("", self.shown)


@dataclass(frozen=True, slots=True)
class Code:
    """Code, its words, and the rows of the sentences in front of it and behind it in its section
    (None without one)."""

    block: CodeBlock
    tokens: int
    lead: int | None
    follower: int | None
    terms: tuple[int, ...]

    @property
    def lines(self) -> LineRange:
        return self.block.lines


@dataclass(frozen=True, slots=True)
class Outline:
    """``tokens`` counts all its sentences and code; ``vectors`` are those of its units, each
    with the title and headings above it, weighted as in a chunk, ``bare`` those without."""

    statements: tuple[Statement, ...]
    code: tuple[Code, ...]
    vectors: Vectors
    bare: Vectors
    tokens: int


@dataclass(frozen=True, slots=True)
class NoteText:
    """What of a note can be shown: its sentences and short lines, each as it is shown, and its
    code, all with their tokens. ``content_hash`` is that of its bytes, empty for a part of it."""

    content_hash: str
    pieces: Sequence[Unit]
    shown: Sequence[str]
    shown_tokens: Sequence[int]
    code: Sequence[CodeBlock]
    code_tokens: Sequence[int]

    def packed(self) -> bytes:
        """In few bytes: what repeats is left out."""
        above = [each.heading for each in self.pieces] + [each.heading for each in self.code]
        place = {heading: number for number, heading in enumerate(dict.fromkeys(above))}
        pieces = [
            (each.text, *each.lines, place[each.heading], each.tokens)
            + ((shown, tokens) if shown != each.text else ())
            for each, shown, tokens in zip(self.pieces, self.shown, self.shown_tokens, strict=True)
        ]
        code = [
            (each.text, *each.lines, place[each.heading], tokens, each.language)
            for each, tokens in zip(self.code, self.code_tokens, strict=True)
        ]
        rows = json.dumps(
            (self.content_hash, list(place), pieces, code),
            ensure_ascii=False,
            separators=(",", ":"),
        )
        return zlib.compress(rows.encode(), 1)

    @classmethod
    def unpacked(cls, data: bytes) -> NoteText | None:
        """None if the bytes are of another format, or damaged."""
        try:
            content_hash, above, pieces, code = json.loads(zlib.decompress(data))
            headings = [tuple(each) for each in above]
            return cls(
                content_hash,
                [
                    Unit(text, LineRange(first, last), headings[place], tokens)
                    for text, first, last, place, tokens, *_ in pieces
                ],
                [row[5] if row[5:] else row[0] for row in pieces],
                [row[-1] for row in pieces],
                [
                    CodeBlock(text, language, LineRange(first, last), headings[place])
                    for text, first, last, place, _, language in code
                ],
                [row[4] for row in code],
            )
        except (ValueError, TypeError, IndexError, zlib.error):
            return None


def note_texts(
    notes: Sequence[tuple[ParsedNote, bytes]], tokens: TokenCounter
) -> dict[str, NoteText]:
    """By path, what outlines are made of, of each note that is outlined whole."""
    read: dict[str, NoteText] = {}
    for note, data in notes:
        make_way()
        if len(data) <= MOST_BYTES:
            read[note.path] = _unsized(note, data)
    return dict(zip(read, _sized(list(read.values()), tokens), strict=True))


def _unsized(note: ParsedNote, data: bytes) -> NoteText:
    pieces, lines = pieces_of(note), decode(data, MOST_BYTES).text.split("\n")
    return NoteText(note.content_hash, pieces, shown(pieces, lines), (), [*note.code], ())


def _sized(texts: Sequence[NoteText], tokens: TokenCounter) -> list[NoteText]:
    """The same with tokens, all counted at once."""
    distinct = dict.fromkeys(
        each
        for text in texts
        for each in (*(p.text for p in text.pieces), *text.shown, *(c.text for c in text.code))
    )
    size_of = dict(zip(distinct, tokens.count_all(list(distinct)), strict=True)) if texts else {}
    return [
        replace(
            text,
            pieces=[replace(piece, tokens=size_of[piece.text]) for piece in text.pieces],
            shown_tokens=[size_of[each] for each in text.shown],
            code_tokens=[size_of[each.text] for each in text.code],
        )
        for text in texts
    ]


class Outlines:
    """Reads notes and caches their outlines by the hash of their bytes. Thread-safe.

    Args:
        read: returns the bytes of the note at a path.
        stored: returns packed `NoteText`s of these paths that were stored when the notes were
            indexed; a note whose text is not among them is read and parsed.
        most_kept: number of cached sentences; the least recently used notes are dropped.
    """

    def __init__(
        self,
        read: Callable[[str], bytes],
        embedder: Embedder,
        stored: Callable[[Collection[str]], Mapping[str, bytes]] = lambda _: {},
        most_kept: int = MOST_KEPT,
    ) -> None:
        self._read = read
        self._embedder = embedder
        self._stored = stored
        self._kept: LRUCache[str, Outline] = LRUCache(most_kept, getsizeof=_size)
        self._lock = threading.Lock()

    def of(self, found: Sequence[Hit]) -> list[Outline | None]:
        """The outline of each memory's note; None if the note was deleted.

        Only text that was embedded before has a vector; nothing is embedded here.
        """
        outlines = [self._remembered(hit.memory.content_hash) for hit in found]
        new = {place: hit for place, hit in enumerate(found) if outlines[place] is None}
        texts = self._texts(new)
        made = self._outlined([(new[place].memory.title, text) for place, text in texts.items()])
        for (place, text), outline in zip(texts.items(), made, strict=True):
            outlines[place] = outline
            self._remember(text.content_hash, outline)
        return outlines

    def of_passage(self, hit: Hit) -> Outline:
        """A quick outline of the found passage only, without vectors and tokens."""
        statements = tuple(_statement(each, each.text, 0, 0) for each in _of_passage(hit))
        unknown = np.zeros((1, self._embedder.dimension), np.float16)
        return Outline(statements, (), unknown, unknown, 0)

    def _texts(self, found: Mapping[int, Hit]) -> dict[int, NoteText]:
        """The texts to outline, without those of deleted notes."""
        packed: Mapping[str, bytes] = {}
        with suppress(StoreUnavailable, StorageError):  # then the notes are read
            packed = self._stored([hit.memory.path for hit in found.values()])
        texts: dict[int, NoteText] = {}
        parsed: dict[int, NoteText] = {}
        for place, hit in found.items():
            data = packed.get(hit.memory.path)
            stored = NoteText.unpacked(data) if data is not None else None
            if stored is not None and stored.content_hash == hit.memory.content_hash:
                texts[place] = stored
            elif (text := self._parsed(hit)) is not None:
                parsed[place] = text
        sized = _sized(list(parsed.values()), self._embedder.tokens)
        return texts | dict(zip(parsed, sized, strict=True))

    def _parsed(self, hit: Hit) -> NoteText | None:
        try:
            data = self._read(hit.memory.path)
        except (NoteNotFound, StorageError):
            return None
        if len(data) > MOST_BYTES:
            pieces = _of_passage(hit)
            return NoteText("", pieces, [piece.text for piece in pieces], (), (), ())
        return _unsized(parse_note(hit.memory.path, data), data)

    def _outlined(self, notes: Sequence[tuple[str, NoteText]]) -> list[Outline]:
        if not notes:
            return []
        units = [_units(text.pieces) for _, text in notes]
        texts = [unit.text for own, _ in units for unit in own]
        texts += [
            section_name(title, unit.heading)
            for (title, _), (own, _) in zip(notes, units, strict=True)
            for unit in own
        ]
        known, unknown = self._embedder.known(texts), np.zeros(self._embedder.dimension, np.float32)
        rows = np.array([known.get(each, unknown) for each in texts], np.float32)
        bare, names = np.split(rows.reshape(-1, self._embedder.dimension), 2)
        both = bare.any(axis=1, keepdims=True) & names.any(axis=1, keepdims=True)
        bare, vectors = bare * both, (bare + NAME_WEIGHT * names) * both
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), LEAST_NORM)
        ends = np.cumsum([len(own) for own, _ in units])[:-1]
        return [
            _outline(text, owners, below, alone)
            for (_, text), (_, owners), below, alone in zip(
                notes, units, np.split(vectors, ends), np.split(bare, ends), strict=True
            )
        ]

    def _remembered(self, key: str) -> Outline | None:
        with self._lock:
            return self._kept.get(key)

    def _remember(self, key: str, outline: Outline) -> None:
        with self._lock:
            if key and _size(outline) <= self._kept.maxsize:
                self._kept[key] = outline


def _outline(
    text: NoteText,
    owners: Sequence[int],
    vectors: npt.NDArray[np.float32],
    bare: npt.NDArray[np.float32],
) -> Outline:
    statements = tuple(
        _statement(piece, as_shown, size, unit)
        for piece, as_shown, size, unit in zip(
            text.pieces, text.shown, text.shown_tokens, owners, strict=True
        )
    )
    code = tuple(
        Code(block, size, *_around(block, statements), _terms(some_words(composed(block.text))))
        for block, size in zip(text.code, text.code_tokens, strict=True)
    )
    tokens = sum(text.shown_tokens) + sum(text.code_tokens)
    return Outline(statements, code, vectors.astype(np.float16), bare.astype(np.float16), tokens)


def _statement(piece: Unit, as_shown: str, size: int, unit: int) -> Statement:
    words = some_words(composed(piece.text))
    return Statement(
        text=piece.text,
        shown=as_shown,
        lines=piece.lines,
        heading=piece.heading,
        tokens=size,
        unit=unit,
        terms=_terms(words),
        telling=len(words) - sum(map(STOP_WORDS.__contains__, words)),
    )


def _terms(words: Sequence[str]) -> tuple[int, ...]:
    return tuple(set(chain.from_iterable(map(_terms_of, words))))


@lru_cache(maxsize=20_000)
def _terms_of(word: str) -> tuple[int, ...]:
    return tuple(bm25.terms(word))


def _size(outline: Outline) -> int:
    return 1 + len(outline.statements) + len(outline.code)


def _units(pieces: Sequence[Unit]) -> tuple[list[Unit], list[int]]:
    """The units that indexing embedded these pieces in, and for each piece which of them."""
    units: list[Unit] = []
    owners: list[int] = []
    for piece in pieces:
        if units and joins(units[-1], piece):
            units[-1] = join(units[-1], piece)
        else:
            units.append(piece)
        owners.append(len(units) - 1)
    return units, owners


def _of_passage(hit: Hit) -> list[Unit]:
    """The sentences of a passage; the passage's lines are all that is known of their place."""
    heading = tuple(hit.heading.split(" > ")) if hit.heading else ()
    found = []
    for line in hit.text.split("\n"):
        starts = sentence_starts(line)
        for start, end in zip(starts, (*starts[1:], len(line)), strict=True):
            if text := line[start:end].strip():
                found.append(Unit(text, hit.lines, heading, 0))
    return found


def _around(block: CodeBlock, statements: Sequence[Statement]) -> tuple[int | None, int | None]:
    """The last sentence above the code and the first below it, under the same heading."""
    section = [place for place, each in enumerate(statements) if each.heading == block.heading]
    above = [place for place in section if statements[place].lines.last < block.lines.first]
    below = [place for place in section if statements[place].lines.first > block.lines.last]
    return max(above, default=None), min(below, default=None)


_QUOTE = r"[ \t]*(?:>[ \t]?)*"


_MARKER = re.compile(
    rf"{_QUOTE}(?P<indent>[ \t]*)"
    r"(?P<marker>(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?|\[![\w-]+\])?"
)


_DELIMITER = re.compile(
    rf"{_QUOTE}(?=.*[|])\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*"
)


_CELL = re.compile(r" \|(?= )")


def shown(pieces: Sequence[Unit], lines: Sequence[str]) -> list[str]:
    """Each piece as it is shown; a table's head is empty, since its rows repeat it.

    Args:
        pieces: of a note, in order.
        lines: all lines of its file.
    """
    heads = _table_heads(lines)
    head_texts = {piece.lines.first: piece.text for piece in pieces}
    found = []
    before = 0  # the line that the piece before began on
    for piece in pieces:
        line = piece.lines.first
        if line in heads.values():
            found.append("")
        elif line in heads:
            found.append(_row(piece.text, head_texts.get(heads[line], "")))
        else:
            source = lines[line - 1] if line <= len(lines) and line != before else ""
            found.append(_marked(piece.text, source))
        before = line
    return found


def _marked(text: str, source: str) -> str:
    match = _MARKER.match(source)
    if match is None or not match["marker"]:
        return text
    depth = len(match["indent"].replace("\t", "    ")) // 2
    return f"{'  ' * depth}{match['marker'].strip()} {text}"


def _row(text: str, head: str) -> str:
    """``Head: cell | Head: cell``, empty cells left out."""
    cells, heads = _cells(text), _cells(head)
    if len(cells) != len(heads):
        return text
    named = zip(heads, cells, strict=True)
    return " | ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in _CELL.split(f" {row} ")]


def _table_heads(lines: Sequence[str]) -> Mapping[int, int]:
    """For the line of each table row, the line of the table's head, both counted from 1."""
    heads: dict[int, int] = {}
    head = 0
    for number, line in enumerate(lines, 1):
        if head and not line.strip(" \t>"):
            head = 0
        elif head:
            heads[number] = head
        elif number > 1 and "|" in lines[number - 2] and _DELIMITER.fullmatch(line):
            head = number - 1
    return heads
