"""Writes the nodes and edges of notes: links, names and what the trained pipeline found."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from indexer.catalogue import Catalogue
from indexer.entity_cache import EntityCache
from indexer.name_registry import NameRegistry
from indexer.note_reading import UnreadableNote, read_note
from indexer.suppressed_nodes import SuppressedNodes
from memvault.model.batched import batched
from memvault.model.graph import EdgeOrigin, GraphNode, NoteGraph, NotesIndexed
from memvault.model.memory import Memory
from memvault.model.note import ParsedNote
from memvault.model.priority import make_way
from memvault.stores.graph import GraphStore
from memvault.vault.files import Vault

logger = logging.getLogger(__name__)
BATCH = 128  # notes written together, at most
# A transaction must fit into the buffer pool of the graph store: 20,000 edges fit into 128 MB,
# 50,000 do not.
EDGES_AT_ONCE = 10_000
MAX_EDGES = 10_000  # of one note
_FROM_TEXT = frozenset((EdgeOrigin.TAG, EdgeOrigin.MENTION, EdgeOrigin.ENTITY))


def sentences_between_notes(graphs: Iterable[NoteGraph]) -> set[str]:
    """The sentences in which notes link to other notes or name them."""
    sentences: set[str] = set()
    for graph in graphs:
        entities = {node.id for node in graph.entities if node.path is None}
        sentences.update(
            edge.sentence
            for edge in graph.edges
            if edge.origin is not EdgeOrigin.TAG and edge.target not in entities
        )
    return sentences


@dataclass(eq=False)
class GraphWriter:
    """Writes one vault's edges into one graph store. Used by one thread at a time.

    Attributes:
        names: the current names of the vault.
        entities: those that the trained pipeline found.
        suppressed: concepts that the graph omits or replaces.
        embed: embeds texts and caches their vectors, to which questions are compared.
        max_note_bytes: larger notes are not read.
        notify: called with the notes that `rewrite_edges` and `update_suppressed` wrote.
    """

    vault: Vault
    graph: GraphStore
    catalogue: Catalogue
    names: NameRegistry
    entities: EntityCache
    suppressed: SuppressedNodes
    embed: Callable[[Sequence[str]], object]
    max_note_bytes: int
    notify: Callable[[NotesIndexed], None]

    def __post_init__(self) -> None:
        self._unindexed: dict[str, int] = {}  # number of omitted edges, by path
        self._removed: frozenset[str] | None = None  # forgotten concepts when last applied
        self._merged: Mapping[str, GraphNode] = {}  # merged concepts when last applied

    @property
    def version(self) -> int:
        """The version of the names by which edges are resolved."""
        return self.names.version

    def graphs_of(self, notes: Collection[tuple[ParsedNote, Memory]]) -> tuple[NoteGraph, ...]:
        """The nodes and edges of parsed notes."""
        return tuple(self._graph_of(note, memory) for note, memory in notes)

    def rewrite_edges(self, paths: Collection[str]) -> None:
        """Write the edges of unchanged notes again, and notify of them."""
        for batch in batched(sorted(paths), BATCH):
            graphs = tuple(self._graphs_as_indexed(batch))
            self.write(graphs)
            self.embed(list(sentences_between_notes(graphs)))
            self.notify(NotesIndexed(frozenset(batch), graphs))

    def unindexed_edges(self, path: str) -> int:
        """The number of this note's edges that were omitted because it has too many."""
        return self._unindexed.get(path, 0)

    def write(self, graphs: Sequence[NoteGraph]) -> None:
        """Write these nodes and edges in place of those of the same notes.

        The caller embeds their `sentences_between_notes`.
        """
        batch: list[NoteGraph] = []
        edges = 0
        for graph in graphs:
            if batch and edges + len(graph.edges) > EDGES_AT_ONCE:
                self.graph.replace(batch)
                batch, edges = [], 0
            batch.append(graph)
            edges += len(graph.edges)
        if batch:
            self.graph.replace(batch)

    def _bounded(self, graph: NoteGraph) -> NoteGraph:
        """The graph with at most `MAX_EDGES` edges; links come before names found in the text."""
        self._unindexed.pop(graph.node.path or "", None)
        if len(graph.edges) <= MAX_EDGES:
            return graph
        self._unindexed[graph.node.path or ""] = len(graph.edges) - MAX_EDGES
        ordered = sorted(graph.edges, key=lambda edge: (edge.origin in _FROM_TEXT, edge.line))
        edges = tuple(ordered[:MAX_EDGES])
        ends = {edge.target for edge in edges}
        return replace(
            graph, edges=edges, entities=tuple(node for node in graph.entities if node.id in ends)
        )

    def recheck_suppressed(self) -> None:
        """Have `update_suppressed` check the whole graph again."""
        self._removed = None

    def update_suppressed(self) -> None:
        """Remove forgotten and merged concepts from the graph, and put restored ones back.

        Notifies of the notes whose edges change.
        """
        forgotten, merged = self.suppressed.forgotten(), self.suppressed.merged()
        if forgotten == self._removed and merged == self._merged:
            return
        graph = self.graph
        merged_before = self._merged if self._removed is not None else {}
        nodes = graph.nodes(forgotten | merged.keys())
        forgotten_nodes = [key for key, node in nodes.items() if node.path is None]
        edges = (
            graph.neighbours(forgotten_nodes, limit=graph.counts()[1]) if forgotten_nodes else []
        )
        naming: dict[str, set[str]] = {key: set() for key in forgotten_nodes}
        for edge in edges:
            memory = self.catalogue.by_id(edge.source)
            if memory is not None and edge.target in naming:
                naming[edge.target].add(memory.path)
        self.suppressed.record(naming)
        graph.remove(forgotten_nodes)
        linking = frozenset(path for paths in naming.values() for path in paths)
        self.notify(NotesIndexed(linking, removed=frozenset(forgotten_nodes)))
        returned = self.suppressed.returned()
        remapped = self.suppressed.recorded(lambda key: merged.get(key) != merged_before.get(key))
        self.rewrite_edges({p for paths in (*returned.values(), *remapped.values()) for p in paths})
        self.suppressed.drop(returned)
        self._removed, self._merged = forgotten, merged

    def _graph_of(self, note: ParsedNote, memory: Memory) -> NoteGraph:
        make_way()
        entities = self.entities.get(note.content_hash) or ()
        graph = self.names.graph_of(note, memory, entities)
        return self._bounded(self.suppressed.suppress_in(graph))

    def _graphs_as_indexed(self, paths: Collection[str]) -> Iterator[NoteGraph]:
        for path in paths:
            memory, due = self.catalogue.by_path(path), self.names.memory(path)
            if memory is None or due is None or due.id != memory.id:
                continue  # its id may be another note's by now; the change of it writes its edges
            try:
                reading = read_note(self.vault, path, self.max_note_bytes)
            except UnreadableNote as error:
                logger.warning("%s", error)
                continue
            if reading is not None:
                yield self._graph_of(reading.note, memory)
