"""How far an answer can be relied on."""

from __future__ import annotations


def confidence(relevance: float, *, verified: bool, outdated: bool) -> float:
    """Confidence in [0, 1]: the relevance, halved if another memory supersedes this one, else
    taken half of the way to 1 if a person has verified it."""
    if outdated:
        return relevance / 2.0
    return (1.0 + relevance) / 2.0 if verified else relevance
