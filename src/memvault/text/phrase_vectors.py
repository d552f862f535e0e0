"""Cached vectors of words and phrases, which recur in other questions."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache

from memvault.model.note import Vector
from memvault.text.encoders.embedding import Embedder

MAX_CACHED = 4_000  # 6 MB at 384 dimensions
MAX_UNAWAITED = 4  # calls; an older one, which has mostly ended, is waited for

_Vectors = Callable[[], npt.NDArray[np.float32]]


class PhraseVectors:
    """Embeds phrases, many in one call, and keeps the last ones; safe in any thread."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._cache: LRUCache[str, tuple[_Vectors, int]] = LRUCache(MAX_CACHED)
        self._unawaited: deque[_Vectors] = deque()
        self._lock = threading.Lock()

    def begin(self, texts: Iterable[str]) -> None:
        """Start to embed texts, for which `of` then only waits."""
        self._begun(list(dict.fromkeys(texts)))

    def of(self, texts: Iterable[str]) -> dict[str, Vector]:
        """The vector of each text, (dim,), normalised."""
        begun = self._begun(list(dict.fromkeys(texts)))
        return {text: vectors()[row] for text, (vectors, row) in begun.items()}

    def _begun(self, texts: list[str]) -> dict[str, tuple[_Vectors, int]]:
        """For each text the call that computes its vector, and its row in the result."""
        with self._lock:
            cached = {text: self._cache[text] for text in texts if text in self._cache}
        missing = [text for text in texts if text not in cached]
        if not missing:
            return cached
        vectors = self._embedder.begin_few(missing)
        new_calls = {text: (vectors, row) for row, text in enumerate(missing)}
        with self._lock:
            self._cache.update(new_calls)
            self._unawaited.append(vectors)
            oldest = self._unawaited.popleft() if len(self._unawaited) > MAX_UNAWAITED else None
        if oldest is not None:  # nobody else may wait for it, and it holds memory of the model
            oldest()
        return cached | new_calls
