"""What people notice when a server dies or hangs: answers with less, that say so."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from indexer import watch
from mcp_server.runtime import server_check
from mcp_server.runtime.container import Container
from memvault.config.settings import Settings
from memvault.stores.server import REST_SECONDS
from tests.integration.caller import Caller
from tests.integration.server_stores import BOATS, WHY, local_qdrant, open_one, server_settings
from tests.servers.process import ServerProcess
from tests.waiting import until

__all__ = ["local_qdrant", "open_one", "server_settings"]
# Less than an answer may take in tests, so it did not wait for a server to the end. On an idle
# machine it takes a few seconds.
LONGEST = 45.0


@pytest.fixture
def container(
    write: Callable[..., Path],
    open_one: Callable[..., Container],
    server_settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> Container:
    monkeypatch.setattr(watch, "RETRY_SECONDS", 0.5)
    monkeypatch.setattr(server_check, "CHECK_SECONDS", 0.5)
    for path, text in BOATS.items():
        write(path, text)
    one = open_one(server_settings, "own")
    one.start()
    return one


@pytest.fixture
def caller(container: Container) -> Caller:
    return Caller(container)


@pytest.fixture
def outage() -> Iterator[Outage]:
    one = Outage()
    yield one
    one.end()


class Outage:
    """A server that hangs or is dead for a while."""

    def __init__(self) -> None:
        self._end: Callable[[], None] | None = None

    def hang(self, process: ServerProcess) -> None:
        process.pause()
        self._end = process.resume

    def die(self, process: ServerProcess) -> None:
        process.kill()
        self._end = process.start

    def end(self) -> None:
        if self._end is not None:
            self._end()
            self._end = None


def test_while_the_graph_hangs_questions_are_answered_and_notes_are_kept(
    container: Container,
    caller: Caller,
    neo4j_server: ServerProcess,
    outage: Outage,
    vault_folder: Path,
) -> None:
    outage.hang(neo4j_server)
    began = time.monotonic()
    answer = caller.ok("graph_query", query="Who skippers the Kestrel?")
    assert time.monotonic() - began < LONGEST
    assert {node["title"] for node in answer["results"]} == {"Kestrel", "Omar"}
    recalled = caller.ok("recall_memory", query="varnished boats")
    assert recalled["nodes"][0]["title"] == "Kestrel"
    until(lambda: container.status()["not_answering"] == ["Neo4j"])
    notice = caller.ok("recall_memory", query="varnished boats")["notice"]
    assert "Neo4j" in notice or "graph" in notice
    time.sleep(REST_SECONDS)  # it is asked again by then
    began = time.monotonic()
    stored = caller.ok("store_memory", content="The [[Kestrel]] leaks.", rationale=WHY)
    assert time.monotonic() - began < LONGEST
    assert "Neo4j" in stored["notice"]
    assert "leaks" in (vault_folder / stored["path"]).read_text()
    status = container.status()
    assert status["not_answering"] == ["Neo4j"]
    assert (status["nodes"], status["notes"]) == (None, 2)
    outage.end()
    until(lambda: container.live.catalogue.by_path(stored["path"]))
    assert container.status()["not_answering"] == []
    assert container.live.stores.graph.stated_by([stored["node_id"]])


def test_without_the_key_value_store_questions_are_answered_and_notes_are_kept(
    container: Container,
    caller: Caller,
    redis_server: ServerProcess,
    outage: Outage,
    vault_folder: Path,
) -> None:
    outage.die(redis_server)
    recalled = caller.ok("recall_memory", query="varnished boats")
    assert recalled["nodes"][0]["title"] == "Kestrel"
    stored = caller.ok("store_memory", content="The [[Kestrel]] leaks.", rationale=WHY)
    assert "Redis" in stored["notice"]
    assert container.status()["not_answering"] == ["Redis"]
    assert caller.error("get_preference", key="colour")["code"] == -32002
    outage.end()
    until(lambda: container.live.catalogue.by_path(stored["path"]))
    until(lambda: container.live.stores.keyvalue.count("notes") == 3)
    assert container.status()["not_answering"] == []
