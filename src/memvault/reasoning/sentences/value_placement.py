"""Finds which of a sentence's values belongs to a statement's words, by their distance."""

from __future__ import annotations

import re

from memvault.reasoning.sentences.sentence_words import BREAK, TOKEN, SentenceWords
from memvault.reasoning.sentences.word_overlap import Difference
from memvault.verification.claims.amounts import Amount, AmountKind, equal_amounts
from memvault.verification.claims.claim_stems import canonical_stem, stems_of

_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)\b", re.IGNORECASE)
_NEARER = 0.15  # least difference of two sums of 1 / distance for one word to be nearer


def comparable_numbers(statement: SentenceWords, sentence: SentenceWords) -> frozenset[str]:
    """The numbers of a sentence that are comparable with the statement's.

    "The 20th" is a day: it is compared with days and with other ordinals.
    """
    zero = frozenset("0") & sentence.keys("number")
    if not statement.amounts and _ORDINAL.search(statement.text):
        dates = [amount for amount in sentence.amounts if amount.kind is AmountKind.DATE]
        return frozenset(
            word.key
            for word in sentence.tokens
            if word.kind == "number"
            and (_ORDINAL.match(sentence.text, word.start) or word.is_in(dates))
        )
    if not statement.amounts:
        return sentence.keys("number")
    stems = sentence.stems()
    comparable = [
        noted
        for noted in sentence.amounts
        if any(
            (stated.kind, stated.unit) == (noted.kind, noted.unit) for stated in statement.amounts
        )
    ] or [
        noted
        for noted in sentence.amounts
        if any(_is_comparable(stated, noted, stems) for stated in statement.amounts)
    ]
    return zero | {
        word.key for word in sentence.tokens if word.kind == "number" and word.is_in(comparable)
    }


def nearest_value(
    statement: SentenceWords, sentence: SentenceWords, kind: str, keys: frozenset[str]
) -> frozenset[str]:
    """The one of these values of a sentence that is nearest to most of the statement's words."""
    weights = _weights(statement, sentence, kind, keys)
    return frozenset({max(weights, key=lambda key: weights[key])}) if weights else keys


def misplaced_value(statement: SentenceWords, sentence: SentenceWords) -> Difference | None:
    """A value of both that the sentence gives to another subject than the statement does, or None.

    The sentence's key is the value that it gives to the statement's subject.
    """
    subject = next((word.key for word in statement.tokens if word.is_content), "")
    return _number_nearer_to_words(statement, sentence, subject) or _value_nearer_to_subject(
        statement, sentence, subject
    )


def _number_nearer_to_words(
    statement: SentenceWords, sentence: SentenceWords, subject: str
) -> Difference | None:
    """The number in place of the shared one, which no word of the statement is near, or None."""
    numbers = comparable_numbers(statement, sentence)
    shared = _shared_values(statement, sentence, "number", numbers)
    if len(shared) != 1 or len(numbers) < 2 or statement.denied:
        return None
    subject_clauses = {word.clause for word in sentence.tokens if word.key == subject}
    value_clauses = {
        word.clause for word in sentence.tokens if word.kind == "number" and word.key in shared
    }
    if not subject_clauses.isdisjoint(value_clauses):
        return None
    weights = _weights(statement, sentence, "number", numbers, after_first=True)
    best = max(numbers, key=lambda key: weights.get(key, 0.0))
    is_elsewhere = weights.get(best, 0.0) > 0.0 == weights.get(next(iter(shared)), 0.0)
    return Difference("number", shared, frozenset({best})) if is_elsewhere else None


def _value_nearer_to_subject(
    statement: SentenceWords, sentence: SentenceWords, subject: str
) -> Difference | None:
    """The value that is nearer to the statement's subject than the shared one is, or None."""
    subject_words = [word for word in sentence.tokens if word.key == subject]
    if statement.denied or sentence.denied or len(subject_words) != 1:
        return None
    for kind in ("number", "weekday", "month", "name"):
        keys = comparable_numbers(statement, sentence) if kind == "number" else sentence.keys(kind)
        shared = _shared_values(statement, sentence, kind, keys)
        if len(shared) != 1 or len(keys) < 2 or subject in keys:
            continue
        distances = {
            word.key: word.distance(subject_words[0])
            for word in sentence.tokens
            if word.kind == kind and word.key in keys
        }
        best = min(distances, key=lambda key: distances[key])
        stated = next(iter(shared))
        is_far = distances[stated] - distances[best] >= BREAK
        if is_far and _has_other_subject(statement, sentence, kind, stated):
            return Difference(kind, shared, frozenset({best}))
    return None


def _shared_values(
    statement: SentenceWords, sentence: SentenceWords, kind: str, keys: frozenset[str]
) -> frozenset[str]:
    """The values that both sentences have, without numbers that are part of the same time."""
    shared = statement.keys(kind) & keys
    return frozenset(key for key in shared if not _is_of_same_time(statement, sentence, key))


def _is_of_same_time(statement: SentenceWords, sentence: SentenceWords, number: str) -> bool:
    """Whether a number is part of the same day or time in both sentences."""

    def times_with(words: SentenceWords) -> list[Amount]:
        of_number = [word for word in words.tokens if word.key == number]
        return [
            amount
            for amount in words.amounts
            if amount.kind in (AmountKind.DATE, AmountKind.TIME)
            and any(word.is_in([amount]) for word in of_number)
        ]

    return any(
        equal_amounts(time, other_time)
        for time in times_with(statement)
        for other_time in times_with(sentence)
    )


def accompanies_opposite(
    statement: SentenceWords, sentence: SentenceWords, opposite: str, word: str
) -> bool:
    """Whether the statement's other words are nearer to the opposite than to the word itself."""
    tokens = [match[0].lower() for match in TOKEN.finditer(sentence.text)]
    word_place, opposite_place = tokens.index(word), tokens.index(opposite)
    stems = {key for key in statement.stems() if key != canonical_stem(word)}
    score = 0.0
    for index, token in enumerate(tokens):
        if canonical_stem(token) not in stems or token in (word, opposite):
            continue
        to_word = _distance(tokens, index, word_place)
        to_opposite = _distance(tokens, index, opposite_place)
        score += 1.0 / max(1, to_opposite) - 1.0 / max(1, to_word)
    return score > _NEARER


def _distance(tokens: list[str], first: int, second: int) -> int:
    between = tokens[min(first, second) : max(first, second)]
    return abs(first - second) + BREAK * sum(x in ("and", ",", ";", "but") for x in between)


def _weights(
    statement: SentenceWords,
    sentence: SentenceWords,
    kind: str,
    keys: frozenset[str],
    *,
    after_first: bool = False,
) -> dict[str, float]:
    """The sum of 1 / distance of the statement's words nearest to each value of a sentence.

    Args:
        after_first: ignore words before the first value, which may refer to all values.
    """
    values = [word for word in sentence.tokens if word.kind == kind and word.key in keys]
    weights = dict.fromkeys((value.key for value in values), 0.0)
    stems = statement.stems()
    for word in sentence.tokens:
        if not word.is_content or word in values or word.is_in(sentence.amounts):
            continue
        if word.key not in stems and not (word.kind == "name" and stems_of(word.text) & stems):
            continue
        if after_first and word.place < values[0].place:
            continue
        distances = [word.distance(value) for value in values]
        least = min(distances, default=0)
        if distances.count(least) == 1:
            weights[values[distances.index(least)].key] += 1.0 / least if least else 1.0
    return weights


def _is_comparable(stated: Amount, noted: Amount, stems: frozenset[str]) -> bool:
    """Whether two amounts have the same unit; a bare number fits any unit that the words name.

    Of a date it fits only the year: "node 31" is no day of a month.
    """
    kinds = {stated.kind, noted.kind}
    if AmountKind.NUMBER in kinds:
        if AmountKind.VERSION in kinds:
            return False
        if AmountKind.DATE in kinds:
            return _has_year(stated) and _has_year(noted)
        if AmountKind.COUNT not in kinds:
            return AmountKind.TIME not in kinds
        return canonical_stem(stated.unit or noted.unit) in stems
    if kinds == {AmountKind.COUNT} and stated.unit in stems:
        return True
    return stated.unit != "" and stated.unit == noted.unit


def _has_year(amount: Amount) -> bool:
    """Whether an amount is a date with a year, or a number that may be a year."""
    first = amount.parts[0]
    return first is not None and 1_000 <= first < 3_000


def _has_other_subject(
    statement: SentenceWords, sentence: SentenceWords, kind: str, key: str
) -> bool:
    """Whether the clause with this value has words that the statement does not have."""
    stems = statement.stems()
    clauses = {word.clause for word in sentence.tokens if (word.kind, word.key) == (kind, key)}
    return any(
        word.clause in clauses and word.is_content and word.key not in stems
        for word in sentence.tokens
    )
