"""Finds the fences of a note's frontmatter.

`read` reads the lines between them, and `edit` changes them.
"""

from __future__ import annotations

import re
from typing import AnyStr, overload

from memvault.model.graph import uuid_of

_FENCED = (
    r"---[ \t]*(?P<newline>\r\n|\n|\r)(?P<header>[\s\S]*?)"
    r"(?<![^\r\n])---[ \t]*(?:\r\n|\n|\r|\Z)"  # a whole line
)
_TEXT = re.compile("\ufeff?" + _FENCED)
_BYTES = re.compile(b"(?:\xef\xbb\xbf)?" + _FENCED.encode())
_ID = re.compile(
    r"(?<![^\r\n])([\"']?)id\1[ \t]*:[ \t]+"
    r"(?:\"(?P<double>[^\r\n\"]*)\"|'(?P<single>[^\r\n']*)'|(?P<plain>[\w:-]+))"
    r"[ \t]*(?:[ \t]#[^\r\n]*)?(?![^\r\n])"
)


@overload
def match_frontmatter(note: str) -> re.Match[str] | None: ...
@overload
def match_frontmatter(note: bytes) -> re.Match[bytes] | None: ...
def match_frontmatter(note: AnyStr) -> re.Match[AnyStr] | None:
    """The byte order mark, both fences, and between them the group ``header``; None without fences.

    The group ``newline`` is the line ending of the first fence.
    """
    return _TEXT.match(note) if isinstance(note, str) else _BYTES.match(note)


def split_frontmatter(note: AnyStr) -> tuple[AnyStr, AnyStr]:
    """The lines between the fences, and the text after them; without fences, nothing and all."""
    match = match_frontmatter(note)
    return (match["header"], note[match.end() :]) if match else (note[:0], note)


def claimed_id(note: bytes) -> str:
    """The id in a note's frontmatter: a UUID, in lower case with hyphens; "" if there is none."""
    match = _ID.search(split_frontmatter(note)[0].decode("utf-8", "replace"))
    texts = match.group("double", "single", "plain") if match else ()
    return uuid_of(next(filter(None, texts), "").strip())
