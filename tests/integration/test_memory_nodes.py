"""Memory nodes: what a client is told of one memory, at hand when it is asked for again."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastmcp import Client

from mcp_server.engine.startup import Startup
from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from mcp_server.tools.toolbox import Toolbox
from memvault.cognition.activity import NAMESPACE, Activity
from memvault.cognition.memory_loader import MemoryLoader
from memvault.config.settings import Settings
from memvault.model.memory_node import MemoryNode
from memvault.model.state import CacheStats
from tests.integration.small_vault import opened
from tests.timing import seconds_of

NOTES = {
    "permanent/Bees.md": "---\ntags: [garden]\nimportance: high\nhive: 3\n---\n\n"
    "The bees live behind the shed, see [[Garden]].\n",
    "permanent/Garden.md": "The garden lies to the south. The [[Bees]] like it.\n",
    "permanent/Shed.md": "The shed needs a new roof.\n",
}


def compared(home: Path) -> Container:
    """The notes, indexed and compared with each other."""
    container = opened(home, NOTES)
    container.live.similarity_index.load()
    return container


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    """Shared: a test that changes notes writes its own."""
    one = compared(tmp_path_factory.mktemp("home"))
    yield one
    one.close()


@pytest.fixture
def nodes(container: Container) -> Iterator[MemoryLoader]:
    box = Toolbox(Startup.of(container))
    yield box.memory_nodes


def write(container: Container, name: str, text: str) -> str:
    """The id of a note that is written and indexed."""
    (container.vault.root / f"permanent/{name}.md").write_text(text, encoding="utf-8")
    container.indexing.scan()
    return id_of(container, name)


def id_of(container: Container, name: str) -> str:
    memory = container.live.catalogue.by_path(f"permanent/{name}.md")
    assert memory is not None
    return memory.id


def call(container: Container, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    async def run() -> list[Any]:
        async with Client(build_server(container)) as client:
            return [await client.call_tool_mcp(name, arguments) for name, arguments in calls]

    return asyncio.run(run())


def read(container: Container, memory_id: str) -> dict[str, Any]:
    (result,) = call(container, ("get_memory", {"id": memory_id}))
    assert not result.is_error, result.content
    return dict(result.structured_content)


def test_a_node_holds_what_the_note_the_stores_and_the_counts_say(container, nodes):
    bees = id_of(container, "Bees")
    node = nodes.get(bees)
    assert isinstance(node, MemoryNode)
    assert node.content == "The bees live behind the shed, see [[Garden]]."
    assert (node.id, node.importance, node.metadata) == (bees, 0.8, {"hive": 3})
    assert node.embedding.shape == (384,)
    assert np.linalg.norm(node.embedding) == pytest.approx(1.0, abs=1e-3)
    assert 0 <= node.utl_state.delta_s <= 1 and node.agent_id is None
    assert MemoryNode.from_bytes(node.to_bytes()) == node


def test_a_memory_that_nobody_read_was_last_used_when_it_was_created(container, nodes):
    node = nodes.get(write(container, "Unread", "Nobody has read this.\n"))
    assert (node.access_count, node.last_accessed) == (0, node.created_at)


def test_an_id_that_no_note_has_costs_no_store(container):
    def refuse(*_: object) -> None:
        raise AssertionError("nothing but the catalogue is asked")

    box = Toolbox(Startup.of(container))
    nodes = MemoryLoader(container.live.catalogue.by_id, refuse, box.meter, refuse, lambda: 4)
    assert nodes.get("6f9a5a86-0000-5d52-9f0b-6d5f0f6b7c11") is None
    assert nodes.reads == CacheStats()


def test_a_memory_read_again_is_at_hand(container, nodes):
    bees = id_of(container, "Bees")
    first = nodes.get(bees)
    for _ in range(3):
        assert nodes.get(bees) == first
    assert (nodes.reads.hits, nodes.reads.misses) == (3, 1)
    assert nodes.reads.hit_rate == 0.75


def test_a_memory_at_hand_is_read_at_least_ten_times_faster(container, nodes):
    ids = [id_of(container, name) for name in ("Bees", "Garden", "Shed")]
    cold = min(seconds_of(lambda each=each: nodes.get(each)) for each in ids)
    warm = max(seconds_of(lambda each=each: nodes.get(each), times=30) for each in ids)
    assert warm * 10 < cold


def test_state_and_counts_are_current_though_the_text_is_at_hand(container, nodes):
    bees = id_of(container, "Bees")
    nodes.get(bees)
    container.activity.accessed([bees])
    assert nodes.get(bees).access_count == 1
    assert nodes.get(bees).last_accessed > nodes.get(bees).created_at


def test_a_note_that_changes_is_read_again(container, nodes):
    wasps = write(container, "Wasps", "The wasps live under the roof.\n")
    before = nodes.get(wasps)
    write(container, "Wasps", "A recipe for plum cake without eggs.\n")
    after = nodes.get(wasps)
    assert after.content == "A recipe for plum cake without eggs."
    assert not np.allclose(after.embedding, before.embedding)


def test_a_note_that_goes_is_no_memory_any_more(container, nodes):
    flies = write(container, "Flies", "The flies are gone by October.\n")
    nodes.get(flies)
    (container.vault.root / "permanent/Flies.md").unlink()
    container.indexing.scan()
    assert nodes.get(flies) is None and len(nodes) == 0


def test_a_rebuilt_index_gives_the_same_nodes(container, nodes):
    bees = id_of(container, "Bees")
    container.activity.accessed([bees])
    before = nodes.get(bees)
    container.indexing.rebuild()
    after = nodes.get(bees)
    assert np.allclose(after.embedding, before.embedding, atol=1e-3)
    assert after.model_copy(update={"embedding": before.embedding}) == before
    assert before.access_count > 0
    container.live.similarity_index.load()


def test_a_rebuilt_index_keeps_the_counts_and_goes_on_counting_there(container):
    bees = id_of(container, "Bees")
    container.activity.accessed([bees])
    container.indexing.rebuild()
    container.activity.accessed([bees])
    container.activity.flush()
    wanted = container.activity.of(bees).access_count
    fresh = Activity(container.live.stores.keyvalue, container.journal)
    assert fresh.of(bees).access_count == wanted >= 2
    container.live.similarity_index.load()


def test_the_memories_used_longest_ago_are_put_away(container, caplog):
    ids = [write(container, f"Note {number}", f"Number {number}.\n") for number in range(8)]
    box = Toolbox(Startup.of(container))
    nodes = MemoryLoader(
        container.live.catalogue.by_id,
        container.vault.read,
        box.meter,
        lambda: container.activity,
        capacity=lambda: 4,
    )
    with caplog.at_level(logging.DEBUG, logger="memvault.cognition.memory_loader"):
        for each in ids[:4]:
            nodes.get(each)
        nodes.get(ids[0])  # used again: the second is now the oldest
        nodes.get(ids[4])
    assert (len(nodes), nodes.reads) == (4, CacheStats(hits=1, misses=5, evictions=1))
    assert "evicted" in caplog.text
    nodes.get(ids[0])
    assert nodes.reads.misses == 5
    nodes.get(ids[1])
    assert nodes.reads.misses == 6
    for each in ids * 3:
        nodes.get(each)
    assert len(nodes) == 4


def test_ten_thousand_memories_are_at_hand_unless_the_person_sets_another_number(monkeypatch):
    assert Settings().cache.memories == 10_000
    monkeypatch.setenv("MEMVAULT_CACHE__MEMORIES", "500")
    assert Settings().cache.memories == 500


def test_a_text_longer_than_a_node_holds_is_cut_after_a_line(container, nodes):
    text = "---\ntags: [x]\n---\n" + "A line of the long note.\n" * 3_000
    content = nodes.get(write(container, "Long", text)).content
    assert 65_000 < len(content) <= 65_536 and content.endswith("note.\n")


def test_reading_counts_and_tells_the_state(container):
    bees = write(container, "Beetles", "The beetles sleep under bark.\n")
    began = datetime.now(UTC).replace(microsecond=0)
    first, second = read(container, bees), read(container, bees)
    assert (first["access_count"], second["access_count"]) == (1, 2)
    assert datetime.fromisoformat(second["last_accessed"]) >= began
    assert set(first["utl_state"]) == {"delta_s", "delta_c", "w_e", "phi"}
    assert "agent_id" not in first


def test_every_tool_that_shows_a_memory_counts_it(container):
    bees = id_of(container, "Bees")

    def count(tool: str, **arguments: Any) -> int:
        before = container.activity.of(bees).access_count
        (result,) = call(container, (tool, arguments))
        assert not result.is_error
        return container.activity.of(bees).access_count - before

    assert count("recall_memory", query="Where do the bees live?") == 1
    assert count("graph_query", query="Where do the bees live?") == 1
    assert count("get_memory", id=bees) == count("fetch", id=bees) == 1
    assert count("get_memory", path="permanent/Shed.md") == 0


def test_a_stored_memory_tells_who_stored_it_and_how_new_it_was(container):
    (stored,) = call(
        container,
        ("store_memory", {"content": "The well is dry.", "rationale": "Said while watering"}),
    )
    answer = stored.structured_content
    note = read(container, answer["node_id"])
    assert note["utl_state"] == answer["utl_state"]
    assert note["agent_id"] == container.activity.of(answer["node_id"]).agent_id == "mcp"
    container.indexing.rebuild()
    again = read(container, answer["node_id"])
    assert (again["utl_state"], again["agent_id"]) == (answer["utl_state"], "mcp")
    assert again["access_count"] == 2
    (container.vault.root / answer["path"]).unlink()


def test_counts_survive_the_loss_of_the_state_folder(tmp_path):
    container = compared(tmp_path)
    bees = id_of(container, "Bees")
    for _ in range(3):
        read(container, bees)
    container.close()
    shutil.rmtree(tmp_path / "state")
    container = compared(tmp_path)
    try:
        assert read(container, bees)["access_count"] == 4
    finally:
        container.close()


def read_over(container: Container, name: str, stored: bytes) -> Any:
    """Read a memory whose activity stands as these bytes in the store."""
    memory_id = write(container, name, f"About {name}.\n")
    container.activity.close()
    container.live.stores.keyvalue.put(NAMESPACE, memory_id, stored)
    container.activity = Activity(container.live.stores.keyvalue, container.journal)
    (result,) = call(container, ("get_memory", {"id": memory_id}))
    return result


def test_an_older_format_is_read_by_a_client_as_if_it_were_new(container):
    result = read_over(container, "Old", b'1 {"access_count":6}')
    assert result.structured_content["access_count"] == 7


def test_a_format_from_the_future_is_an_error_that_names_node_and_format(container):
    result = read_over(container, "Future", b'9 {"reads":6}')
    error = result.structured_content["error"]
    assert result.is_error and error["code"] == -32603
    assert error["message"].startswith("Internal error: Data serialization failed")
    node_id = id_of(container, "Future")
    assert error["data"] == {"node_id": node_id, "format_version": 9}
    assert node_id in error["message"] and "version 9" in error["message"]


def test_bytes_that_nobody_can_read_cost_the_count_and_not_the_memory(container):
    result = read_over(container, "Garbage", b"\x00\xff garbage")
    assert result.structured_content["access_count"] == 1
