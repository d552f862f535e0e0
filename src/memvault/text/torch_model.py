"""Running a model inside sentence-transformers, with PyTorch or ONNX runtime."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from memvault.text.export import load_original, meta_of

Window = Sequence[int]


class TorchModel:
    """The fallback where OpenVINO is missing or a model cannot be exported.

    A query waits for at most one batch. Methods may be called from any thread.
    """

    def __init__(self, model: str, backend: str = "torch") -> None:
        self._original = load_original(model, backend)
        self.meta = meta_of(self._original)
        self.tokenizer = self._original.tokenizer.backend_tokenizer
        self._lock = threading.Lock()

    def encode_query(self, window: Window) -> npt.NDArray[np.float32]:
        """One window's vector, (dim,) float32, normalised."""
        vector: npt.NDArray[np.float32] = self._encode_batch([window])[0]
        return vector

    def encode_few(self, windows: Sequence[Window]) -> npt.NDArray[np.float32]:
        """As `encode_query`, for some at once: (n, dim) float32, normalised."""
        return self._encode_batch(windows)

    def encode(self, batches: Sequence[Sequence[Window]]) -> list[npt.NDArray[np.float32]]:
        """For each batch its vectors, (n, dim) float32, normalised."""
        return [self._encode_batch(batch) for batch in batches]

    def _encode_batch(self, batch: Sequence[Window]) -> npt.NDArray[np.float32]:
        shape = (len(batch), max(len(window) for window in batch))
        ids = torch.full(shape, self.meta.padding, dtype=torch.long)
        mask = torch.zeros(shape, dtype=torch.long)
        for row, window in enumerate(batch):
            ids[row, : len(window)] = torch.tensor(window)
            mask[row, : len(window)] = 1
        features = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": torch.zeros_like(ids),
        }
        given = {name: features[name].to(self._original.device) for name in self.meta.inputs}
        with self._lock, torch.inference_mode():
            pooled = self._original(given)["sentence_embedding"]
            normalised = torch.nn.functional.normalize(pooled, dim=1)
        return np.asarray(normalised.cpu().numpy(), np.float32)
