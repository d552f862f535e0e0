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


_ALONE = Surroundings()


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
    return coherences([ids], kernel[None], around, shares(weights, len(ids)))[0]


def coherences(
    groups: Sequence[Sequence[str]],
    kernels: Floats,
    around: Mapping[str, Surroundings],
    share: Floats,
) -> list[float]:
    """The same for groups of n ids: kernels (groups, n, n), and shares (n,) by which the memories
    of each count."""
    part: list[float] = share.tolist()
    found = []
    for ids, cosines in zip(groups, kernels.tolist(), strict=True):
        near = [around.get(key, _ALONE) for key in ids]
        whole = _mean_hold(ids, cosines, near, part) * (1.0 - _opposed_share(ids, near, part))
        found.append(min(max(whole, 0.0), 1.0))
    return found


def _mean_hold(
    ids: Sequence[str],
    cosines: Sequence[Sequence[float]],
    near: Sequence[Surroundings],
    part: Sequence[float],
) -> float:
    """Over all pairs, by weight; 1 where there is none."""
    held = total = 0.0
    for row, key in enumerate(ids):
        own = near[row].neighbours
        for column in range(row):
            other = near[column].neighbours
            weight = part[row] * part[column]
            total += weight
            if key in other or ids[column] in own:
                held += weight
                continue
            apart = 1.0 - min(max(cosines[row][column], 0.0), 1.0)
            if not own.isdisjoint(other):
                apart *= 1.0 - len(own & other) / sqrt(len(own) * len(other))
            held += weight * (1.0 - apart)
    return held / total if total > 0.0 else 1.0


def _opposed_share(
    ids: Sequence[str], near: Sequence[Surroundings], part: Sequence[float]
) -> float:
    """The share of those that one of the others contradicts."""
    return sum(
        share
        for each, share in zip(near, part, strict=True)
        if each.against and not each.against.isdisjoint(ids)
    )
