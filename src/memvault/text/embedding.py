"""Texts to vectors: one model, a cache in front of it, no text past its window."""

from __future__ import annotations

import importlib.util
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from memvault.config.settings import EmbeddingSettings
from memvault.model.chunk import Vector
from memvault.model.errors import ModelUnavailable, StoreUnavailable
from memvault.model.reads import Reads
from memvault.text.cache import EmbeddingCache, rounded
from memvault.text.export import ModelMeta, exported_model, is_exported, model_id
from memvault.text.tokens import TokenCounter

_BATCH_TOKENS = 1024  # padded; larger batches leave the processor's cache and are slower
_QUESTIONS = 64  # vectors of questions that are kept
_GROUP = 32  # batches between two writes to the cache

Window = Sequence[int]

_log = logging.getLogger(__name__)


class WindowModel(Protocol):
    """What runs the model: token ids in, normalised vectors out. Safe in any thread."""

    meta: ModelMeta
    tokenizer: Tokenizer

    def encode_query(self, window: Window) -> Vector: ...

    def encode_few(self, windows: Sequence[Window]) -> npt.NDArray[np.float32]: ...

    def encode(self, batches: Sequence[Sequence[Window]]) -> list[npt.NDArray[np.float32]]: ...


class Embedder:
    """Embeds texts as the model's documents, and questions as its queries.

    A text longer than the model's window is embedded window by window; its vector is the mean of
    theirs, weighted by their tokens, normalised. Vectors are rounded as the cache keeps them, so
    that a cached and a fresh one are equal. Methods may be called from
    any thread; a query does not wait for a running batch.

    Attributes:
        model_id: names model and version; vectors of different ids do not compare.
        dimension: length of the vectors.
        window: tokens that the model reads at once, special ones not counted.
        tokens: counts as the model does.
        reads: texts that `embed` found in the cache, and those that it ran the model for.
    """

    def __init__(self, model: WindowModel, name: str, cache: EmbeddingCache | None = None) -> None:
        self.model_id = name
        self.dimension = model.meta.dimension
        self.tokens = TokenCounter(model.tokenizer)
        self._model = model
        self._cache = cache
        self._tokenizer = model.tokenizer
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(model.meta.window)
        self.window = model.meta.window - self._tokenizer.num_special_tokens_to_add(False)
        self.reads = Reads()
        self._reads_lock = threading.Lock()
        self._bulk_lock = threading.Lock()
        self._interrupted = threading.Event()
        self._asked: OrderedDict[str, Vector] = OrderedDict()
        self._asked_lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Vectors of the texts, (len(texts), dim) float32, normalised."""
        distinct = list(dict.fromkeys(texts))
        known = self._cache.get(distinct) if self._cache is not None else {}
        missing = [text for text in distinct if text not in known]
        with self._reads_lock:
            self.reads += Reads(hits=len(known), misses=len(missing))
        for group, vectors in self._encode(missing):
            fresh = {text: rounded(vector) for text, vector in zip(group, vectors, strict=True)}
            if self._cache is not None:
                self._cache.put(fresh.items())
            known.update(fresh)
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return np.stack([known[text] for text in texts])

    def embed_query(self, text: str) -> Vector:
        """A question's vector, (dim,) float32, normalised, not to be changed; what is past the
        window is not read. One answer asks for it several times, so the last few are kept."""
        with self._asked_lock:
            known = self._asked.get(text)
        if known is not None:
            return known
        encoding = self._tokenizer.encode(self._model.meta.query_prompt + text)
        vector = self._model.encode_query(encoding.ids)
        vector.flags.writeable = False
        with self._asked_lock:
            self._asked[text] = vector
            while len(self._asked) > _QUESTIONS:
                self._asked.popitem(last=False)
        return vector

    def embed_few(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Vectors of a few short texts, (len(texts), dim) float32, normalised: at once, without
        waiting for a running batch, and not kept; what is past the window is not read."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        prompt = self._model.meta.document_prompt
        encodings = self._tokenizer.encode_batch([prompt + text for text in texts])
        return self._model.encode_few([encoding.ids for encoding in encodings])

    def known(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Vectors, (dim,) float32, of those texts that `embed` has been given before; the model is
        not run."""
        return self._cache.get(list(dict.fromkeys(texts))) if self._cache is not None else {}

    def interrupt(self) -> None:
        """Make `embed` end within seconds, now and from now on; questions are still embedded."""
        self._interrupted.set()

    def close(self) -> None:
        if self._cache is not None:
            self._cache.close()

    def _encode(self, texts: Sequence[str]) -> Iterator[tuple[list[str], list[Vector]]]:
        """Groups of texts with their vectors, in order of length."""
        prompt = self._model.meta.document_prompt
        encodings = self._tokenizer.encode_batch([prompt + text for text in texts])
        windows = [[each.ids, *(more.ids for more in each.overflowing)] for each in encodings]
        order = sorted(range(len(texts)), key=lambda i: (len(windows[i]), len(windows[i][0])))
        for group in _grouped(order, windows):
            if self._interrupted.is_set():
                raise StoreUnavailable("The engine is stopping; the next one indexes what is left.")
            flat = [window for index in group for window in windows[index]]
            batches = list(_batched(flat))
            with self._bulk_lock:
                vectors = iter(np.concatenate(self._model.encode(batches)))
            pooled = [
                pool([next(vectors) for _ in windows[index]], [len(w) for w in windows[index]])
                for index in group
            ]
            yield [texts[index] for index in group], pooled


def pool(vectors: Sequence[Vector], weights: Sequence[float]) -> Vector:
    """The weighted mean direction, (dim,) float32, normalised."""
    if len(vectors) == 1:
        return vectors[0]
    mean = np.average(np.stack(vectors), axis=0, weights=weights)
    norm = float(np.linalg.norm(mean))
    return (mean / norm if norm > 0.0 else vectors[0]).astype(np.float32)


def _grouped(order: Sequence[int], windows: Sequence[Sequence[Window]]) -> Iterator[list[int]]:
    group: list[int] = []
    tokens = 0
    for index in order:
        group.append(index)
        tokens += sum(len(window) for window in windows[index])
        if tokens >= _GROUP * _BATCH_TOKENS:
            yield group
            group, tokens = [], 0
    if group:
        yield group


def _batched(windows: Sequence[Window]) -> Iterator[list[Window]]:
    """Consecutive windows, as many as keep a padded batch within its tokens."""
    batch: list[Window] = []
    longest = 0
    for window in windows:
        longest = max(longest, len(window))
        if batch and longest * (len(batch) + 1) > _BATCH_TOKENS:
            yield batch
            batch, longest = [], len(window)
        batch.append(window)
    if batch:
        yield batch


def open_embedder(settings: EmbeddingSettings, cache_file: Path | None) -> Embedder:
    """The embedder for these settings, exporting its model on the very first use.

    ``auto`` takes OpenVINO where it is installed, else ONNX runtime, else PyTorch.

    Raises:
        ModelUnavailable: the model or the backend is not installed.
    """
    name = model_id(settings.model)
    cache = EmbeddingCache(cache_file, name) if cache_file is not None else None
    return Embedder(_open_model(settings), name, cache)


def needs_export(settings: EmbeddingSettings) -> bool:
    """Whether opening the embedder will take the better part of a minute, once."""
    return _backend(settings) == "openvino" and not is_exported(settings.model)


def _backend(settings: EmbeddingSettings) -> str:
    if settings.backend != "auto":
        return settings.backend
    if _installed("openvino"):
        return "openvino"
    return "onnx" if _installed("onnxruntime") and _installed("optimum") else "torch"


def _open_model(settings: EmbeddingSettings) -> WindowModel:
    backend = _backend(settings)
    if backend == "openvino":
        from memvault.text.openvino_model import OpenVinoModel

        try:
            return OpenVinoModel(exported_model(settings.model))
        except ModelUnavailable as error:
            if settings.backend == "openvino":
                raise
            _log.warning("%s Using PyTorch instead, which is slower to start.", error.message)
            backend = "torch"
    from memvault.text.torch_model import TorchModel

    return TorchModel(settings.model, backend)


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
