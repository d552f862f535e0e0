"""Finds values in which a sentence differs from a statement: numbers, days, months, shares, …"""

from __future__ import annotations

import re
from typing import NamedTuple

from memvault.reasoning.sentences.sentence_words import KINDS, LIGHT, SentenceWords
from memvault.reasoning.sentences.value_placement import comparable_numbers, nearest_value
from memvault.reasoning.sentences.word_overlap import Difference, WordOverlap
from memvault.verification.claims.amounts import AmountKind, equal_amounts
from memvault.verification.claims.claim_stems import stems_of

_VALUES = ("number", "weekday", "month", "ordinal", "period", "share", "shortcut", "ending")
# Words that say which of many it is, or only that it takes place.
_WITHOUT_TOPIC = LIGHT | stems_of(
    "next last new first second previous following upcoming prochain prochaine dernier dernière "
    "nächste nächster nächstes letzte letzter próximo próxima último última prossimo prossima "
    "ultimo ultima volgende vorige laatste следующий следующая"
)
_DEFINITE = re.compile(
    r"\W*(?:(?:the|this|our|my|le|la|les|notre|der|die|das|unser|il|lo|gli|el|los|las|os?|de|het)\b"
    r"|l['’])",
    re.IGNORECASE,
)
_SHORT = 2  # letters of words that say nothing in most languages: "le", "am", "il"


class ValueComparison(NamedTuple):
    """The result of comparing values: the first difference, if any.

    ``is_comparable`` is false if too much differs, or the values belong to something else.
    """

    difference: Difference | None = None
    is_comparable: bool = True


_EQUAL = ValueComparison()
_INCOMPARABLE = ValueComparison(is_comparable=False)


def compare_values(overlap: WordOverlap) -> ValueComparison:
    """Compare the values of a statement with those of a sentence."""
    statement, sentence = overlap.statement, overlap.sentence
    kinds = _differing_kinds(overlap)
    if len(kinds) > 1 and (overlap.missing or len(kinds - {"date", "ordinal"}) > 1):
        return _INCOMPARABLE
    if len(overlap.missing) > 1 or overlap.opposites:
        return _EQUAL
    for kind in _VALUES:
        stated = statement.keys(kind) - sentence.keys(kind) - overlap.context.keys(kind)
        others = (
            comparable_numbers(statement, sentence) if kind == "number" else sentence.keys(kind)
        )
        others -= statement.keys(kind)
        if not stated or not others:
            continue
        if overlap.is_of_other_object() or _is_other_occasion(overlap, kind):
            return _INCOMPARABLE
        if _is_no_difference(overlap, kind):
            continue
        affirmed = others - sentence.denied
        if affirmed and not statement.denied:
            others = affirmed  # "up to 300k, not 500k"
        elif bool(statement.denied) != bool(sentence.denied & sentence.keys(kind)):
            return _INCOMPARABLE
        return ValueComparison(
            Difference(kind, stated, nearest_value(statement, sentence, kind, others))
        )
    return _EQUAL


def _is_no_difference(overlap: WordOverlap, kind: str) -> bool:
    """Whether unequal values of this kind need not contradict each other."""
    if kind == "number":
        return _has_same_amounts(overlap) or _is_stated_as_part(overlap)
    return kind in ("share", "ordinal", "period") and bool(overlap.missing)


def _differing_kinds(overlap: WordOverlap) -> set[str]:
    statement, sentence = overlap.statement, overlap.sentence
    return {
        "date" if kind in ("month", "weekday") else kind
        for kind in KINDS
        if statement.keys(kind) - sentence.keys(kind) - overlap.context.keys(kind)
        and sentence.keys(kind)
    }


def _is_other_occasion(overlap: WordOverlap, kind: str) -> bool:
    """Whether the two give days of different occasions, such as two appointments.

    They do if the sentence says with whom or for what the occasion is, and the statement says
    something else, or only names it ("Next appointment on 4 December"). "The regatta" is the same
    occasion in both.
    """
    statement, sentence = overlap.statement, overlap.sentence
    if _DEFINITE.match(statement.text):
        return False
    if kind != "weekday" and not (_names_day(statement) and _names_day(sentence)):
        return False
    topic, other_topic = _topic(statement), _topic(sentence)
    is_other = bool(topic & overlap.missing) or len(topic & other_topic) <= 1
    return bool(other_topic - topic) and is_other


def _names_day(sentence: SentenceWords) -> bool:
    return any(a.kind is AmountKind.DATE and a.parts[2] for a in sentence.amounts)


def _topic(sentence: SentenceWords) -> frozenset[str]:
    """Its words and names, but for those of its days and sums and those that say which of many."""
    return frozenset(
        word.key
        for word in sentence.tokens
        if word.is_content
        and len(word.text) > _SHORT
        and word.key not in _WITHOUT_TOPIC
        and not word.is_in(sentence.amounts)
    )


def _is_stated_as_part(overlap: WordOverlap) -> bool:
    """Whether the sentence's value is stated as a part ("pays half of the 780 euros")."""
    stems = overlap.statement.stems()
    clauses = {
        word.clause
        for word in overlap.sentence.tokens
        if word.kind == "share" and word.key not in overlap.statement.keys("share")
    }
    return any(word.clause in clauses and word.key in stems for word in overlap.sentence.tokens)


def _has_same_amounts(overlap: WordOverlap) -> bool:
    """Whether each amount of the statement equals one of the sentence's of the same unit.

    Amounts without a counterpart in the sentence do not count.
    """
    comparisons = [
        [
            equal_amounts(amount, other) is not False
            for other in overlap.sentence.amounts
            if (amount.kind, amount.unit) == (other.kind, other.unit)
        ]
        for amount in overlap.statement.amounts
    ]
    with_counterpart = [equal for equal in comparisons if equal]
    return bool(with_counterpart) and all(map(any, with_counterpart))
