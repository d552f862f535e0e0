"""Maximal marginal relevance: results that are relevant and unlike each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


def diverse(relevance: Sequence[float], vectors: Floats, count: int, diversity: float) -> list[int]:
    """The places of ``count`` items in the order in which they serve best.

    Each next one has the greatest ``(1 - diversity) * relevance - diversity * nearest``, where
    ``nearest`` is its cosine to the most similar one chosen before (Carbonell and Goldstein, SIGIR
    1998, with lambda = 1 - diversity). Ties go to the one that stands first.

    Args:
        relevance: (n,) in [0, 1].
        vectors: (n, dim), normalised; a row of zeros is unlike everything.
        count: how many to choose; all are ordered if there are fewer.
        diversity: in [0, 1]; 0 orders by relevance alone.
    """
    worth = np.asarray(relevance, np.float64)
    total = len(worth)
    nearest = np.zeros(total)
    open_ = np.ones(total, np.bool_)
    chosen: list[int] = []
    for _ in range(min(count, total)):
        gain = (1.0 - diversity) * worth - diversity * nearest
        best = int(np.argmax(np.where(open_, gain, -np.inf)))
        chosen.append(best)
        open_[best] = False
        nearest = np.maximum(nearest, vectors @ vectors[best])
    return chosen
