"""Notes that an index lost, as when a power cut truncates its files, are indexed again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.caller import Caller
from tests.integration.small_vault import unindexed

NOTES = {
    "Boat.md": "# Boat\n\nThe boat is painted green.\n",
    "Empty.md": "",
    "Properties.md": "---\ncolour: red\n---\n",
    "Board.canvas": '{"nodes":[{"id":"1","type":"text","text":"A card","x":0,"y":0}],"edges":[]}',
}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    for path, text in NOTES.items():
        (tmp_path / "vault" / path).write_text(text, encoding="utf-8")
    for path in ("Shed.md", "House.md"):  # the log of the index has only what came last
        (tmp_path / "vault" / path).write_text(f"# {path}\n\nIt is blue.\n", encoding="utf-8")
        container = unindexed(tmp_path, {})
        container.indexing.scan()
        container.live.indexer.flush()
        container.close()
    return tmp_path


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_note_that_a_truncated_index_lacks_is_found_after_the_next_start(
    base: Path, share: float
) -> None:
    (file,) = base.rglob("mutable_id_tracker.mappings")
    file.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])
    container = unindexed(base, {})
    container.indexing.scan()
    ids = set(container.live.indexer.stores.vectors.note_ids())
    assert ids == {memory.id for memory in container.live.catalogue.all()}
    found = Caller(container).ok("recall_memory", query="Which colour is the boat?")["nodes"]
    assert "painted green" in found[0]["content"]
    container.close()


def test_a_complete_index_is_not_filled_again(base: Path) -> None:
    container = unindexed(base, {})
    assert container.live.indexer.scan().indexed == 0
    container.close()
