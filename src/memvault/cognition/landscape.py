"""Vectors and surroundings of memories, kept at hand while the index stays as it is."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

import numpy as np

from memvault.cognition.coherence import (
    SUPERSEDED,
    SUPERSEDING,
    Surroundings,
    contradicts,
    relation_name,
)
from memvault.model.chunk import ChunkSize, Vector
from memvault.model.errors import GraphQueryError, StoreUnavailable
from memvault.model.graph import GraphEdge
from memvault.stores.graph import GraphStore
from memvault.stores.vectors import VectorStore

logger = logging.getLogger(__name__)
MOST_KEPT = 20_000  # memories; about 1.5 kB each with 384 dimensions


@dataclass(frozen=True, slots=True)
class IndexView:
    """The stores as they are now; ``version`` changes whenever their content does.

    ``is_memory`` tells a note's id from that of a thing that is only named.
    """

    vectors: VectorStore
    graph: GraphStore
    version: int
    is_memory: Callable[[str], bool] = field(compare=False)


class Landscape:
    """Reads through to the stores and remembers until the index changes. Thread-safe.

    A store that does not answer is read as empty: the pulse is then of what can be seen.
    """

    def __init__(self, view: Callable[[], IndexView]) -> None:
        self._view = view
        self._seen: IndexView | None = None
        self._vectors: dict[str, Vector | None] = {}
        self._around: dict[str, Surroundings] = {}
        self._lock = threading.RLock()

    def current(self) -> IndexView:
        """The stores as they are now, everything remembered of older ones forgotten."""
        view = self._view()
        with self._lock:
            if self._seen != view or len(self._vectors) > MOST_KEPT:
                self._vectors.clear()
                self._around.clear()
                self._seen = view
        return view

    def vectors(self, ids: Iterable[str]) -> dict[str, Vector | None]:
        """The vector of each memory's whole text; None for what has no text of its own."""
        wanted = list(ids)
        with self._lock:
            view = self.current()
            missing = [key for key in wanted if key not in self._vectors]
            if missing:
                self._vectors.update(dict.fromkeys(missing))
                try:
                    found = view.vectors.vectors(missing, ChunkSize.NOTE)
                except StoreUnavailable:
                    logger.warning("the vector store does not answer: pulse without vectors")
                    found = {}
                self._vectors.update({key: _middle(rows) for key, rows in found.items()})
            return {key: self._vectors[key] for key in wanted}

    def around(self, ids: Iterable[str]) -> dict[str, Surroundings]:
        """What each memory is linked to, in either direction."""
        wanted = list(ids)
        with self._lock:
            view = self.current()
            missing = {key for key in wanted if key not in self._around}
            if missing:
                try:
                    edges = view.graph.neighbours(missing)
                except (StoreUnavailable, GraphQueryError):
                    logger.warning("the graph does not answer: pulse without links")
                    edges = []
                self._around.update(surroundings(missing, edges))
            return {key: self._around[key] for key in wanted}


def _middle(rows: Collection[Vector]) -> Vector | None:
    if not rows:
        return None
    total = np.sum(list(rows), axis=0, dtype=np.float32)
    length = float(np.linalg.norm(total))
    return np.asarray(total / length, dtype=np.float32) if length > 0.0 else None


def surroundings(ids: Collection[str], edges: Iterable[GraphEdge]) -> dict[str, Surroundings]:
    """Read the surroundings of these nodes from the edges that touch them."""
    neighbours: dict[str, set[str]] = {key: set() for key in ids}
    against: dict[str, set[str]] = {key: set() for key in ids}
    outdated_by: dict[str, set[str]] = {key: set() for key in ids}
    for edge in edges:
        name = relation_name(edge.relation)
        for own, other in ((edge.source, edge.target), (edge.target, edge.source)):
            if own not in neighbours:
                continue
            neighbours[own].add(other)
            if contradicts(edge.relation):
                against[own].add(other)
            if name in (SUPERSEDED if own == edge.source else SUPERSEDING):
                outdated_by[own].add(other)
    return {
        key: Surroundings(
            frozenset(neighbours[key]), frozenset(against[key]), frozenset(outdated_by[key])
        )
        for key in neighbours
    }
