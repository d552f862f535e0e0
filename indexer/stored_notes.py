"""Reads notes from the stores, to update views in memory after another process indexed them."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from indexer.batches import MAX_BATCH
from indexer.catalogue import Catalogue
from indexer.name_registry import NameRegistry
from memvault.model.batched import batched
from memvault.model.graph import GraphEdge, NoteGraph, NotesIndexed
from memvault.model.note import ChunkSize, mean_vector
from memvault.stores.open import Stores


def notes_of_others(
    stores: Stores, catalogue: Catalogue, names: NameRegistry, paths: Collection[str] | None
) -> Iterator[NotesIndexed]:
    """What another process indexed of the notes at these paths (any, if None), batch by batch;
    the catalogue and the names are updated first.

    Raises:
        StoreUnavailable, GraphQueryError: a store does not answer.
    """
    former_ids = {memory.id for memory in catalogue.all()}
    changed = catalogue.reload(paths)
    for path in changed:
        record = catalogue.record(path)
        if record is None:
            names.update(path, None)
        else:
            names.update(path, record.memory, record.names, *record.ids)
    removed_ids = frozenset(key for key in former_ids if catalogue.by_id(key) is None)
    yield NotesIndexed(frozenset(changed), removed=removed_ids)
    everything = catalogue.paths() if paths is None else {*changed, *paths}
    for batch in batched(everything, MAX_BATCH):
        yield _as_stored(stores, catalogue, batch)


def _as_stored(stores: Stores, catalogue: Catalogue, paths: Collection[str]) -> NotesIndexed:
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
