"""Stems of words: English words without their commonest endings."""

from __future__ import annotations

import re
from functools import lru_cache

from memvault.text.words import STOP_WORDS, letter_runs

_WITHOUT_CONTENT = frozenset((
    "a", "an", "the", "of", "in", "on", "at", "by", "to", "for", "with", "from", "and", "or", "we",
    "i", "is", "was", "were", "are", "be", "it", "its", "that", "this", "our", "us", "me", "my",
    "x", "has", "have", "had", "do", "did", "does"
))  # fmt: skip
_WORD = re.compile(r"\d+|[^\W_]{2,}|[^\W\da-z_]")  # no single letters, as in "let's"
_ENDING = re.compile(r"(ations?|ators?|ings?|ions?|ors?|ers?|ed|es|e|s|al|als)$")


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A word without its commonest English endings.

    Not Snowball, which gives different stems to words that state one relation: leader and lead,
    director and direct, writer and write.
    """
    word = word.lower()
    return _ENDING.sub("", word) if len(word) > 3 else word


@lru_cache(maxsize=256)  # one question compares the texts that it finds several times
def stems(text: str) -> frozenset[str]:
    """Stems of the content words, without the mask ``X``."""
    return frozenset(map(stem, set(letter_runs(text)) - _WITHOUT_CONTENT))


def content_stems(text: str) -> frozenset[str]:
    """The stems of the words that are not English function words, and the numbers."""
    return frozenset(stem(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS)
