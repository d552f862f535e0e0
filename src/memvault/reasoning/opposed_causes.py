"""Detects that one sentence states a cause of an effect and another that it prevents the effect."""

from __future__ import annotations

import re

from memvault.verification.claim_stems import stems_of
from memvault.verification.clause_words import DENIED, NEGATED

_RAISES = re.compile(
    r"\b(?:causes?|caused|leads? to|led to|results? in|resulted in|increases?|increased|raises?|"
    r"raised|triggers?|triggered|brings? about|worsens?|worsened|produces?)\b",
    re.IGNORECASE,
)
_LOWERS = re.compile(
    r"\b(?:prevents?|prevented|stops?|stopped|avoids?|avoided|reduces?|reduced|lowers?|lowered|"
    r"hinders?|protects? against|cures?|eliminates?|eliminated|rules? out)\b",
    re.IGNORECASE,
)


def causes_opposed(one: str, other: str) -> float:
    """The confidence, in [0, 1], that one sentence states a cause and the other its prevention.

    It is the similarity of the words before the verbs times the overlap of the words after them.
    """
    raising, lowering = _RAISES.search(one), _LOWERS.search(one)
    raised, lowered = _RAISES.search(other), _LOWERS.search(other)
    if _denies(one) or _denies(other):
        return 0.0
    if raising and lowered and not (lowering or raised):
        first, second = raising, lowered
    elif lowering and raised and not (raising or lowered):
        first, second = lowering, raised
    else:
        return 0.0
    fronts = stems_of(one[: first.start()]), stems_of(other[: second.start()])
    behind = stems_of(one[first.end() :]), stems_of(other[second.end() :])
    return min(jaccard(*fronts), 1.0) * _overlap(*behind)


def _denies(sentence: str) -> bool:
    low = f" {sentence.lower()} "
    return NEGATED.search(low) is not None or DENIED.search(low) is not None


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the smaller set's words that the larger has."""
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """The Jaccard similarity of two sets; 0 if both are empty."""
    return len(one & other) / len(one | other) if one | other else 0.0
