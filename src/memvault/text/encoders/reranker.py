"""A cross-encoder that reads question and passage together, if the person configures one.

``[rerank] model`` is a name or folder that sentence-transformers loads as a CrossEncoder. It orders
better than two separate vectors but takes milliseconds a passage, so it reads only the first
passages that a search has found, within a time limit.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memvault.config.settings import RerankSettings
from memvault.model.batched import batched

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

logger = logging.getLogger(__name__)
_BATCH = 4  # passages between two checks of the time limit


class Reranker:
    """Orders passages by a cross-encoder. Thread-safe.

    PyTorch takes seconds to import, so the model is loaded by `load`. Until then, and if it cannot
    be loaded, passages keep their order.
    """

    def __init__(self, settings: RerankSettings) -> None:
        self.first = settings.first
        self._budget = settings.budget_ms / 1e3
        self._name = settings.model
        self._model: CrossEncoder | None = None
        self._model_lock = threading.Lock()

    def order(self, query: str, passages: Sequence[str]) -> list[int]:
        """Indexes of the passages, best first.

        Passages beyond the configured number, or not read within the time limit, keep their order
        after those that were read.
        """
        all_places = list(range(len(passages)))
        model = self._model
        if model is None:
            return all_places
        first_places = all_places[: self.first]
        end = time.monotonic() + self._budget
        scores: list[float] = []
        with self._model_lock:
            for batch in batched(first_places, _BATCH):
                if scores and time.monotonic() > end:
                    break
                pairs = [(query, passages[index]) for index in batch]
                scores += map(float, model.predict(pairs, show_progress_bar=False))
        read_places = first_places[: len(scores)]
        return [
            *sorted(read_places, key=lambda index: -scores[index]),
            *all_places[len(read_places) :],
        ]

    def load(self) -> None:
        """Load the model; logs an error if it cannot be loaded."""
        name = self._name
        folder = Path(name).expanduser()
        if folder.is_dir():
            os.environ["HF_HUB_OFFLINE"] = "1"
        try:
            from sentence_transformers import CrossEncoder

            self._model = CrossEncoder(str(folder) if folder.is_dir() else name, device="cpu")
        except (OSError, ValueError, ImportError) as error:
            logger.error(
                "The reranker %s cannot be loaded, so results keep their order: %s",
                folder.name,
                str(error).strip().splitlines()[0],
            )
