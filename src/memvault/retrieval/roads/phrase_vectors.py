"""Vectors of the short texts that questions are made of."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable

from memvault.model.chunk import Vector
from memvault.text.embedding import Embedder

MOST_KEPT = 4_000  # 6 MB at 384 dimensions


class PhraseVectors:
    """Embeds phrases, many in one call, and keeps the last ones; safe in any thread."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, texts: Iterable[str]) -> dict[str, Vector]:
        """The vector of each text, (dim,), normalised."""
        wanted = list(dict.fromkeys(texts))
        with self._lock:
            known = {text: self._kept[text] for text in wanted if text in self._kept}
        missing = [text for text in wanted if text not in known]
        fresh = dict(zip(missing, self._embedder.embed_few(missing), strict=True))
        with self._lock:
            for text in wanted:
                self._kept[text] = known[text] if text in known else fresh[text]
                self._kept.move_to_end(text)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return known | fresh
