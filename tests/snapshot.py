"""Everything that the stores of one vault hold, in a form that compares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from indexer.indexer import Indexer
from memvault.curation.operations.preferences import NAMESPACE as PREFERENCES


def snapshot(indexer: Indexer) -> dict[str, Any]:
    """Chunks with their vectors, nodes, edges, preferences and memories."""
    stores = indexer.stores
    return {
        "memories": {m.path: m.model_dump() for m in indexer.catalogue.all()},
        "chunks": {
            row.chunk.id: (row.chunk, tuple(round(float(x), 5) for x in row.vector))
            for note_id in stores.vectors.note_ids()
            for row in stores.vectors.chunks(note_id)
        },
        "nodes": {node.id: node for node in stores.graph.all_nodes()},
        "edges": {edge.id: edge for edge in stores.graph.all_edges()},
        "preferences": dict(stores.keyvalue.items(PREFERENCES)),
    }


def differences(kept: dict[str, Any], rebuilt: dict[str, Any]) -> list[str]:
    """What two snapshots do not agree on, in lines that can be read."""
    found = []
    for part, rows in kept.items():
        other = rebuilt[part]
        for key in sorted(rows.keys() | other.keys()):
            if rows.get(key) != other.get(key):
                found.append(f"{part}: kept {rows.get(key)} but rebuilt {other.get(key)}")
    return found


def assert_as_rebuilt(live: Indexer, open_indexer: Callable[..., Indexer]) -> None:
    """What the stores hold is what a first scan of the vault into empty stores makes."""
    live.index([])  # returns after changes under way, which write links after the notes
    fresh = open_indexer("fresh")
    fresh.scan()
    assert differences(snapshot(live), snapshot(fresh)) == []
