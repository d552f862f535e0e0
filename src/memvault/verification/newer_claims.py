"""Finds newer claims of others about what a note states.

A client that learns that the rent is 750 stores a note of its own; the person's note still says
700. Neither confirms the other, so the answer names the newer next to the older.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property, lru_cache
from typing import NamedTuple

from memvault.model.memory import Memory
from memvault.model.months import MONTHS, WEEKDAYS
from memvault.model.search import Hit
from memvault.model.verification import NewerClaim
from memvault.search.property_text import shown_value, words_of_key
from memvault.text.words import letter_runs
from memvault.vault.readable import readable, sentences
from memvault.verification.claims.amount_parsing import amounts_in
from memvault.verification.claims.amounts import Amount, equal_amounts
from memvault.verification.claims.claim_stems import stems_of
from memvault.verification.claims.clause_words import NEGATED, UPDATES, occurs

FIRST_HITS = 5  # hits that newer claims are looked for
MAX_NEWER = 2  # named next to a memory
MIN_SHARED = 2  # words of a claim that a memory has, too
MIN_SHARE = 0.5  # of the claim's words

_DAY_STEMS = stems_of(" ".join((*MONTHS, *WEEKDAYS)))

_REASON = re.compile(
    r"(?<=\w),?\s+(?:because|so that|weil|damit|parce qu|porque|perché|omdat)", re.IGNORECASE
)

ChangedAt = Callable[[str], datetime | None]
"""When the note at a path was last saved; None if that is unknown."""


class _ComparedSentence:
    """A sentence: its stems without those of days, of change and of reasons, and its values."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.all_stems = stems_of(text.lower())
        self._stated = _REASON.split(text, 1)[0]
        self.stems = stems_of(UPDATES.sub(" ", f" {self._stated.lower()} ")) - _DAY_STEMS

    @cached_property
    def amounts(self) -> list[Amount]:
        return [amount for amount in amounts_in(self._stated) if not amount.earlier]

    @cached_property
    def weekdays(self) -> set[str]:
        words = (word.removesuffix("s") for word in letter_runs(self.text))
        return {word for word in words if word in WEEKDAYS}

    @cached_property
    def says_change(self) -> bool:
        return occurs(UPDATES, self.text) or occurs(NEGATED, self.text)

    def differs_from(self, other: _ComparedSentence) -> bool:
        """Whether it says that something changed, or has another value than a similar sentence."""
        return (
            self.says_change
            or bool(self.weekdays and other.weekdays and self.weekdays - other.weekdays)
            or any(_is_other(amount, other.amounts) for amount in self.amounts)
        )


def newer_claims(
    question: str, hits: Sequence[Hit], changed_at: ChangedAt
) -> list[tuple[NewerClaim, ...]]:
    """For each hit, the newer claims among the other hits about what it states, newest first.

    Only the first `FIRST_HITS` get any, since later ones rarely answer the question.
    """
    saved = [changed_at(hit.memory.path) for hit in hits]
    claims = [
        (when, hit)
        for when, hit in zip(saved, hits, strict=True)
        if when is not None and hit.memory.is_claim
    ]
    newer: list[list[NewerClaim]] = [[] for _ in hits]
    if not claims:
        return [()] * len(hits)
    stated = [_Statements.of(hit, stems_of(question)) for hit in hits[:FIRST_HITS]]
    for claimed_at, claim in sorted(claims, key=lambda pair: pair[0], reverse=True):
        if all(when is None or when >= claimed_at for when in saved[:FIRST_HITS]):
            break
        sentences_of_claim = _sentences_of(claim)
        matches = [
            (0, None) if hit is claim else statements.nearest(sentences_of_claim)
            for hit, statements in zip(hits, stated, strict=False)
        ]
        highest = max(count for count, _ in matches)
        for of_hit, when, (count, sentence) in zip(newer, saved, matches, strict=False):
            if sentence is not None and count == highest and when is not None and when < claimed_at:
                of_hit.append(NewerClaim(claim.memory, claim.lines, sentence, claimed_at))
    return [tuple(of_hit[:MAX_NEWER]) for of_hit in newer]


class _Statements(NamedTuple):
    """The statements of a hit, and the words of the question that they may answer.

    Attributes:
        titles: the stems of its title and heading.
        wanted: the stems of the question; without those of the titles if others remain, unless the
            hit is a claim.
        sentences: its sentences and properties.
        stems: the stems of titles and sentences.
    """

    titles: frozenset[str]
    wanted: frozenset[str]
    sentences: list[_ComparedSentence]
    stems: frozenset[str]

    @classmethod
    def of(cls, hit: Hit, question_stems: frozenset[str]) -> _Statements:
        titles = stems_of(f"{hit.memory.title} {hit.heading}".lower())
        stated = [*_sentences_of(hit), *_properties_of(hit.memory)]
        stems = titles.union(*(sentence.all_stems for sentence in stated))
        is_named_by_text = hit.memory.is_claim  # its title is often its first sentence
        others = question_stems if is_named_by_text else question_stems - titles
        return cls(titles, others or question_stems, stated, stems)

    def nearest(self, claims: Sequence[_ComparedSentence]) -> tuple[int, str | None]:
        """The number of stems shared with the nearest of these claims, and its text if it differs.

        0 and None if no claim is about what the hit states. Of equally near ones, one that differs.
        """
        most, differing = 0, None
        for claim in claims:
            least = max(MIN_SHARED, MIN_SHARE * len(claim.stems))
            if len(claim.stems & self.stems) < max(least, most):
                continue  # quicker than comparing sentences; most claims end here
            in_titles = claim.stems & self.titles
            for sentence in self.sentences:
                stems = sentence.all_stems
                count = len(claim.stems & stems | in_titles)
                if (
                    (count > most or (count == most and differing is None))
                    and count >= least
                    and claim.stems & stems
                    and self.wanted & (claim.stems | stems)
                ):
                    most = count
                    differing = claim.text if claim.differs_from(sentence) else None
        return most, differing


def _is_other(amount: Amount, others: Sequence[Amount]) -> bool:
    """Whether some of the others can be compared with an amount, and none is equal.

    A period that only one of two names does not matter: a row of a table has it in its head.
    """
    comparisons = [
        equal_amounts(amount, other)
        if amount.per and other.per
        else equal_amounts(replace(amount, per=""), replace(other, per=""))
        for other in others
    ]
    return False in comparisons and True not in comparisons


def _sentences_of(hit: Hit) -> list[_ComparedSentence]:
    return [_sentence(readable(text)) for text in sentences(hit.text)]


def _properties_of(memory: Memory) -> list[_ComparedSentence]:
    shown = ((key, shown_value(value)) for key, value in memory.properties.items())
    return [_sentence(f"{words_of_key(key)}: {value}") for key, value in shown if value]


_sentence = lru_cache(maxsize=4_000)(_ComparedSentence)  # the same passages answer many questions
