"""Loads a model with sentence-transformers, and runs it with PyTorch or ONNX runtime."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer

from memvault.model.errors import ModelUnavailable
from memvault.model.json_text import json_value
from memvault.model.priority import make_way
from memvault.text.encoders.model_files import (
    BUNDLED_NAMES,
    INPUTS,
    MAX_WINDOW,
    Encoded,
    ModelMeta,
    Window,
    model_source,
    prefixes,
)

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


def load_original(model: str, backend: str = "torch") -> SentenceTransformer:
    """Load a model with sentence-transformers, which imports PyTorch.

    Raises:
        ModelUnavailable: there is no such model, locally or on the hub, or sentence-transformers is
            not installed.
    """
    if model in BUNDLED_NAMES:
        os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise ModelUnavailable(
            f"The embedding model {Path(model).name} needs sentence-transformers:"
            f" {sys.executable} -m pip install sentence-transformers"
        ) from error
    try:
        return SentenceTransformer(model_source(model), backend=backend, device="cpu")
    except (OSError, ValueError, ImportError) as error:
        name = Path(model).name
        reason = str(error).strip().splitlines()[0].replace(str(Path(model).expanduser()), name)
        raise ModelUnavailable(
            f"The embedding model {name} cannot be loaded: {reason.rstrip('.')}. Correct `model` "
            "in [embedding] of the configuration, or try again when the model can be downloaded."
        ) from error


def meta_of(original: SentenceTransformer, model: str) -> ModelMeta:
    """The metadata of a loaded model: dimension, window and prefixes as its files give them."""
    query, document = prefixes(original.prompts, model)
    is_static = isinstance(original.tokenizer, Tokenizer)
    return ModelMeta(
        dimension=int(original.get_embedding_dimension() or 0),
        window=MAX_WINDOW if is_static else int(original.max_seq_length or MAX_WINDOW),
        inputs=INPUTS if is_static else tuple(map(str, original.tokenizer.model_input_names)),
        padding=0 if is_static else int(original.tokenizer.pad_token_id or 0),
        query_prompt=query,
        document_prompt=document,
    )


def tokenizer_of(original: SentenceTransformer) -> Tokenizer:
    """The tokenizer of a loaded model; that of a static one adds no special tokens."""
    tokenizer = original.tokenizer
    if not isinstance(tokenizer, Tokenizer):
        backend: Tokenizer = tokenizer.backend_tokenizer
        return backend
    return Tokenizer.from_str(
        json.dumps({**json_value(tokenizer.to_str()), "post_processor": None})
    )


def pooled(original: SentenceTransformer, meta: ModelMeta, features: dict[str, Any]) -> Any:
    """The vectors of padded windows, (n, dim), normalised.

    A static model, which gives the mean of its tokens' vectors, cannot ignore padding, so the mean
    is computed here. Models that are meant to be cut to their first dimensions are cut.
    """
    import torch

    if isinstance(original.tokenizer, Tokenizer):
        mask = features["attention_mask"].unsqueeze(-1)
        vectors = original[0].embedding.weight[features["input_ids"]] * mask
        features = {"sentence_embedding": vectors.sum(1) / mask.sum(1).clamp(min=1)}
        for module in list(original)[1:]:
            features = module(features)
    else:
        features = original(features)
    return torch.nn.functional.normalize(features["sentence_embedding"][:, : meta.dimension], dim=1)


class TorchModel:
    """Runs a model with sentence-transformers (PyTorch or ONNX runtime).

    The fallback if OpenVINO is missing or a model cannot be exported. A query waits for at most
    one batch. Thread-safe.
    """

    def __init__(self, model: str, backend: str) -> None:
        self._original = load_original(model, backend)
        self.meta = meta_of(self._original, model)
        self.tokenizer = tokenizer_of(self._original)
        self._lock = threading.Lock()

    def begin(self, windows: Sequence[Window]) -> Callable[[], Encoded]:
        """Return a function that computes the vectors of a few windows when it is called."""
        return partial(self._encode_batch, windows)

    def encode(self, batches: Sequence[Sequence[Window]]) -> list[Encoded]:
        """The vectors of each batch, without those of tokens."""
        vectors = []
        for batch in batches:
            make_way()
            vectors.append(self._encode_batch(batch))
        return vectors

    def release(self, idle_seconds: float) -> bool:
        """Does nothing, since no model is loaded for batches alone."""
        return False

    def _encode_batch(self, batch: Sequence[Window]) -> Encoded:
        import torch

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
        inputs = {name: features[name].to(self._original.device) for name in self.meta.inputs}
        with self._lock, torch.inference_mode():
            vectors = pooled(self._original, self.meta, inputs)
        return Encoded(np.asarray(vectors.cpu().numpy(), np.float32))
