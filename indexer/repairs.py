"""Repairs what does not fit the notes: lost indexes, nodes and chunks of no note, wrong ids."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from indexer.comparison import Comparison
from indexer.name_registry import NameRegistry
from indexer.stale_edges import StaleEdges
from memvault.model.graph import NotesIndexed

logger = logging.getLogger(__name__)


class Repaired(NamedTuple):
    """What `Repairs.remove_strays` removed, and the notes to index or relink because of it."""

    removed: set[str]  # ids of nodes and chunks
    linking: set[str]  # paths of notes that link to removed ones
    missing: set[str]  # paths of notes that a store lacks, as after a power cut


@dataclass(frozen=True, slots=True)
class Repairs:
    """Repairs one vault's stores. Used by one thread at a time.

    Args:
        notify: called with the removed notes.
    """

    comparison: Comparison
    names: NameRegistry
    stale_edges: StaleEdges
    notify: Callable[[NotesIndexed], None]

    def forget_lost_indexes(self) -> None:
        """Drop all records if an index lost its data, so that every note is indexed again."""
        if self.comparison.has_lost_an_index():
            logger.warning("An index has lost its data; indexing all notes again.")
            catalogue = self.comparison.catalogue
            ids = frozenset(memory.id for memory in catalogue.all())
            paths = frozenset(catalogue.paths())
            catalogue.commit([], paths)
            self.names.clear()
            self.notify(NotesIndexed(paths, removed=ids))

    def remove_strays(self) -> Repaired:
        """Remove nodes and chunks without a record."""
        stores = self.comparison.stores
        nodes, chunks, without_node, without_chunks = self.comparison.mismatch()
        linking: set[str] = set()
        if nodes:
            sources = {edge.source for edge in stores.graph.neighbours(nodes)} - nodes
            linking = self.stale_edges.paths_of(sources)
            stores.graph.remove(nodes)
        if chunks:
            stores.vectors.remove(chunks)
        self.notify(NotesIndexed(frozenset(linking), removed=frozenset(nodes | chunks)))
        return Repaired(nodes | chunks, linking, without_node | without_chunks)

    def with_wrong_ids(self) -> set[str]:
        """Paths of the notes to index again because they share an id that belongs to another of
        them by the rule of `holder_of`."""
        paths, ids = set[str](), set[str]()
        for path, due_id in self.names.due_ids():
            memory = self.comparison.catalogue.by_path(path)
            if memory is not None and memory.id != due_id:
                paths.add(path)
                ids |= {memory.id, due_id}
        return paths.union(*map(self.names.claimants, ids))
