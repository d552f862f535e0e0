"""How surely two sentences say the opposite about a cause: one that it brings something about, the
other that it hinders it."""

from __future__ import annotations

import re

from memvault.verification.clause import DENIED, NEGATED, stems_of

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
    """Confidence that of two sentences about the same subjects one states that the first causes
    the second and the other that it prevents it: the share of common other words."""
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
    """The share of the shorter that the longer has."""
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the words of both that each has."""
    return len(one & other) / len(one | other) if one | other else 0.0
