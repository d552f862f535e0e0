"""The notes' edges: to what they link to and name, without what is forgotten."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice

from indexer.catalogue import Catalogue
from indexer.directory import Directory
from indexer.found import FoundEntities
from indexer.hidden import Hidden
from indexer.reading import Unreadable, read_note
from memvault.model.graph import GraphNode, NoteGraph
from memvault.model.memory import Memory
from memvault.model.note import ParsedNote
from memvault.stores.graph import GraphStore
from memvault.vault.files import Vault

logger = logging.getLogger(__name__)
BATCH = 512  # notes written together, at most


class GraphWriter:
    """Writes one vault's edges into one graph store. Used by one thread at a time.

    Args:
        directory: what the vault has names for now.
        found: the entities that were found in notes.
        hidden: what the graph leaves out, or has as one with another thing.
        max_note_bytes: notes that are larger are not read.
    """

    def __init__(
        self,
        vault: Vault,
        graph: GraphStore,
        catalogue: Catalogue,
        *,
        directory: Callable[[], Directory],
        found: FoundEntities,
        hidden: Hidden,
        max_note_bytes: int,
    ) -> None:
        self._vault = vault
        self._graph = graph
        self._catalogue = catalogue
        self._directory = directory
        self._found = found
        self._hidden = hidden
        self._max_note_bytes = max_note_bytes
        self._left_out: frozenset[str] | None = None  # what the graph is known to leave out
        self._joined: Mapping[str, GraphNode] = {}  # and what it is known to have as one

    def write(self, notes: Collection[tuple[ParsedNote, Memory]]) -> None:
        """The nodes and edges of notes that were read."""
        self._graph.replace([self._graph_of(note, memory) for note, memory in notes])

    def write_again(self, paths: Collection[str]) -> None:
        """The edges of unchanged notes, which are read once more."""
        rest = iter(sorted(paths))
        while batch := list(islice(rest, BATCH)):
            self._graph.replace(list(self._graphs_as_indexed(batch)))

    def forget_what_is_left_out(self) -> None:
        """Look at the whole graph when next something is forgotten or restored."""
        self._left_out = None

    def leave_out_forgotten(self) -> set[str]:
        """Make the graph lack what is forgotten by now, and have again what was restored.

        Returns:
            The paths of the notes whose edges that has changed.
        """
        forgotten, joined = self._hidden.forgotten(), self._hidden.joined()
        if forgotten == self._left_out and joined == self._joined:
            return set()
        graph, known = self._graph, self._joined if self._left_out is not None else {}
        out = graph.nodes(forgotten | joined.keys())
        gone = [key for key, node in out.items() if node.path is None]
        edges = graph.neighbours(gone, limit=graph.counts()[1]) if gone else []
        naming: dict[str, set[str]] = {key: set() for key in gone}
        for edge in edges:
            memory = self._catalogue.by_id(edge.source)
            if memory is not None and edge.target in naming:
                naming[edge.target].add(memory.path)
        self._hidden.record(naming)
        graph.remove(gone)
        returned = self._hidden.returned()
        elsewhere = self._hidden.recorded(lambda key: joined.get(key) != known.get(key))
        self.write_again({p for paths in (*returned.values(), *elsewhere.values()) for p in paths})
        self._hidden.drop(returned)
        self._left_out, self._joined = forgotten, joined
        return {
            path
            for paths in (*naming.values(), *returned.values(), *elsewhere.values())
            for path in paths
        }

    def _graph_of(self, note: ParsedNote, memory: Memory) -> NoteGraph:
        found = self._found.get(note.content_hash) or ()
        return self._hidden.leave_out(self._directory().graph_of(note, memory, found))

    def _graphs_as_indexed(self, paths: Collection[str]) -> Iterator[NoteGraph]:
        for path in paths:
            memory = self._catalogue.by_path(path)
            try:
                reading = read_note(self._vault, path, self._max_note_bytes)
            except Unreadable as error:
                logger.warning("%s", error)
                continue
            if memory is not None and reading is not None:
                yield self._graph_of(reading.note, memory)
