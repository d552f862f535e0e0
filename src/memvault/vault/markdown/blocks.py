"""Collects a note's blocks, headings, links, tags and fields from Markdown tokens."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field, replace
from itertools import accumulate

from markdown_it.token import Token

from memvault.model.note import (
    Block,
    CodeBlock,
    Heading,
    InlineField,
    LineRange,
    Link,
    Sentence,
    Tag,
    Task,
)
from memvault.vault.markdown.inline_text import InlineReader, InlineText
from memvault.vault.markdown.labelled_sentences import LabelledSentence, split_sentences
from memvault.vault.markdown.parser import MAX_NESTING, parse_markdown

_SPACES = re.compile(r"\s+")
_IS_DONE = {  # by the mark in a checkbox; ! is an important task
    " ": False, "/": False, "!": False, "x": True, "X": True,
}  # fmt: skip
_LINE_END = re.compile(r"(?<![ \t])[ \t]*(?:\n[ \t]*)+")
_HTML_UNREAD = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|pre|textarea)\b.*?(?:</\1>|\Z)|<[^>]*(?:>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_HTML_CELL = re.compile(r"</t[dh]\s*>\s*(?=<t[dh]\b)", re.IGNORECASE)
_HTML_BREAK = re.compile(
    r"<br\b[^>]{0,100}>|</(?:h[1-6]|p|div|li|tr|d[dt]|summary|caption|figcaption|blockquote)\s*>",
    re.IGNORECASE,
)
# The lines at the start of a callout of the plugin Admonition, and its title among them.
_ADMONITION_SETTINGS = re.compile(r"\A(?:(?:title|collapse|icon|color):.*\n)+")
_ADMONITION_TITLE = re.compile(r"title:[ \t]*(.*)")
MAX_ADMONITIONS = 5  # callouts within each other; deeper ones are code
# What the plugin Excalidraw writes above the texts of each drawing, its headings, and those of them
# below which each line has the id of a part of the drawing.
_DRAWING_NOTICE = re.compile(r"⚠\s+Switch to EXCALIDRAW VIEW\b")
_DRAWING_PARTS = frozenset({"Element Links", "Embedded Files"})
_DRAWING_HEADINGS = _DRAWING_PARTS | {"Excalidraw Data", "Text Elements", "Drawing"}
CELL_GAP = " | "
MAX_NAME_CHARS = 300  # of a title, heading or alias; no file can be named longer


@dataclass(slots=True)
class Content:
    """The content of a note's body."""

    blocks: list[Block] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    tags: list[Tag] = field(default_factory=list)
    fields: list[InlineField] = field(default_factory=list)
    code: list[CodeBlock] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    title: str | None = None  # a first-level heading before everything else
    too_deep: bool = False


def read_blocks(tokens: list[Token], body_line: int, *, is_drawing: bool = False) -> Content:
    """Collect a note's content.

    Args:
        tokens: from `parse_markdown`; line maps count from 0 at the body's first line.
        body_line: the line of the file at which the body starts, counted from 1.
        is_drawing: whether the note is a drawing of the plugin Excalidraw.
    """
    return _BlockReader(tokens, body_line, is_drawing=is_drawing).read()


class _BlockReader:
    def __init__(self, tokens: list[Token], body_line: int, *, is_drawing: bool) -> None:
        self._tokens = tokens
        self._body_line = body_line
        self._content = Content()
        self._admonitions = 0  # in which the tokens are
        self._headings_above: list[Heading] = []
        self._path: tuple[str, ...] = ()
        self._is_drawing = is_drawing
        self._drawing_part = ""  # the heading of the plugin that is above the next block
        marks = sum(
            child.type == "comment_mark" for token in tokens for child in token.children or ()
        )
        self._reader = InlineReader(marks)

    def read(self) -> Content:
        tokens, content = self._tokens, self._content
        index, count = 0, len(tokens)
        while index < count:
            token = tokens[index]
            if token.level >= MAX_NESTING - 1:
                content.too_deep = True
            if token.type == "inline":
                if tokens[index - 1].type == "heading_open":
                    self._heading(tokens[index - 1], token)
                else:
                    self._paragraph(token)
            elif token.type == "tr_open":
                index = self._row(index)
            elif token.type == "html_block":
                self._html(token)
            elif token.type in {"fence", "code_block"}:
                self._code(token)
            index += 1
        return content

    def _lines(self, token: Token) -> LineRange:
        first, end = token.map or [0, 1]
        return LineRange(first + self._body_line, max(end, first + 1) + self._body_line - 1)

    def _heading(self, opening: Token, token: Token) -> None:
        inline = self._reader.read(token.children or [])
        text = _one_line(inline.text)
        lines = self._lines(token)
        if not text:
            return
        if self._is_drawing and text in _DRAWING_HEADINGS:
            self._drawing_part, self._headings_above, self._path = text, [], ()
            return
        if self._admonitions:  # its fence would be cut if it were a section that clients replace
            self._block(inline, lines)
            return
        content = self._content
        name = short_name(text)
        level = int(opening.tag[1])
        if level == 1 and not (content.blocks or content.headings):
            content.title = name
        heading = Heading(name, level, lines.first, token.meta.get("anchor"))
        content.headings.append(heading)
        self._headings_above = [
            *(above for above in self._headings_above if above.level < level),
            heading,
        ]
        self._path = tuple(above.text for above in self._headings_above)
        if name != text:  # a text that is marked as a heading by mistake is still found
            self._block(inline, lines)
            return
        sentence = LabelledSentence(0, len(inline.text))
        self._links_tags_and_fields(inline, [sentence], [Sentence(text, lines.first)], lines.first)

    def _paragraph(self, token: Token) -> None:
        inline = self._reader.read(token.children or [])
        if _DRAWING_NOTICE.match(inline.text):
            self._is_drawing = True  # also where it was published without its properties
            return
        if self._drawing_part in _DRAWING_PARTS:
            self._links_alone(inline, self._lines(token))
            return
        if token.meta.get("titled"):
            line_end = inline.text.find("\n")
            inline.breaks.append(line_end + 1 if line_end >= 0 else len(inline.text))
        lines = self._lines(token)
        if inline.text and (mark := token.meta.get("checkbox", "")) in _IS_DONE:
            self._content.tasks.append(Task(lines.first, _IS_DONE[mark], token.content))
        self._block(inline, lines)

    def _row(self, index: int) -> int:
        """Add a table row as one sentence, including empty cells.

        Returns the index of its last token."""
        opening = self._tokens[index]
        cells: list[list[Token]] = []
        while self._tokens[index].type != "tr_close":
            token = self._tokens[index]
            if token.type == "inline":
                cells.append(token.children or [])
            index += 1
        row: list[Token] = []
        for number, cell in enumerate(cells if any(cells) else ()):
            if number:
                gap = Token("text", "", 0)
                gap.content = CELL_GAP
                row.append(gap)
            row.extend(cell)
        inline = self._reader.read(row)
        inline.protected, inline.breaks = [(0, len(inline.text))], []
        self._block(inline, self._lines(opening))
        return index

    def _code(self, token: Token) -> None:
        if token.content.strip() and not self._reader.in_comment:
            language = token.info.split(maxsplit=1)[0].lower() if token.info.strip() else ""
            if language.startswith("ad-") and self._admonitions < MAX_ADMONITIONS:
                self._admonition(token)
                return
            text = token.content.rstrip("\n")
            code = CodeBlock(text, language, self._lines(token), self._path)
            self._content.code.append(code)

    def _admonition(self, token: Token) -> None:
        """Read a callout that the plugin Admonition writes as code."""
        tokens = parse_markdown(_ADMONITION_SETTINGS.sub(_admonition_title, token.content, 1))
        inner = _BlockReader(tokens, self._lines(token).first + 1, is_drawing=False)
        inner._content, inner._path = self._content, self._path
        inner._admonitions = self._admonitions + 1
        inner.read()

    def _html(self, token: Token) -> None:
        """Read the text of HTML; that of each of its blocks and rows begins a sentence."""
        source = _HTML_BREAK.sub("\0", _HTML_CELL.sub(CELL_GAP, token.content))
        text = html.unescape(_HTML_UNREAD.sub(" ", source))
        parts = [part for part in map(_one_line, text.split("\0")) if part]
        if parts and not self._reader.in_comment:
            breaks = list(accumulate(len(part) + 1 for part in parts[:-1]))
            self._block(InlineText(" ".join(parts), breaks=breaks), self._lines(token))

    def _block(self, inline: InlineText, lines: LineRange) -> None:
        text = inline.text.strip()
        if not text:
            self._block_id_alone(inline)
            self._links_alone(inline, lines)
            return
        spans = split_sentences(inline)
        sentences = [
            Sentence(
                _one_line(inline.text[span.start : span.end]),
                self._line_of(inline, span, lines),
                span.label,
            )
            for span in spans
        ]
        self._links_tags_and_fields(inline, spans, sentences, lines.first)
        self._content.blocks.append(
            Block(
                text=_LINE_END.sub("\n", text) if "\n" in text else text,
                lines=lines,
                heading=self._path,
                sentences=tuple(sentence for sentence in sentences if sentence.text),
                block_id=inline.block_id,
            )
        )

    def _links_alone(self, inline: InlineText, lines: LineRange) -> None:
        """Add the links of a block that says nothing."""
        sentence = Sentence("", lines.first)
        if inline.links:
            self._links_tags_and_fields(inline, [LabelledSentence(0, 0)], [sentence], lines.first)

    def _block_id_alone(self, inline: InlineText) -> None:
        """Give the block above the id of a line that consists only of ``^id``."""
        blocks = self._content.blocks
        if inline.block_id and blocks:
            blocks[-1] = replace(blocks[-1], block_id=inline.block_id)

    def _line_of(self, inline: InlineText, part: LabelledSentence, lines: LineRange) -> int:
        text = inline.text[part.start : part.end]
        lead = len(text) - len(text.lstrip())
        return min(lines.first + inline.line_at(part.start + lead), lines.last)

    def _links_tags_and_fields(
        self,
        inline: InlineText,
        spans: list[LabelledSentence],
        sentences: list[Sentence],
        first_line: int,
    ) -> None:
        content = self._content
        index = 0
        for link in inline.links:
            index = _sentence_at(spans, index, link.start)
            content.links.append(
                Link(
                    target=link.target,
                    style=link.style,
                    subpath=link.subpath,
                    shown=link.shown,
                    relation=link.key or spans[index].label,
                    sentence=sentences[index].text,
                    line=first_line + inline.line_at(link.start),
                )
            )
        index = 0
        for tag in inline.tags:
            index = _sentence_at(spans, index, tag.start)
            line = first_line + inline.line_at(tag.start)
            content.tags.append(Tag(tag.name, line, sentences[index].text))
        self._fields(inline, spans, sentences, first_line)

    def _fields(
        self,
        inline: InlineText,
        spans: list[LabelledSentence],
        sentences: list[Sentence],
        first_line: int,
    ) -> None:
        fields = [
            (span.start, span.label, inline.text[span.value : span.value_end], span.explicit)
            for span in spans
            if span.label is not None and span.value_end
        ]
        fields += [
            (mark.start, mark.key, inline.text[mark.start : mark.end], True)
            for mark in inline.fields
        ]
        index = 0
        for start, key, value, explicit in sorted(fields):
            index = _sentence_at(spans, index, start)
            line = first_line + inline.line_at(start)
            text = _one_line(value) if explicit else _one_line(value).rstrip(".;,。；")
            self._content.fields.append(
                InlineField(key, text, line, sentences[index].text, explicit)
            )


def _admonition_title(settings: re.Match[str]) -> str:
    """The title among these lines, followed by the end of a line, and as many lines as they are."""
    title = _ADMONITION_TITLE.search(settings[0])
    blank_lines = "\n" * settings[0].count("\n")
    return f"{blank_lines[1:]}{title[1]}  \n" if title and title[1].strip() else blank_lines


def _sentence_at(spans: list[LabelledSentence], index: int, offset: int) -> int:
    """Index of the sentence at this offset; ``index`` is where the search starts."""
    if offset < spans[index].start:
        index = 0
    while index + 1 < len(spans) and spans[index + 1].start <= offset:
        index += 1
    return index


def short_name(text: str) -> str:
    """A title, heading or alias of a length that every chunk of the note can carry."""
    if len(text) <= MAX_NAME_CHARS:
        return text
    cut = text[: MAX_NAME_CHARS - 1]
    return (cut.rpartition(" ")[0] or cut).rstrip() + "…"


def _one_line(text: str) -> str:
    return _SPACES.sub(" ", text).strip()
