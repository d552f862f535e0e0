"""The text of a note as its file has it, and its lines."""

from __future__ import annotations

import codecs
import re

from memvault.model.errors import MalformedFrontmatter

FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_NEWLINE = re.compile(r"\r\n|\r|\n")


def note_text(path: str, data: bytes) -> str:
    """Decode a note; invalid UTF-8 round-trips when encoded with ``surrogateescape``.

    Raises:
        MalformedFrontmatter: the note is UTF-16.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise MalformedFrontmatter(
            f"{path} is UTF-16; save it as UTF-8, then try again", path=path, line=1
        )
    return data.decode("utf-8", "surrogateescape")


def newline_of(text: str) -> str:
    """The line ending of the first line."""
    match = _NEWLINE.search(text)
    return match[0] if match else "\n"


def lines_of(text: str) -> list[str]:
    """The lines with their line endings; only CR and LF end a line, as in every editor."""
    return _LINE.findall(text)


def bare_lines(text: str) -> list[str]:
    """The lines without their endings, numbered as the parser numbers them.

    `str.splitlines` also splits at U+2028 and others, so its line numbers differ. Text that ends
    with a line ending has an empty line after it.
    """
    return _NEWLINE.split(text)


def ended_lines(text: str) -> list[str]:
    """Like `bare_lines`, without the empty line after the last line ending."""
    lines = bare_lines(text)
    return lines if lines[-1] else lines[:-1]


class CodeFences:
    """Tracks the code fences of a text line by line; ``open`` is the mark of the open fence."""

    def __init__(self) -> None:
        self.open = ""

    def is_code(self, line: str) -> bool:
        """Whether the next line is code or a fence."""
        match = FENCE.match(line)
        if not self.open:
            self.open = match["mark"] if match else ""
            return bool(self.open)
        if match and match["mark"].startswith(self.open) and match["mark"] == line.strip():
            self.open = ""
        return True
