"""Extracts the claims of passages, and caches them: many questions find the same few passages."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import zip_longest

from cachetools import LRUCache

from memvault.text.name_matcher import NameMatcher
from memvault.text.words import letter_runs, name_key
from memvault.vault.readable import readable, sentences
from memvault.verification.claims.amount_parsing import may_state_amount
from memvault.verification.claims.amounts import Amount, AmountKind
from memvault.verification.claims.attribute_words import attribute_words
from memvault.verification.claims.claim_stems import stems_among, substrings_for
from memvault.verification.claims.claims import NAME, TEXT, Claim, ClaimSource
from memvault.verification.claims.clause import Clause, NoteContext, StatedValue
from memvault.verification.claims.clause_words import (
    CLAUSE_BREAK,
    FORMER,
    RELATIVE_WORDS,
    RETRACTION,
    occurs,
)
from memvault.verification.claims.roles import role_words, roles_in
from memvault.verification.doubt import is_doubtful
from memvault.verification.vault_names import FindNames, names_in

MAX_KEY_WORDS = 4
MAX_VALUE_WORDS = 4
MAX_FIELD_WORDS = 10  # more words after a colon are speech or prose
_WHOLE_VALUE = 0.8  # least share of a field's value that a name covers to be the value
_PRONOUNS = frozenset(("i", "we", "you", "he", "she", "they", "it"))
_KEY_VALUE = re.compile(
    r"^(?P<key>[^\d:|.!?,;()]{2,40}?)\s*(?:::|:(?!\d|//)|\|)\s*(?P<value>\S.*)$"
)
_LIST = re.compile(r",|;|/|\band\b|\bor\b|&|\+", re.IGNORECASE)
_SINCE = re.compile(r",?\s*\(?\b(?:since|as of)\s.*", re.IGNORECASE | re.DOTALL)
_BACK_REFERENCE = re.compile(r"\b(?:that|this|it|which) (?:was|is|were)\b", re.IGNORECASE)


def claims_of(text: str, source: ClaimSource, find_names: FindNames) -> list[Claim]:
    """The claims of a passage, without caching; see `PassageClaims.claims`."""
    return PassageClaims(text, source, find_names).claims()


class PassageClaims:
    """A passage and its claims; each sentence is read when first needed.

    Args:
        find_names: finds start, end and key of the names of the vault in a text, except those of
            one node.
    """

    def __init__(self, text: str, source: ClaimSource, find_names: FindNames) -> None:
        self._low = text.lower()
        self._text = text
        self._source = source
        self._find_names = find_names

    @cached_property
    def _note(self) -> NoteContext:
        return NoteContext(self._source, self._find_names)

    @cached_property
    def _sentences(self) -> list[_ClaimSentence]:
        raw = sentences(self._text)
        return [_ClaimSentence(*pair) for pair in zip_longest(raw, raw[1:], fillvalue="")]

    def claims(self, attribute_stems: frozenset[str] | None = None) -> list[Claim]:
        """The claims in the order of the text.

        Args:
            attribute_stems: only claims about an attribute with one of these stems.
        """
        if attribute_stems is None:
            return [claim for sentence in self._sentences for claim in sentence.claims(self._note)]
        substrings = substrings_for(attribute_stems)
        if not _has_any(substrings, self._low):
            return []
        return [
            claim
            for sentence in self._sentences
            if _has_any(substrings, sentence.low) and sentence.may_state(attribute_stems)
            for claim in sentence.claims(self._note, attribute_stems)
        ]


class _ClaimSentence:
    """A sentence and its claims.

    Args:
        raw: the sentence as written.
        following: the sentence after it.
    """

    def __init__(self, raw: str, following: str) -> None:
        self.low = raw.lower()
        self._raw = raw
        self._following = following
        self._stated: list[StatedValue] | None = None
        self._claims: dict[int, Claim] = {}  # those made so far, by the index of their values

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

    def may_state(self, attribute_stems: frozenset[str]) -> bool:
        """Whether the sentence may state a value of an attribute with one of these stems."""
        return not self._stems.isdisjoint(attribute_stems)

    def claims(
        self, note: NoteContext, attribute_stems: frozenset[str] | None = None
    ) -> list[Claim]:
        """The claims of the sentence; of attributes with one of these stems, if any are given."""
        if self._stated is None:
            self._stated = list(_values_in(self._readable, note)) if self._readable else []
        return [
            self._claim(index, stated, note)
            for index, stated in enumerate(self._stated)
            if attribute_stems is None or not attribute_stems.isdisjoint(stated.attribute)
        ]

    def _claim(self, index: int, stated: StatedValue, note: NoteContext) -> Claim:
        claim = self._claims.get(index)
        if claim is None:
            claim = stated.clause.claim(stated)
            if is_doubtful(self._raw, note.source.heading):
                claim = replace(claim, asserted=False)
            if RETRACTION.match(readable(self._following)):
                claim = replace(claim, outdated=True)
            self._claims[index] = claim
        return claim


def _has_any(substrings: Sequence[str], low: str) -> bool:
    return any(map(low.__contains__, substrings))  # half the time of a generator


def _values_in(sentence: str, note: NoteContext) -> Iterator[StatedValue]:
    pair = _KEY_VALUE.match(sentence)
    if pair is not None and len(pair["value"].split()) <= MAX_FIELD_WORDS:
        key = Clause(sentence, pair["key"].strip(" *_-"), note.names(pair["key"]), note, ())
        if _is_field(key):
            field = _field_value(sentence, key, pair["value"].strip(" .*_"), note)
            if field is not None:
                yield field
            return
    words = letter_runs(sentence)
    if not may_state_amount(sentence, words) and next(role_words(words), None) is None:
        return
    all_names = note.names(sentence)
    for start, end in _clauses(sentence):
        names = [(a - start, b - start, key) for a, b, key in all_names if start <= a and b <= end]
        clause = Clause(sentence, sentence[start:end], names, note, all_names)
        yield from roles_in(clause)
        yield from _prose_values(clause)


def _is_field(key: Clause) -> bool:
    """Whether the text before a colon is a field's name, rather than a topic.

    In "Aurora: the contract ends in May" it is a topic.
    """
    if any(token.low in _PRONOUNS for token in key.tokens):  # "We measured it: …"
        return False
    return len(key.tokens) <= MAX_KEY_WORDS and any(t.is_content for t in key.tokens)


def _clauses(sentence: str) -> list[tuple[int, int]]:
    """The start and end of each clause.

    A clause that only qualifies the one before ("…, but that was in 2019") belongs to it.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in (*CLAUSE_BREAK.finditer(sentence), None):
        end = match.start() if match is not None else len(sentence)
        clause = sentence[start:end]
        if spans and _is_qualifier(clause):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
        start = match.end() if match is not None else end
    return spans


def _is_qualifier(clause: str) -> bool:
    return occurs(FORMER, clause) or _BACK_REFERENCE.search(clause) is not None


# -- "key: value" ---------------------------------------------------------------------------------


def _field_value(sentence: str, key: Clause, value: str, note: NoteContext) -> StatedValue | None:
    """The value of a field; None if its value is a list, or more than a few words."""
    words = [token.low for token in key.tokens if token.is_content]
    clause = Clause(sentence, value, key.names, note, ())
    value = _SINCE.sub("", value) or value
    amounts = [amount for amount in clause.amounts if amount.end <= len(value)]
    if amounts:
        amount = _only_amount(amounts)
        if amount is None:
            return None
        return clause.stated(words, amount, value[amount.start : amount.end])
    if _LIST.search(value):
        return None
    names = note.names(value)
    if len(names) == 1 and names[0][1] - names[0][0] >= _WHOLE_VALUE * len(value):
        return clause.stated(words, NAME + names[0][2], value)
    if len(value.split()) <= MAX_VALUE_WORDS:
        return clause.stated(words, TEXT + name_key(value), value)
    return None


def _only_amount(amounts: Sequence[Amount]) -> Amount | None:
    """The only amount of a field, ignoring dates if it has others; None if there are several."""
    values = [a for a in amounts if a.kind is not AmountKind.DATE] or list(amounts)
    return values[0] if len(values) == 1 else None


# -- prose ----------------------------------------------------------------------------------------


def _prose_values(clause: Clause) -> Iterator[StatedValue]:
    tokens = clause.tokens if clause.amounts else []
    for index, token in enumerate(tokens):
        if token.amount < 0 or (
            index + 1 < len(tokens) and tokens[index + 1].low in RELATIVE_WORDS
        ):
            continue
        stated = clause.stated(
            attribute_words(clause, index), clause.amounts[token.amount], token.text
        )
        if stated is not None:
            yield stated


MAX_CACHED = 4_000  # passages


class ClaimCache:
    """Caches the claims of passages until a name changes that they may contain. Thread-safe.

    Args:
        names: of the vault.
        max_cached: most passages that are cached; the least recently used are dropped first.
    """

    def __init__(self, names: NameMatcher, max_cached: int = MAX_CACHED) -> None:
        self._names = names
        self._find_names = names_in(names)
        self._lock = threading.Lock()
        # Each passage with the state of the names that it was read with.
        self._cache: LRUCache[tuple[str, ClaimSource], tuple[PassageClaims, int]] = LRUCache(
            max_cached
        )

    def claims(
        self, text: str, source: ClaimSource, attribute_stems: frozenset[str] | None = None
    ) -> list[Claim]:
        """The claims of a passage; see `PassageClaims.claims`."""
        return self._passage(text, source).claims(attribute_stems)

    def _passage(self, text: str, source: ClaimSource) -> PassageClaims:
        state, key = self._names.state(), (text, source)
        with self._lock:
            passage, read_at = self._cache.get(key, (None, 0))
        if passage is None or (read_at != state and self._is_outdated(text, source, read_at)):
            passage = PassageClaims(text, source, self._find_names)
        with self._lock:
            self._cache[key] = passage, state
        return passage

    def _is_outdated(self, text: str, source: ClaimSource, read_at: int) -> bool:
        texts = "\n".join((text, source.title, source.heading, source.project or ""))
        return self._names.has_changed(f"{texts}\n{readable(texts)}", read_at)
