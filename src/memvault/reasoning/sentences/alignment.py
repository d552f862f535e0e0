"""Compares a statement with a sentence of a note, word by word.

The words of a sentence fall into kinds: numbers, months, weekdays, ordinals, periods, shares,
names, and all others. A statement contradicts a sentence that has most of its words

- if the sentence has another word of one kind in the same place ("on Sunday" for "on Saturday"),
- if it has the opposite of a word ("upper" for "lower"), or denies the statement,
- if it compares or orders two terms the other way round ("A before B" for "B before A"),
- if it gives the value to another subject ("9 euros for adults, 6 for children").
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

from memvault.model.note import Embed
from memvault.reasoning.sentences.sentence_words import (
    COMPARING,
    KINDS,
    LIGHT,
    OPPOSITE,
    SentenceWords,
    mostly_deny,
)
from memvault.reasoning.sentences.value_differences import compare_values
from memvault.reasoning.sentences.value_placement import misplaced_value
from memvault.reasoning.sentences.word_differences import (
    is_reversed,
    opposite_word,
    other_name,
    other_subjects,
    other_word,
)
from memvault.reasoning.sentences.word_overlap import Difference, WordOverlap, is_derived
from memvault.verification.claims.claim_stems import canonical_stem, stems_of

COVERED = 0.6  # least share of a statement's words in a sentence on the same subject
_OWN = 0.5  # least share without title and headings, for a sentence that supports or denies it
_COVERED_BUT_NAME = 0.34  # least share if the sentence has another name
# Words for the occasion of a statement, which say nothing of its topic.
_OCCASIONS = stems_of(
    "agree agrees agreed ask asks asked call calls called confirm confirms confirmed decide "
    "decides decided decision discuss discusses discussed speak speaks spoke talk talks talked "
    "tell tells told"
)
_CONFIDENCE = {"word": 0.6, "name": 0.8}  # of differing words and names
_VALUE_CONFIDENCE = 0.9  # of differing values
_OPPOSITE_BONUS = 0.1  # in the confidence that an opposite word contradicts


class Stance(StrEnum):
    """The stance of a sentence on a statement."""

    SUPPORTS = "supports"
    OTHER_VALUE = "other value"
    DENIES = "denies"


@dataclass(frozen=True, slots=True)
class Alignment:
    """The result of comparing a sentence with a statement.

    Attributes:
        confidence: in [0, 1].
        coverage: share of the statement's words that the sentence has with its title and headings.
        own_coverage: the same without title and headings.
        statement_words, sentence_words: their differing words, of one ``kind``.
        both_dated: whether both name a month, or both a weekday.
    """

    stance: Stance
    confidence: float
    coverage: float
    own_coverage: float
    kind: str = ""
    statement_words: tuple[str, ...] = ()
    sentence_words: tuple[str, ...] = ()
    both_dated: bool = False


def align(
    statement: SentenceWords, sentence: SentenceWords, context: SentenceWords, embed: Embed
) -> Alignment | None:
    """Compare a sentence of a note with a statement; None if they are not comparable.

    Args:
        context: the note's title and headings, which name the sentence's subject.
    """
    overlap = WordOverlap(statement, sentence, context, embed)
    if not _has_same_topic(overlap):
        return None
    if overlap.missing_names:  # another subject, unless it has another name in the same place
        return _other_value(overlap, other_name(overlap))
    denied = bool(statement.denied or sentence.denied)
    subjects = other_subjects(overlap)
    if subjects is not None:
        if overlap.missing or not overlap.has_values() or denied:
            return None
        shared = statement.keys("name") & sentence.keys("name")
        return _other_value(overlap, Difference("name", shared, subjects))
    values = compare_values(overlap)
    if not values.is_comparable:
        return None
    difference = values.difference or misplaced_value(statement, sentence)
    if difference is not None:
        return _other_value(overlap, difference)
    reversed_terms = None if overlap.missing else is_reversed(overlap)
    if reversed_terms is not None:
        return _agreement(overlap, Stance.DENIES if reversed_terms else Stance.SUPPORTS)
    opposite = opposite_word(overlap)
    if opposite is not None:
        return _replaced_word(overlap, *opposite, bonus=_OPPOSITE_BONUS)
    if len(overlap.missing) <= (1 if len(statement.keys("word")) > 2 else 0):
        stance = _support_or_denial(overlap)
        if stance is not None:
            return _agreement(overlap, stance)
    if 0 < len(overlap.missing) <= 2 and not denied and not COMPARING.search(statement.text):
        other = other_word(overlap, embed)
        return _replaced_word(overlap, *other) if other is not None else None
    return None


def _has_same_topic(overlap: WordOverlap) -> bool:
    """Whether the sentence, with its headings, has most words of the statement.

    The sentence itself must have one of them. A common value, such as a month, is not enough, nor
    are common words for a decision, with whom and when it was made.
    """
    stems, content_words = overlap.statement.stems(), overlap.statement.keys("word") - LIGHT
    if not stems - LIGHT or not (stems & overlap.sentence.stems() or overlap.synonyms):
        return False
    if content_words and content_words <= _OCCASIONS:
        return False
    return overlap.share >= (COVERED if not overlap.missing_names else _COVERED_BUT_NAME)


def _support_or_denial(overlap: WordOverlap) -> Stance | None:
    """Whether the sentence supports or denies the statement; None if neither."""
    statement, sentence = overlap.statement, overlap.sentence
    stems = statement.stems() - overlap.missing
    shared = stems & (sentence.stems() | overlap.synonyms.keys())
    scopes = _denial_scopes(overlap)
    shared |= statement.keys("word").intersection(chain(*scopes))
    values = frozenset(chain(*map(sentence.keys, KINDS)))
    shared_values = values.intersection(*[chain(*map(statement.keys, KINDS))])
    opposed = mostly_deny(scopes, shared | shared_values) != mostly_deny(
        statement.denials, overlap.note_stems | values
    )
    opposites = {
        canonical_stem(opposite)
        for word in sentence.lower_words
        for opposite in OPPOSITE.get(word, ())
    }
    denies_only_missing = overlap.missing and any(len(scope) < 2 for scope in statement.denials)
    is_stated = overlap.has_values() and overlap.own_share >= _OWN
    if opposed and is_stated and not denies_only_missing and not opposites & statement.denied:
        return Stance.DENIES
    is_uncertain = any(scope & shared for scope in scopes) and not statement.denied
    if not overlap.missing and is_stated and not opposed and not is_uncertain:
        return Stance.SUPPORTS
    return None


def _denial_scopes(overlap: WordOverlap) -> list[frozenset[str]]:
    """The words that each negation of the sentence denies, as words of the statement if known."""
    denials = overlap.sentence.denials
    own_word = {synonym: word for word, synonym in overlap.synonyms.items()}
    own_word |= {
        denied: word
        for denied in chain(*denials)
        for word in overlap.statement.keys("word")
        if is_derived(word, denied)
    }
    return [frozenset(own_word.get(stem, stem) for stem in scope) for scope in denials]


def _agreement(overlap: WordOverlap, stance: Stance) -> Alignment:
    return Alignment(stance, overlap.share, overlap.share, overlap.own_share)


def _replaced_word(
    overlap: WordOverlap, word: str, replacement: str, *, bonus: float = 0.0
) -> Alignment:
    confidence = overlap.share * _CONFIDENCE["word"] + bonus
    words = (word,), (replacement,)
    return Alignment(
        Stance.OTHER_VALUE, confidence, overlap.share, overlap.own_share, "word", *words
    )


def _other_value(overlap: WordOverlap, difference: Difference | None) -> Alignment | None:
    if difference is None:
        return None
    kind, statement_keys, sentence_keys = difference
    statement, sentence = overlap.statement, overlap.sentence
    return Alignment(
        Stance.OTHER_VALUE,
        overlap.share * _CONFIDENCE.get(kind, _VALUE_CONFIDENCE),
        overlap.share,
        overlap.own_share,
        kind,
        tuple(statement.words[kind][key] for key in sorted(statement_keys)),
        tuple(sentence.words[kind][key] for key in sorted(sentence_keys)),
        both_dated=any(statement.keys(k) and sentence.keys(k) for k in ("month", "weekday")),
    )
