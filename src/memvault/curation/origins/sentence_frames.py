"""Reads the frame of each line of a note: what makes its sentences mean what they mean.

The frame has the headings, list items and introducing line above the line, and whether it is a
quotation, a comment, code or struck out. The same sentence in another frame is another statement.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from memvault.model.provenance import written_form
from memvault.vault.lines import CodeFences

CODE_INDENT = 4

_QUOTE = re.compile(r"(?: {0,3}>[ ]?)+")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)\s*")  # below a heading
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_BOLD_LINE = re.compile(r"\s*(\*\*|__)[^*_]+\1\s*")  # instead of a heading
_CHECKBOX = re.compile(r"^\[.\] ")
_SPAN = re.compile(r"\\.|(?<!`)(`++)[^`]++\1")  # an escaped character, or code in a line
_TABLE_RULE = re.compile(r"(?=[ \t|:>]*-)[ \t|:>-]+")  # below the names of a table's columns
_KEY = re.compile(r"[^\s#-][^:]*:")
# Marks that hold until their end, also across paragraphs.
_MARK = re.compile(
    r"%%|\$\$|<!--|-->|<(/?)(del|s|strike|details|summary|pre|code|script|style|textarea|template"
    r"|blockquote|q|object|noscript)\b",
    re.IGNORECASE,
)


class Line(NamedTuple):
    """A line's frame, and the numbers of its block and of its section.

    A block is a paragraph, list, table or code block; a section is what is below one heading.
    ``is_prose`` is False in lists, tables, code, headings and properties.
    """

    frame: str
    block: int
    section: int = 0
    is_prose: bool = False


def frames(lines: Sequence[str], head: int) -> list[Line]:
    """The frame and block of each line; the first ``head`` lines are the frontmatter."""
    reader = _FrameReader()
    framed_lines = [reader.property_line(line) for line in lines[:head]]
    reader.end_block()
    for number, line in enumerate(lines[head:], head):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        framed_lines.append(reader.body_line(line, following))
    return framed_lines


class _FrameReader:
    def __init__(self) -> None:
        self._block = 0
        self._section = 0
        self._after_blank = True
        self._headings: list[tuple[int, str]] = []
        self._items: list[tuple[int, str]] = []  # the open list items: indent, text
        self._lead = ""  # a line with a colon at its end introduces its own block and the next
        self._lead_block = 0
        self._columns = ""  # the first line of a table, which names its columns
        self._columns_block = 0
        self._quotes = 0
        self._is_code = False
        self._fences = CodeFences()
        self._open: dict[str, int] = {}  # open marks
        self._key = ""

    def end_block(self) -> None:
        self._block += 1

    def property_line(self, line: str) -> Line:
        """A line of the frontmatter; its frame is the key that it is the value of."""
        if _KEY.match(line):
            self._block += 1
            self._key = line.partition(":")[0]
            return Line("properties", self._block)
        is_end = line.rstrip().endswith("---")
        return Line(f"properties {self._key}", self._block) if not is_end else Line("properties", 0)

    def body_line(self, line: str, following: str) -> Line:
        if not self._fences.open and not line.strip():  # quickly: a note may have many
            return self._blank_line()
        quote = _QUOTE.match(line)
        text = line[quote.end() :] if quote else line
        was_code = bool(self._fences.open)
        if self._fences.is_code(text):
            self._begin_block(is_same=was_code)
            return self._framed([f"code {self._fences.open or '`'}"])
        if not text.strip():
            return self._blank_line()
        return self._text_line(text, quote[0].count(">") if quote else 0, following)

    def _blank_line(self) -> Line:
        """A line without a frame, which no sentence of it needs."""
        self._after_blank = True
        return Line("", self._block, self._section)

    def _text_line(self, text: str, quotes: int, following: str) -> Line:
        item = _ITEM.match(text)
        level = _heading_level(text, "" if item or quotes else following)
        if not (item or level or self._after_blank):
            quotes = max(quotes, self._quotes)  # the paragraph continues, with or without a mark
        self._quotes = quotes
        if level and not quotes:
            return self._heading(level, text)
        indent = len(text.expandtabs()) - len(text.expandtabs().lstrip())
        goes_on = bool(self._items) and (item is not None or indent > 0)
        self._begin_block(is_same=not self._after_blank or goes_on)
        is_new = self._was_blank and not goes_on
        if is_new:
            self._items.clear()
        is_code = indent >= CODE_INDENT and not self._items and (is_new or self._is_code)
        self._is_code = is_code
        if item or (self._items and indent):
            while self._items and self._items[-1][0] >= indent:
                self._items.pop()
        is_prose = not (self._items or item or is_code or "|" in text)
        line = self._framed(["code"] if is_code else [], is_prose=is_prose)
        if item:
            self._items.append((indent, _CHECKBOX.sub("", written_form(text))))
        else:
            self._introduce(text, following)
        self._scan(text)
        return line

    def _introduce(self, text: str, following: str) -> None:
        """Keep a line that names the columns of a table, or introduces what comes next."""
        line = written_form(text)
        if "|" in text and "|" in following and _TABLE_RULE.fullmatch(following):
            self._columns, self._columns_block = line, self._block
        elif line.endswith((":", "：")) or _BOLD_LINE.fullmatch(text):
            self._lead, self._lead_block = line, self._block

    def _heading(self, level: int, text: str) -> Line:
        self._begin_block(is_same=False)
        self._items.clear()
        self._lead = ""
        self._section += 1
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        line = self._framed([f"heading {level}"])
        self._section += 1
        self._headings.append((level, written_form(text)))
        self._after_blank = True
        self._scan(text)
        return line

    def _begin_block(self, *, is_same: bool) -> None:
        self._was_blank = self._after_blank
        self._after_blank = False
        if not is_same:
            self._block += 1

    def _framed(self, added: Sequence[str], *, is_prose: bool = False) -> Line:
        is_led = bool(self._lead) and self._block <= self._lead_block + 1
        parts = [f"{level} {heading}" for level, heading in self._headings]
        parts += [f"> {self._quotes}", f": {self._lead if is_led else ''}"]
        parts += [f"| {self._columns}"] if self._block == self._columns_block else []
        parts += [f"- {text}" for _, text in self._items]
        parts += [f"{mark} {count}" for mark, count in sorted(self._open.items()) if count]
        frame = "\n".join([*parts, *added])
        return Line(frame, self._block, self._section, is_prose)

    def _scan(self, text: str) -> None:
        """Follow the marks of comments, formulas and HTML that the line opens or closes."""
        if not ("%" in text or "$" in text or "<" in text or ">" in text):  # quickly: most lines
            return
        for match in _MARK.finditer(_SPAN.sub(" ", text)):
            mark = match[0].lower()
            if mark in ("%%", "$$"):
                self._open[mark] = 1 - self._open.get(mark, 0)
            elif mark in ("<!--", "-->"):
                self._open["<!--"] = int(mark == "<!--")
            else:
                name = match[2].lower()
                change = -1 if match[1] else 1
                self._open[name] = max(0, self._open.get(name, 0) + change)


def _heading_level(text: str, following: str) -> int:
    """The level of the heading that a line is, also by the line that underlines it; else 0."""
    if heading := _HEADING.match(text):
        return len(heading[1])
    underline = _UNDERLINE.fullmatch(following) if text.strip("=- \t") else None
    return (1 if "=" in underline[0] else 2) if underline else 0
