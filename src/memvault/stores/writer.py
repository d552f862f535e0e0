"""Group commit: what many callers write at once goes to the three stores as one batch.

Each engine makes a write durable at a price of milliseconds that is nearly the same for one
memory and for thousands, so callers that write at the same time share it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from memvault.model.chunk import EmbeddedChunk
from memvault.model.errors import GraphQueryError
from memvault.model.graph import NoteGraph
from memvault.model.memory import Memory
from memvault.stores import faults
from memvault.stores.open import Stores

MAX_BATCH_CHUNKS = 4_000  # about 20 MB of points


@dataclass(frozen=True, slots=True)
class Write:
    """One memory as all three stores keep it. ``record`` is its catalogue entry."""

    memory: Memory
    chunks: Sequence[EmbeddedChunk]
    graph: NoteGraph
    record: bytes
    written: Future[None] = field(default_factory=Future, compare=False)


class BatchWriter:
    """Commits what is submitted, in order, on a thread of its own.

    A memory's chunks and edges are written first and made durable; its record, under its path in
    the catalogue's namespace, comes last, so a crash leaves no record of what is not there.
    """

    def __init__(self, stores: Stores, namespace: str) -> None:
        self._stores = stores
        self._namespace = namespace
        self._waiting: list[Write] = []
        self._changed = threading.Condition()
        self._closed = False
        self._graph_thread = ThreadPoolExecutor(1, "graph-writer")
        self._thread = threading.Thread(target=self._run, name="batch-writer", daemon=True)
        self._thread.start()

    def submit(
        self, memory: Memory, chunks: Sequence[EmbeddedChunk], graph: NoteGraph, record: bytes
    ) -> Future[None]:
        """The future ends when the memory is in all three stores and would survive a power cut,
        or with the error that kept it out.

        Raises:
            StoreUnavailable: the writer is closed.
        """
        write = Write(memory, chunks, graph, record)
        with self._changed:
            if self._closed:
                raise faults.closed()
            self._waiting.append(write)
            self._changed.notify()
        return write.written

    def close(self) -> None:
        """Write what is waiting, then end. A second call does nothing."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()
        self._graph_thread.shutdown()

    def _run(self) -> None:
        while batch := self._take():
            self._settle(batch)

    def _take(self) -> list[Write]:
        """What is waiting, up to a batch; waits for the first; empty once closed and done."""
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            size = count = 0
            for write in self._waiting:
                size += 1 + len(write.chunks)
                if count and size > MAX_BATCH_CHUNKS:
                    break
                count += 1
            batch = self._waiting[:count]
            del self._waiting[:count]
            return batch

    def _settle(self, batch: list[Write]) -> None:
        try:
            self._commit(batch)
        except GraphQueryError as error:
            if len(batch) == 1:
                batch[0].written.set_exception(error)
                return
            for write in batch:  # one note's wrong edge is no reason to refuse the others
                self._settle([write])
        except BaseException as error:
            for write in batch:
                write.written.set_exception(error)
        else:
            for write in batch:
                write.written.set_result(None)

    def _commit(self, batch: list[Write]) -> None:
        edges = self._graph_thread.submit(
            self._stores.graph.replace, [write.graph for write in batch]
        )
        try:
            self._stores.vectors.replace([(write.memory, write.chunks) for write in batch])
            self._stores.vectors.flush()
        finally:
            edges.result()
        self._stores.keyvalue.put_many(
            self._namespace, {write.memory.path: write.record for write in batch}
        )
