"""Servers that are slow, out of room, paused or lost while memvault reads and while it indexes:
what is answered says what it lacks, no note is lost, and all is well again by itself."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis as resp

from indexer import watch
from indexer.progress import Report, ScanReport
from mcp_server.engine.startup import Startup
from mcp_server.runtime import server_check
from mcp_server.runtime.container import Container
from mcp_server.runtime.indexing_service import TRIES_AGAIN
from memvault.config.settings import Settings
from memvault.stores.graph import neo4j as graph_store
from memvault.stores.keyvalue import redis as keyvalue_store
from memvault.stores.open import MODEL_FILE
from tests.integration.caller import Caller
from tests.integration.server_stores import BOATS, WHY, local_qdrant, open_one, server_settings
from tests.servers import neo4j, redis
from tests.servers.process import ServerProcess
from tests.servers.proxy import Proxy
from tests.waiting import PATIENCE_SECONDS, until

__all__ = ["local_qdrant", "open_one", "server_settings"]
# Less than an answer may take in tests, so it did not wait for a server to the end. On an idle
# machine it takes a few seconds.
LONGEST = 20.0


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "RETRY_SECONDS", 0.5)
    monkeypatch.setattr(graph_store, "READ_SECONDS", 1.5)
    monkeypatch.setattr(keyvalue_store, "TIMEOUT_SECONDS", 1.5)
    monkeypatch.setattr(server_check, "CHECK_SECONDS", 0.5)


@pytest.fixture
def boats(write: Callable[..., Path]) -> None:
    for path, text in BOATS.items():
        write(path, text)


@pytest.fixture
def container(
    boats: None, open_one: Callable[..., Container], server_settings: Settings
) -> Container:
    one = open_one(server_settings, "own")
    one.start()
    return one


@pytest.fixture
def proxied(
    server_settings: Settings, neo4j_server: ServerProcess, redis_server: ServerProcess
) -> Iterator[tuple[Settings, Proxy, Proxy]]:
    """Settings that reach Neo4j and Redis by a way that can be made slow."""
    graph, keyvalue = Proxy(neo4j_server.port), Proxy(redis_server.port)
    yield (
        server_settings.model_copy(
            update={
                "graph": f"bolt://127.0.0.1:{graph.port}",
                "keyvalue": f"redis://127.0.0.1:{keyvalue.port}/0",
            }
        ),
        graph,
        keyvalue,
    )
    graph.close()
    keyvalue.close()


def health(container: Container) -> dict[str, Any]:
    return Startup.of(container).health()


def well(container: Container) -> bool:
    return health(container)["status"] == "ok"


def quickly(caller: Caller, tool: str, **arguments: Any) -> dict[str, Any]:
    began = time.monotonic()
    answer = caller.ok(tool, **arguments)
    assert time.monotonic() - began < LONGEST
    return answer


def test_slow_servers_are_waited_for_and_too_slow_ones_are_not(
    boats: None,
    open_one: Callable[..., Container],
    proxied: tuple[Settings, Proxy, Proxy],
    vault_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings, graph, keyvalue = proxied
    patience = graph_store.READ_SECONDS
    # A busy machine, too, is waited for.
    monkeypatch.setattr(graph_store, "READ_SECONDS", LONGEST)
    monkeypatch.setattr(keyvalue_store, "TIMEOUT_SECONDS", LONGEST)
    container = open_one(settings, "own")
    container.start()
    caller = Caller(container)
    graph.delay = keyvalue.delay = 0.1
    answer = caller.ok("graph_query", query="Who skippers the Kestrel?")
    assert "notice" not in answer and "Omar" in {node["title"] for node in answer["results"]}
    stored = caller.ok("store_memory", content="The [[Kestrel]] leaks.", rationale=WHY)
    assert "notice" not in stored and container.live.catalogue.by_path(stored["path"])
    graph.delay = 10 * LONGEST
    monkeypatch.setattr(graph_store, "READ_SECONDS", patience)
    recalled = quickly(caller, "recall_memory", query="varnished boats")
    assert recalled["nodes"][0]["title"] == "Kestrel"
    until(lambda: health(container).get("not_answering", []) == ["Neo4j"])
    late = quickly(caller, "store_memory", content="Its mast is new.", rationale=WHY)
    assert "Neo4j" in late["notice"] and (vault_folder / late["path"]).exists()
    graph.delay = keyvalue.delay = 0.0
    until(lambda: container.live.catalogue.by_path(late["path"]))
    until(lambda: well(container))


def test_while_redis_is_paused_questions_are_answered_and_notes_wait_on_disk(
    container: Container, redis_server: ServerProcess, write: Callable[..., Path]
) -> None:
    caller = Caller(container)
    redis_server.pause()
    try:
        write("Saved.md", "Saved in an editor: the [[Kestrel]] sails.\n")
        recalled = quickly(caller, "recall_memory", query="varnished boats")
        assert recalled["nodes"][0]["title"] == "Kestrel"
        until(lambda: health(container).get("not_answering", []) == ["Redis"])
        stored = quickly(caller, "store_memory", content="The [[Kestrel]] leaks.", rationale=WHY)
        assert "Redis" in stored["notice"]
        assert container.status()["behind_seconds"] > 0
    finally:
        redis_server.resume()
    for path in ("Saved.md", stored["path"]):
        until(lambda path=path: container.live.catalogue.by_path(path))
    until(lambda: well(container) and container.status()["behind_seconds"] == 0)
    assert container.live.stores.keyvalue.count("notes") == 4


def test_a_redis_without_memory_keeps_what_it_has_and_takes_the_rest_later(
    container: Container, redis_server: ServerProcess, write: Callable[..., Path]
) -> None:
    caller = Caller(container)
    client = resp.Redis(port=redis_server.port, password=redis.PASSWORD)
    client.config_set("maxmemory-policy", "noeviction")
    client.config_set("maxmemory", "1")
    try:
        write("Saved.md", "Saved in an editor: the [[Kestrel]] sails.\n")
        until(lambda: health(container).get("without_room", []) == ["Redis"])
        assert health(container)["status"] == "degraded"
        assert container.status()["without_room"] == ["Redis"]
        assert container.live.stores.keyvalue.count("notes") == 2
        recalled = quickly(caller, "recall_memory", query="varnished boats")
        assert recalled["nodes"][0]["title"] == "Kestrel"
        stored = quickly(caller, "store_memory", content="The [[Kestrel]] leaks.", rationale=WHY)
        assert "Redis is full" in stored["notice"]
        assert not container.live.indexer.lacks_space  # the disk has room
        assert "Redis is out of memory. Give it more" in container.indexing.problems()[0]
        first, *others = container.indexing.doctor()
        assert (first.severity, first.what) == ("error", "Redis is out of memory")
        assert [problem.what for problem in others] == ["2 notes are not indexed yet"]
        assert "leaks" in (container.vault.root / stored["path"]).read_text()
    finally:
        client.config_set("maxmemory", "0")
    until(lambda: container.live.stores.keyvalue.count("notes") == 4)
    until(lambda: well(container))


def test_new_indexes_that_a_full_redis_does_not_take_are_filled_by_itself_when_it_does(
    boats: None, open_one: Callable[..., Container], server_settings: Settings,
    redis_server: ServerProcess, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("mcp_server.runtime.indexing_service.PAUSE_SECONDS", 0.3)
    first = open_one(server_settings, "own")
    first.start()
    (first.live.folder / MODEL_FILE).write_text('["another model", 384]')
    first.close()
    container = open_one(server_settings, "own")
    client = resp.Redis(port=redis_server.port, password=redis.PASSWORD)
    client.config_set("maxmemory-policy", "noeviction")
    rebuild = container.indexing.rebuild

    def fill_first(report: Report) -> ScanReport:
        client.config_set("maxmemory", "1")
        return rebuild(report)

    try:
        with monkeypatch.context() as patch:
            patch.setattr(container.indexing, "rebuild", fill_first)
            container.start()
        waits = container.indexing.doctor()[0]
        assert waits.what.startswith("indexing waits: Redis is out of memory")
        assert waits.advice == TRIES_AGAIN
    finally:
        client.config_set("maxmemory", "0")
    until(lambda: not container.live.stores.outdated and well(container))
    until(lambda: container.indexing.problems() == [])


def test_an_engine_that_starts_while_redis_is_full_indexes_when_it_is_not(
    boats: None, open_one: Callable[..., Container], server_settings: Settings,
    redis_server: ServerProcess, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("mcp_server.runtime.replication.RENEW_SECONDS", 0.2)
    monkeypatch.setattr("mcp_server.runtime.worker.RETRY_SECONDS", 0.2)
    container = open_one(server_settings, "own")
    client = resp.Redis(port=redis_server.port, password=redis.PASSWORD)
    client.config_set("maxmemory-policy", "noeviction")
    client.config_set("maxmemory", "1")
    try:
        container.start()
        assert "Redis is out of memory" in container.indexing.problems()[0]
    finally:
        client.config_set("maxmemory", "0")
    until(lambda: well(container) and container.live.catalogue.by_path("Kestrel.md"))
    write("Saved.md", "Saved in an editor: the [[Kestrel]] sails.\n")
    until(lambda: container.live.catalogue.by_path("Saved.md"))


def test_a_changed_password_is_named_until_it_is_accepted_again(
    container: Container, redis_server: ServerProcess, write: Callable[..., Path]
) -> None:
    client = resp.Redis(port=redis_server.port, password=redis.PASSWORD)
    client.config_set("requirepass", "another")
    client.client_kill_filter(_type="normal", skipme=True)
    try:
        write("Saved.md", "Saved in an editor: the [[Kestrel]] sails.\n")
        until(container.indexing.problems)
        assert "MEMVAULT_REDIS_PASSWORD" in container.indexing.problems()[0]
        assert "MEMVAULT_REDIS_PASSWORD" in container.indexing.doctor()[0].advice
    finally:
        client.config_set("requirepass", redis.PASSWORD)
    until(lambda: container.live.catalogue.by_path("Saved.md"))
    until(lambda: container.indexing.doctor() == container.indexing.problems() == [])


def test_a_graph_that_comes_back_empty_is_filled_again(
    boats: None,
    open_one: Callable[..., Container],
    proxied: tuple[Settings, Proxy, Proxy],
    neo4j_server: ServerProcess,
) -> None:
    settings, graph, _ = proxied
    container = open_one(settings, "own")
    container.start()
    graph.close()
    recalled = quickly(Caller(container), "recall_memory", query="varnished boats")
    assert recalled["nodes"][0]["title"] == "Kestrel"
    neo4j.empty(neo4j_server)  # without the seconds that another takes to start
    assert container.status()["nodes"] is None
    graph.start()
    until(lambda: container.status()["nodes"] == 3)
    assert container.status()["edges"] == 2


def test_a_graph_without_disk_keeps_what_it_has_and_takes_the_rest_later(
    container: Container, neo4j_server: ServerProcess, write: Callable[..., Path]
) -> None:
    caller = Caller(container)
    neo4j_server.limit(resource.RLIMIT_FSIZE, 1)
    try:
        write("Saved.md", "Saved in an editor: the [[Kestrel]] sails.\n")
        until(lambda: health(container)["status"] == "degraded")
        recalled = quickly(caller, "recall_memory", query="varnished boats")
        assert recalled["nodes"][0]["title"] == "Kestrel"
        quickly(caller, "graph_query", query="Who skippers the Kestrel?")
        stored = quickly(caller, "store_memory", content="The [[Kestrel]] leaks.", rationale=WHY)
        assert "Neo4j" in stored["notice"]
        assert "leaks" in (container.vault.root / stored["path"]).read_text()
    finally:
        neo4j_server.kill()  # a database that could not write its log wants to be started anew
        neo4j_server.start()
    until(lambda: len(container.live.catalogue) == 4)
    until(lambda: well(container))
    assert container.live.stores.graph.counts()[0] == 5


def test_servers_lost_in_the_middle_of_a_scan_lose_nothing(
    open_one: Callable[..., Container],
    proxied: tuple[Settings, Proxy, Proxy],
    redis_server: ServerProcess,
    write: Callable[..., Path],
) -> None:
    """Redis is killed and comes back empty; Neo4j, which takes long to start, is out of reach."""
    settings, graph, _ = proxied
    for number in range(120):
        write(f"Log {number}.md", f"On day {number} the [[Log {number // 2}]] was read again.\n")
    container = open_one(settings, "own")
    halfway = threading.Event()
    container.live.indexer.on_batch.append(lambda notes, seconds: halfway.set())
    starting = threading.Thread(target=container.start)
    starting.start()
    assert halfway.wait(PATIENCE_SECONDS)
    redis_server.kill()
    graph.close()
    until(lambda: health(container)["status"] == "degraded")
    assert set(health(container).get("not_answering", [])) <= {"Redis", "Neo4j"}
    redis_server.start()
    graph.start()
    starting.join(PATIENCE_SECONDS)
    until(lambda: container.live.stores.keyvalue.count("notes") == 120)
    until(lambda: well(container))
    assert container.live.stores.graph.counts() == (120, 119)  # the first links to itself
    assert set(container.live.stores.vectors.note_ids()) == {
        m.id for m in container.live.catalogue.all()
    }
