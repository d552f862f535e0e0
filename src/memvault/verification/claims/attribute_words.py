"""Finds the words that name the attribute of a value in a clause: "the *budget* is 5k EUR"."""

from __future__ import annotations

from collections.abc import Sequence

from memvault.verification.claims.amounts import Amount, AmountKind
from memvault.verification.claims.clause import Clause, Token
from memvault.verification.claims.clause_words import PAYING_WORDS

MAX_ATTRIBUTE_WORDS = 3
_ARTICLES = frozenset(("the", "a", "an", "our", "their"))
_AUXILIARY = _ARTICLES | frozenset(
    ("is", "are", "was", "were", "be", "been", "has", "have", "had", "now", "still", "will")
)
_PARTS_OF_TIME = frozenset(("start", "beginning", "middle", "end", "close"))
# Words between a part, or a neighbour, and the object to which it belongs or is near.
_PREPOSITIONS = frozenset(
    ("of", "for", "beside", "near", "behind", "next", "to", "under", "above", "in", "on", "with",
     "inside", "around", "from", "at", "by", "opposite")
)  # fmt: skip


def attribute_words(clause: Clause, index: int) -> list[str]:
    """The words that name the attribute of a value.

    They follow the value ("a $500k budget", "450k as budget"), else they precede it ("the budget of
    Aurora was raised to …").
    """
    amount = clause.amounts[clause.tokens[index].amount]
    before = _words_before(clause, index)
    if amount.kind not in (AmountKind.DATE, AmountKind.TIME):
        after = _words_after(clause.tokens, index, amount, before)
        if after:
            return after
    if amount.noun:
        return [amount.noun]
    before = _part_of(clause.tokens, index, before) + before
    return before or ([amount.unit] if amount.kind is AmountKind.COUNT else [])


def _words_after(
    tokens: Sequence[Token], index: int, amount: Amount, before: Sequence[str]
) -> list[str]:
    """The content words after a value, if they name its attribute."""
    after = index + (2 if amount.kind is AmountKind.COUNT else 1)  # a count's noun is its unit
    words = _content_run(tokens, after, 1)
    if words or after >= len(tokens):
        return words
    link = tokens[after].low
    is_span_of = amount.kind is AmountKind.SPAN and link == "of"  # "two weeks of notice"
    is_paid_in = link == "in" and (not before or before[-1] in PAYING_WORDS)
    if is_span_of or link == "as" or is_paid_in:
        after += 1
        return _content_run(tokens, after, 1)
    return []


def _words_before(clause: Clause, place: int) -> list[str]:
    """The nearest content words before a value, with the words after "of" or "for".

    For example "the *fine* for *late filing* is".
    """
    tokens, k = clause.tokens, place - 1
    amount = clause.amounts[tokens[place].amount]
    if k >= 1 and amount.kind is AmountKind.DATE and tokens[k].low == "of":
        k -= 2 if tokens[k - 1].low in _PARTS_OF_TIME else 0  # of the value: "the end of 2026"
    while k >= 0 and not tokens[k].is_content:
        index = tokens[k].amount
        if tokens[k].text == ";" or (index >= 0 and not clause.amounts[index].earlier):
            return []
        k -= 1
    words = _content_run(tokens, k, -1)
    k -= len(words)
    if words:  # "the lease of the Mill Street *shop ends*": skip the name to find "of"
        while k >= 0 and tokens[k].name is not None:
            k -= 1
    while k >= 0 and tokens[k].low in _ARTICLES:
        k -= 1
    if words and k >= 1 and tokens[k].low in ("of", "for"):
        words += _content_run(tokens, k - 1, -1)
    return list(reversed(words))


def _part_of(tokens: Sequence[Token], index: int, attribute: Sequence[str]) -> list[str]:
    """The words for a part of a named object, if the value belongs to it.

    For example "*the lid* of the kettle weighs"; empty for a subject that acts on the value ("the
    board of Aurora set …").
    """
    k = next((k for k in range(index) if attribute and tokens[k].low == attribute[0]), 0) - 1
    while k >= 0 and tokens[k].low in _AUXILIARY:
        k -= 1
    if k < 0 or tokens[k].name is None:
        return []
    while k >= 0 and tokens[k].name is not None:
        k -= 1
    if k < 0 or tokens[k].low not in _PREPOSITIONS:
        return []
    k -= 1
    while k >= 0 and tokens[k].low in (*_PREPOSITIONS, *_ARTICLES):
        k -= 1
    return list(reversed(_content_run(tokens, k, -1)))


def _content_run(tokens: Sequence[Token], k: int, step: int) -> list[str]:
    """The content words from a place on, in the direction of ``step``."""
    words: list[str] = []
    while 0 <= k < len(tokens) and tokens[k].is_content and len(words) < MAX_ATTRIBUTE_WORDS:
        words.append(tokens[k].low)
        k += step
    return words
