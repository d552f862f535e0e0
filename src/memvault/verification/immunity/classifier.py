"""A logistic regression over sentence vectors: how likely a sentence is to instruct a model.

Its weights are made by `tests/benchmarks/train_immunity.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

CLASSIFIED_MODEL = "all-MiniLM-L6-v2"  # whose vectors the weights are for
_FILE = Path(__file__).with_name("classifier.npy")

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Classifier:
    """``weights``: (384,) float32; the model is all-MiniLM-L6-v2."""

    weights: Floats
    bias: float

    @classmethod
    def shipped(cls) -> Classifier:
        return _shipped()

    def logits(self, vectors: Floats) -> Floats:
        """Log-odds, (n,), for vectors (n, 384)."""
        return np.asarray(vectors @ self.weights + self.bias, np.float32)


@cache
def _shipped() -> Classifier:
    stored = np.load(_FILE, allow_pickle=False)
    return Classifier(np.ascontiguousarray(stored[:-1]), float(stored[-1]))
