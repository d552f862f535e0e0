"""Finds words in which a sentence differs from a statement: opposites, words of one category."""

from __future__ import annotations

import re

import numpy as np

from memvault.model.note import Embed
from memvault.reasoning.sentences.sentence_words import OPPOSITE, terms_compared
from memvault.reasoning.sentences.value_placement import accompanies_opposite
from memvault.reasoning.sentences.word_overlap import WordOverlap
from memvault.verification.claims.claim_stems import canonical_stem

_SAME_CATEGORY = (0.28, 0.9)  # range of the cosine of two words of one category, not synonyms
_SWITCH = ("on", "off")
_SWITCHED = re.compile(r"\b(?:switch|turn|toggl|flip)\w*\s+(?:\w+\s+)?(?:on|off)\b", re.IGNORECASE)
# Words too common to count as a replacement of their opposites.
_TOO_COMMON = ("before", "after", "new", "old", "day", "night", "more", "less")


def is_reversed(overlap: WordOverlap) -> bool | None:
    """Whether two terms are compared or ordered in reverse; None if they are not compared."""
    statement_terms = terms_compared(overlap.statement)
    sentence_terms = terms_compared(overlap.sentence)
    if statement_terms is None or sentence_terms is None:
        return None
    comparison, first, second = statement_terms
    other_comparison, other_first, other_second = sentence_terms
    opposite = comparison in OPPOSITE.get(other_comparison, ())
    if not opposite and comparison != other_comparison:
        return None
    only_first, only_second = first - second, second - first
    other_only_first, other_only_second = other_first - other_second, other_second - other_first
    straight = bool(only_first & other_only_first) and bool(only_second & other_only_second)
    crossed = bool(only_first & other_only_second) and bool(only_second & other_only_first)
    if straight == crossed:
        return None
    return straight if opposite else crossed


def opposite_word(overlap: WordOverlap) -> tuple[str, str] | None:
    """A word of the statement and its opposite, which the sentence has in its place; or None."""
    statement, sentence = overlap.statement, overlap.sentence
    if len(overlap.missing) > 2 or statement.denied or sentence.denied:
        return None
    if overlap.is_of_other_object():
        return None
    for word in sorted(statement.lower_words):
        if word in _SWITCH and not (
            _SWITCHED.search(statement.text) and _SWITCHED.search(sentence.text)
        ):
            continue
        opposites = sorted(OPPOSITE.get(word, set()) & sentence.lower_words)
        if not opposites:
            continue
        if re.search(rf"\b{word}\b", sentence.text, re.IGNORECASE):
            if not accompanies_opposite(statement, sentence, opposites[0], word):
                continue
        elif len(overlap.missing - {canonical_stem(word)}) > 1 or word in _TOO_COMMON:
            continue
        return word, opposites[0]
    return None


def other_word(overlap: WordOverlap, embed: Embed) -> tuple[str, str] | None:
    """A word of the statement and another of the same category in its place; or None.

    The place of a word is given by its neighbours, its category by the cosine of the two words.
    """
    pairs = list(overlap.replaced_words())
    if not pairs:
        return None
    firsts, seconds = (embed([pair[side] for pair in pairs]) for side in (0, 1))
    cosines = np.einsum("ij,ij->i", firsts, seconds)
    best = int(cosines.argmax())
    low, high = _SAME_CATEGORY
    return pairs[best] if low <= float(cosines[best]) < high else None
