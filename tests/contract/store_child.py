"""A process that writes to the embedded stores: until it is killed, or until the disk is full.

``python -m tests.contract.store_child FOLDER FIRST PADDING`` prints the number of each write once
all three stores have returned; when one says that the disk is full, closes them and prints so.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from memvault.config.settings import Settings
from memvault.model.errors import DiskFull
from memvault.model.graph import EdgeOrigin, GraphEdge, GraphNode, NoteGraph
from memvault.model.note import ChunkSize
from memvault.stores.open import Stores, open_stores
from tests.contract.conftest import DIMENSION
from tests.contract.test_vectors import chunk, id_of, memory

NOTES = 12
BULK_EVERY, BULK = 25, 2_000  # takes the graph store's road for many rows


def write(stores: Stores, number: int, padding: str = "") -> None:
    name = f"note {number % NOTES}"
    texts = [f"write {number} part {part} {padding}" for part in range(1 + number % 4)]
    chunks = [chunk(name, ChunkSize.PASSAGE, part, text) for part, text in enumerate(texts)]
    stores.vectors.replace([(memory(name), chunks)])
    many, sentence = (2, str(number) + padding)
    if number % BULK_EVERY == 4:
        many, sentence = (BULK, str(number))
    leaves = tuple(GraphNode(f"{name} {leaf}", "concept", "leaf") for leaf in range(many))
    edges = tuple(
        GraphEdge(id_of(name), leaf.id, "names", EdgeOrigin.LINK, sentence, 1, 0) for leaf in leaves
    )
    node = GraphNode(id_of(name), "note", name, f"{name}.md")
    stores.graph.replace([NoteGraph(node, edges, leaves)])
    stores.keyvalue.put("notes", name, f"{number} {padding}".encode())


def main(folder: Path, first: int, padding: str) -> None:
    stores = open_stores(Settings(), folder, DIMENSION)
    try:
        for number in itertools.count(first):
            write(stores, number, padding)
            print(number, flush=True)
    except DiskFull:
        stores.close()
        print("full", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), "x" * int(sys.argv[3]))
