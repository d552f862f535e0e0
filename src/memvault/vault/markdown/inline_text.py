"""The readable text of a block, with the positions of its links, tags and fields."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from urllib.parse import unquote

from markdown_it.token import Token

from memvault.model.note import LinkStyle
from memvault.vault.markdown.wikilink import Wikilink
from memvault.vault.plugin_data import is_computed

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_NOTE_FILE = re.compile(r"\.(?:md|markdown)\Z", re.IGNORECASE)
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,9}\Z")
# Suffixes of the files that Obsidian shows, as a pattern.
MEDIA = (
    "avif|bmp|gif|jpe?g|png|svg|webp|flac|m4a|mp3|ogg|wav|webm|3gp|mkv|mov|mp4|ogv|pdf|canvas|base"
)
_MEDIA = re.compile(rf"\.(?:{MEDIA})\Z", re.IGNORECASE)
_PIXELS = re.compile(r"\d+(?:x\d+)?")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LinkMark:
    start: int
    target: str
    style: LinkStyle
    subpath: str | None
    shown: str | None
    key: str | None = None  # of the bracketed field that contains it


@dataclass(frozen=True, slots=True)
class TagMark:
    start: int
    name: str


@dataclass(frozen=True, slots=True)
class FieldMark:
    """``[key:: value]``: the value is at [start, end)."""

    start: int
    end: int
    key: str


@dataclass(slots=True)
class InlineText:
    """The readable text of a block; offsets refer to ``text``, where ``\\n`` marks line ends.

    Attributes:
        protected: ordered spans in which no sentence ends and no label starts: links, tags, code,
            formulas.
        breaks: offsets at which a sentence must start.
        lines: offsets at which a new line of the file starts.
    """

    text: str = ""
    links: list[LinkMark] = field(default_factory=list)
    tags: list[TagMark] = field(default_factory=list)
    fields: list[FieldMark] = field(default_factory=list)
    protected: list[tuple[int, int]] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    block_id: str | None = None

    def line_at(self, offset: int) -> int:
        """The number of lines between the block's first line and that of `offset`."""
        return bisect_right(self.lines, offset)

    def touches_protected(self, start: int, end: int) -> bool:
        span_index = bisect_left(self.protected, (end, 0)) - 1
        return span_index >= 0 and start < self.protected[span_index][1]


class InlineReader:
    """Converts inline tokens to `InlineText`, with one method per token type.

    One instance reads one note, since a comment may span several blocks and is left out of all.
    """

    def __init__(self, comment_marks: int) -> None:
        self._marks_left = comment_marks
        self.in_comment = False

    def read(self, tokens: list[Token]) -> InlineText:
        self._inline = InlineText()
        self._parts: list[str] = []
        self._length = 0
        self._open: list[tuple[int, int, str]] = []
        self._keys: list[str] = []
        for token in tokens:
            kind = token.type
            if kind == "comment_mark":
                self._comment_mark(token)
            elif self.in_comment:
                self._skipped(token)
            elif kind in {"text", "text_special"}:
                self._text(token.content)
            elif handler := getattr(self, "_" + kind, None):
                handler(token)
        self._inline.text = "".join(self._parts)
        self._inline.protected = _merged(self._inline.protected)
        self._inline.links.sort(key=lambda link: link.start)
        return self._inline

    def _add(self, text: str) -> tuple[int, int]:
        start = self._length
        self._parts.append(text)
        self._length += len(text)
        return start, self._length

    def _text(self, text: str) -> None:
        start, _end = self._add(text)
        if "\n" in text:  # a formula, or a block too long for the inline parser
            line_ends = (index for index, char in enumerate(text, start + 1) if char == "\n")
            self._inline.lines.extend(line_ends)

    def _comment_mark(self, token: Token) -> None:
        self._marks_left -= 1
        if self.in_comment:
            self.in_comment = False
        elif self._marks_left > 0:
            self.in_comment = True
        else:
            self._add("%%")

    def _skipped(self, token: Token) -> None:
        if token.type in {"softbreak", "hardbreak"}:
            self._inline.lines.append(self._length)
        else:
            self._count_lines(token)

    def _count_lines(self, token: Token) -> None:
        self._inline.lines.extend([self._length] * token.meta.get("lines", 0))

    def _softbreak(self, _token: Token) -> None:
        self._add("\n")
        self._inline.lines.append(self._length)

    def _hardbreak(self, token: Token) -> None:
        self._softbreak(token)
        self._inline.breaks.append(self._length)

    def _code_inline(self, token: Token) -> None:
        text = "…" if is_computed(token.content) else token.content
        self._inline.protected.append(self._add(text))
        self._count_lines(token)

    def _formula(self, token: Token) -> None:
        start = self._length
        self._text(token.content)
        self._inline.protected.append((start, self._length))

    def _html_inline(self, token: Token) -> None:
        if _BREAK.match(token.content):
            self._add(" ")
            self._inline.breaks.append(self._length)
        self._count_lines(token)

    def _comment(self, token: Token) -> None:
        self._count_lines(token)

    def _footnote(self, _token: Token) -> None:
        if not self._parts or self._parts[-1] == "\n":
            self._inline.breaks.append(self._length)

    def _block_id(self, token: Token) -> None:
        self._inline.block_id = token.meta["id"]

    def _tag(self, token: Token) -> None:
        span = self._add(token.content)
        self._inline.protected.append(span)
        self._inline.tags.append(TagMark(span[0], token.meta["name"]))

    def _wikilink(self, token: Token) -> None:
        link: Wikilink = token.meta["link"]
        style = LinkStyle.EMBED if token.meta["embed"] else LinkStyle.WIKILINK
        shown = link.shown
        if style is LinkStyle.EMBED and _MEDIA.search(link.target):
            if shown and not _PIXELS.fullmatch(shown):
                self._add(shown)
            return
        start, end = self._add(link.text)
        self._inline.protected.append((start, end))
        self._link(start, link.target, style, link.subpath, shown)

    def _link(
        self, start: int, target: str, style: LinkStyle, subpath: str | None, shown: str | None
    ) -> None:
        key = self._keys[-1] if self._keys else None
        self._inline.links.append(LinkMark(start, target, style, subpath, shown, key))

    def _link_open(self, token: Token) -> None:
        self._open.append((self._length, len(self._parts), str(token.attrs.get("href", ""))))

    def _link_close(self, _token: Token) -> None:
        start, first_part, href = self._open.pop()
        self._inline.protected.append((start, self._length))
        target = note_target(href)
        if target is not None:
            shown = "".join(self._parts[first_part:]) or None
            self._link(start, target[0], LinkStyle.MARKDOWN, target[1], shown)

    def _image(self, token: Token) -> None:
        alt = token.content.rsplit("|", 1)[0]
        target = note_target(str(token.attrs.get("src", "")))
        start, _end = self._add("" if _PIXELS.fullmatch(alt) else alt)
        if target is not None and target[0]:
            self._link(start, target[0], LinkStyle.EMBED, target[1], alt or None)

    def _field_open(self, token: Token) -> None:
        key = token.meta["key"]
        self._inline.protected.append(self._add(f"{key}: "))
        self._open.append((self._length, 0, key))
        self._keys.append(key)

    def _field_close(self, _token: Token) -> None:
        start, _part, key = self._open.pop()
        self._keys.pop()
        self._inline.fields.append(FieldMark(start, self._length, key))


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order, overlapping ones merged."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def is_note_file(path: str) -> bool:
    """Whether the path of a Markdown link ends as a note's file does."""
    return _NOTE_FILE.search(path) is not None


def note_target(href: str) -> tuple[str, str | None] | None:
    """Target and subpath of a Markdown link, or None if it does not lead to a note (URL, file)."""
    if not href or _SCHEME.match(href):
        return None
    path, _, subpath = href.partition("#")
    path, subpath = unquote(path.split("?", 1)[0]), unquote(subpath)
    if _NOTE_FILE.search(path):
        path = _NOTE_FILE.sub("", path)
    elif path.endswith("/") or _EXTENSION.search(path):
        return None
    return (path, subpath or None) if path or subpath else None
