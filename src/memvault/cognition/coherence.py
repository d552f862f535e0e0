"""Entropy and coherence of a set of memories.

Entropy says how far an answer can be relied on: how diverse the memories are.

Coherence says how well they fit together. A pair holds together as far as it is linked or similar
(noisy-or of the two),

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
import numpy.typing as npt

from memvault.model.note import Vector
from memvault.model.priority import make_way

Floats = npt.NDArray[np.float64]


def similarity(vectors: Sequence[Vector | None]) -> Floats:
    """(n, n) cosines of unit vectors; what has no vector resembles only itself."""
    kernel: Floats = similarities([vectors])[0]
    return kernel


def similarities(groups: Sequence[Sequence[Vector | None]]) -> Floats:
    """The same for groups of equal size: (groups, n, n)."""
    count = len(groups[0])
    every = [vector for group in groups for vector in group]
    known = next((vector for vector in every if vector is not None), None)
    if known is None:
        return np.broadcast_to(np.eye(count), (len(groups), count, count)).copy()
    nothing = np.zeros_like(known)
    rows = np.array([nothing if vector is None else vector for vector in every], np.float32)
    rows = rows.reshape(len(groups), count, -1)
    kernels = (rows @ rows.transpose(0, 2, 1)).astype(np.float64)
    diagonal = np.arange(count)
    kernels[:, diagonal, diagonal] = 1.0
    return kernels


def shares(weights: Sequence[float] | None, count: int) -> Floats:
    """Weights scaled to sum to 1, shape (count,); equal ones if none are given or all are 0."""
    if weights is not None:
        given = np.clip(np.asarray(weights, dtype=np.float64), 0.0, None)
        total = float(given.sum())
        if total > 0.0:
            return given / total
    return np.full(count, 1.0 / max(count, 1))


def entropy(kernel: Floats, weights: Sequence[float] | None = None) -> float:
    """Normalised von Neumann entropy in [0, 1] of a similarity kernel (n, n).

    ``weights`` (n,), not negative, say how much each memory counts; equal when absent. Fewer than
    two memories have entropy 0.
    """
    return float(entropies(kernel[None], shares(weights, kernel.shape[0]))[0])


def entropies(kernels: Floats, share: Floats) -> Floats:
    """The entropies (groups,) of kernels (groups, n, n), in each of which the memories count by
    the same shares (n,)."""
    groups, count = kernels.shape[:2]
    if count < 2:
        return np.zeros(groups)
    root = np.sqrt(share)
    eigenvalues = np.maximum(np.linalg.eigvalsh(kernels * (root[:, None] * root)), 1e-12)
    spread = -np.sum(eigenvalues * np.log(eigenvalues), axis=-1)
    normalised: Floats = np.clip(spread / np.log(count), 0.0, 1.0)
    return normalised


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
        make_way()
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
