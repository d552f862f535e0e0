"""Finds names and words in which a sentence differs from a statement: opposites, other names, other
words of one category."""

from __future__ import annotations

import re

import numpy as np

from memvault.model.note import Embed
from memvault.reasoning.sentences.sentence_words import OPPOSITE, terms_compared
from memvault.reasoning.sentences.value_placement import accompanies_opposite
from memvault.reasoning.sentences.word_overlap import Difference, WordOverlap
from memvault.verification.claims.claim_stems import canonical_stem, stems_of

_EXCEPT = re.compile(r"\b(?:others?|else|rest|except|remaining)\b", re.IGNORECASE)
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


def other_subjects(overlap: WordOverlap) -> frozenset[str] | None:
    """The names in the sentence's clauses that have the statement's words but not its name."""
    statement, sentence = overlap.statement, overlap.sentence
    shared = statement.keys("name") & sentence.keys("name")
    if not shared or sentence.keys("name") <= statement.keys("name"):
        return None
    clauses = {
        word.clause
        for word in sentence.tokens
        if word.kind == "word" and word.key in statement.keys("word")
    }
    names = {
        clause: {
            word.key for word in sentence.tokens if (word.kind, word.clause) == ("name", clause)
        }
        for clause in clauses
    }
    if not clauses or any(not keys or keys & shared for keys in names.values()):
        return None
    return frozenset().union(*names.values())


def other_name(overlap: WordOverlap) -> Difference | None:
    """The name that the sentence has in place of the statement's missing name, or None."""
    statement, sentence, missing = overlap.statement, overlap.sentence, overlap.missing_names
    others = frozenset(
        key
        for key in sentence.keys("name") - statement.keys("name") - overlap.context.keys("name")
        if not stems_of(sentence.words["name"][key]) <= statement.stems()
    )
    clauses = {word.clause for word in sentence.tokens if word.key in statement.keys("name")}
    if clauses:
        others &= {word.key for word in sentence.tokens if word.clause in clauses}
    if len(overlap.missing) > 1 or not overlap.has_values():
        return None
    if _EXCEPT.search(sentence.text):
        return None
    if sentence.says_only and not statement.denied and not overlap.missing:
        others = others or sentence.keys("name")
        return Difference("name", missing, others) if others else None
    if statement.denied or not others:
        return None
    in_same_place = [
        (name, other)
        for name in missing
        for other in others
        if set(statement.neighbours.get(name, ())) & set(sentence.neighbours.get(other, ())) - {""}
    ]
    if in_same_place:
        names, replacements = zip(*in_same_place, strict=True)
        return Difference("name", frozenset(names), frozenset(replacements))
    if not overlap.missing and len(others) == len(missing) == 1:
        return Difference("name", missing, others)
    return None
