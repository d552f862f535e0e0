"""A logistic regression that estimates whether a sentence instructs a model.

Its inputs are the sentence's words and its vector by the default model, all-MiniLM-L6-v2;
`tests/benchmarks/train_immunity.py` trains the weights.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import numpy as np
import numpy.typing as npt

DIMENSION = 384
BUCKETS = 8192  # into which words and pairs of words are hashed
_FILE = Path(__file__).with_name("classifier.npy")
_WORD = re.compile(r"\w+")

Floats32 = npt.NDArray[np.float32]


def buckets(folded: str) -> list[int]:
    """The distinct buckets of the words and pairs of neighbouring words of a folded text."""
    words = _WORD.findall(folded)
    pairs = [f"{first} {second}" for first, second in pairwise(words)]
    return list({crc32(feature.encode()) % BUCKETS for feature in (*words, *pairs)})


@dataclass(frozen=True, slots=True)
class Classifier:
    """The weights of the regression: ``vector`` (384,) float32, ``words`` (BUCKETS,) float32."""

    vector: Floats32
    words: Floats32
    bias: float

    @classmethod
    @cache
    def shipped(cls) -> Classifier:
        """The classifier with the weights of this package; read once."""
        stored = np.load(_FILE, allow_pickle=False).astype(np.float32)
        return cls(stored[:DIMENSION], stored[DIMENSION:-1], float(stored[-1]))

    def of_words(self, folded: str) -> float:
        """The log-odds that the words alone add. Takes microseconds."""
        return float(self.words[buckets(folded)].sum())

    def of_vectors(self, vectors: Floats32) -> Sequence[float]:
        """The log-odds that each of the vectors, (n, 384), adds, with the bias."""
        return [float(log_odds) for log_odds in vectors @ self.vector + self.bias]
