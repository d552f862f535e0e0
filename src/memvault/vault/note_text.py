"""A note's text as edits see it: every byte comes back, line ends as they are."""

from __future__ import annotations

import codecs
import re

from memvault.model.errors import MalformedFrontmatter
from memvault.vault.compose import close_open_fence

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_NEWLINE = re.compile(r"\r\n|\r|\n")


def note_text(path: str, data: bytes) -> str:
    """The text; bytes that are no UTF-8 come back when it is encoded with ``surrogateescape``.

    Raises:
        MalformedFrontmatter: the note is UTF-16.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise MalformedFrontmatter(
            f"{path} is UTF-16; save it as UTF-8, then try again", path=path, line=1
        )
    return data.decode("utf-8", "surrogateescape")


def newline_of(text: str) -> str:
    """The line end of the first line."""
    found = _NEWLINE.search(text)
    return found[0] if found else "\n"


def lines_of(text: str) -> list[str]:
    """The lines with their ends."""
    return _LINE.findall(text)


def appended(text: str, more: str) -> str:
    """The text with more at its end, an empty line between, and not within code that the text
    leaves open."""
    newline = newline_of(text)
    closed = close_open_fence(text)
    if closed != text:
        fence = closed[len(text) :].lstrip("\n")
        text = _ended(text, newline) + fence
    if not text:
        return more
    return _ended(text, newline) + ("" if _ends_blank(text) else newline) + more


def inserted(text: str, line: int, more: str) -> str:
    """The text with more before this line, counted from 0."""
    lines = lines_of(text)
    if 0 < line <= len(lines):
        lines[line - 1] = _ended(lines[line - 1], newline_of(text))
    return "".join([*lines[:line], more, *lines[line:]])


def _ended(text: str, newline: str) -> str:
    return text if text.endswith(("\n", "\r")) else text + newline


def _ends_blank(text: str) -> bool:
    lines = lines_of(text)
    return bool(lines) and not lines[-1].strip()
