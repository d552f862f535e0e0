"""How far an answer can be relied on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memvault.model.note import Vector

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
