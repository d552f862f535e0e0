"""Reads notes from the stores, to update views in memory after another process indexed them."""

from __future__ import annotations

from collections.abc import Collection

from indexer.catalogue import Catalogue
from memvault.model.graph import GraphEdge, NoteGraph, NotesIndexed
from memvault.model.note import ChunkSize, mean_vector
from memvault.stores.open import Stores


def as_stored(stores: Stores, catalogue: Catalogue, paths: Collection[str]) -> NotesIndexed:
    """The graphs and vectors of the notes at these paths.

    Raises:
        StoreUnavailable, GraphQueryError: a store does not answer.
    """
    ids = [m.id for m in map(catalogue.by_path, paths) if m is not None]
    if not ids:
        return NotesIndexed(frozenset(paths))
    edges: dict[str, list[GraphEdge]] = {key: [] for key in ids}
    for edge in stores.graph.stated_by(ids):
        edges[edge.source].append(edge)
    ends = {edge.target for stated in edges.values() for edge in stated}
    nodes = stores.graph.nodes({*ids, *ends})
    graphs = tuple(
        NoteGraph(
            nodes[key],
            tuple(stated),
            tuple(nodes[end] for end in {e.target for e in stated} if end in nodes),
        )
        for key, stated in edges.items()
        if key in nodes
    )
    stored_vectors = stores.vectors.vectors(ids, ChunkSize.NOTE)
    vectors = {key: mean_vector(stored_vectors.get(key, ())) for key in ids}
    return NotesIndexed(frozenset(paths), graphs, vectors)
