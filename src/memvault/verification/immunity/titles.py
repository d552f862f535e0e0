"""Finds titles that have nothing to do with their text."""

from __future__ import annotations

import re

from memvault.vault.frontmatter.fences import split_frontmatter
from memvault.verification.immunity.folding import fold

_STEM_LETTERS = 5
_ANNOUNCED = re.compile(r"^(?:title|subject|summary|description|topic):[ \t]*(.+)$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")


def misleads(text: str, title: str) -> bool:
    """Whether a title, or what the frontmatter announces, has no word in common with the text."""
    properties, body = split_frontmatter(text)
    announced = [title, *_ANNOUNCED.findall(properties)]
    text_stems = _stems(_HEADING.sub("", body))
    return any(
        len(stems := _stems(announcement)) >= 2 and not stems & text_stems
        for announcement in announced
    )


def _stems(text: str) -> set[str]:
    """The first five letters of each word of at least four letters."""
    return {word[:_STEM_LETTERS] for word in _LONG_WORD.findall(fold(text).text)}
