"""Reads the parts of notes that a note embeds: ``![[Note#^block]]``, ``![[Note#Heading]]``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import accumulate, islice
from textwrap import shorten
from typing import NamedTuple

from memvault.model.errors import MemvaultError
from memvault.model.graph import EdgeOrigin, GraphEdge
from memvault.model.memory import Memory
from memvault.model.note import Block, LineRange, Link, LinkStyle
from memvault.vault.parse import parse_note

MAX_PARTS = 2  # parts of other notes in one excerpt
MAX_CHARS = 300  # characters of each part


class Embed(NamedTuple):
    """The start of a part of the note at ``path``, and the lines that it is in."""

    path: str
    lines: LineRange
    text: str


class Embeds:
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
        self._stated_by = stated_by
        self._resolve = resolve

    def of(self, memory: Memory, shown: str, lines: LineRange) -> list[Embed]:
        """The embedded parts in a note's excerpt from these lines, in its order, without those that
        cannot be read now."""
        with suppress(MemvaultError):
            if any(
                edge.origin is EdgeOrigin.EMBED and lines.first <= edge.line <= lines.last
                for edge in self._stated_by(memory.id)
            ):
                links = parse_note(memory.path, self._read(memory.path)).links
                embeds = (link for link in links if link.style is LinkStyle.EMBED)
                here = (each for each in embeds if lines.first <= each.line <= lines.last)
                parts = (self._part(each, memory.path) for each in here if each.sentence in shown)
                return list(islice(filter(None, parts), MAX_PARTS))
        return []

    def _part(self, link: Link, source: str) -> Embed | None:
        path = self._resolve(link.target, source)
        if path is None or path == source:
            return None
        blocks = parse_note(path, self._read(path)).blocks
        meant = [each for each in blocks if _is_in(each, link.subpath)]
        before = accumulate((len(each.text) for each in meant), initial=0)
        used = [each for each, size in zip(meant, before, strict=False) if size < MAX_CHARS]
        if not used:
            return None
        text = shorten(" ".join(each.text for each in used), MAX_CHARS, placeholder=" …")
        return Embed(path, LineRange(used[0].lines.first, used[-1].lines.last), text)


def _is_in(block: Block, subpath: str | None) -> bool:
    """Whether a block has the id, or is below the heading, that a subpath names."""
    if subpath is None:
        return True
    if subpath.startswith("^"):
        return block.block_id == subpath[1:]
    heading = subpath.rpartition("#")[2].strip().casefold()
    return heading in (each.casefold() for each in block.heading)
