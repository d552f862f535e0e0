"""A note of which an index lost chunks, or its record, is indexed again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from indexer.catalogue import NAMESPACE
from indexer.doctor import examine
from indexer.indexer import Indexer
from mcp_server.runtime.container import Container
from tests.integration.small_vault import opened

LONG = "\n\n".join(f"## Day {day}\n\nOn day {day} we saw {day} herons." for day in range(60))


def chunks_of(container: Container) -> int:
    return container.live.stores.vectors.count()


def test_a_note_that_lost_some_of_its_chunks_gets_them_back(tmp_path: Path) -> None:
    for notes in ({"Herons.md": LONG}, {"Shed.md": "It is blue.\n"}, {"House.md": "It is red.\n"}):
        container = opened(tmp_path, notes, "vault")  # the log of the index has only what came last
        container.live.indexer.flush()
        complete = chunks_of(container)
        container.close()

    (file,) = tmp_path.rglob("mutable_id_tracker.mappings")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    container = opened(tmp_path, {}, "vault")
    assert chunks_of(container) == complete
    assert not [each for each in examine(container.live.indexer) if each.severity == "error"]
    assert container.live.indexer.scan().indexed == 0
    container.close()


def test_records_that_were_lost_before_others_were_written_are_written_again(
    indexer: Indexer, write: Callable[..., Path]
) -> None:
    """As when Redis restarts empty, and a note is saved before anyone notices."""
    write("Shed.md", "It is blue.\n")
    indexer.scan()
    indexer.stores.keyvalue.delete(NAMESPACE, ["Shed.md"])
    write("House.md", "It is red.\n")
    indexer.index(["House.md"])
    indexer.scan()
    assert {path for path, _ in indexer.stores.keyvalue.items(NAMESPACE)} == {"Shed.md", "House.md"}
    assert indexer.scan().indexed == 0
