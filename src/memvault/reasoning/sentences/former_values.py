"""Finds memories that still state what a sentence calls a former value.

For example "The lesson is at five now, no longer at four", "instead of Ada", "not 38 any more".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memvault.model.months import NAMED_MONTHS
from memvault.model.search import Hit
from memvault.search.property_text import shown_value, words_of_key
from memvault.search.question_languages import is_function_word_in
from memvault.text.replacements import FORMER_VALUES, replacements
from memvault.text.words import letter_runs
from memvault.vault.readable import readable, sentences
from memvault.verification.claims.amount_parsing import amounts_in
from memvault.verification.claims.amounts import Amount, AmountKind, equal_amounts
from memvault.verification.claims.claim_stems import stems_among, stems_of
from memvault.verification.claims.clause_words import FORMER, HEDGED, NEGATED, UPDATES, occurs


def still_stated(sentence: str, hit: Hit) -> str | None:
    """The sentence or property of a memory that states a former value of a sentence, or None.

    The sentence must share another word, which is no month, with that statement or with the
    memory's title.
    """
    for replacement in replacements(sentence, FORMER_VALUES):
        former = replacement.old.strip()
        others = f" {sentence[: replacement.start]} {sentence[replacement.end :]} ".lower()
        words = letter_runs(UPDATES.sub(" ", others))
        subject = stems_among(
            w for w in words if w not in NAMED_MONTHS and not is_function_word_in(sentence, w)
        )
        titles = stems_of(f"{hit.memory.title} {hit.heading}".lower())
        for text in _statements(hit):
            if subject & (titles | stems_of(text.lower())) and _states(text, former):
                return text
    return None


def _statements(hit: Hit) -> Iterator[str]:
    """The properties of a memory, and the sentences of its passage that assert something."""
    for key, value in hit.memory.properties.items():
        if shown := shown_value(value):
            yield f"{words_of_key(key)}: {shown}"
    for text in map(readable, sentences(hit.text)):
        if not any(occurs(pattern, text) for pattern in (NEGATED, FORMER, HEDGED)):
            yield text


def _states(text: str, former: str) -> bool:
    """Whether a text has the amounts of a former value or, if this has none, all its words."""
    amounts = amounts_in(former)
    if amounts:
        noted = amounts_in(text)
        return all(any(_is_same(amount, other) for other in noted) for amount in amounts)
    words = stems_of(former.lower())
    return bool(words) and words <= stems_of(text.lower())


def _is_same(former: Amount, noted: Amount) -> bool:
    """Whether two values are equal; a plain number has the unit of the other value."""
    if former.kind is AmountKind.NUMBER:
        return former.parts == noted.parts and not noted.earlier
    return equal_amounts(replace(former, per=""), replace(noted, per="")) is True
