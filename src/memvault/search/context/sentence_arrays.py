"""Arrays over the sentences of an outline, which scores and selections are computed with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np
import numpy.typing as npt

from memvault.stores.vectors import bm25
from memvault.stores.vectors.languages import language_of
from memvault.text.words import STOP_WORDS, composed, some_words

Integers = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class TermIndex:
    """The words of n sentences.

    Attributes:
        language: of the sentences; English if they do not show it.
        places: the indexes of the sentences that have a term, by term of BM25.
        content_counts: (n,) the number of words of each without function words.
    """

    language: str
    places: Mapping[int, Sequence[int]]
    content_counts: Integers

    @classmethod
    def of(cls, texts: Sequence[str]) -> TermIndex:
        language = language_of("\n".join(texts)) or "english"
        places: dict[int, list[int]] = {}
        content_counts = []
        for index, text in enumerate(texts):
            words = some_words(composed(text))
            content_counts.append(len(words) - sum(map(STOP_WORDS.__contains__, words)))
            for term in terms_in(words, language):
                places.setdefault(term, []).append(index)
        return cls(language, places, np.array(content_counts, np.intp))


@dataclass(frozen=True, slots=True)
class Layout:
    """Where n sentences are in their note, and how long they are.

    Attributes:
        units: (n,) the row of each in the outline's vectors.
        headings: the distinct paths of headings above them.
        heading_numbers: (n,) the index of each sentence's path in ``headings``.
        byte_counts: (n,) UTF-8 bytes of each as it is shown; 0 if it is not shown.
    """

    units: Integers
    headings: Sequence[tuple[str, ...]]
    heading_numbers: Integers
    byte_counts: Integers


def terms_in(words: Sequence[str], language: str = "english") -> tuple[int, ...]:
    """The distinct terms of words in a language, as BM25 knows them."""
    return tuple(set(chain.from_iterable(_terms_of(word, language) for word in words)))


@lru_cache(maxsize=20_000)
def _terms_of(word: str, language: str) -> tuple[int, ...]:
    if language == "english":
        return tuple(bm25.terms(word))
    return tuple(bm25.document(word, language).indices)
