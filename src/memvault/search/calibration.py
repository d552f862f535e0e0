"""Calibrated confidence: how probable it is that a memory answers the question.

A relevance of 0.4 may be certain in one vault and a guess in another. So confidence is a logistic
map (Platt 1999) of features that compare a memory with the others found for the same question. Its
coefficients are fitted on the development questions: memories that answer them, and memories found
for questions that the vault cannot answer (another vault's).

The embedding model affects only the cosine's share of the relevance, and its vectors are made
comparable with those of the default model (`memvault.text.common_part`), with which the maps were
fitted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memvault.model.search import FoundBy, Hit
from memvault.model.verification import Status, Verification
from memvault.search.context.properties import relevant_properties
from memvault.search.order import has_only_title
from memvault.search.question_languages import without_function_words
from memvault.text.stems import stems

Features = npt.NDArray[np.float64]
MAX_UNVERIFIED = 0.69  # confidence of a claim that nobody confirms (FR-46)
MIN_TITLE_CONFIDENCE = 0.05  # of a note that has only a title, to be shown for it
ALWAYS_SHOWN = 3  # first memories that are shown, however unlikely they answer
# The least confidence of another memory that is shown, if no number is asked for. In four question
# sets (docs/trials.md) 2 of the 661 notes that answer have less, and 12% of all results.
LEAST_SHOWN = 0.003
_MAX_ODDS = 30.0  # e**30 is close to the largest odds of a float


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic map; ``python -m tests.benchmarks.bench_calibration`` fits and evaluates it.

    Attributes (all but the first are the log-odds per unit of a feature):
        intercept: log-odds if every feature is 0.
        relevance: fused relevance.
        gap: relevance minus that of the best other memory.
        words: share of the question's words, weighted by rarity among the results, that the
            memory's title, heading and passage contain.
        rank: natural logarithm of its rank, counted from 1.
        step: relevance minus that of the next memory.
        relation: 1 if relations led to it.
        relation_relevance: its relevance if relations led to it.
        link: 1 if a link led to it.
    """

    intercept: float
    relevance: float = 0.0
    gap: float = 0.0
    words: float = 0.0
    rank: float = 0.0
    step: float = 0.0
    relation: float = 0.0
    relation_relevance: float = 0.0
    link: float = 0.0

    def confidences(self, features: Features) -> list[float]:
        """Probabilities in (0, 1).

        Args:
            features: (n, 8), from `features`.
        """
        weights = (
            self.relevance, self.gap, self.words, self.rank, self.step, self.relation,
            self.relation_relevance, self.link,
        )  # fmt: skip
        odds = np.clip(self.intercept + features @ np.array(weights), -_MAX_ODDS, _MAX_ODDS)
        return [float(p) for p in 1.0 / (1.0 + np.exp(-odds))]


# The probability that a memory answers the question.
ANSWERS = Calibration(
    intercept=-3.63,
    relevance=6.89,
    gap=2.27,
    words=3.90,
    rank=-1.91,
    step=0.45,
    relation=2.51,
    relation_relevance=-4.23,
    link=1.47,
)
# The probability that a memory is about the question's subject, fitted on vaults that know the
# subject and vaults that do not. One memory answers a question, but many serve a search for
# alternatives and do not compete, so this map uses neither rank nor gap.
CONCERNS = Calibration(intercept=-3.52, relevance=10.81, words=6.24, relation=9.98)


def features(query: str, hits: Sequence[Hit]) -> Features:
    """(n, 8) features of a question's hits, best first, as `Calibration` names them."""
    count = len(hits)
    relevances = [hit.relevance for hit in hits]
    texts = [text_with_properties(hit, query) for hit in hits]
    shares = word_shares(without_function_words(query), texts)
    rows = np.zeros((count, 8))
    for index, (relevance, hit) in enumerate(zip(relevances, hits, strict=True)):
        best_other = relevances[0] if index else (relevances[1] if count > 1 else 0.0)
        following = relevances[index + 1] if index + 1 < count else 0.0
        relation = float(hit.found_by is FoundBy.RELATION)
        link = float(hit.found_by is FoundBy.LINK)
        rows[index] = (
            relevance, relevance - best_other, shares[index], math.log(index + 1),
            relevance - following, relation, relation * relevance, link,
        )  # fmt: skip
    return rows


def text_with_properties(hit: Hit, query: str) -> str:
    """A passage with its headings and its note's properties that concern the question."""
    properties = relevant_properties(hit.memory, query)
    return " ".join((hit.memory.title, hit.heading, hit.text, *properties))


def word_shares(content: str, texts: Sequence[str]) -> list[float]:
    """The share of the stems of the question's content words that each text has.

    A stem in few of these texts weighs more: by its inverse document frequency among them,
    log(1 + n / (df + 1)).
    """
    query_stems = sorted(stems(content))
    text_stems = [stems(text) for text in texts]
    count = len(text_stems)
    weight = {
        stem: math.log(
            1.0 + count / (sum(stem in stems_of_text for stems_of_text in text_stems) + 1.0)
        )
        for stem in query_stems
    }
    total = sum(weight.values())
    if total <= 0.0:
        return [0.0] * count
    return [
        sum(weight[stem] for stem in query_stems if stem in stems_of_text) / total
        for stems_of_text in text_stems
    ]


def confidence(chance: float, verification: Verification) -> float:
    """Confidence in [0, 1] that a memory answers the question correctly.

    - Contradicted: its chance times its share of the witnesses.
    - Confirmed by the person's words, or marked by them as verified: 1 if it states the answer
      (FR-46), else its chance, and half of the way from there to 1 if it is marked.
    - The person's own words without confirmation by another note: the chance c that they answer;
      1 - (1 - c)² if they state the answer, so that a chance near 0 stays near 0.
    - A claim that nobody confirms: its chance, but under 0.7.
    """
    if verification.status is Status.CONTRADICTED:
        return chance * verification.score
    if not verification.verified:
        return min(chance, MAX_UNVERIFIED)
    if not verification.answers:
        return (1.0 + chance) / 2.0 if verification.marked else chance
    if verification.by_person and not verification.marked and not verification.confirmed_by:
        return 1.0 - (1.0 - chance) ** 2
    return 1.0


def confidence_if_right(hit: Hit) -> float:
    """The confidence of a hit without what other notes take from it by contradicting it."""
    if hit.verification.status is Status.CONTRADICTED:
        return hit.confidence / hit.verification.score
    return hit.confidence


def is_unrelated_title(hit: Hit) -> bool:
    """Whether a note was found by its title, has nothing but that, and hardly answers by it."""
    if hit.found_by is not FoundBy.TEXT or hit.confidence >= MIN_TITLE_CONFIDENCE:
        return False
    return has_only_title(hit)


def may_answer(hit: Hit, rank: int) -> bool:
    """Whether a question that asks for no number of results gets the hit of this rank, from 0.

    It gets the first ones, what lists and relations give, which confidence does not judge, and what
    is not all too unlikely.
    """
    is_listed = hit.relevance == 1.0 or hit.found_by in (FoundBy.LIST, FoundBy.RELATION)
    return rank < ALWAYS_SHOWN or is_listed or hit.confidence >= LEAST_SHOWN
