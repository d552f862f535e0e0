"""Reads the claims of passages, and caches them: many questions find the same few passages."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import zip_longest

from cachetools import LRUCache

from memvault.search.relations.values import sentences
from memvault.text.words import letter_runs, name_key
from memvault.verification.amount_parsing import may_state_amount
from memvault.verification.amounts import Amount, AmountKind
from memvault.verification.claim_patterns import role_words, roles_in
from memvault.verification.claims import NAME, TEXT, Claim, Source
from memvault.verification.clause import (
    CLAUSE,
    EARLIER,
    PASSED_OVER,
    PAYING,
    RELATIVE,
    TAKEN_BACK,
    About,
    Clause,
    FindNames,
    Stated,
    Token,
    hints,
    readable,
    stems_among,
)
from memvault.verification.doubt import is_doubtful

MAX_KEY_WORDS = 4
MAX_VALUE_WORDS = 4
MAX_FIELD_WORDS = 10  # more words after a colon are speech or prose
MAX_ATTRIBUTE_WORDS = 3
_WHOLE_VALUE = 0.8  # least share of a field's value that a name covers to be the value
_ARTICLES = frozenset(("the", "a", "an", "our", "their"))
_SPEAKING = frozenset(("i", "we", "you", "he", "she", "they", "it"))
_BEING = frozenset(("is", "are", "was", "were"))
_AUXILIARY = _ARTICLES | frozenset(
    ("is", "are", "was", "were", "be", "been", "has", "have", "had", "now", "still", "will")
)
# Words between a part, or a neighbour, and the object to which it belongs or is near.
_JOINTS = frozenset(
    ("of", "for", "beside", "near", "behind", "next", "to", "under", "above", "in", "on", "with",
     "inside", "around", "from", "at", "by", "opposite")
)  # fmt: skip
_KEY_VALUE = re.compile(
    r"^(?P<key>[^\d:|.!?,;()]{2,40}?)\s*(?:::|:(?!\d|//)|\|)\s*(?P<value>\S.*)$"
)
_LIST = re.compile(r",|;|/|\band\b|\bor\b|&|\+", re.IGNORECASE)
_SINCE = re.compile(r",?\s*\(?\b(?:since|as of)\s.*", re.IGNORECASE | re.DOTALL)
_BACK = re.compile(r"\b(?:that|this|it|which) (?:was|is|were)\b", re.IGNORECASE)


def claims_of(text: str, source: Source, find_names: FindNames) -> list[Claim]:
    """The claims of a passage, without caching; see `Passage.claims`."""
    return Passage(text, source, find_names).claims()


class Passage:
    """A passage and its claims; each sentence is read when first needed.

    Args:
        find_names: finds start, end and key of the names of the vault in a text, except those of
            one node.
    """

    def __init__(self, text: str, source: Source, find_names: FindNames) -> None:
        self._low = text.lower()
        self._text = text
        self._source = source
        self._find_names = find_names

    @cached_property
    def _about(self) -> About:
        return About(self._source, self._find_names)

    @cached_property
    def _sentences(self) -> list[_Sentence]:
        told = sentences(self._text)
        return [_Sentence(raw, behind) for raw, behind in zip_longest(told, told[1:], fillvalue="")]

    def claims(self, wanted: frozenset[str] | None = None) -> list[Claim]:
        """The claims in the order of the text.

        Args:
            wanted: stems; sentences without a claim about an attribute with one of them are left
                out.
        """
        if wanted is None:
            return [claim for each in self._sentences for claim in each.claims(self._about)]
        marks = hints(wanted)
        if not _has_any(marks, self._low):
            return []
        return [
            claim
            for each in self._sentences
            if _has_any(marks, each.low) and each.may_state(wanted)
            for claim in each.claims(self._about, wanted)
        ]


class _Sentence:
    """A sentence and its claims.

    Args:
        raw: the sentence as written.
        behind: the sentence after it.
    """

    def __init__(self, raw: str, behind: str) -> None:
        self.low = raw.lower()
        self._raw = raw
        self._behind = behind
        self._attributes: frozenset[str] | None = None  # stems of its claims' attributes
        self._claims: list[Claim] | None = None

    @cached_property
    def _readable(self) -> str:
        return readable(self._raw)

    @cached_property
    def _stems(self) -> frozenset[str]:
        """The stems of the words that may name an attribute whose value the sentence states."""
        words = letter_runs(self._readable)
        if may_state_amount(self._readable, words):
            return stems_among(words)
        pair = _KEY_VALUE.match(self._readable)
        return stems_among((*(letter_runs(pair["key"]) if pair else ()), *role_words(words)))

    def may_state(self, wanted: frozenset[str]) -> bool:
        return not self._stems.isdisjoint(wanted)

    def claims(self, about: About, wanted: frozenset[str] | None = None) -> list[Claim]:
        """The claims of the sentence; empty if none is about a wanted attribute."""
        known = self._attributes
        if wanted is not None and known is not None and known.isdisjoint(wanted):
            return []
        if self._claims is None:
            stated = list(_stated(self._readable, about)) if self._readable else []
            self._attributes = frozenset(stem for each in stated for stem in each.attribute)
            if wanted is not None and self._attributes.isdisjoint(wanted):
                return []
            self._claims = [each.claim() for each in stated]
            if stated and is_doubtful(self._raw, about.source.heading):
                self._claims = [replace(claim, asserted=False) for claim in self._claims]
            if stated and TAKEN_BACK.match(readable(self._behind)):
                self._claims = [replace(claim, outdated=True) for claim in self._claims]
        return self._claims


def _has_any(marks: Sequence[str], low: str) -> bool:
    return any(map(low.__contains__, marks))  # half the time of a generator


def _stated(sentence: str, about: About) -> Iterator[Stated]:
    pair = _KEY_VALUE.match(sentence)
    if pair is not None and len(pair["value"].split()) <= MAX_FIELD_WORDS:
        key = Clause(sentence, pair["key"].strip(" *_-"), about.names(pair["key"]), about, ())
        if _is_field(key):
            yield from _of_field(sentence, key, pair["value"].strip(" .*_"), about)
            return
    words = letter_runs(sentence)
    if not may_state_amount(sentence, words) and next(role_words(words), None) is None:
        return
    named = about.names(sentence)
    for start, end in _clauses(sentence):
        names = [(a - start, b - start, key) for a, b, key in named if start <= a and b <= end]
        clause = Clause(sentence, sentence[start:end], names, about, named)
        yield from roles_in(clause)
        yield from _of_clause(clause)


def _is_field(key: Clause) -> bool:
    """Whether the text before a colon is a field's name, rather than a topic.

    In "Aurora: the contract ends in May" it is a topic.
    """
    if any(token.low in _SPEAKING for token in key.tokens):  # "We measured it: …"
        return False
    return len(key.tokens) <= MAX_KEY_WORDS and any(t.is_content for t in key.tokens)


def _clauses(sentence: str) -> list[tuple[int, int]]:
    """The start and end of each clause.

    A clause that only qualifies the one before ("…, but that was in 2019"), or shares its subject
    ("…, and kept for a week"), belongs to it.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in (*CLAUSE.finditer(sentence), None):
        end = match.start() if match is not None else len(sentence)
        clause = sentence[start:end]
        if spans and (_qualifies(clause) or clause.partition(" ")[0] in PASSED_OVER):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
        start = match.end() if match is not None else end
    return spans


def _qualifies(clause: str) -> bool:
    return EARLIER.search(f" {clause.lower()} ") is not None or _BACK.search(clause) is not None


# -- "key: value" ---------------------------------------------------------------------------------


def _of_field(sentence: str, key: Clause, value: str, about: About) -> Iterator[Stated]:
    words = [token.low for token in key.tokens if token.is_content]
    clause = Clause(sentence, value, key.names, about, ())
    found = None
    value = _SINCE.sub("", value) or value
    amounts = [amount for amount in clause.amounts if amount.end <= len(value)]
    if amounts:
        amount = _only_amount(amounts)
        if amount is not None:
            found = clause.claim(words, amount, value[amount.start : amount.end])
    elif not _LIST.search(value):
        named = about.names(value)
        whole = len(named) == 1 and named[0][1] - named[0][0] >= _WHOLE_VALUE * len(value)
        if whole:
            found = clause.claim(words, NAME + named[0][2], value)
        elif len(value.split()) <= MAX_VALUE_WORDS:
            found = clause.claim(words, TEXT + name_key(value), value)
    if found is not None:
        yield found


def _only_amount(amounts: Sequence[Amount]) -> Amount | None:
    """The only amount of a field, ignoring dates if it has others; None if there are several."""
    values = [a for a in amounts if a.kind is not AmountKind.DATE] or list(amounts)
    return values[0] if len(values) == 1 else None


# -- prose ----------------------------------------------------------------------------------------


def _of_clause(clause: Clause) -> Iterator[Stated]:
    tokens = clause.tokens if clause.amounts else []
    for place, token in enumerate(tokens):
        if token.amount < 0 or (place + 1 < len(tokens) and tokens[place + 1].low in RELATIVE):
            continue
        found = clause.claim(_beside(clause, place), clause.amounts[token.amount], token.text)
        if found is not None:
            yield found


def _beside(clause: Clause, place: int) -> list[str]:
    """The words that name the attribute of a value.

    They follow the value ("a $500k budget", "450k as budget"), else they precede it ("the budget of
    Aurora was raised to …").
    """
    amount = clause.amounts[clause.tokens[place].amount]
    front = _in_front(clause, place)
    if amount.kind not in (AmountKind.DATE, AmountKind.TIME):
        behind = _behind(clause.tokens, place, amount, front)
        if behind:
            return behind
    if amount.noun:
        return [amount.noun]
    front = _part_of(clause.tokens, place, front) + front
    return front or ([amount.unit] if amount.kind is AmountKind.COUNT else [])


def _behind(tokens: Sequence[Token], place: int, amount: Amount, front: Sequence[str]) -> list[str]:
    after = place + (2 if amount.kind is AmountKind.COUNT else 1)  # a count's noun is its unit
    words = _run(tokens, after, 1)
    if words or after >= len(tokens):
        return words
    joint = tokens[after].low
    spans = amount.kind is AmountKind.SPAN and joint == "of"  # "two weeks of notice"
    if spans or joint == "as" or (joint == "in" and (not front or front[-1] in PAYING)):
        after += 1
        return _run(tokens, after, 1)
    return []


def _in_front(clause: Clause, place: int) -> list[str]:
    """The nearest content words before a value, with the words after "of" or "for".

    For example "the *fine* for *late filing* is".
    """
    tokens, k = clause.tokens, place - 1
    while k >= 0 and not tokens[k].is_content:
        number = tokens[k].amount
        if tokens[k].text == ";" or (number >= 0 and not clause.amounts[number].earlier):
            return _shared_subject(tokens, k, place)
        k -= 1
    words = _run(tokens, k, -1)
    k -= len(words)
    if words:  # "the lease of the Mill Street *shop ends*": skip the name to find "of"
        while k >= 0 and tokens[k].name is not None:
            k -= 1
    while k >= 0 and tokens[k].low in _ARTICLES:
        k -= 1
    if words and k >= 1 and tokens[k].low in ("of", "for"):
        words += _run(tokens, k - 1, -1)
    return list(reversed(words))


def _shared_subject(tokens: Sequence[Token], first: int, place: int) -> list[str]:
    """The shared subject of two verbs: "*snapshots* are saved every 5 minutes and kept for 7 days".

    Args:
        first: index of the value of the first verb.
    """
    between = [token.low for token in tokens[first + 1 : place] if token.text != ","]
    has_verb = any(low in PASSED_OVER and low not in _JOINTS for low in between)
    verb = next((k for k in range(first) if tokens[k].low in _BEING), 0)
    if "and" not in between or not has_verb:
        return []
    return list(reversed(_run(tokens, verb - 1, -1)))


def _part_of(tokens: Sequence[Token], place: int, front: Sequence[str]) -> list[str]:
    """The words for a part of a named object, if the value belongs to it.

    For example "*the lid* of the kettle weighs"; empty for a subject that acts on the value ("the
    board of Aurora set …").
    """
    k = next((k for k in range(place) if front and tokens[k].low == front[0]), 0) - 1
    while k >= 0 and tokens[k].low in _AUXILIARY:
        k -= 1
    if k < 0 or tokens[k].name is None:
        return []
    while k >= 0 and tokens[k].name is not None:
        k -= 1
    if k < 0 or tokens[k].low not in _JOINTS:
        return []
    k -= 1
    while k >= 0 and tokens[k].low in (*_JOINTS, *_ARTICLES):
        k -= 1
    return list(reversed(_run(tokens, k, -1)))


def _run(tokens: Sequence[Token], k: int, step: int) -> list[str]:
    words: list[str] = []
    while 0 <= k < len(tokens) and tokens[k].is_content and len(words) < MAX_ATTRIBUTE_WORDS:
        words.append(tokens[k].low)
        k += step
    return words


KEPT = 4_000  # passages


class Passages:
    """Caches the claims of passages until the names of the vault change. Thread-safe.

    Args:
        find_names: finds the names of the vault in a text.
        state: gives a number that changes whenever ``find_names`` may give other results.
        kept: most passages that are cached; the least recently used are dropped first.
    """

    def __init__(
        self, find_names: FindNames, state: Callable[[], int] = lambda: 0, kept: int = KEPT
    ) -> None:
        self._find_names = find_names
        self._state = state
        self._lock = threading.Lock()
        self._read: LRUCache[tuple[str, Source], Passage] = LRUCache(kept)
        self._read_in = state()

    def claims(
        self, text: str, source: Source, wanted: frozenset[str] | None = None
    ) -> list[Claim]:
        """The claims of a passage; see `Passage.claims`."""
        return self._passage(text, source).claims(wanted)

    def _passage(self, text: str, source: Source) -> Passage:
        now = self._state()
        with self._lock:
            if now != self._read_in:
                self._read.clear()
                self._read_in = now
            passage = self._read.get((text, source))
            if passage is None:
                passage = self._read[text, source] = Passage(text, source, self._find_names)
            return passage
