"""Notes, entities and the typed edges between them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

from memvault.model.graph import GraphEdge, GraphNode, NoteGraph
from memvault.stores.server import CallRecorder


class GraphStore(Protocol):
    """Every edge belongs to the note it starts at. Methods may be called from any thread. A write
    is kept wholly or not at all; who reads while it is committed may see part of it.

    Raises:
        StoreUnavailable: the engine does not answer.
        GraphQueryError: the engine refused a query.
    """

    calls: CallRecorder

    def replace(self, notes: Sequence[NoteGraph]) -> None:
        """Make this each note's node and its only edges. An edge's target that is not in the graph
        and not among ``entities`` of this call is an error. Nodes without a path that no edge ends
        at any more are removed; a node with a path never is, except by `remove`."""
        ...

    def remove(self, note_ids: Collection[str]) -> None:
        """Remove notes with their edges, also those that end at them (the indexer writes the
        linking notes again), and entities left without an edge."""
        ...

    def neighbours(self, ids: Collection[str], limit: int = 10_000) -> list[GraphEdge]:
        """Edges that start or end at any of these nodes, ordered by source, line, ordinal."""
        ...

    def stated_by(self, note_ids: Collection[str]) -> list[GraphEdge]:
        """Edges that start at any of these notes, ordered as those of `neighbours`."""
        ...

    def between(self, ids: Collection[str]) -> list[GraphEdge]:
        """Edges both of whose ends are among these nodes."""
        ...

    def nodes(self, ids: Collection[str]) -> dict[str, GraphNode]: ...

    def all_nodes(self) -> Iterator[GraphNode]: ...

    def all_edges(self) -> Iterator[GraphEdge]: ...

    def counts(self) -> tuple[int, int]:
        """Number of nodes, number of edges."""
        ...

    def close(self) -> None: ...
