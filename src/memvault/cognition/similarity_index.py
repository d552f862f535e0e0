"""Keeps the vectors of all memories in memory and computes their surroundings.

The vectors are read from the store once; after that they come from the indexer with
`NotesIndexed`. Surroundings are computed from the `GraphView`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np

from memvault.cognition.coherence import Surroundings
from memvault.cognition.vector_rows import Rows, VectorRows
from memvault.model.batched import batched
from memvault.model.errors import GraphQueryError, StorageError
from memvault.model.graph import GraphEdge, contradicts
from memvault.model.note import ChunkSize, Vector, mean_vector
from memvault.model.priority import make_way
from memvault.search.scope import MemoryLookup
from memvault.stores.graph_view import GraphChange, GraphView
from memvault.stores.vectors import VectorStore

logger = logging.getLogger(__name__)
MAX_KEPT = 200_000  # vectors, 150 MB with 384 dimensions; the rest are looked up
READ_AT_ONCE = 256  # notes
MAX_SHARING = 50  # most notes that an entity relates to each other
_FAULTS = (StorageError, GraphQueryError)


class SimilarityIndex:
    """The similarities and relations of the memories of one index generation. Thread-safe.

    Until `load` is done, missing vectors are looked up in the store. A store that does not answer
    counts as empty.
    """

    def __init__(self, view: GraphView, vectors: VectorStore, memories: MemoryLookup) -> None:
        self._view = view
        self._store = vectors
        self._memories = memories
        self._lock = threading.Lock()  # guards the rows
        self._rows = VectorRows(MAX_KEPT)
        self._loaded = False
        # Called with the ids of memories whose vector, surroundings or neighbours' surroundings
        # changed.
        self.on_change: list[Callable[[Collection[str]], None]] = []
        view.on_change.append(self._apply)

    @property
    def version(self) -> int:
        """A number that changes whenever the index does."""
        return self._view.version

    @property
    def is_loaded(self) -> bool:
        """Whether everything is in memory, so that listeners are called on every change."""
        return self._loaded

    def is_memory(self, node_id: str) -> bool:
        """Whether this is a note's id, rather than that of an entity without a note."""
        return self._memories.by_id(node_id) is not None

    def importance(self, memory_id: str) -> float:
        """The importance of a memory, in [0, 1]; 0.5 for an unknown one."""
        memory = self._memories.by_id(memory_id)
        return 0.5 if memory is None else memory.importance

    def memory_ids(self) -> list[str]:
        """The ids of all memories, in order."""
        return sorted(memory.id for memory in self._memories.all())

    def vectors(self, ids: Iterable[str]) -> dict[str, Vector | None]:
        """The vector of each memory's whole text; None for a memory without text."""
        requested = list(ids)
        with self._lock:
            vectors = {key: self._rows.get(key) for key in requested if key in self._rows}
        missing = [key for key in requested if key not in vectors and self.is_memory(key)]
        if missing:
            vectors.update(self._look_up(missing))
        return {key: vectors.get(key) for key in requested}

    def similarities(self, memory_id: str, ids: Collection[str]) -> dict[str, float]:
        """The cosine of each of these memories with one, in [0, 1]; without those that have no
        text."""
        vectors = self.vectors([memory_id, *ids])
        own_vector = vectors.pop(memory_id)
        present = {key: vector for key, vector in vectors.items() if vector is not None}
        if own_vector is None or not present:
            return {}
        cosines = np.clip(np.stack(list(present.values())) @ own_vector, 0.0, 1.0)
        return dict(zip(present, cosines.tolist(), strict=True))

    def rows(self, ids: Sequence[str]) -> Rows:
        """The vectors of these memories as one matrix, without memories that have none."""
        with self._lock:
            rows = self._rows.rows([key for key in ids if key in self._rows])
            missing = [key for key in ids if key not in self._rows and self.is_memory(key)]
        if not missing:
            return rows
        looked_up = {key: row for key, row in self._look_up(missing).items() if row is not None}
        if not looked_up:
            return rows
        parts = [rows.matrix] if rows.ids else []
        return Rows(
            [*rows.ids, *looked_up], np.concatenate([*parts, np.stack(list(looked_up.values()))])
        )

    def around(self, ids: Iterable[str]) -> dict[str, Surroundings]:
        """The surroundings of each node, from links in either direction."""
        requested = list(ids)
        try:
            return {key: surroundings(key, self._view.touching(key)) for key in requested}
        except _FAULTS as error:
            logger.warning("the graph does not answer; the pulse has no links: %s", error.message)
            return dict.fromkeys(requested, Surroundings())

    def related(self, memory_id: str, limit: int) -> list[str]:
        """The memories related to a memory, strongest first.

        They count by the weights of direct links, and by entities and tags that both link to or
        name, rare ones counting more.
        """
        try:
            weights = self._weights(memory_id)
        except _FAULTS:
            return []
        return sorted(weights, key=lambda key: (-weights[key], key))[:limit]

    def _weights(self, memory_id: str) -> dict[str, float]:
        unrelated: dict[str, float] = {}  # the product of 1 - weight, by memory
        for edge in self._view.touching(memory_id):
            neighbour = edge.target if edge.source == memory_id else edge.source
            if neighbour == memory_id:
                continue
            if self.is_memory(neighbour):
                unrelated[neighbour] = unrelated.get(neighbour, 1.0) * (
                    1.0 - edge.effective_weight()
                )
                continue
            sharing = self._sharing(neighbour) - {memory_id}
            for memory in sharing:
                factor = 1.0 - 1.0 / (1.0 + len(sharing))
                unrelated[memory] = unrelated.get(memory, 1.0) * factor
        return {key: 1.0 - share for key, share in unrelated.items()}

    def _sharing(self, entity_id: str) -> set[str]:
        """The memories that link to or name an entity; empty if there are more than MAX_SHARING."""
        edges = self._view.touching(entity_id)
        if len(edges) > MAX_SHARING:
            return set()
        return {edge.source for edge in edges if self.is_memory(edge.source)}

    def nearest(self, vector: Vector, limit: int) -> list[tuple[str, float]]:
        """The ids of the notes whose note vectors are nearest to a vector, with their cosines.

        Empty if the store does not answer.
        """
        try:
            ranking = self._store.rank_dense(vector, limit, size=ChunkSize.NOTE)
        except _FAULTS:
            return []
        return list(zip(ranking.note_ids, ranking.scores.tolist(), strict=True))

    def load(self) -> None:
        """Load all vectors and the graph.

        Raises:
            StoreUnavailable, GraphQueryError: a store does not answer.
        """
        self._view.load()
        if self._loaded:
            return
        for batch in batched(self.memory_ids(), READ_AT_ONCE):
            vectors = self._store.vectors(batch, ChunkSize.NOTE)
            with self._lock:
                for key in batch:
                    if key not in self._rows and self.is_memory(key):  # not newer, not removed
                        self._rows.put(key, mean_vector(vectors.get(key, ())))
        self._loaded = True

    def _apply(self, change: GraphChange) -> None:
        removed, vectors = change.indexed.removed, change.indexed.vectors
        with self._lock:
            for key in removed:
                self._rows.forget(key)
            for key, vector in vectors.items():
                self._rows.put(key, vector)
        touched = {*change.touched, *vectors}
        if self._view.is_loaded:
            touched.update(*[self._neighbourhood(key) for key in touched])
        for listener in self.on_change:
            listener(touched)

    def _neighbourhood(self, node_id: str) -> set[str]:
        """The nodes linked with a node directly, or through an entity that few notes name."""
        make_way()
        nodes = set()
        for edge in self._view.touching(node_id):
            nodes |= {edge.source, edge.target}
        if not self.is_memory(node_id):
            return nodes if len(nodes) <= MAX_SHARING + 2 else set()
        for neighbour in list(nodes):
            if not self.is_memory(neighbour):
                sharing = self._view.touching(neighbour)
                nodes |= {e.source for e in sharing} if len(sharing) <= MAX_SHARING + 1 else set()
        return nodes

    def _look_up(self, ids: Sequence[str]) -> dict[str, Vector | None]:
        try:
            vectors = self._store.vectors(ids, ChunkSize.NOTE)
        except _FAULTS as error:
            logger.warning("the pulse has no vectors: %s", error.message)
            return dict.fromkeys(ids)
        return {key: mean_vector(vectors.get(key, ())) for key in ids}


def surroundings(node_id: str, edges: Iterable[GraphEdge]) -> Surroundings:
    """The surroundings of a node, from the edges that start or end at it."""
    neighbours, against = set[str](), set[str]()
    for edge in edges:
        is_source = edge.source == node_id
        neighbour = edge.target if is_source else edge.source
        if neighbour == node_id:
            continue
        neighbours.add(neighbour)
        if contradicts(edge.relation):
            against.add(neighbour)
    return Surroundings(neighbours, against)
