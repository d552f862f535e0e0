"""What the process has freed, such as a client's message, is not in the files of the stores."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from memvault.model.note import ChunkSize
from memvault.stores.graph.ladybug import LadybugGraphStore
from memvault.stores.keyvalue.sqlite import SqliteKeyValueStore
from memvault.stores.vectors.edge import EdgeVectorStore
from tests.contract import test_graph, test_vectors
from tests.contract.conftest import DIMENSION

FREED = b"a message that no store was given. "
SIZES = (40, 100, 600, 1_000, 2_000, 4_096, 4_200, 8_192, 16_384, 40_000, 65_536, 100_000)
EACH = 20
ROUNDS = 20


def free_messages() -> list[bytearray]:
    """Write the message into pieces of memory of many sizes and free all but the last, behind which
    the allocator cannot give them back."""
    return [bytearray(FREED * (size // len(FREED) + 1)) for size in SIZES for _ in range(EACH)][-1:]


def copies(folder: Path) -> dict[str, int]:
    """How often the message is in each file that has it, in whole or in part."""
    found = {path.name: path.read_bytes().count(FREED[2:14]) for path in folder.rglob("*")
             if path.is_file()}  # fmt: skip
    return {name: count for name, count in found.items() if count}


@pytest.mark.skipif(sys.platform == "win32", reason="memory is not zeroed there")
def test_the_graph_does_not_hold_what_the_process_has_freed(tmp_path: Path) -> None:
    kept = []
    for number in range(4):  # the allocator reuses now this memory, now that
        file = tmp_path / f"{number}.lbug"
        store = LadybugGraphStore(file)
        for turn in range(ROUNDS):
            kept += free_messages()
            names = [f"n{turn}-{place}" for place in range(50)]
            store.replace([test_graph.states(f"a{turn}", *names, entities=tuple(names))])
            kept += free_messages()
            store.remove([f"a{turn - 3}"])
        kept += free_messages()
        store.close()
        kept += free_messages()
        LadybugGraphStore(file).close()
    assert copies(tmp_path) == {}


def test_the_other_stores_do_not_hold_what_the_process_has_freed(tmp_path: Path) -> None:
    kept = free_messages()
    vectors = EdgeVectorStore(tmp_path / "vectors", DIMENSION)
    values = SqliteKeyValueStore(tmp_path / "values.sqlite")
    for turn in range(ROUNDS):
        vectors.replace([test_vectors.note(f"n{turn}", "one text", "another")])
        values.put("space", f"key {turn}", b"value")
        kept += free_messages()
        vectors.remove([test_vectors.id_of(f"n{turn - 3}")])
    last = test_vectors.id_of(f"n{ROUNDS - 1}")
    assert vectors.vectors([last], ChunkSize.PASSAGE)
    vectors.close()
    values.close()
    assert copies(tmp_path) == {}
