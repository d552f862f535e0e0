"""How much a set of memories spreads: the von Neumann entropy of their similarity kernel.

With a kernel ``K`` (``K_ii = 1``) and weights ``p`` that sum to 1, the eigenvalues of
``diag(sqrt p) K diag(sqrt p)`` sum to 1 and their Shannon entropy is the logarithm of the
probability-weighted Vendi score (Friedman and Dieng 2023, arXiv 2210.02410). Divided by ``log n``
it is 0 when all say the same and 1 when nothing that one says resembles another.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memvault.model.chunk import Vector

Floats = npt.NDArray[np.float64]


def similarity(vectors: Sequence[Vector | None]) -> Floats:
    """(n, n) cosines of unit vectors; what has no vector resembles only itself."""
    count = len(vectors)
    kernel = np.eye(count)
    known = {place: vector for place, vector in enumerate(vectors) if vector is not None}
    if known:
        rows = np.stack(list(known.values())).astype(np.float64)
        kernel[np.ix_(list(known), list(known))] = rows @ rows.T
    np.fill_diagonal(kernel, 1.0)
    return kernel


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
    count = kernel.shape[0]
    if count < 2:
        return 0.0
    root = np.sqrt(shares(weights, count))
    eigenvalues = np.linalg.eigvalsh(kernel * np.outer(root, root))
    positive = eigenvalues[eigenvalues > 1e-12]
    spread = -float(np.sum(positive * np.log(positive)))
    return min(1.0, max(0.0, spread / float(np.log(count))))
