"""Embeds texts of any length with one model, each text once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache
from tokenizers import Tokenizer

from memvault.config.settings import EmbeddingSettings
from memvault.model.errors import ModelUnavailable, StoreUnavailable
from memvault.model.note import Vector
from memvault.model.state import CacheStats
from memvault.text.common_part import NOTES, CommonPart, without
from memvault.text.encoders import openvino_model
from memvault.text.encoders.embedding_cache import Embedded, EmbeddingCache, rounded
from memvault.text.encoders.export import exported_model
from memvault.text.encoders.model_files import (
    BUNDLED,
    BUNDLED_NAMES,
    Encoded,
    ModelMeta,
    Window,
    is_exported,
    model_id,
)
from memvault.text.encoders.token_signs import BITS, TokenSigns
from memvault.text.tokens import TokenCounter

# Least bytes per token in a language that a model knows: in one short text, and in many texts.
MIN_BYTES_OF_ONE, MIN_BYTES_OF_MANY = 3.7, 4.2
_KNOWN_CHARS = 300  # characters of a passage that are used for this
_BATCH_TOKENS = 1024  # padded; larger batches exceed the processor's cache and are slower
_CACHED_QUERIES = 64
_EXPORTED = ("auto", "openvino")  # backends that run an exported model
_VECTORS_MARK = "c1"  # of vectors without the common part; if it changes, all are made again
_BATCHES_PER_GROUP = 32  # batches between two writes to the cache

_log = logging.getLogger(__name__)


class WindowModel(Protocol):
    """Runs a model: token ids in, normalised vectors and those of tokens out. Thread-safe."""

    meta: ModelMeta
    tokenizer: Tokenizer

    def begin(self, windows: Sequence[Window]) -> Callable[[], Encoded]: ...

    def encode(self, batches: Sequence[Sequence[Window]]) -> list[Encoded]: ...

    def release(self, idle_seconds: float) -> bool: ...


class _Awaited:
    """Texts that are being encoded; a call waits for them and returns what the model gives, with
    read-only vectors.

    Thread-safe.
    """

    def __init__(self, compute: Callable[[], Encoded]) -> None:
        self._compute = compute
        self._encoded: Encoded | None = None
        self._lock = threading.Lock()

    def __call__(self) -> Encoded:
        with self._lock:
            if self._encoded is None:
                self._encoded = self._compute()
                self._encoded.vectors.flags.writeable = False
            return self._encoded


class Embedder:
    """Embeds documents and queries.

    A text longer than the model's window is embedded window by window; its vector is the normalised
    mean of the windows' vectors, weighted by their tokens. The common part of the model's vectors
    is subtracted (`common_part`). Vectors are rounded as the cache stores them, so that cached and
    new vectors are equal. Thread-safe; a query does not wait for a running batch.

    Args:
        common: the part to subtract; None for a model that finds unrelated texts dissimilar.

    Attributes:
        model_id: identifies model and version; vectors of different ids are not comparable.
        dimension: length of the vectors.
        window: maximum tokens per run of the model, without special tokens.
        tokens: counts tokens as the model does.
        reads: cache hits and misses of `embed`.
    """

    def __init__(
        self,
        model: WindowModel,
        name: str,
        cache: EmbeddingCache | None = None,
        common: CommonPart | None = None,
    ) -> None:
        self.model_id = name
        self._common = common
        self.dimension = model.meta.dimension
        self.tokens = TokenCounter(model.tokenizer)
        self._model = model
        self._cache = cache
        self._signs = TokenSigns(model.tokenizer)
        self._tokens_before, self._tokens_after = self.tokens.around()
        self.window = model.meta.window - len(self._tokens_before) - len(self._tokens_after)
        self.reads = CacheStats()
        self._reads_lock = threading.Lock()
        self._interrupted = threading.Event()
        self._queries: LRUCache[str, _Awaited] = LRUCache(_CACHED_QUERIES)
        self._queries_lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Vectors of the texts, (len(texts), dim) float32, normalised."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        embedded = self.embed_all(texts)
        return np.stack([embedded[text].vector for text in texts])

    def embed_all(self, texts: Iterable[str]) -> dict[str, Embedded]:
        """Vector and signs of the tokens of each text."""
        distinct = list(dict.fromkeys(texts))
        embedded = self._cache.get_all(distinct) if self._cache is not None else {}
        missing = [text for text in distinct if text not in embedded]
        with self._reads_lock:
            self.reads += CacheStats(hits=len(embedded), misses=len(missing))
        for group, vectors, signs in self._encode(missing):
            packed = map(Embedded, rounded(np.stack(vectors)), signs)
            new = dict(zip(group, packed, strict=True))
            if self._cache is not None:
                self._cache.put(new)
            embedded.update(new)
        return embedded

    def trim_cache(self, limit: int) -> int:
        """Like `EmbeddingCache.trim`."""
        return self._cache.trim(limit) if self._cache is not None else 0

    def embed_query(self, text: str) -> Vector:
        """A query's vector, (dim,) float32, normalised, read-only; text past the window is ignored.

        The last few are cached, because one answer needs the same vector several times.
        """
        return self.begin_query(text)()

    def knows_language(self, question: str) -> bool:
        """Whether the model knows the language of a short text."""
        return self.tokens.bytes_per_token(question) >= MIN_BYTES_OF_ONE

    def knows_language_of_all(self, passages: Sequence[str]) -> bool:
        """Whether the model knows the language of many texts, which have longer words."""
        words = " ".join(passage[:_KNOWN_CHARS] for passage in passages)
        return self.tokens.bytes_per_token(words) >= MIN_BYTES_OF_MANY

    @cached_property
    def knows_english(self) -> bool:
        return self.tokens.bytes_per_token(" ".join(NOTES)) >= MIN_BYTES_OF_ONE

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Queries' vectors, (len(texts), dim) float32, normalised."""
        return np.stack([self.embed_query(text) for text in texts])

    def begin_query(self, text: str) -> Callable[[], Vector]:
        """Start `embed_query`; the function returned waits for the vector."""
        begun = self._begun_query(text)
        return lambda: begun().vectors[0]

    def query_tokens(self, text: str) -> npt.NDArray[np.float32]:
        """The projections of a query's content tokens, (k, BITS), see `token_signs`; (0, BITS) for
        a model that gives none. Computed with the query's vector."""
        tokens = self._begun_query(text)().tokens
        if tokens is None:
            return np.zeros((0, BITS), np.float32)
        prompt = self._model.meta.query_prompt
        (windows,) = self._windows([prompt + text])
        return self._signs.content(windows[0], tokens[0], self._prompt_tokens(prompt))

    def _begun_query(self, text: str) -> _Awaited:
        with self._queries_lock:
            cached = self._queries.get(text)
        if cached is not None:
            return cached
        (windows,) = self._windows([self._model.meta.query_prompt + text])
        query = _Awaited(self._without_common_part(self._model.begin(windows[:1]), of_queries=True))
        with self._queries_lock:
            self._queries[text] = query
        return query

    def embed_few(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Vectors of a few short texts, (len(texts), dim) float32, normalised.

        Does not wait for a running batch and does not cache; text past the window is ignored.
        """
        return self.begin_few(texts)()

    def begin_few(self, texts: Sequence[str]) -> Callable[[], npt.NDArray[np.float32]]:
        """Start `embed_few`; the function returned waits for the vectors."""
        if not texts:
            return lambda: np.zeros((0, self.dimension), np.float32)
        prompt = self._model.meta.document_prompt
        windows = self._windows([prompt + text for text in texts])
        begun = _Awaited(
            self._without_common_part(self._model.begin([first for first, *_ in windows]))
        )
        return lambda: begun().vectors

    def _windows(self, texts: Sequence[str]) -> list[list[Window]]:
        """The windows of each text, at least one: token ids, special ones included."""
        window_tokens = self.window
        return [
            [
                [*self._tokens_before, *ids[start : start + window_tokens], *self._tokens_after]
                for start in range(0, max(len(ids), 1), window_tokens)
            ]
            for ids in self.tokens.ids(texts)
        ]

    def _prompt_tokens(self, prompt: str) -> int:
        """The number of tokens of a prompt, whose last space belongs to the text's first token."""
        return self.tokens.count(prompt.rstrip())

    def _without_common_part(
        self, begun: Callable[[], Encoded], *, of_queries: bool = False
    ) -> Callable[[], Encoded]:
        if self._common is None:
            return begun
        part = self._common.query if of_queries else self._common.document

        def finished() -> Encoded:
            encoded = begun()
            return encoded._replace(vectors=without(encoded.vectors, part))

        return finished

    def prepare(self, max_count: int) -> None:
        """Run the model with each number of short texts up to ``max_count``: the first run with a
        new number takes as long as with seven texts more."""
        for count in range(1, max_count + 1):
            self.embed_few(["a"] * count)

    def cached(self, texts: Sequence[str]) -> dict[str, Vector]:
        """The cached vectors, (dim,) float32, of these texts, without running the model."""
        return self._cache.get(list(dict.fromkeys(texts))) if self._cache is not None else {}

    def release(self, idle_seconds: float) -> bool:
        """Unload the model for batches if it was idle for so long; returns whether it was."""
        return self._model.release(idle_seconds)

    def interrupt(self) -> None:
        """Make running and future calls of `embed` fail within seconds; queries still work."""
        self._interrupted.set()

    def close(self) -> None:
        if self._cache is not None:
            self._cache.close()

    def _encode(
        self, texts: Sequence[str]
    ) -> Iterator[tuple[list[str], list[Vector], list[bytes]]]:
        """Yield groups of texts with their vectors and signs, ordered by length."""
        prompt = self._model.meta.document_prompt
        prompt_tokens = self._prompt_tokens(prompt)
        windows = self._windows([prompt + text for text in texts])
        order = sorted(range(len(texts)), key=lambda i: (len(windows[i]), len(windows[i][0])))
        for group in _grouped(order, windows):
            if self._interrupted.is_set():
                raise StoreUnavailable(
                    "The engine is stopping; indexing continues at the next start."
                )
            flat = [window for index in group for window in windows[index]]
            encoded = self._model.encode(list(_batched(flat)))
            vectors = iter(np.concatenate([each.vectors for each in encoded]))
            tokens = iter([rows for each in encoded for rows in each.tokens or ()])
            pooled = [
                pool([next(vectors) for _ in windows[index]], [len(w) for w in windows[index]])
                for index in group
            ]
            if self._common is not None:
                pooled = list(without(np.stack(pooled), self._common.document))
            signs = [self._packed_signs(windows[index], tokens, prompt_tokens) for index in group]
            yield [texts[index] for index in group], pooled, signs

    def _packed_signs(
        self,
        windows: Sequence[Window],
        tokens: Iterator[npt.NDArray[np.float32]],
        prompt_tokens: int,
    ) -> bytes:
        """The signs of the tokens of a text; takes those of its windows from ``tokens``, which is
        empty for a model that gives none."""
        packed: list[bytes] = []
        for window, projected in zip(windows, tokens, strict=False):
            packed.append(self._signs.packed(window, projected, 0 if packed else prompt_tokens))
        return b"".join(packed)


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
        if tokens >= _BATCHES_PER_GROUP * _BATCH_TOKENS:
            yield group
            group, tokens = [], 0
    if group:
        yield group


def _batched(windows: Sequence[Window]) -> Iterator[list[Window]]:
    """Batches of consecutive windows within the limit of padded tokens."""
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
    """Open the embedder of these settings; exports its model on first use.

    ``auto`` is OpenVINO, or PyTorch for a model that cannot be exported.

    Raises:
        ModelUnavailable: the model or the backend is not installed.
    """
    name, model = model_id(settings.model), open_model(settings)
    common = None
    if settings.model not in BUNDLED_NAMES:  # the bundled one finds unrelated texts dissimilar
        plain = Embedder(model, name)
        common = CommonPart.of(plain.embed_queries, plain.embed_few, plain.knows_language)
    if common is not None:
        name += f"-{_VECTORS_MARK}"
    cache = EmbeddingCache(cache_file, name) if cache_file is not None else None
    return Embedder(model, name, cache, common)


def fitted_with(settings: EmbeddingSettings) -> EmbeddingSettings:
    """The settings with the default model, to whose vectors some stages were fitted: how questions
    follow relations, and how instructions to models are recognised."""
    if settings.model in BUNDLED_NAMES:
        return settings
    return settings.model_copy(update={"model": BUNDLED})


def needs_export(settings: EmbeddingSettings) -> bool:
    """Whether `open_embedder` has to export the model first, which takes up to a minute."""
    return settings.backend in _EXPORTED and not is_exported(settings.model)


def open_model(settings: EmbeddingSettings) -> WindowModel:
    """The bare model of these settings; exports it on first use.

    Raises:
        ModelUnavailable: the model or the backend is not installed.
    """
    backend: str = settings.backend
    if backend in _EXPORTED:
        try:
            return openvino_model.OpenVinoModel(exported_model(settings.model))
        except ModelUnavailable as error:
            if backend == "openvino" or not find_spec("sentence_transformers"):
                raise
            _log.warning("%s Using PyTorch instead, which is slower to start.", error.message)
            backend = "torch"
    from memvault.text.encoders.torch_model import TorchModel

    return TorchModel(settings.model, backend)
