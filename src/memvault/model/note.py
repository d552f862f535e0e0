"""Parsed notes, their chunks, and domains of knowledge (core REQ-CORE-027, Marblestone)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha1
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, Field


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
        sentence: the plain text of the sentence that contains the link.
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
    """``key:: value`` or ``[key:: value]`` (Dataview), or a labelled line ``Key: value``."""

    key: str
    value: str
    line: int
    sentence: str = ""
    explicit: bool = True  # False for a plain label ``Lead: …``


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; ``anchor`` is the id that ``## Text {#id}`` gives it, which is not in its text."""

    text: str
    level: int
    line: int
    anchor: str | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of readable text: links shown as text, markup removed."""

    text: str
    line: int
    relation: str | None = None  # the label in front of it, if its line is ``Label: …``


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
class Task:
    """A list item with an empty or ticked checkbox; other marks have no fixed meaning.

    Attributes:
        text: as written behind the box.
    """

    line: int
    done: bool
    text: str


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Fenced or indented code, as written; ``lines`` include the fences.

    ``language`` is the fence's first word in lower case, empty without one.
    """

    text: str
    language: str
    lines: LineRange
    heading: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FrontmatterProblem:
    """The reason why the YAML could not be read completely."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class ParsedNote:
    """The content of one note, parsed from its bytes alone."""

    path: str
    title: str
    content_hash: str  # blake2b-128 of the bytes, hex
    frontmatter: dict[str, Any]
    blocks: tuple[Block, ...]
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    tags: tuple[Tag, ...] = ()  # of the frontmatter and the body
    fields: tuple[InlineField, ...] = ()
    aliases: tuple[str, ...] = ()
    key_lines: dict[str, int] = field(default_factory=dict)  # of the frontmatter, if it is readable
    body_line: int = 1  # first line after the frontmatter
    line_count: int = 1
    frontmatter_problem: FrontmatterProblem | None = None
    warnings: tuple[str, ...] = field(default=())  # invalid bytes, text past the size limit, …
    code: tuple[CodeBlock, ...] = ()
    tasks: tuple[Task, ...] = ()

    @property
    def sentences(self) -> list[Sentence]:
        """The sentences of all blocks, in order."""
        return [sentence for block in self.blocks for sentence in block.sentences]


Vector = npt.NDArray[np.float32]  # (dim,), L2-normalised
Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Gives the vectors of texts, (n, dim), L2-normalised."""


def normalised(vector: Vector) -> Vector:
    """The vector with length 1; zeros stay."""
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / length if length > 0.0 else vector, np.float32)


def mean_vector(vectors: Collection[Vector]) -> Vector | None:
    """The normalised mean of unit vectors; None if there are none, or they cancel out."""
    if not vectors:
        return None
    total = np.sum(list(vectors), axis=0, dtype=np.float32)
    length = float(np.linalg.norm(total))
    return np.asarray(total / length, dtype=np.float32) if length > 0.0 else None


class ChunkSize(StrEnum):
    """The sizes of chunks; a note's chunks of each size together cover the note."""

    PASSAGE = "passage"  # fits the model's window
    SECTION = "section"  # Max-Min semantic chunk, 200-500 tokens
    NOTE = "note"  # the whole note

    @property
    def bit(self) -> int:
        """The bit of this size in a set of sizes that is stored as one number."""
        return 1 << list(ChunkSize).index(self)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A span of a note that is embedded and searched.

    ``text`` is shown; ``context`` (title, headings, date, words of code) is searched with it. A
    text that is also the whole chunk of a larger size (a note of one passage) is stored once, at
    its smallest size, and ``covers`` names the larger ones; a search at any of its ``sizes`` finds
    it. ``token_signs`` are those of a passage's tokens, see `text.encoders.token_signs`.
    """

    note_id: str
    size: ChunkSize
    ordinal: int  # position among the note's chunks of this size
    heading: str  # ``A > B``, empty above the first heading
    lines: LineRange
    text: str
    context: str = ""
    covers: tuple[ChunkSize, ...] = ()
    token_signs: bytes = b""

    @property
    def sizes(self) -> tuple[ChunkSize, ...]:
        return (self.size, *self.covers)

    @property
    def id(self) -> int:
        return chunk_id(UUID(self.note_id), self.size, self.ordinal)


def chunk_id(note: UUID, size: ChunkSize, ordinal: int) -> int:
    """64 bits of the hash of a chunk's note, size and ordinal, as a UUIDv5 hashes them."""
    key = note.bytes + f"{size.value}:{ordinal}".encode()
    return int.from_bytes(sha1(key, usedforsecurity=False).digest()[:8], "big")


@dataclass(frozen=True, slots=True)
class EmbeddedChunk:
    chunk: Chunk
    vector: Vector


class Domain(StrEnum):
    """Domains of knowledge."""

    CODE = "code"  # source code, programming, technical implementation
    LEGAL = "legal"  # contracts, legal documents, compliance
    MEDICAL = "medical"  # medicine, clinical data, health
    CREATIVE = "creative"  # creative works, art, design
    RESEARCH = "research"  # academic research, papers, experiments
    GENERAL = "general"  # anything else


class NeurotransmitterWeights(BaseModel, frozen=True):
    """Factors that modulate an edge's weight, each in [0, 1].

    ``excitatory`` (glutamate-like) strengthens the edge, ``inhibitory`` (GABA-like) dampens it,
    ``modulatory`` (dopamine-like) scales the balance of both.
    """

    excitatory: float = Field(0.5, ge=0.0, le=1.0)
    inhibitory: float = Field(0.2, ge=0.0, le=1.0)
    modulatory: float = Field(0.3, ge=0.0, le=1.0)

    def net_activation(self) -> float:
        """Net activation in [-1, 1] (core, appendix A)."""
        return (self.excitatory - self.inhibitory) * (0.5 + 0.5 * self.modulatory)

    @staticmethod
    def for_domain(domain: Domain) -> NeurotransmitterWeights:
        """The initial weights of edges of this domain."""
        return _PROFILES[domain]


def _profile(excitatory: float, inhibitory: float, modulatory: float) -> NeurotransmitterWeights:
    return NeurotransmitterWeights(
        excitatory=excitatory, inhibitory=inhibitory, modulatory=modulatory
    )


_PROFILES = {
    Domain.CODE: _profile(0.7, 0.1, 0.4),
    Domain.LEGAL: _profile(0.5, 0.4, 0.2),
    Domain.MEDICAL: _profile(0.6, 0.3, 0.5),
    Domain.CREATIVE: _profile(0.8, 0.05, 0.7),
    Domain.RESEARCH: _profile(0.6, 0.2, 0.6),
    Domain.GENERAL: NeurotransmitterWeights(),
}
