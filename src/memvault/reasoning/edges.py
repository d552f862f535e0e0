"""All edges of the graph at hand, by both of their ends.

Reasoning looks at a few nodes' edges at a time but must not wait for a query each time (2 to 5 ms
at 10,000 notes), nor read the thousands of edges of a hub to show twenty. They are read once, in
the background; a change costs what the changed notes cost.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from heapq import nsmallest
from sys import intern
from typing import Protocol

from memvault.model.errors import GraphQueryError, MemvaultError, StoreUnavailable
from memvault.model.graph import NEW_IN, UNLEARNT, EdgeLearning, GraphEdge, GraphNode
from memvault.model.insights import (
    Source,
    Thing,
)
from memvault.model.memory import Memory
from memvault.stores.graph import GraphStore
from memvault.vault.frontmatter.properties import domain_of

logger = logging.getLogger(__name__)
READ_AT_ONCE = 500  # notes


class Memories(Protocol):
    """The notes that are indexed."""

    def by_path(self, path: str) -> Memory | None: ...

    def by_id(self, memory_id: str) -> Memory | None: ...

    def all(self) -> Iterable[Memory]: ...


class EdgeIndex:
    """The edges of one graph store, true to it, each with its note's field of knowledge, by whose
    profile it acts. Thread-safe.

    Every method that gives edges or nodes reads what has changed first, and everything the first
    time.

    Raises:
        StoreUnavailable, GraphQueryError: the graph does not answer.
    """

    def __init__(self, graph: GraphStore, memories: Memories) -> None:
        self._graph = graph
        self._memories = memories
        self._lock = threading.RLock()
        self._waiting_lock = threading.Lock()
        self._waiting: set[str] = set()  # paths
        self._loaded = False
        self._worker: threading.Thread | None = None
        self._clear()

    def _clear(self) -> None:
        self._nodes: dict[str, GraphNode] = {}
        self._ids_at: dict[str, str] = {}
        self._folded: dict[str, str] = {}  # the same, by path in lower case
        self._children: dict[str, set[str]] = {}  # by folder: ids of the notes right in it
        self._stated: dict[str, tuple[GraphEdge, ...]] = {}
        self._stating: dict[str, dict[str, tuple[GraphEdge, ...]]] = {}  # by target, by source
        self._strongest: dict[str, tuple[GraphEdge, ...]] = {}
        self.version = 0

    # -- what is asked --------------------------------------------------------------------------

    def of(self, node_id: str) -> tuple[GraphEdge, ...]:
        """The edges that start or end at a node, the strongest first."""
        with self._lock:
            self._refresh()
            known = self._strongest.get(node_id)
            if known is None:
                stating = self._stating.get(node_id, {})
                both = [*self._stated.get(node_id, ())]
                both += [e for source, some in stating.items() if source != node_id for e in some]
                known = self._strongest[node_id] = tuple(sorted(both, key=_strength))
            return known

    def stated_by(self, node_id: str) -> tuple[GraphEdge, ...]:
        """The edges that a note states, in the order of its text."""
        with self._lock:
            self._refresh()
            return self._stated.get(node_id, ())

    def all(self) -> list[GraphEdge]:
        """Every edge, note by note."""
        with self._lock:
            self._refresh()
            return [edge for edges in self._stated.values() for edge in edges]

    def node(self, node_id: str) -> GraphNode | None:
        with self._lock:
            self._refresh()
            return self._nodes.get(node_id)

    def nodes(self) -> list[GraphNode]:
        with self._lock:
            self._refresh()
            return list(self._nodes.values())

    def note_at(self, path: str) -> str | None:
        """The id of the note at a path, in any case."""
        with self._lock:
            self._refresh()
            return self._folded.get(path.casefold())

    def notes_in(self, folder: str, most: int) -> list[str]:
        """Ids of at most so many notes right in a folder, the first by path."""
        with self._lock:
            self._refresh()
            ids = self._children.get(folder, set())
            return nsmallest(most, ids, key=lambda key: self._nodes[key].path or "")

    # -- keeping true ---------------------------------------------------------------------------

    def changed(self, paths: Collection[str]) -> None:
        """Read these notes again when next asked; returns at once."""
        with self._waiting_lock:
            self._waiting.update(paths)

    def warm_up(self) -> None:
        """Read everything now rather than with the first question."""
        try:
            with self._lock:
                self._refresh()
        except MemvaultError as error:
            logger.warning("the graph is not at hand yet: %s", error.message)

    def warm_up_soon(self) -> None:
        """As `warm_up`, in a thread of its own."""
        self._worker = threading.Thread(target=self.warm_up, name="memvault-edges", daemon=True)
        self._worker.start()

    def close(self, timeout: float) -> None:
        """Wait for what reads in the background, so many seconds at most."""
        if self._worker is not None:
            self._worker.join(timeout)

    def _refresh(self) -> None:
        with self._waiting_lock:
            waiting, self._waiting = self._waiting, set()
        if self._loaded and not waiting:
            return
        try:
            if self._loaded:
                self._read_again(waiting)
            else:
                self._clear()
                self._read_all()
                self._loaded = True
        except (StoreUnavailable, GraphQueryError):
            self.changed(waiting)
            raise
        self.version += 1

    def _read_all(self) -> None:
        for node in self._graph.all_nodes():
            self._put_node(node)
        edges: dict[str, list[GraphEdge]] = {}
        for edge in self._graph.all_edges():
            edges.setdefault(edge.source, []).append(edge)
        for source in list(edges):
            self._state(source, edges.pop(source))

    def _read_again(self, paths: Collection[str]) -> None:
        ids = set[str]()
        for path in paths:
            memory = self._memories.by_path(path)
            before = self._ids_at.get(path)
            if before is not None and (memory is None or memory.id != before):
                self._drop(before, path)
            if memory is not None:
                ids.add(memory.id)
        wanted = sorted(ids)
        for first in range(0, len(wanted), READ_AT_ONCE):
            some = wanted[first : first + READ_AT_ONCE]
            stated: dict[str, list[GraphEdge]] = {key: [] for key in some}
            for edge in self._graph.stated_by(some):
                stated[edge.source].append(edge)
            ends = {edge.target for edges in stated.values() for edge in edges}
            nodes = self._graph.nodes({*some, *ends})
            for source, edges in stated.items():
                self._state(source, edges)
            for node in nodes.values():  # one may have been left by one note, then named by another
                self._put_node(node)

    def _drop(self, node_id: str, path: str) -> None:
        """A note that has left this path; under another it may have been read already."""
        node = self._nodes.get(node_id)
        if node is not None and node.path == path and self._memories.by_id(node_id) is None:
            self._state(node_id, [])
            for source in self._stating.pop(node_id, {}):  # their notes are written again as well
                self._stated[source] = tuple(
                    e for e in self._stated.get(source, ()) if e.target != node_id
                )
                self._strongest.pop(source, None)
            self._strongest.pop(node_id, None)
            self._forget_path(node_id)
            del self._nodes[node_id]

    def _put_node(self, node: GraphNode) -> None:
        self._forget_path(node.id)
        self._nodes[node.id] = node
        if node.path is not None:
            self._ids_at[node.path] = self._folded[node.path.casefold()] = node.id
            self._children.setdefault(folder_of(node.path), set()).add(node.id)

    def _forget_path(self, node_id: str) -> None:
        known = self._nodes.get(node_id)
        if known is not None and known.path is not None:
            folded = known.path.casefold()
            for at, path in ((self._ids_at, known.path), (self._folded, folded)):
                if at.get(path) == node_id:
                    del at[path]
            self._children.get(folder_of(known.path), set()).discard(node_id)

    def _state(self, source: str, edges: Sequence[GraphEdge]) -> None:
        """Make these the edges that a note states."""
        touched = {source}
        for edge in self._stated.pop(source, ()):
            touched.add(edge.target)
            self._stating.get(edge.target, {}).pop(source, None)
        learned = self._new_in(source)
        new = tuple(_shared(edge, learned) for edge in sorted(edges, key=_place))
        if new:
            self._stated[source] = new
        by_target: dict[str, list[GraphEdge]] = {}
        for edge in new:
            by_target.setdefault(edge.target, []).append(edge)
        for target, own in by_target.items():
            touched.add(target)
            self._stating.setdefault(target, {})[source] = tuple(own)
        for node_id in touched:
            self._strongest.pop(node_id, None)
            node = self._nodes.get(node_id)
            if not self._stating.get(node_id):
                self._stating.pop(node_id, None)
                if node is not None and node.path is None:
                    del self._nodes[node_id]

    def _new_in(self, source: str) -> EdgeLearning:
        """What the edges that a note states begin with: the profile of its field of knowledge."""
        memory = self._memories.by_id(source)
        return UNLEARNT if memory is None else NEW_IN[domain_of(memory)]


def _shared(edge: GraphEdge, learned: EdgeLearning) -> GraphEdge:
    """The same edge with texts that equal edges share: a third of the memory."""
    return replace(
        edge,
        learned=learned,
        source=intern(edge.source),
        target=intern(edge.target),
        relation=intern(edge.relation),
        sentence=intern(edge.sentence),
    )


def folder_of(path: str) -> str:
    """The folder of a vault path; empty for the vault's own."""
    return path.rpartition("/")[0]


def _place(edge: GraphEdge) -> tuple[int, int, str, str, str]:
    return (edge.line, edge.ordinal, edge.target, edge.relation, edge.origin)


def _strength(edge: GraphEdge) -> tuple[float, str, int, int, str]:
    return (-edge.effective_weight(), edge.source, edge.line, edge.ordinal, edge.target)


def thing_of(node_id: str, edges: EdgeIndex) -> Thing:
    node = edges.node(node_id)
    return Thing(node_id, node.name, node.path) if node is not None else Thing(node_id, "")


def source_of(edge: GraphEdge, edges: EdgeIndex) -> Source | None:
    """Where an edge is stated; None for a note that has just been removed."""
    node = edges.node(edge.source)
    if node is None or node.path is None:
        return None
    return Source(node.path, edge.line, edge.sentence)
