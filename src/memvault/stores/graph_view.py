"""The graph of one generation of indexes, in memory.

All code that needs the graph in memory uses this view or a projection of it: the walk around a node
(`reasoning.insights`), the index of edges (`search.relations.edge_index`) and the similarity index
(`cognition.similarity_index`). The graph store is read once; after that the view applies the
indexer's reports (`NotesIndexed`), so a saved note costs only the work on its own edges.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from heapq import nsmallest
from sys import intern

from memvault.model.graph import (
    INITIAL_LEARNING,
    NOT_LEARNED,
    EdgeLearning,
    GraphEdge,
    GraphNode,
    NoteGraph,
    NotesIndexed,
    by_position,
)
from memvault.model.memory import Memory
from memvault.model.search import NodeRef, RelationSource
from memvault.stores.graph import GraphStore
from memvault.vault.frontmatter.properties import domain_of

Edges = tuple[GraphEdge, ...]


@dataclass(frozen=True, slots=True)
class GraphChange:
    """The effects of one `NotesIndexed` on the view, by node id.

    Attributes:
        restated: notes whose own node or edges changed, or that were removed.
        touched: these, and the nodes at the other end of an edge that was added or removed.
        indexed: the report.
    """

    restated: Set[str]
    touched: Set[str]
    indexed: NotesIndexed


class GraphView:
    """Nodes and edges by id, path and folder. Thread-safe.

    Every edge has the learning profile of its note's domain. If the view is not loaded, every query
    loads it first.

    Args:
        memory_of: returns the indexed memory of a note's id.

    Raises:
        StoreUnavailable, GraphQueryError: the view is not loaded and the graph does not answer.
    """

    def __init__(self, graph: GraphStore, memory_of: Callable[[str], Memory | None]) -> None:
        self._graph = graph
        self._memory_of = memory_of
        self._lock = threading.RLock()
        self._loading = threading.Lock()
        self._during_load: list[NotesIndexed] | None = None  # reported while the store is read
        self._loaded = False
        self.version = 0  # counts changes
        self.on_change: list[Callable[[GraphChange], None]] = []
        self._clear()

    def _clear(self) -> None:
        self._nodes: dict[str, GraphNode] = {}
        self._id_at: dict[str, str] = {}  # by path in lower case
        self._in_folder: dict[str, set[str]] = {}
        self._edges_from: dict[str, Edges] = {}  # by source
        self._edges_to: dict[str, dict[str, Edges]] = {}  # by target, then by source
        self._strongest: dict[str, Edges] = {}

    # -- questions ------------------------------------------------------------------------------

    def of(self, node_id: str) -> Edges:
        """The edges that start or end at a node, the strongest first."""
        with self._loaded_lock():
            edges = self._strongest.get(node_id)
            if edges is None:
                edges_of_node = [*self._edges_from.get(node_id, ()), *self._pointing_at(node_id)]
                edges = self._strongest[node_id] = tuple(sorted(edges_of_node, key=_strength))
            return edges

    def touching(self, node_id: str) -> list[GraphEdge]:
        """The same edges as `of`, unsorted, which is cheaper."""
        with self._loaded_lock():
            return [*self._edges_from.get(node_id, ()), *self._pointing_at(node_id)]

    def stated_by(self, node_id: str) -> Edges:
        """The edges that a note states, in the order of its text."""
        with self._loaded_lock():
            return self._edges_from.get(node_id, ())

    def all(self) -> list[GraphEdge]:
        """Every edge, note by note."""
        with self._loaded_lock():
            return [edge for edges in self._edges_from.values() for edge in edges]

    def node(self, node_id: str) -> GraphNode | None:
        with self._loaded_lock():
            return self._nodes.get(node_id)

    def nodes(self) -> list[GraphNode]:
        with self._loaded_lock():
            return list(self._nodes.values())

    def note_at(self, path: str) -> str | None:
        """The id of the note at a path, ignoring case."""
        with self._loaded_lock():
            return self._id_at.get(path.casefold())

    def notes_in(
        self, folder: str, limit: int, allowed: Callable[[str], bool] = lambda _: True
    ) -> list[str]:
        """Ids of at most ``limit`` allowed notes directly in a folder, ordered by path."""
        with self._loaded_lock():
            paths = {key: self._nodes[key].path or "" for key in self._in_folder.get(folder, ())}
        return nsmallest(limit, filter(allowed, paths), key=paths.__getitem__)

    # -- keeping it current ---------------------------------------------------------------------

    @property
    def is_loaded(self) -> bool:
        return self._loaded

    def load(self) -> None:
        """Read the graph store, unless the view is loaded."""
        with self._loading:
            if self._loaded:
                return
            with self._lock:
                self._during_load = []
            try:
                nodes = list(self._graph.all_nodes())
                edges = _grouped(self._graph.all_edges(), lambda edge: edge.source)
            except BaseException:
                self._during_load = None
                raise
            with self._lock:
                self._clear()
                for node in nodes:
                    self._put_node(node)
                for source in list(edges):
                    self._replace_edges(source, edges.pop(source))
                missed, self._during_load = self._during_load or [], None
                self._loaded = True
                for indexed in missed:
                    self._apply(indexed)

    def apply(self, indexed: NotesIndexed) -> None:
        """Apply what was just written to the stores, then notify the listeners."""
        restated: set[str] = set()
        touched: set[str] = set()
        with self._lock:
            if self._during_load is not None:
                self._during_load.append(indexed)
            elif self._loaded:
                restated, touched = self._apply(indexed)
            self.version += 1
        change = GraphChange(restated, touched, indexed)
        for listener in self.on_change:
            listener(change)

    def _loaded_lock(self) -> threading.RLock:
        if not self._loaded:
            self.load()
        return self._lock

    def _apply(self, indexed: NotesIndexed) -> tuple[set[str], set[str]]:
        """Apply a report in the steps of `GraphStore.remove` and `GraphStore.replace`; returns the
        ids of restated and touched nodes."""
        restated, touched = set(indexed.removed), set(indexed.removed)
        loose: set[str] = set()
        for node_id in indexed.removed:
            loose.update(edge.target for edge in self._edges_from.get(node_id, ()))
            touched |= self._replace_edges(node_id, ())
            sources = set(self._edges_to.pop(node_id, ()))
            for source in sources:
                remaining = tuple(
                    e for e in self._edges_from.get(source, ()) if e.target != node_id
                )
                self._set_edges_from(source, remaining)
            restated |= sources
            touched |= sources
            self._strongest.pop(node_id, None)
            self._forget_node(node_id)
        latest = {graph.node.id: graph for graph in indexed.graphs}
        for graph in latest.values():
            self._put_node(graph.node)
            restated.add(graph.node.id)
        for graph in latest.values():
            loose.update(edge.target for edge in self._edges_from.get(graph.node.id, ()))
            loose.update(self._put_entities(graph, latest.keys()))
            touched |= self._replace_edges(graph.node.id, graph.edges)
        for node_id in loose:
            node = self._nodes.get(node_id)
            if node is not None and node.path is None and not self._edges_to.get(node_id):
                self._forget_node(node_id)
        return restated, touched | restated

    def _put_entities(self, graph: NoteGraph, written: Collection[str]) -> set[str]:
        for node in graph.entities:
            known_node = self._nodes.get(node.id)
            if node.id not in written and (known_node is None or known_node.path is None):
                self._put_node(node)
        return {node.id for node in graph.entities}

    def _put_node(self, node: GraphNode) -> None:
        self._forget_node(node.id)
        self._nodes[node.id] = node
        if node.path is not None:
            self._id_at[node.path.casefold()] = node.id
            self._in_folder.setdefault(folder_of(node.path), set()).add(node.id)

    def _forget_node(self, node_id: str) -> None:
        node = self._nodes.pop(node_id, None)
        if node is not None and node.path is not None:
            folded, folder = node.path.casefold(), folder_of(node.path)
            if self._id_at.get(folded) == node_id:
                del self._id_at[folded]
            notes_in_folder = self._in_folder.get(folder, set())
            notes_in_folder.discard(node_id)
            if not notes_in_folder:
                self._in_folder.pop(folder, None)

    def _replace_edges(self, source: str, edges: Sequence[GraphEdge]) -> set[str]:
        """Replace the edges that a note states; returns the targets of those added or removed."""
        old_edges = self._edges_from.get(source, ())
        learned = self._initial_learning(source) if edges else NOT_LEARNED
        new_edges = tuple(_shared(edge, learned) for edge in sorted(edges, key=by_position))
        for target in {edge.target for edge in old_edges}:
            self._strongest.pop(target, None)
            edges_by_source = self._edges_to.get(target, {})
            edges_by_source.pop(source, None)
            if not edges_by_source:
                self._edges_to.pop(target, None)
        for target, edges_to_target in _grouped(new_edges, lambda edge: edge.target).items():
            self._strongest.pop(target, None)
            self._edges_to.setdefault(target, {})[source] = tuple(edges_to_target)
        self._set_edges_from(source, new_edges)
        return {end for end, _, _ in _ends(old_edges) ^ _ends(new_edges)}

    def _set_edges_from(self, source: str, edges: Edges) -> None:
        self._strongest.pop(source, None)
        if edges:
            self._edges_from[source] = edges
        else:
            self._edges_from.pop(source, None)

    def _pointing_at(self, node_id: str) -> Iterable[GraphEdge]:
        edges_by_source = self._edges_to.get(node_id, {})
        return [e for source, edges in edges_by_source.items() if source != node_id for e in edges]

    def _initial_learning(self, source: str) -> EdgeLearning:
        """The initial learning state of a note's edges: the profile of its domain."""
        memory = self._memory_of(source)
        return NOT_LEARNED if memory is None else INITIAL_LEARNING[domain_of(memory)]


def folder_of(path: str) -> str:
    """The folder of a vault path; empty for a note directly in the vault."""
    return path.rpartition("/")[0]


def _grouped(
    edges: Iterable[GraphEdge], key: Callable[[GraphEdge], str]
) -> dict[str, list[GraphEdge]]:
    groups: dict[str, list[GraphEdge]] = {}
    for edge in edges:
        groups.setdefault(key(edge), []).append(edge)
    return groups


def _ends(edges: Iterable[GraphEdge]) -> set[tuple[str, str, float]]:
    return {(edge.target, edge.relation, edge.weight) for edge in edges}


def _shared(edge: GraphEdge, learned: EdgeLearning) -> GraphEdge:
    """The edge with texts that are shared with other edges, which takes a third of the memory."""
    return replace(
        edge,
        learned=learned,
        source=intern(edge.source),
        target=intern(edge.target),
        relation=intern(edge.relation),
        sentence=intern(edge.sentence),
    )


def _strength(edge: GraphEdge) -> tuple[float, str, int, int, str]:
    return (-edge.effective_weight(), edge.source, edge.line, edge.ordinal, edge.target)


def node_ref(node_id: str, view: GraphView) -> NodeRef:
    node = view.node(node_id)
    return NodeRef(node_id, node.name, node.path) if node is not None else NodeRef(node_id, "")


def edge_source(edge: GraphEdge, view: GraphView) -> RelationSource | None:
    """Where an edge is stated; None for a note that has just been removed."""
    node = view.node(edge.source)
    if node is None or node.path is None:
        return None
    return RelationSource(node.path, edge.line, edge.sentence)
