"""Several processes on one set of servers: one indexes, the others answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from indexer import replica
from mcp_server.runtime import generations as indexes
from mcp_server.runtime import replication
from mcp_server.runtime.container import Container
from memvault.config.settings import Settings
from memvault.model.errors import StoreUnavailable
from tests.integration.caller import Caller
from tests.integration.searching import found_paths
from tests.integration.server_stores import local_qdrant, open_one, server_settings
from tests.waiting import until

__all__ = ["local_qdrant", "open_one", "server_settings"]


@pytest.fixture
def open_shared(
    open_one: Callable[..., Container],
    server_settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Container]:
    monkeypatch.setattr(replica, "CHECK_SECONDS", 0.1)
    monkeypatch.setattr(replica, "RENEW_SECONDS", 0.2)
    monkeypatch.setattr(replication, "RENEW_SECONDS", 0.2)
    monkeypatch.setattr(indexes, "GRACE_SECONDS", 0.5)
    shared = server_settings.model_copy(update={"namespace": tmp_path.name})

    def open_on(name: str, *, watch: bool = True) -> Container:
        one = open_one(shared, name)
        one.start(watch=watch)
        return one

    return open_on


def test_who_follows_finds_what_another_indexed(
    open_shared: Callable[..., Container], write: Callable[..., Path]
) -> None:
    file = write("Boats.md", "The [[Heron]] is varnished.\n")
    open_shared("indexer")
    reader = open_shared("reader", watch=False)
    assert reader.status()["watching"] == "elsewhere"
    assert found_paths(reader, "varnish") == ["Boats.md"]
    write("Oven.md", "---\naliases: [Baker]\n---\nThe clay oven is dry.\n")
    until(lambda: "Oven.md" in found_paths(reader, "clay oven"))
    assert reader.live.indexer.links.resolve("Baker", "") == "Oven.md"
    file.unlink()
    until(lambda: reader.live.catalogue.paths() == {"Oven.md"})
    with pytest.raises(StoreUnavailable, match="Another process"):
        reader.indexing.rebuild()


def test_what_a_follower_writes_is_found_when_it_answers(
    open_shared: Callable[..., Container],
) -> None:
    open_shared("indexer")
    reader = open_shared("reader", watch=False)
    caller = Caller(reader)
    stored = caller.ok("store_memory", content="Two coats of varnish.", rationale="asked to keep")
    assert reader.live.catalogue.by_path(stored["path"]).id == stored["node_id"]
    assert caller.ok("recall_memory", query="varnish")["nodes"][0]["id"] == stored["node_id"]


def test_a_rebuild_takes_the_followers_along(
    open_shared: Callable[..., Container], write: Callable[..., Path]
) -> None:
    write("Boats.md", "The [[Heron]] is varnished.\n")
    indexer = open_shared("indexer")
    reader = open_shared("reader", watch=False)
    old = reader.live.folder
    indexer.indexing.rebuild()
    until(lambda: reader.live.folder.name == indexer.live.folder.name)
    assert found_paths(reader, "varnish") == ["Boats.md"]
    until(lambda: not old.exists())
    write("Oven.md", "The clay oven is dry.\n")
    until(lambda: "Oven.md" in found_paths(reader, "clay oven"))


def test_one_indexes_at_a_time_and_another_takes_over(
    open_shared: Callable[..., Container], write: Callable[..., Path]
) -> None:
    first = open_shared("first")
    second = open_shared("second")
    assert first.status()["watching"] != "elsewhere"
    assert second.status()["watching"] == "elsewhere"
    assert replica.is_anyone_indexing(second.live.stores.keyvalue)
    first.close()
    write("Boats.md", "The [[Heron]] is varnished.\n")
    until(lambda: second.status()["watching"] != "elsewhere")
    until(lambda: found_paths(second, "varnish") == ["Boats.md"])
