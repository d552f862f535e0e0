"""Detects that one sentence states a cause of an effect and another that it prevents the effect."""

from __future__ import annotations

import re

from memvault.verification.claims.claim_stems import stems_of
from memvault.verification.claims.clause_words import DENIED, NEGATED, occurs

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


def opposed_causes(first: str, second: str) -> float:
    """The confidence, in [0, 1], that one sentence states a cause and the other its prevention.

    It is the similarity of the words before the verbs times the overlap of the words after them.
    """
    if any(occurs(pattern, text) for pattern in (NEGATED, DENIED) for text in (first, second)):
        return 0.0
    raises, lowers = _RAISES.search(first), _LOWERS.search(first)
    other_raises, other_lowers = _RAISES.search(second), _LOWERS.search(second)
    if raises and other_lowers and not (lowers or other_raises):
        verb, other_verb = raises, other_lowers
    elif lowers and other_raises and not (raises or other_lowers):
        verb, other_verb = lowers, other_raises
    else:
        return 0.0
    causes = stems_of(first[: verb.start()]), stems_of(second[: other_verb.start()])
    effects = stems_of(first[verb.end() :]), stems_of(second[other_verb.end() :])
    return min(jaccard(*causes), 1.0) * _overlap(*effects)


def _overlap(first: frozenset[str], second: frozenset[str]) -> float:
    """The share of the smaller set's words that the larger has."""
    return len(first & second) / min(len(first), len(second)) if first and second else 0.0


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """The Jaccard similarity of two sets; 0 if both are empty."""
    return len(first & second) / len(first | second) if first | second else 0.0
