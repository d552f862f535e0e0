"""Entropy and coherence of a set of memories.

Entropy measures how diverse the memories are, and so how reliable an answer from them is.

Coherence measures how well they fit together. The bond of a pair is the noisy-or of its link and
its similarity,

    hold(i, j) = 1 - (1 - link(i, j)) * (1 - max(0, cos(i, j)))

where ``link`` is 1 for a direct edge and otherwise the share of common neighbours (Salton index).
Coherence is the weighted mean of ``hold`` over all pairs, times the share of the memories, by
weight, that contradict none of the others.
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
    """The (n, n) cosines of unit vectors; a memory without a vector is similar only to itself."""
    kernel: Floats = similarities([vectors])[0]
    return kernel


def similarities(groups: Sequence[Sequence[Vector | None]]) -> Floats:
    """The cosines within each of several groups of equal size, (groups, n, n); see `similarity`."""
    count = len(groups[0])
    all_vectors = [vector for group in groups for vector in group]
    example = next((vector for vector in all_vectors if vector is not None), None)
    if example is None:
        return np.broadcast_to(np.eye(count), (len(groups), count, count)).copy()
    zeros = np.zeros_like(example)
    rows = np.array([zeros if vector is None else vector for vector in all_vectors], np.float32)
    rows = rows.reshape(len(groups), count, -1)
    kernels = (rows @ rows.transpose(0, 2, 1)).astype(np.float64)
    diagonal = np.arange(count)
    kernels[:, diagonal, diagonal] = 1.0
    return kernels


def shares(weights: Sequence[float] | None, count: int) -> Floats:
    """The weights scaled to sum to 1, (count,); equal if none are given or all are 0."""
    if weights is not None:
        clipped = np.clip(np.asarray(weights, dtype=np.float64), 0.0, None)
        total = float(clipped.sum())
        if total > 0.0:
            return clipped / total
    return np.full(count, 1.0 / max(count, 1))


def entropy(kernel: Floats, weights: Sequence[float] | None = None) -> float:
    """The normalised von Neumann entropy, in [0, 1], of a similarity kernel (n, n).

    ``weights`` (n,), not negative, are those of the memories; equal if absent. Fewer than two
    memories have entropy 0.
    """
    return float(entropies(kernel[None], shares(weights, kernel.shape[0]))[0])


def entropies(kernels: Floats, share: Floats) -> Floats:
    """The entropies (groups,) of kernels (groups, n, n).

    The memories of each group count by the same shares (n,).
    """
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
    """The neighbours of one memory in the graph, by node id, without itself.

    ``against`` are the neighbours that it contradicts or that contradict it.
    """

    neighbours: Set[str] = field(default_factory=frozenset)
    against: Set[str] = field(default_factory=frozenset)


_ALONE = Surroundings()


def coherence(
    ids: Sequence[str],
    kernel: Floats,
    around: Mapping[str, Surroundings],
    weights: Sequence[float] | None = None,
) -> float:
    """The coherence of memories, in [0, 1]; 0 for no memory, 1 for a single one.

    Args:
        ids: n node ids.
        kernel: (n, n) cosines, in the order of ``ids``.
        around: the surroundings of each id; an id without any counts as unlinked.
        weights: (n,) not negative; equal if absent.
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
    """The coherence of each of several groups of n ids; see `coherence`.

    Args:
        kernels: (groups, n, n).
        share: (n,), the shares by which the memories of each group count.
    """
    weights: list[float] = share.tolist()
    values = []
    for ids, cosines in zip(groups, kernels.tolist(), strict=True):
        surroundings = [around.get(key, _ALONE) for key in ids]
        group_coherence = _mean_hold(ids, cosines, surroundings, weights) * (
            1.0 - _opposed_share(ids, surroundings, weights)
        )
        values.append(min(max(group_coherence, 0.0), 1.0))
    return values


def _mean_hold(
    ids: Sequence[str],
    cosines: Sequence[Sequence[float]],
    surroundings: Sequence[Surroundings],
    weights: Sequence[float],
) -> float:
    """The weighted mean of ``hold`` over all pairs; 1 without pairs."""
    held_weight = total = 0.0
    for row, key in enumerate(ids):
        make_way()
        neighbours = surroundings[row].neighbours
        for column in range(row):
            other_neighbours = surroundings[column].neighbours
            weight = weights[row] * weights[column]
            total += weight
            if key in other_neighbours or ids[column] in neighbours:
                held_weight += weight
                continue
            distance = 1.0 - min(max(cosines[row][column], 0.0), 1.0)
            if not neighbours.isdisjoint(other_neighbours):
                distance *= 1.0 - len(neighbours & other_neighbours) / sqrt(
                    len(neighbours) * len(other_neighbours)
                )
            held_weight += weight * (1.0 - distance)
    return held_weight / total if total > 0.0 else 1.0


def _opposed_share(
    ids: Sequence[str], surroundings: Sequence[Surroundings], part: Sequence[float]
) -> float:
    """The share, by weight, of the memories in conflict with another of them."""
    return sum(
        share
        for around, share in zip(surroundings, part, strict=True)
        if around.against and not around.against.isdisjoint(ids)
    )
