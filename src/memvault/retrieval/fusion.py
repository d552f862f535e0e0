"""Bringing the scores of several searches together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FusionSettings:
    """How dense and keyword scores become one relevance.

    Attributes:
        dense_weight: share of the dense score, in [0, 1]; the rest is the keyword score's.
        candidates: chunks asked of each search, at least.
    """

    dense_weight: float = 0.3
    candidates: int = 100


def normalised(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores divided by the greatest, in [0, 1]; negative ones count as nothing."""
    best = max(scores.values(), default=0.0)
    if best <= 0.0:
        return dict.fromkeys(scores, 0.0)
    return {key: max(0.0, score) / best for key, score in scores.items()}


def fused(
    dense: Mapping[str, float], keywords: Mapping[str, float], settings: FusionSettings
) -> dict[str, float]:
    """Weighted sum of both normalised scores; what one search did not find has none of it."""
    near, named = normalised(dense), normalised(keywords)
    weight = settings.dense_weight
    return {
        key: weight * near.get(key, 0.0) + (1.0 - weight) * named.get(key, 0.0)
        for key in near.keys() | named.keys()
    }
