"""Reads the parts of notes that a note embeds: ``![[Note#^block]]``, ``![[Note#Heading]]``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import accumulate, islice
from textwrap import shorten
from typing import NamedTuple

from memvault.model.errors import MemvaultError
from memvault.model.graph import EdgeOrigin, GraphEdge
from memvault.model.memory import Memory
from memvault.model.note import Block, Heading, LineRange, Link, LinkStyle
from memvault.vault.parse import parse_note

MAX_PARTS = 2  # parts of other notes in one excerpt
MAX_CHARS = 300  # characters of each part
MAX_PARSED = 32  # notes that are kept as they were parsed; a long one takes 100 ms


class EmbeddedPart(NamedTuple):
    """The start of a part of the note at ``path``, and the lines that it is in."""

    path: str
    lines: LineRange
    text: str


class EmbeddedParts:
    """Reads what notes embed. Thread-safe.

    Args:
        read: returns the bytes of the note at a path.
        stated_by: the edges that the note of this id states.
        resolve: the path of the note that a link's target in the note at a path leads to.
    """

    def __init__(
        self,
        read: Callable[[str], bytes],
        stated_by: Callable[[str], Sequence[GraphEdge]],
        resolve: Callable[[str, str], str | None],
    ) -> None:
        self._read = read
        self._parsed = lru_cache(maxsize=MAX_PARSED)(parse_note)
        self._stated_by = stated_by
        self._resolve = resolve

    def of(
        self,
        memory: Memory,
        excerpt: str,
        lines: LineRange,
        allowed: Callable[[str], bool] = lambda _: True,
    ) -> list[EmbeddedPart]:
        """The embedded parts in a note's excerpt from these lines, in its order, without those that
        cannot be read now and those of notes at paths for which ``allowed`` is false."""
        with suppress(MemvaultError):
            if any(
                edge.origin is EdgeOrigin.EMBED and lines.first <= edge.line <= lines.last
                for edge in self._stated_by(memory.id)
            ):
                links = self._parsed(memory.path, self._read(memory.path)).links
                embeds = (link for link in links if link.style is LinkStyle.EMBED)
                shown_embeds = (link for link in embeds if lines.first <= link.line <= lines.last)
                parts = (
                    self._part(link, memory.path, allowed)
                    for link in shown_embeds
                    if link.sentence in excerpt
                )
                return list(islice(filter(None, parts), MAX_PARTS))
        return []

    def _part(self, link: Link, source: str, allowed: Callable[[str], bool]) -> EmbeddedPart | None:
        path = self._resolve(link.target, source)
        if path is None or path == source or not allowed(path):
            return None
        note = self._parsed(path, self._read(path))
        subpath = _without_anchor(link.subpath, note.headings)
        embedded = [block for block in note.blocks if _is_in(block, subpath)]
        chars_before = accumulate((len(block.text) for block in embedded), initial=0)
        start_blocks = [
            block for block, chars in zip(embedded, chars_before, strict=False) if chars < MAX_CHARS
        ]
        if not start_blocks:
            return None
        text = shorten(" ".join(block.text for block in start_blocks), MAX_CHARS, placeholder=" …")
        return EmbeddedPart(
            path, LineRange(start_blocks[0].lines.first, start_blocks[-1].lines.last), text
        )


def _without_anchor(subpath: str | None, headings: Iterable[Heading]) -> str | None:
    """The text of the heading that has the subpath as its id, or the subpath."""
    texts = (heading.text for heading in headings if subpath and heading.anchor == subpath)
    return next(texts, subpath)


def _is_in(block: Block, subpath: str | None) -> bool:
    """Whether a block has the id, or is below the heading, that a subpath names."""
    if subpath is None:
        return True
    if subpath.startswith("^"):
        return block.block_id == subpath[1:]
    heading = subpath.rpartition("#")[2].strip().casefold()
    return heading in (part.casefold() for part in block.heading)
