"""Running an exported model with OpenVINO."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import openvino
from tokenizers import Tokenizer

from memvault.text.export import ModelMeta, read_meta

Window = Sequence[int]  # token ids, special ones included
_STREAMS = 2
# Activations are rounded to 8 bits in groups of as many, where the weights are; 64 keeps a cosine
# of 0.999 to the exact vectors.
_ROUNDING = {"DYNAMIC_QUANTIZATION_GROUP_SIZE": "64"}


class OpenVinoModel:
    """A transformer with pooling and normalising, compiled twice: one form answers a single
    query at once, the other takes batches, so that a query never queues behind indexing.

    Methods may be called from any thread.
    """

    def __init__(self, folder: Path) -> None:
        self.meta: ModelMeta = read_meta(folder)
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()  # a tokenizer is saved with the habits of its last use
        self.tokenizer.no_truncation()
        core = openvino.Core()
        core.set_property({"CACHE_DIR": str(folder / "compiled")})
        file = folder / "model.xml"
        self._single = core.compile_model(file, "CPU", {"PERFORMANCE_HINT": "LATENCY", **_ROUNDING})
        self._single_request = self._single.create_infer_request()
        self._single_lock = threading.Lock()
        throughput = {"PERFORMANCE_HINT": "THROUGHPUT", "NUM_STREAMS": str(_STREAMS)}
        bulk = core.compile_model(file, "CPU", {**throughput, **_ROUNDING})
        self._queue = openvino.AsyncInferQueue(bulk, _STREAMS)
        self._queue_lock = threading.Lock()

    def encode_query(self, window: Window) -> npt.NDArray[np.float32]:
        """One window's vector, (dim,) float32, normalised."""
        with self._single_lock:
            result = self._single_request.infer(self._inputs([window]))
            return np.array(result[0][0], np.float32)

    def encode(self, batches: Sequence[Sequence[Window]]) -> list[npt.NDArray[np.float32]]:
        """For each batch its vectors, (n, dim) float32, normalised."""
        results: list[Any] = [None] * len(batches)

        def keep(request: Any, index: int) -> None:
            results[index] = np.array(request.get_output_tensor(0).data, np.float32)

        with self._queue_lock:
            self._queue.set_callback(keep)
            for index, batch in enumerate(batches):
                self._queue.start_async(self._inputs(batch), index)
            self._queue.wait_all()
        return results

    def _inputs(self, batch: Sequence[Window]) -> list[npt.NDArray[np.int64]]:
        shape = (len(batch), max(len(window) for window in batch))
        ids = np.full(shape, self.meta.padding, np.int64)
        mask = np.zeros(shape, np.int64)
        for row, window in enumerate(batch):
            ids[row, : len(window)] = window
            mask[row, : len(window)] = 1
        by_name = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        return [by_name[name] for name in self.meta.inputs]
