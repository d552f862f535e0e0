"""Splits a note at the fences of its frontmatter, for code that does not read the properties.

`read` reads them, and `edit` changes them.
"""

from __future__ import annotations

import re
from typing import AnyStr, overload

_TEXT = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\r?\Z)", re.DOTALL | re.MULTILINE)
_BYTES = re.compile(
    rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\r?\Z)", re.DOTALL | re.MULTILINE
)
_ID = re.compile(rb"^id:[ \t]*[\"']?([0-9A-Fa-f-]{36})[\"']?[ \t]*\r?$", re.MULTILINE)


@overload
def split_frontmatter(note: str) -> tuple[str, str]: ...
@overload
def split_frontmatter(note: bytes) -> tuple[bytes, bytes]: ...
def split_frontmatter(note: AnyStr) -> tuple[AnyStr, AnyStr]:
    """The lines between the fences, and the text after them; without fences, nothing and all."""
    match = _TEXT.match(note) if isinstance(note, str) else _BYTES.match(note)
    return (match[1], note[match.end() :]) if match else (note[:0], note)


def claimed_id(note: bytes) -> str:
    """The id in a note's frontmatter in lower case, or ""."""
    match = _ID.search(split_frontmatter(note)[0])
    return match[1].decode("ascii").lower() if match else ""
