"""The parts of a note that can be shown: its sentences as they read, and its code.

They are stored when a note is indexed, since parsing ten notes takes three times as long as all
other work to show them.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memvault.model.json_text import json_value
from memvault.model.note import CodeBlock, LineRange, ParsedNote
from memvault.model.priority import make_way
from memvault.text.tokens import TokenCounter
from memvault.text.units import Unit, pieces_of
from memvault.vault.parse import decode

NOTE_TEXTS = "outlines"  # namespace of the key-value store: packed texts by path
MAX_BYTES = 64_000  # largest note that is read whole; of a larger one only the passage found

_QUOTE = r"[ \t]*(?:>[ \t]?)*"
_MARKER = re.compile(
    r"(?:[ \t]*>[ \t]?)*(?P<indent>[ \t]*)"
    r"(?P<marker>(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?|\[![\w-]+\])?"
)
_DELIMITER = re.compile(
    rf"{_QUOTE}(?=.*[|])\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*"
)
_CELL = re.compile(r" \|(?= )")


@dataclass(frozen=True, slots=True)
class NoteText:
    """The sentences and short lines of a note, each as it is shown, and its code, all with their
    tokens. ``content_hash`` is that of the note's bytes, empty for a part of a note."""

    content_hash: str
    pieces: Sequence[Unit]
    shown: Sequence[str]
    shown_tokens: Sequence[int]
    code: Sequence[CodeBlock]
    code_tokens: Sequence[int]

    def packed(self) -> bytes:
        """The text in few bytes, without repetitions."""
        headings = [part.heading for part in self.pieces] + [part.heading for part in self.code]
        number_of = {heading: number for number, heading in enumerate(dict.fromkeys(headings))}
        pieces = [
            (part.text, *part.lines, number_of[part.heading], part.tokens)
            + ((shown, tokens) if shown != part.text else ())
            for part, shown, tokens in zip(self.pieces, self.shown, self.shown_tokens, strict=True)
        ]
        code = [
            (part.text, *part.lines, number_of[part.heading], tokens, part.language)
            for part, tokens in zip(self.code, self.code_tokens, strict=True)
        ]
        rows = json.dumps(
            (self.content_hash, list(number_of), pieces, code),
            ensure_ascii=False,
            separators=(",", ":"),
        )
        return zlib.compress(rows.encode(), 1)

    @classmethod
    def unpacked(cls, data: bytes) -> NoteText | None:
        """The text of packed bytes; None if they are of another format or damaged."""
        try:
            content_hash, heading_lists, pieces, code = json_value(zlib.decompress(data))
            headings = [tuple(path) for path in heading_lists]
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
    """The texts that outlines are made of, by path; empty for a note that is too long."""
    text_by_path: dict[str, NoteText] = {}
    for note, data in notes:
        make_way()
        if len(data) <= MAX_BYTES:
            text_by_path[note.path] = without_tokens(note, data)
        else:
            text_by_path[note.path] = NoteText(note.content_hash, [], [], [], [], [])
    return dict(
        zip(text_by_path, with_token_counts(list(text_by_path.values()), tokens), strict=True)
    )


def without_tokens(note: ParsedNote, data: bytes) -> NoteText:
    """The text of a note, its tokens not yet counted."""
    pieces, lines = pieces_of(note), decode(data, MAX_BYTES).text.split("\n")
    return NoteText(note.content_hash, pieces, shown(pieces, lines), (), [*note.code], ())


def with_token_counts(texts: Sequence[NoteText], tokens: TokenCounter) -> list[NoteText]:
    """The texts with their tokens, all counted in one call."""
    distinct: dict[str, None] = {}
    for text in texts:
        distinct |= dict.fromkeys(piece.text for piece in text.pieces)
        distinct |= dict.fromkeys(text.shown)
        distinct |= dict.fromkeys(code.text for code in text.code)
    size_of = dict(zip(distinct, tokens.count_all(list(distinct)), strict=True)) if texts else {}
    return [
        replace(
            text,
            pieces=[piece.with_tokens(size_of[piece.text]) for piece in text.pieces],
            shown_tokens=[size_of[shown] for shown in text.shown],
            code_tokens=[size_of[code.text] for code in text.code],
        )
        for text in texts
    ]


def shown(pieces: Sequence[Unit], lines: Sequence[str]) -> list[str]:
    """Each piece as it is shown; a table's head is empty, since its rows repeat it.

    Args:
        pieces: of a note, in order.
        lines: all lines of its file.
    """
    heads = _table_heads(lines)
    head_texts = {piece.lines.first: piece.text for piece in pieces}
    texts = []
    previous_line = 0  # the line that the previous piece began on
    for piece in pieces:
        line = piece.lines.first
        if line in heads.values():
            texts.append("")
        elif line in heads:
            texts.append(_row(piece.text, head_texts.get(heads[line], "")))
        else:
            source = lines[line - 1] if line <= len(lines) and line != previous_line else ""
            texts.append(_marked(piece.text, source))
        previous_line = line
    return texts


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
    cells_with_heads = zip(heads, cells, strict=True)
    return " | ".join(
        f"{name}: {cell}" if name else cell for name, cell in cells_with_heads if cell
    )


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
