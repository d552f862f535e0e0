"""Vectors and surroundings of all memories, kept at hand and true to the index.

They are read once, in the background; after that a change of the index costs what the changed
notes cost, whoever else is linked with them: a few are read again by whoever indexed them, a
millisecond each (`bench_pulse`), so that no call waits for it, and many in the background.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from memvault.cognition.adjacency import Adjacency
from memvault.cognition.coherence import Surroundings
from memvault.model.errors import GraphQueryError, StorageError
from memvault.model.graph import GraphEdge
from memvault.model.memory import Memory
from memvault.model.note import ChunkSize, Vector
from memvault.model.search import ChunkHit
from memvault.stores.open import Stores

_FIRST_ROWS = 256
_NONE = -1


@dataclass(frozen=True, slots=True)
class Rows:
    """The vectors of these memories, one row each: 32-bit floats, memories by dimensions."""

    ids: list[str]
    matrix: npt.NDArray[np.float32]


class VectorRows:
    """Vectors by memory id, as 16-bit floats: 768 bytes each with 384 dimensions, and cosines
    within 0.0002 of those of 32 bits. When it is full, no more are kept. Not thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._row_of: dict[str, int] = {}  # _NONE: known to have no vector
        self._free: list[int] = []
        self._rows: npt.NDArray[np.float16] | None = None
        self._used = 0

    def __contains__(self, key: str) -> bool:
        return key in self._row_of

    def get(self, key: str) -> Vector | None:
        row = self._row_of[key]
        if row == _NONE or self._rows is None:
            return None
        return np.asarray(self._rows[row], np.float32)

    def rows(self, keys: Sequence[str]) -> Rows:
        """Those of these that have a vector, in the order given."""
        held = [key for key in keys if self._row_of[key] != _NONE]
        if self._rows is None:
            return Rows([], np.zeros((0, 0), np.float32))
        taken = self._rows[[self._row_of[key] for key in held]]
        return Rows(held, taken.astype(np.float32))

    def put(self, key: str, vector: Vector | None) -> None:
        self.forget(key)
        if len(self._row_of) >= self._most:
            return
        if vector is None:
            self._row_of[key] = _NONE
            return
        row = self._free.pop() if self._free else self._next_row(len(vector))
        assert self._rows is not None
        self._rows[row] = vector
        self._row_of[key] = row

    def forget(self, key: str) -> None:
        row = self._row_of.pop(key, _NONE)
        if row != _NONE:
            self._free.append(row)

    def _next_row(self, dimension: int) -> int:
        if self._rows is None:
            self._rows = np.zeros((_FIRST_ROWS, dimension), np.float16)
        elif self._used == len(self._rows):
            grown = np.zeros((self._used + self._used // 2, dimension), np.float16)
            grown[: self._used] = self._rows
            self._rows = grown
        self._used += 1
        return self._used - 1


logger = logging.getLogger(__name__)
MOST_KEPT = 50_000  # vectors, 38 MB with 384 dimensions; the rest are looked up
READ_AT_ONCE = 256  # notes
FEW = 64  # changed notes that are read at once; more are read in the background
PATIENCE = 1.0  # seconds that a call waits for another that reads what changed
RETRY_SECONDS = 5.0  # after a store did not answer
_FAULTS = (StorageError, GraphQueryError)


class Memories(Protocol):
    """The notes that are indexed."""

    def by_id(self, memory_id: str) -> Memory | None: ...

    def by_path(self, path: str) -> Memory | None: ...

    def all(self) -> Iterable[Memory]: ...


class Indexed(Protocol):
    """What the indexer knows; ``version`` changes whenever the content of its stores does."""

    @property
    def version(self) -> int: ...

    @property
    def catalogue(self) -> Memories: ...


class Landscape:
    """What stands where among the memories of one set of stores. Thread-safe.

    Until `warm_up` is done everything is read through from the stores. A store that does not
    answer is read as empty: what is measured is then of what can be seen.
    """

    def __init__(self, stores: Stores, indexed: Indexed) -> None:
        self._stores = stores
        self._indexed = indexed
        self._lock = threading.RLock()  # of all that is kept
        self._reading = threading.Lock()  # one thread at a time takes in what changed
        self._waiting: set[str] = set()  # paths
        self._being_read = 0  # of those that waited
        # Told the ids of memories of which a vector, or what is around them or around a
        # neighbour, has changed.
        self.on_change: list[Callable[[Collection[str]], None]] = []
        self._id_at: dict[str, str] = {}
        self._adjacency = Adjacency()
        self._read: set[str] = set()  # ids of the notes whose edges are in it
        self._vectors = VectorRows(MOST_KEPT)
        self._wanted = False
        self._loaded = False
        self._retry_at = 0.0
        self._worker: threading.Thread | None = None
        self._closed = threading.Event()

    # -- what is asked --------------------------------------------------------------------------

    @property
    def version(self) -> int:
        """Changes whenever the index does."""
        return self._indexed.version

    @property
    def is_resident(self) -> bool:
        """Whether everything is kept, so that listeners are told of every change."""
        return self._loaded

    def is_memory(self, node_id: str) -> bool:
        """Whether this is a note's id, rather than that of a thing that is only named."""
        return self._indexed.catalogue.by_id(node_id) is not None

    def memory_ids(self) -> list[str]:
        """The ids of all memories, in order."""
        return sorted(memory.id for memory in self._indexed.catalogue.all())

    def vectors(self, ids: Iterable[str]) -> dict[str, Vector | None]:
        """The vector of each memory's whole text; None for what has no text of its own."""
        wanted = list(ids)
        self.take_in_changes()
        with self._lock:
            found = {key: self._vectors.get(key) for key in wanted if key in self._vectors}
        missing = [key for key in wanted if key not in found and self.is_memory(key)]
        if missing:
            found.update(self._look_up_vectors(missing))
        return {key: found.get(key) for key in wanted}

    def around(self, ids: Iterable[str]) -> dict[str, Surroundings]:
        """What each node is linked to, in either direction."""
        wanted = list(ids)
        self.take_in_changes()
        with self._lock:
            known = {key: self._adjacency.around(key) for key in wanted if self._knows(key)}
        missing = [key for key in wanted if key not in known]
        if missing:
            self._try_to_load()
            alone = Adjacency.of(self._edges_of(missing))
            known.update({key: alone.around(key) for key in missing})
        return {key: known[key] for key in wanted}

    def rows(self, ids: Sequence[str]) -> Rows:
        """The same of those that have one, to be compared all at once."""
        self.take_in_changes()
        with self._lock:
            kept = self._vectors.rows([key for key in ids if key in self._vectors])
            missing = [key for key in ids if key not in self._vectors and self.is_memory(key)]
        if not missing:
            return kept
        looked_up = self._look_up_vectors(missing)
        found = {key: row for key, row in looked_up.items() if row is not None}
        if not found:
            return kept
        parts = [kept.matrix] if kept.ids else []
        return Rows([*kept.ids, *found], np.concatenate([*parts, np.stack(list(found.values()))]))

    def nearest(self, vector: Vector, limit: int) -> list[ChunkHit]:
        """The notes nearest to a vector as wholes; none if the store does not answer."""
        try:
            return self._stores.vectors.search_dense(
                vector, limit, size=ChunkSize.NOTE, texts=False
            )
        except _FAULTS:
            return []

    # -- keeping true ---------------------------------------------------------------------------

    def changed(self, paths: Collection[str]) -> None:
        """Read these notes again, or have them read by the time that one asks next."""
        with self._lock:
            self._waiting.update(paths)
        self.take_in_changes(patience=0.0)  # a thread that is reading takes them in as well

    def take_in_changes(self, patience: float = PATIENCE) -> None:
        """Read what changed; where that is much, have it read and go on with what is known.

        Args:
            patience: seconds to wait for another thread that reads.
        """
        with self._lock:
            waiting = len(self._waiting) + self._being_read if self._loaded else 0
        if not waiting or time.monotonic() < self._retry_at:
            return
        if waiting > FEW:
            self.warm_up_soon()
        elif self._reading.acquire(timeout=patience):
            try:
                self._read_waiting()
            finally:
                self._reading.release()

    def warm_up(self) -> None:
        """Read everything; until this is done nothing is kept."""
        with self._lock:
            self._wanted, loaded = True, self._loaded
            if not loaded:
                self._waiting.update(memory.path for memory in self._indexed.catalogue.all())
        with self._reading:
            if self._read_waiting() and not loaded:
                self._loaded = True

    def warm_up_soon(self) -> None:
        """As `warm_up`, in a thread of its own."""
        with self._lock:
            if self._closed.is_set() or (self._worker is not None and self._worker.is_alive()):
                return
            self._worker = threading.Thread(
                target=self.warm_up, name="memvault-landscape", daemon=True
            )
            self._worker.start()

    def close(self, timeout: float) -> None:
        """Stop reading in the background, waiting so many seconds at most."""
        self._closed.set()
        if self._worker is not None:
            self._worker.join(timeout)

    def _try_to_load(self) -> None:
        """Where a store did not answer when it was tried."""
        if self._wanted and not self._loaded and time.monotonic() >= self._retry_at:
            self.warm_up_soon()

    def _knows(self, node_id: str) -> bool:
        return self._loaded and (node_id in self._read or not self.is_memory(node_id))

    def _read_waiting(self) -> bool:
        """Take in all that waits, while holding `_reading`; False if a store did not answer."""
        while not self._closed.is_set():
            with self._lock:
                paths = [self._waiting.pop() for _ in range(min(READ_AT_ONCE, len(self._waiting)))]
                self._being_read = len(paths)
            if not paths:
                return True
            try:
                self._read_again(paths)
            except _FAULTS as error:
                logger.warning("the pulse is of what was known before: %s", error.message)
                self._retry_at = time.monotonic() + RETRY_SECONDS
                self._put_back(paths)
                return False
            except BaseException:
                self._put_back(paths)
                raise
            finally:
                self._being_read = 0
        return False

    def _put_back(self, paths: Collection[str]) -> None:
        with self._lock:
            self._waiting.update(paths)

    def _read_again(self, paths: Sequence[str]) -> None:
        memories = {path: self._indexed.catalogue.by_path(path) for path in paths}
        ids = [memory.id for memory in memories.values() if memory is not None]
        edges: dict[str, list[GraphEdge]] = {key: [] for key in ids}
        for edge in self._stores.graph.stated_by(ids) if ids else ():
            edges[edge.source].append(edge)
        rows = self._stores.vectors.vectors(ids, ChunkSize.NOTE) if ids else {}
        vectors = {key: _middle(rows.get(key, ())) for key in ids}
        with self._lock:
            touched = self._forget_moved(memories)
            for key in ids:
                touched |= self._adjacency.state(key, edges[key]) | {key}
                self._vectors.put(key, vectors[key])
            self._read.update(ids)
            near = (
                self._adjacency.around(key).neighbours for key in touched if self.is_memory(key)
            )
            touched = touched.union(*near)
        for listener in self.on_change:
            listener(touched)

    def _forget_moved(self, memories: Mapping[str, Memory | None]) -> set[str]:
        """Forget what stood under an id that none of these notes has any more."""
        touched: set[str] = set()
        for path, memory in memories.items():
            before = self._id_at.pop(path, None)
            if memory is not None:
                self._id_at[path] = memory.id
            if before is not None and not self.is_memory(before):
                touched |= self._adjacency.state(before, ()) | {before}
                self._vectors.forget(before)
                self._read.discard(before)
        return touched

    # -- reading through ------------------------------------------------------------------------

    def _look_up_vectors(self, ids: Sequence[str]) -> dict[str, Vector | None]:
        try:
            rows = self._stores.vectors.vectors(ids, ChunkSize.NOTE)
        except _FAULTS:
            logger.warning("the vector store does not answer: pulse without vectors")
            return dict.fromkeys(ids)
        return {key: _middle(rows.get(key, ())) for key in ids}

    def _edges_of(self, ids: Collection[str]) -> list[GraphEdge]:
        try:
            return self._stores.graph.neighbours(ids)
        except _FAULTS:
            logger.warning("the graph does not answer: pulse without links")
            return []


def _middle(rows: Collection[Vector]) -> Vector | None:
    if not rows:
        return None
    total = np.sum(list(rows), axis=0, dtype=np.float32)
    length = float(np.linalg.norm(total))
    return np.asarray(total / length, dtype=np.float32) if length > 0.0 else None
