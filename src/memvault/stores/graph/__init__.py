"""The graph store: notes, entities and typed edges between them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

from memvault.model.graph import GraphEdge, GraphNode, NoteGraph
from memvault.stores.server import CallRecorder


class GraphStore(Protocol):
    """A graph in which every edge belongs to the note at its start. Thread-safe.

    Writes are atomic, but a concurrent read may see part of one while it is committed.

    Raises:
        StoreUnavailable: the engine does not answer.
        GraphQueryError: the engine rejected a query.
    """

    calls: CallRecorder

    def replace(self, notes: Sequence[NoteGraph]) -> None:
        """Replace each note's node and edges.

        Nodes without a path are removed when the last edge to them is; nodes with a path are
        removed by `remove` only.

        Raises:
            GraphQueryError: an edge's target is neither in the graph nor among the ``entities``.
        """
        ...

    def remove(self, note_ids: Collection[str]) -> None:
        """Remove notes with all edges that start or end at them (the indexer writes the linking
        notes again), and entities left without an edge."""
        ...

    def neighbours(self, ids: Collection[str], limit: int = 10_000) -> list[GraphEdge]:
        """Edges that start or end at any of these nodes, ordered by source, line, ordinal."""
        ...

    def stated_by(self, note_ids: Collection[str]) -> list[GraphEdge]:
        """Edges that start at any of these notes, ordered as by `neighbours`."""
        ...

    def nodes(self, ids: Collection[str]) -> dict[str, GraphNode]: ...

    def all_nodes(self) -> Iterator[GraphNode]: ...

    def all_edges(self) -> Iterator[GraphEdge]: ...

    def counts(self) -> tuple[int, int]:
        """Number of nodes, number of edges."""
        ...

    def close(self) -> None: ...
