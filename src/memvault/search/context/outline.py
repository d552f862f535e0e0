"""Outlines: a note's sentences with their places, its code, and the vectors and words to compare.

Outlines are cached until the note changes, and made of what was stored when it was indexed.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache

from memvault.model.errors import NoteNotFound, StorageError, StoreUnavailable
from memvault.model.graph import contradicts
from memvault.model.memory import Memory
from memvault.model.note import CodeBlock, LineRange
from memvault.model.search import FIRST_LINE, Hit
from memvault.search.context.note_text import MAX_BYTES, NoteText, with_token_counts, without_tokens
from memvault.search.context.sentence_arrays import Layout, TermIndex, terms_in
from memvault.text.chunking import NAME_WEIGHT, section_name
from memvault.text.encoders.embedding import Embedder
from memvault.text.units import Unit, joined
from memvault.text.words import composed, some_words
from memvault.vault.compose import fenced
from memvault.vault.markdown.labelled_sentences import sentences_in
from memvault.vault.parse import parse_note
from memvault.vault.plugin_data import COMPUTED

MIN_NORM = 1e-12
MAX_CACHED = 30_000  # sentences in all outlines that are kept; about 1 kB each

CLEARLY_BETTER = 1.25  # times the person's best score that the best sentence of others must have

_BULLET = re.compile(r"\A *(?:[-*+] )?")

_Key = tuple[str, str, bool, bool, str]
Vectors = npt.NDArray[np.float16]  # (n, dim), normalised; a row of zeros if unknown
Floats = npt.NDArray[np.float64]


class Statement(NamedTuple):
    """A sentence (or a table's row, or a short line) as it reads, markup removed.

    ``shown`` is the text with its list marker or task box, its kind of callout, or the heads of its
    table; empty for a table's head. ``unit`` is the row of the outline's vectors that it was
    embedded in, together with its short neighbours. ``tokens`` are the model's own, of ``shown``.
    A named tuple is fast to make, and an answer makes a hundred.
    """

    text: str
    shown: str
    lines: LineRange
    heading: tuple[str, ...]
    tokens: int
    unit: int

    @property
    def quoted(self) -> str:
        """``shown`` without the bullet of a list, for text that has bullets of its own or none."""
        return _BULLET.sub("", self.shown)


@dataclass(frozen=True, slots=True)
class Code:
    """Code, its terms, and the indexes of the sentences before and after it (`_neighbours`), or
    None; ``mark`` is shown below it."""

    block: CodeBlock
    tokens: int
    lead: int | None
    follower: int | None
    terms: tuple[int, ...]
    mark: str = ""

    @property
    def lines(self) -> LineRange:
        return self.block.lines

    @property
    def fenced(self) -> str:
        code = fenced(self.block.text, self.block.language)
        return f"{code}\n{self.mark}" if self.mark else code


@dataclass(frozen=True)
class Outline:
    """A note's sentences and code, with their ``tokens`` in all; ``vectors`` are those of its
    units with the title and headings above them, weighted as in a chunk, ``bare`` those without."""

    statements: tuple[Statement, ...]
    code: tuple[Code, ...]
    vectors: Vectors
    bare: Vectors
    tokens: int

    @cached_property
    def words(self) -> TermIndex:
        return TermIndex.of([statement.text for statement in self.statements])

    @cached_property
    def layout(self) -> Layout:
        number_of: dict[tuple[str, ...], int] = {}
        rows = [
            (s.unit, number_of.setdefault(s.heading, len(number_of)), len(s.shown.encode()))
            for s in self.statements
        ]
        units, heading_numbers, byte_counts = np.array(rows, np.intp).reshape(-1, 3).T
        return Layout(units, tuple(number_of), heading_numbers, byte_counts)

    def written_by_others(self, memory: Memory) -> frozenset[int]:
        """The indexes of the sentences that others wrote in the person's note."""
        provenance = memory.provenance
        if memory.verified or not provenance.is_mixed:
            return frozenset()
        return frozenset(
            index
            for index, statement in enumerate(self.statements)
            if not provenance.of_sentence(statement.text, statement.lines).is_person
        )

    def of_best_author(self, memory: Memory, scores: Sequence[Floats]) -> Outline:
        """The outline without the text of others, unless they wrote clearly better sentences.

        So nobody can put a sentence next to the person's to take its mark away.

        Args:
            scores: (n,) of the sentences, for each question.
        """
        of_others = self.written_by_others(memory)
        if not of_others:
            return self
        shown = [
            index
            for index, statement in enumerate(self.statements)
            if statement.shown and not (index in of_others and states_conflict(statement.text))
        ]
        for question_scores in scores:
            best_of_person = max(
                (question_scores[index] for index in shown if index not in of_others), default=0.0
            )
            best_of_others = max(
                (question_scores[index] for index in shown if index in of_others), default=0.0
            )
            if best_of_person <= 0.0 or best_of_others > CLEARLY_BETTER * best_of_person:
                return self
        provenance = memory.provenance
        return replace(
            self,
            statements=tuple(
                statement._replace(shown="") if index in of_others else statement
                for index, statement in enumerate(self.statements)
            ),
            code=tuple(piece for piece in self.code if provenance.of_lines(piece.lines).is_person),
        )


class Outlines:
    """Reads notes and caches their outlines. Thread-safe.

    The key is the hash of a note's bytes, its title, and who wrote it, since the words of others
    may be left out.

    Args:
        read: returns the bytes of the note at a path.
        stored: returns packed `NoteText`s of these paths that were stored when the notes were
            indexed; a note whose text is not among them is read and parsed.
    """

    def __init__(
        self,
        read: Callable[[str], bytes],
        embedder: Embedder,
        stored: Callable[[Collection[str]], Mapping[str, bytes]] = lambda _: {},
    ) -> None:
        self._read = read
        self._embedder = embedder
        self._stored = stored
        self._cache: LRUCache[_Key, Outline] = LRUCache(MAX_CACHED, getsizeof=_size)
        self._lock = threading.Lock()

    def of(self, hits: Sequence[Hit]) -> list[Outline | None]:
        """The outline of each memory's note; None if the note was deleted.

        Only text that was embedded before has a vector; nothing is embedded here.
        """
        outlines = [self._cached(hit.memory) for hit in hits]
        uncached = {index: hit for index, hit in enumerate(hits) if outlines[index] is None}
        texts = self._texts(uncached)
        new_outlines = self._make_outlines(
            [(uncached[index].memory.title, text) for index, text in texts.items()]
        )
        for (index, text), outline in zip(texts.items(), new_outlines, strict=True):
            outlines[index] = outline
            if text.content_hash:  # else it is a part of its note
                self._cache_outline(uncached[index].memory, outline)
        return outlines

    def of_passage(self, hit: Hit, code: Sequence[Code] = ()) -> Outline:
        """A quick outline of the found passage only, without vectors and tokens.

        Args:
            code: put below it; that of a note without sentences, whose passage is its title.
        """
        statements = tuple(_statement(unit, unit.text, 0, 0) for unit in _of_passage(hit))
        code_below = tuple(replace(piece, lead=len(statements) - 1) for piece in code if statements)
        unknown = np.zeros((1, self._embedder.dimension), np.float16)
        return Outline(statements, code_below, unknown, unknown, 0)

    def of_text(self, text: str) -> Outline:
        """An outline of one sentence, without a vector."""
        tokens = self._embedder.tokens.count(text)
        statement = _statement(Unit(text, FIRST_LINE, (), 0), text, tokens, 0)
        unknown = np.zeros((1, self._embedder.dimension), np.float16)
        return Outline((statement,), (), unknown, unknown, tokens)

    def _texts(self, hits: Mapping[int, Hit]) -> dict[int, NoteText]:
        """The texts to outline, without those of deleted notes."""
        packed: Mapping[str, bytes] = {}
        with suppress(StoreUnavailable, StorageError):  # then the notes are read
            packed = self._stored([hit.memory.path for hit in hits.values()])
        texts: dict[int, NoteText] = {}
        parsed: dict[int, NoteText] = {}
        for index, hit in hits.items():
            data = packed.get(hit.memory.path)
            stored = NoteText.unpacked(data) if data is not None else None
            if stored is None or stored.content_hash != hit.memory.content_hash:
                if (text := self._parse(hit)) is not None:
                    parsed[index] = text
            elif stored.pieces or stored.code:
                texts[index] = stored
            else:  # too long to be read, as a book is; extracting a PDF's text takes seconds
                parsed[index] = _passage(hit)
        counted = with_token_counts(list(parsed.values()), self._embedder.tokens)
        return texts | dict(zip(parsed, counted, strict=True))

    def _parse(self, hit: Hit) -> NoteText | None:
        try:
            data = self._read(hit.memory.path)
        except (NoteNotFound, StorageError):
            return None
        if len(data) > MAX_BYTES:
            return _passage(hit)
        return without_tokens(parse_note(hit.memory.path, data), data)

    def _make_outlines(self, notes: Sequence[tuple[str, NoteText]]) -> list[Outline]:
        if not notes:
            return []
        units = [joined(text.pieces) for _, text in notes]
        texts = [unit.text for units_of_note, _ in units for unit in units_of_note]
        texts += [
            section_name(title, unit.heading)
            for (title, _), (units_of_note, _) in zip(notes, units, strict=True)
            for unit in units_of_note
        ]
        cached = self._embedder.cached(texts)
        unknown = np.zeros(self._embedder.dimension, np.float32)
        rows = np.array([cached.get(text, unknown) for text in texts], np.float32)
        bare, names = np.split(rows.reshape(-1, self._embedder.dimension), 2)
        have_both = bare.any(axis=1, keepdims=True) & names.any(axis=1, keepdims=True)
        bare, vectors = bare * have_both, (bare + NAME_WEIGHT * names) * have_both
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), MIN_NORM)
        rows_with_names, bare_rows = vectors.astype(np.float16), bare.astype(np.float16)
        ends = accumulate((len(units_of_note) for units_of_note, _ in units), initial=0)
        return [
            _outline(text, owners, rows_with_names[start:end].copy(), bare_rows[start:end].copy())
            for (_, text), (_, owners), (start, end) in zip(
                notes, units, pairwise(ends), strict=True
            )
        ]

    def _cached(self, memory: Memory) -> Outline | None:
        with self._lock:
            return self._cache.get(_key(memory))

    def _cache_outline(self, memory: Memory, outline: Outline) -> None:
        with self._lock:
            if _size(outline) <= self._cache.maxsize:
                self._cache[_key(memory)] = outline


def _key(memory: Memory) -> _Key:
    provenance = memory.provenance
    return memory.content_hash, memory.title, memory.verified, provenance.is_person, provenance.own


def _outline(
    text: NoteText,
    owners: Sequence[int],
    vectors: Vectors,
    bare: Vectors,
) -> Outline:
    statements = tuple(
        _statement(piece, as_shown, size, unit)
        for piece, as_shown, size, unit in zip(
            text.pieces, text.shown, text.shown_tokens, owners, strict=True
        )
    )
    pieces = (
        Code(
            block, size, *_neighbours(block, statements), terms_in(some_words(composed(block.text)))
        )
        for block, size in zip(text.code, text.code_tokens, strict=True)
    )
    code = tuple(piece for piece in pieces if not _is_mere_query(piece, statements))
    tokens = sum(text.shown_tokens) + sum(piece.tokens for piece in code)
    return Outline(statements, code, vectors, bare, tokens)


def states_conflict(text: str) -> bool:
    """Whether a sentence begins with a label such as ``Superseded by:``."""
    label, colon, _ = text.partition(":")
    return bool(colon) and contradicts(label)


def _is_mere_query(code: Code, statements: Sequence[Statement]) -> bool:
    """Whether code is a plugin's query, and no sentence introduces it as an example."""
    if code.block.language not in COMPUTED:
        return False
    return code.lead is None or not statements[code.lead].text.endswith(":")


def _statement(piece: Unit, as_shown: str, size: int, unit: int) -> Statement:
    return Statement(piece.text, as_shown, piece.lines, piece.heading, size, unit)


def _size(outline: Outline) -> int:
    return 1 + len(outline.statements) + len(outline.code)


def _passage(hit: Hit) -> NoteText:
    """The passage that was found, in place of its note."""
    pieces = _of_passage(hit)
    return NoteText("", pieces, [piece.text for piece in pieces], (), (), ())


def _of_passage(hit: Hit) -> list[Unit]:
    """The sentences of a passage, each with the passage's lines, since its own are unknown."""
    heading = tuple(hit.heading.split(" > ")) if hit.heading else ()
    parts = (part.strip() for line in hit.text.split("\n") for part in sentences_in(line))
    return [Unit(text, hit.lines, heading, 0) for text in parts if text]


def _neighbours(block: CodeBlock, statements: Sequence[Statement]) -> tuple[int | None, int | None]:
    """The last sentence above the code and the first below it, under the same heading. If that
    has no sentence: the last above, which is the heading itself, or else the first below."""
    section = [
        index for index, statement in enumerate(statements) if statement.heading == block.heading
    ]
    candidates = section or range(len(statements))
    above = [index for index in candidates if statements[index].lines.first < block.lines.first]
    below = [index for index in candidates if statements[index].lines.first > block.lines.last]
    follower = None if above and not section else min(below, default=None)
    return max(above, default=None), follower
