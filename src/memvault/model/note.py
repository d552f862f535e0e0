"""A note as it is read: its parts, each with the lines it stands on.

Lines are counted from 1, as editors show them. Paths are relative to the vault, with
forward slashes on every system.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


class LineRange(NamedTuple):
    """First and last line, both included, counted from 1."""

    first: int
    last: int


class LinkStyle(StrEnum):
    WIKILINK = "wikilink"  # [[Target#Sub|shown]]
    EMBED = "embed"  # ![[Target]]
    MARKDOWN = "markdown"  # [shown](Target.md)
    FRONTMATTER = "frontmatter"  # key: "[[Target]]"


@dataclass(frozen=True, slots=True)
class Link:
    """A link from a note, not yet resolved.

    Attributes:
        target: the link path as written, without subpath; empty for a link inside the note.
        subpath: ``Heading``, ``Heading#Sub`` or ``^block``, without the leading ``#``.
        shown: the text shown instead of the target.
        relation: the name the person gave the relation (``supersedes:: [[X]]``,
            ``Lead: [[X]]``, a frontmatter key), as written, or None.
        sentence: the plain text of the sentence the link stands in.
        line: the line of the link.
    """

    target: str
    style: LinkStyle
    subpath: str | None = None
    shown: str | None = None
    relation: str | None = None
    sentence: str = ""
    line: int = 1


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag without its ``#``; nested tags keep their slashes (``area/sub``)."""

    name: str
    line: int
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class InlineField:
    """``key:: value`` or ``[key:: value]`` (Dataview), or a named line ``Key: value``."""

    key: str
    value: str
    line: int
    sentence: str = ""
    explicit: bool = True  # False for a plain named line ``Lead: …``


@dataclass(frozen=True, slots=True)
class Heading:
    text: str
    level: int
    line: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of readable text: links shown as text, markup removed."""

    text: str
    line: int
    relation: str | None = None  # the name in front of it, when its line is ``Name: …``


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list item, quote, callout or table row, as readable text.

    Fenced and indented code, comments and frontmatter are not blocks.
    """

    text: str
    lines: LineRange
    heading: tuple[str, ...]  # the headings above it, outermost first
    sentences: tuple[Sentence, ...]
    block_id: str | None = None  # ``^id`` at its end


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Fenced or indented code, as it is written; the fences count among its ``lines``.

    ``language`` is the fence's first word in lower case, empty without one.
    """

    text: str
    language: str
    lines: LineRange
    heading: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FrontmatterProblem:
    """Why the YAML could not be read whole."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class ParsedNote:
    """Everything that one note says, read from its bytes alone (no other note is consulted)."""

    path: str
    title: str
    content_hash: str  # blake2b-128 of the bytes, hex
    frontmatter: dict[str, Any]
    blocks: tuple[Block, ...]
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    tags: tuple[Tag, ...] = ()  # those of the body and of the frontmatter
    fields: tuple[InlineField, ...] = ()
    aliases: tuple[str, ...] = ()
    body_line: int = 1  # first line after the frontmatter
    line_count: int = 1
    frontmatter_problem: FrontmatterProblem | None = None
    warnings: tuple[str, ...] = field(default=())  # replaced bytes, cut-off text, …
    code: tuple[CodeBlock, ...] = ()
