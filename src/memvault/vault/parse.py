"""A note's bytes, read into its parts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from memvault.model.note import Link, LinkStyle, ParsedNote, Tag
from memvault.vault.blocks import read_blocks
from memvault.vault.decode import decode
from memvault.vault.header import Header, read_header, strings_of
from memvault.vault.markdown import parse_markdown
from memvault.vault.markdown.tag import clean_tag
from memvault.vault.markdown.wikilink import Wikilink, find_wikilinks, plain_text

MAX_NOTE_BYTES = 16_000_000

_TAG_KEYS = ("tags", "tag")
_ALIAS_KEYS = ("aliases", "alias")
_TAG_GAPS = re.compile(r"[,\s]+")


def parse_note(path: str, data: bytes, *, max_bytes: int = MAX_NOTE_BYTES) -> ParsedNote:
    """Read a note. A pure function of its arguments; never raises, whatever the bytes.

    The title is the text of a first-level heading that stands before everything else in the body,
    else the file's stem.

    Args:
        path: relative to the vault, with forward slashes.
        max_bytes: what is beyond is not read, and a warning says so.
    """
    text, warnings = decode(data, max_bytes)
    header = read_header(text)
    content = read_blocks(parse_markdown(text[header.body_start :]), header.body_line)
    if content.too_deep:
        warnings += ("what is nested deeper than 50 levels is not indexed",)
    return ParsedNote(
        path=path,
        title=content.title or stem_of(path),
        content_hash=content_hash(data),
        frontmatter=header.values,
        blocks=tuple(content.blocks),
        headings=tuple(content.headings),
        links=(*_header_links(header), *content.links),
        tags=(*_header_tags(header), *content.tags),
        fields=tuple(content.fields),
        aliases=_header_aliases(header),
        body_line=header.body_line,
        line_count=max(1, text.count("\n") + (not text.endswith("\n"))),
        frontmatter_problem=header.problem,
        warnings=warnings,
        code=tuple(content.code),
    )


def frontmatter_of(data: bytes) -> dict[str, Any]:
    """What `parse_note` gives as a note's frontmatter, without reading the rest."""
    return read_header(decode(data, MAX_NOTE_BYTES)[0]).values


def content_hash(data: bytes) -> str:
    """blake2b-128 of a note's bytes, hex."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def stem_of(path: str) -> str:
    """The file's name without its extension: the name that links resolve by."""
    return PurePosixPath(path).stem


def _header_links(header: Header) -> list[Link]:
    if "[[" not in header.source:
        return []
    lines = _LineFinder(header)
    return [
        Link(
            target=found.target,
            style=LinkStyle.FRONTMATTER,
            subpath=found.subpath,
            shown=found.shown,
            relation=key,
            sentence=f"{key}: {plain_text(text)}",
            line=lines.of(key, found),
        )
        for key, value in header.values.items()
        for text in strings_of(value)
        for found in find_wikilinks(text)
    ]


class _LineFinder:
    """On which line of the frontmatter a key's link stands."""

    def __init__(self, header: Header) -> None:
        self._header = header
        self._lines = header.source.split("\n")
        self._taken: dict[tuple[str, str], int] = {}

    def of(self, key: str, link: Wikilink) -> int:
        key_line = _key_line(self._header, key)
        start = self._taken.get((key, link.target), key_line - 1) + 1
        for line in range(start, len(self._lines) + 2):
            if link.target in self._lines[line - 2]:
                self._taken[key, link.target] = line
                return line
        return key_line


def _header_tags(header: Header) -> list[Tag]:
    return [
        Tag(name, _key_line(header, key))
        for key, text in _strings_under(header, _TAG_KEYS)
        for word in _TAG_GAPS.split(text)
        if (name := clean_tag(word)) is not None
    ]


def _header_aliases(header: Header) -> tuple[str, ...]:
    found = (text.strip() for _key, text in _strings_under(header, _ALIAS_KEYS))
    return tuple(dict.fromkeys(alias for alias in found if alias))


def _strings_under(header: Header, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for key, value in header.values.items():
        if key.casefold() in names:
            items: list[Any] = value if isinstance(value, list) else [value]
            for item in items:
                if item is not None and not isinstance(item, list | dict):
                    yield key, str(item)


def _key_line(header: Header, key: str) -> int:
    """The line of the file on which a key of the frontmatter stands."""
    for number, line in enumerate(header.source.split("\n"), start=2):
        if line.lstrip("\"' ").startswith(key):
            return number
    return 2
