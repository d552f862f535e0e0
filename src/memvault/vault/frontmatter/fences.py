"""The frontmatter of a note between its fences, unread.

For code that only needs to tell frontmatter from text; `read` reads it and `edit` changes it.
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
    found = _TEXT.match(note) if isinstance(note, str) else _BYTES.match(note)
    return (found[1], note[found.end() :]) if found else (note[:0], note)


def claimed_id(note: bytes) -> str:
    """The id in a note's frontmatter in lower case, or ""."""
    found = _ID.search(split_frontmatter(note)[0])
    return found[1].decode("ascii").lower() if found else ""
