"""How well a set of memories hangs together: links among them, agreement, contradictions.

Each pair of memories holds together as far as it is linked or says alike (noisy-or of the two),

    hold(i, j) = 1 - (1 - link(i, j)) * (1 - max(0, cos(i, j)))

where ``link`` is 1 for a direct edge and else the share of neighbours the two have in common
(Salton index). Coherence is the weighted mean of ``hold`` over all pairs, times the share of the
memories, by weight, that contradict none of the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from memvault.cognition.entropy import Floats, shares


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around one memory in the graph, by node id; none is a neighbour of itself.

    ``against`` are the neighbours it contradicts or is contradicted by; ``outdated_by`` those of
    them that say it no longer holds.
    """

    neighbours: Set[str] = field(default_factory=frozenset)
    against: Set[str] = field(default_factory=frozenset)
    outdated_by: Set[str] = field(default_factory=frozenset)


def link_matrix(ids: Sequence[str], around: Mapping[str, Surroundings]) -> Floats:
    """(n, n) strength of the link of each pair, in [0, 1]; symmetric, the diagonal is 0."""
    sets = [around[key].neighbours if key in around else frozenset[str]() for key in ids]
    links = np.zeros((len(ids), len(ids)))
    for row, (key, own) in enumerate(zip(ids, sets, strict=True)):
        for column in range(row):
            other = sets[column]
            if key in other or ids[column] in own:
                links[row, column] = 1.0
            elif not own.isdisjoint(other):
                links[row, column] = len(own & other) / sqrt(len(own) * len(other))
    return links + links.T


def coherence(
    ids: Sequence[str],
    kernel: Floats,
    around: Mapping[str, Surroundings],
    weights: Sequence[float] | None = None,
) -> float:
    """Coherence in [0, 1] of the memories named by ``ids``.

    Args:
        ids: n node ids.
        kernel: (n, n) cosines, in the order of ``ids``.
        around: the surroundings of each id; an id without any counts as unlinked.
        weights: (n,) not negative, how much each counts; equal when absent.

    Nothing at all has coherence 0, a single memory 1.
    """
    if not ids:
        return 0.0
    return float(coherences([ids], kernel[None], around, shares(weights, len(ids)))[0])


def coherences(
    groups: Sequence[Sequence[str]],
    kernels: Floats,
    around: Mapping[str, Surroundings],
    share: Floats,
) -> Floats:
    """The same for groups of n ids: kernels (groups, n, n), and shares (n,) by which the memories
    of each count."""
    count = len(groups[0])
    pairs = share[:, None] * share
    np.fill_diagonal(pairs, 0.0)
    total = float(pairs.sum())
    if count == 1 or total <= 0.0:
        mean = np.ones(len(groups))
    else:
        links = np.array([link_matrix(ids, around) for ids in groups])
        hold = 1.0 - (1.0 - links) * (1.0 - np.clip(kernels, 0.0, 1.0))
        mean = (hold * pairs).sum(axis=(1, 2)) / total
    opposed = np.array([_opposed_share(ids, around, share) for ids in groups])
    clamped: Floats = np.clip(mean * (1.0 - opposed), 0.0, 1.0)
    return clamped


def _opposed_share(ids: Sequence[str], around: Mapping[str, Surroundings], part: Floats) -> float:
    """The share of those that one of the others contradicts."""
    return sum(
        float(share)
        for key, share in zip(ids, part, strict=True)
        if key in around and around[key].against and not around[key].against.isdisjoint(ids)
    )
