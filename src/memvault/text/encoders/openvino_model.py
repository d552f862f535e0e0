"""Runs an exported embedding model with OpenVINO."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt
import openvino
from filelock import FileLock
from tokenizers import Tokenizer

from memvault.model.priority import AwaitedLock, make_way
from memvault.text.encoders.model_files import Encoded, Floats, ModelMeta, Window, read_meta

_Hints = tuple[tuple[str, str], ...]
_STREAMS = 2
# Texts are padded to a multiple of this many tokens: other lengths are rounded differently on some
# processors, so that a text's vector would depend on the longest text next to it. Also, OpenVINO
# prepares its kernels again for each new length, which takes as long as a query.
_PADDED_TO = 16
# Group size for 8-bit activations of layers with 8-bit weights; 32 keeps a cosine of 0.9998 to the
# exact vectors. Without the precision, processors that have bfloat16 compute in it, so that vectors
# differ from those of other computers.
_ROUNDING = {"DYNAMIC_QUANTIZATION_GROUP_SIZE": "32", "INFERENCE_PRECISION_HINT": "f32"}
# A query has a dozen tokens: a second thread costs as much as it saves. So each stream has one
# thread, and a query's phrases are embedded in parallel. The threads are not bound to cores, where
# they could wait for other threads, or delay the thread that searches, while another core is free.
_LATENCY = (
    ("PERFORMANCE_HINT", "LATENCY"),
    ("ENABLE_CPU_PINNING", "NO"),
    ("NUM_STREAMS", str(_STREAMS)),
    ("INFERENCE_NUM_THREADS", str(_STREAMS)),
)
_THROUGHPUT = (("PERFORMANCE_HINT", "THROUGHPUT"), ("NUM_STREAMS", str(_STREAMS)))
# Requests created in advance: creating one waits for the running ones, up to 20 ms.
_REQUESTS = 6
# Niceness of the threads that compute batches, so that questions go first.
_NICENESS = 10
_MAX_FEW_WINDOWS = 16  # windows, as of one saved note, that the model for queries encodes too
COMPILING_SECONDS = 20.0  # for which other processes may hold the compile lock
_first_use = threading.Lock()


class OpenVinoModel:
    """A transformer with pooling and normalisation, compiled twice.

    One compiled model answers queries, the other one encodes batches, so that queries never wait
    for indexing. The second one is loaded when it is needed (0.2 s) and unloaded when it is idle:
    with the buffers of its largest batches it takes up to 300 MB. Thread-safe.
    """

    def __init__(self, folder: Path) -> None:
        self.meta: ModelMeta = read_meta(folder)
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()  # a tokenizer is saved with its last settings
        self.tokenizer.no_truncation()
        self._folder = folder
        self._single = _compiled(folder, _LATENCY)
        self._free: SimpleQueue[Any] = SimpleQueue()  # idle requests
        for _ in range(_REQUESTS):
            self._free.put(self._single.create_infer_request())
        self._queue: Any = None
        self._queue_used = 0.0
        self._queue_lock = AwaitedLock()
        # OpenVINO initialises its use of NumPy in the first call of a process; two threads that do
        # this at once deadlock between its lock and the interpreter's.
        with _first_use:
            self.encode_few([[self.meta.padding]])

    def encode_few(self, windows: Sequence[Window]) -> npt.NDArray[np.float32]:
        """Vectors of a few windows, (n, dim) float32, normalised."""
        return self.begin(windows)().vectors

    def begin(self, windows: Sequence[Window]) -> Callable[[], Encoded]:
        """Start to encode a few windows in the engine's own threads; the function returned waits.

        Windows of about the same length are computed together, so that none is padded much.
        """
        alike: dict[int, list[int]] = {}
        for index, window in enumerate(windows):
            alike.setdefault(-(-len(window) // _PADDED_TO), []).append(index)
        running = []
        for places in alike.values():
            try:
                request = self._free.get_nowait()
            except Empty:
                request = self._single.create_infer_request()
            inputs = self._inputs([windows[index] for index in places])
            for number, values in enumerate(inputs):  # half the time of `start_async(inputs)`
                request.set_input_tensor(number, openvino.Tensor(values, shared_memory=True))
            request.start_async()
            running.append((places, request, inputs))  # the request reads from `inputs`
        vectors = np.empty((len(windows), self.meta.dimension), np.float32)
        tokens: dict[int, Floats] = {}

        def finished() -> Encoded:
            while running:  # only in the first call
                places, request, _ = running[-1]
                request.wait()  # if it fails, the next call fails too
                encoded = self._outputs(request, [windows[index] for index in places])
                vectors[places] = encoded.vectors
                tokens.update(zip(places, encoded.tokens or (), strict=False))
                self._free.put(request)
                running.pop()
            return Encoded(vectors, [tokens[k] for k in range(len(windows))] if tokens else None)

        return finished

    def encode(self, batches: Sequence[Sequence[Window]]) -> list[Encoded]:
        """The vectors of each batch."""
        if sum(map(len, batches)) <= _MAX_FEW_WINDOWS:
            return [self.begin(batch)() for batch in batches]
        results: list[Any] = [None] * len(batches)

        def keep(request: Any, index: int) -> None:
            results[index] = self._outputs(request, batches[index])

        with self._queue_lock:
            if self._queue is None:
                self._queue = self._nice_queue()
            self._queue.set_callback(keep)
            for index, batch in enumerate(batches):
                self._queue.get_idle_request_id()  # waits for one
                make_way()
                self._queue.start_async(self._inputs(batch), index)
            self._queue.wait_all()
            self._queue_used = time.monotonic()
        return results

    def _nice_queue(self) -> Any:
        """The model for batches; its threads inherit the niceness of the compiling thread."""

        def compiled() -> Any:
            if sys.platform == "linux":  # elsewhere a process has one niceness for all threads
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
            bulk = _compiled(self._folder, _THROUGHPUT)
            return openvino.AsyncInferQueue(bulk, _STREAMS)

        with ThreadPoolExecutor(1) as nice:
            return nice.submit(compiled).result()

    def release(self, idle_seconds: float) -> bool:
        """Unload the model for batches if it was idle for so long; returns whether it did."""
        with self._queue_lock:
            if self._queue is None or time.monotonic() - self._queue_used < idle_seconds:
                return False
            self._queue = None
            return True

    def _outputs(self, request: Any, batch: Sequence[Window]) -> Encoded:
        """Copies of what a finished request gives."""
        vectors = np.array(request.get_output_tensor(0).data, np.float32)
        if len(request.model_outputs) == 1:
            return Encoded(vectors)
        tokens = request.get_output_tensor(1).data
        cut = zip(tokens, batch, strict=True)
        return Encoded(vectors, [np.array(rows[: len(window)], np.float32) for rows, window in cut])

    def _inputs(self, batch: Sequence[Window]) -> list[npt.NDArray[np.int64]]:
        longest = max(len(window) for window in batch)
        padded = -(-longest // _PADDED_TO) * _PADDED_TO
        shape = (len(batch), min(padded, self.meta.window))
        ids = np.full(shape, self.meta.padding, np.int64)
        mask = np.zeros(shape, np.int64)
        for row, window in enumerate(batch):
            ids[row, : len(window)] = window
            mask[row, : len(window)] = 1
        by_name = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        return [by_name[name] for name in self.meta.inputs]


def _compiled(folder: Path, hints: _Hints) -> Any:
    """Compile the model for single queries or for batches.

    OpenVINO writes its cache of compiled models in place, where another process may read a partial
    file. So only one process compiles at a time, and if loading the cache fails, it is deleted.
    """
    cache = folder / "compiled"
    with _alone(folder) as is_alone:
        if not is_alone:
            return _compile(folder, hints, None)
        try:
            return _compile(folder, hints, cache)
        except RuntimeError:  # a damaged cache, or one of another version of OpenVINO
            shutil.rmtree(cache, ignore_errors=True)
            return _compile(folder, hints, None)


def _compile(folder: Path, hints: _Hints, cache: Path | None) -> Any:
    core = openvino.Core()
    if cache is not None:
        core.set_property({"CACHE_DIR": str(cache)})
    return core.compile_model(folder / "model.xml", "CPU", {**dict(hints), **_ROUNDING})


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Hold the compile lock; False if the folder is not writable, or another process keeps it, as
    one that is suspended does."""
    lock = FileLock(folder / "compiling.lock")
    try:
        lock.acquire(timeout=COMPILING_SECONDS)
    except OSError:  # a time-out, too
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
