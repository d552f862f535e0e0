"""Finds the notes whose edges depend on changed names, and writes these edges again."""

from __future__ import annotations

from collections.abc import Collection

from indexer.catalogue import Catalogue
from indexer.graph_writer import GraphWriter
from indexer.name_registry import AffectedLinks
from memvault.stores.open import Stores

LINKED_AT_ONCE = 32  # notes in one step


class StaleEdges:
    """The queue of notes whose edges are out of date. Used by one thread at a time."""

    def __init__(self, catalogue: Catalogue, stores: Stores, graphs: GraphWriter) -> None:
        self._catalogue = catalogue
        self._stores = stores
        self._graphs = graphs
        self._next: list[str] = []  # the rest of the queue, as last read

    def queue(self, affected: AffectedLinks, also: Collection[str], fresh: set[str]) -> set[str]:
        """Queue the notes whose edges change; returns their paths.

        Also queues phrases that other notes may contain; `step` finds those notes.

        Args:
            also: further notes to relink.
            fresh: notes that are about to be written anyway.
        """
        paths = set(also)
        if len(self._catalogue):
            paths |= self._depending_on(affected)
            self._catalogue.new_phrases.add(affected.names.phrases)
        paths -= fresh
        self._catalogue.to_relink.add(paths)
        return paths

    def step(self, fresh: Collection[str] = ()) -> tuple[int, bool]:
        """Find the notes that contain queued phrases, or relink some notes.

        Returns the number relinked, and whether any are left.

        Args:
            fresh: notes written with the phrases, which need not be relinked.
        """
        names = self._catalogue.new_phrases.all()
        if names:
            self._catalogue.to_relink.add(self._with_phrase(names).difference(fresh))
            self._catalogue.new_phrases.remove(names)
            return 0, True
        waiting = self._next or sorted(self._catalogue.to_relink.all())
        batch, self._next = waiting[:LINKED_AT_ONCE], waiting[LINKED_AT_ONCE:]
        self.rewrite_edges(batch)
        return len(batch), bool(self._next or self._catalogue.to_relink.all())

    def rewrite_edges(self, paths: Collection[str]) -> None:
        self._graphs.rewrite_edges(paths)
        self._catalogue.to_relink.remove(paths)

    def paths_of(self, note_ids: Collection[str]) -> set[str]:
        return {m.path for m in map(self._catalogue.by_id, note_ids) if m is not None}

    def _depending_on(self, affected: AffectedLinks) -> set[str]:
        """Paths of the notes whose edges change, except those that `_with_phrase` finds."""
        names = affected.names
        paths = self._catalogue.linking(affected.link_keys) | self._catalogue.naming(names.keys)
        for project in affected.projects:
            paths |= self._catalogue.in_project(project)
        if names.entities:
            edges = self._stores.graph.neighbours(names.entities)
            paths |= self.paths_of({edge.source for edge in edges})
        return paths

    def _with_phrase(self, phrases: Collection[str]) -> set[str]:
        """Paths of the notes whose text contains one of these phrases."""
        if not len(self._catalogue):
            return set()
        return self.paths_of(self._stores.vectors.containing(phrases))
