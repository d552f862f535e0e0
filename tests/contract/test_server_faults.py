"""What a server store says when its server is not there, keeps silent or refuses."""

from __future__ import annotations

import socket
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memvault.config.settings import load_settings
from memvault.model.errors import InvalidParams, StoreUnavailable
from memvault.stores.graph import neo4j as graph
from memvault.stores.graph.neo4j import Neo4jGraphStore
from memvault.stores.keyvalue import redis as keyvalue
from memvault.stores.keyvalue.redis import RedisKeyValueStore
from memvault.stores.open import open_stores, without_password
from memvault.stores.server import REST_SECONDS, Server, StoreNamespace
from memvault.stores.vectors import qdrant as vectors
from memvault.stores.vectors.qdrant import QdrantVectorStore, connect_to_server
from tests.servers import neo4j, redis
from tests.servers.process import ServerProcess

PLACE = StoreNamespace("tests", "faults")
Ask = Callable[[int], object]
SOON = 25.0  # seconds: a few on an idle machine, and less than the clients would wait by themselves


def ask_qdrant(port: int) -> object:
    return QdrantVectorStore(
        lambda: connect_to_server(f"http://127.0.0.1:{port}", None), PLACE, 8
    ).count()


def ask_neo4j(port: int) -> object:
    return Neo4jGraphStore(f"bolt://127.0.0.1:{port}", PLACE, "neo4j", "x").counts()


def ask_redis(port: int) -> object:
    return RedisKeyValueStore(f"redis://127.0.0.1:{port}", PLACE).count("ns")


@pytest.fixture(params=[ask_qdrant, ask_neo4j, ask_redis])
def ask(request: pytest.FixtureRequest) -> Ask:
    given: Ask = request.param
    return given


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Something listens there and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as listener:
        yield listener.getsockname()[1]


def test_nobody_there_is_said_after_three_retries(ask: Ask) -> None:
    with socket.socket() as held:  # nobody else can take the port meanwhile
        held.bind(("127.0.0.1", 0))
        began = time.monotonic()
        with pytest.raises(StoreUnavailable, match="does not answer"):
            ask(held.getsockname()[1])
    assert 0.7 <= time.monotonic() - began < SOON


def test_a_silent_server_is_given_up_in_seconds(
    ask: Ask, silent_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "TIMEOUT_SECONDS", 1)
    monkeypatch.setattr(keyvalue, "TIMEOUT_SECONDS", 0.5)
    monkeypatch.setattr(graph, "READ_SECONDS", 0.5)
    began = time.monotonic()
    with pytest.raises(StoreUnavailable, match="does not answer"):
        ask(silent_port)
    assert time.monotonic() - began < SOON


def test_a_wrong_password_names_what_to_set(
    neo4j_server: ServerProcess, redis_server: ServerProcess
) -> None:
    with pytest.raises(StoreUnavailable, match="MEMVAULT_REDIS_PASSWORD"):
        RedisKeyValueStore(redis.url(redis_server), PLACE, "wrong").count("ns")
    with pytest.raises(StoreUnavailable, match="MEMVAULT_REDIS_PASSWORD"):
        RedisKeyValueStore(redis.url(redis_server), PLACE).count("ns")
    with pytest.raises(StoreUnavailable, match="MEMVAULT_NEO4J_PASSWORD"):
        Neo4jGraphStore(neo4j.url(neo4j_server), PLACE, neo4j.USER, "wrong").counts()


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidParams, match="graph"):
        Neo4jGraphStore("gremlin://host", PLACE, "neo4j", "x")
    with pytest.raises(InvalidParams, match="keyvalue"):
        RedisKeyValueStore("redis://host:port", PLACE)


@pytest.mark.parametrize(
    ("role", "url"),
    [
        ("graph", "bolt://ada:hunter2@host:7687"),
        ("keyvalue", "redis://ada:hunter2/x@host:6379"),
        ("keyvalue", "redis://ada:hunter2\u2100@host"),
        ("keyvalue", "redis://ada:hunter2@host:70000"),
        ("graph", "bolt://ada:hunter2@[::1"),
        ("vectors", "http://ada:hunter2/x@host"),
    ],
)
def test_no_message_on_an_address_quotes_its_password(role: str, url: str, tmp_path: Path) -> None:
    (tmp_path / "memvault.toml").write_text(f'{role} = "{url}"\n', encoding="utf-8")
    expected = f"{role}: is not a valid URL.*sets the password"
    with pytest.raises(InvalidParams, match=expected) as got:
        open_stores(load_settings(tmp_path / "memvault.toml"), tmp_path / "indexes" / "1", 4)
    assert "hunter" not in "".join(traceback.format_exception(got.value))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("embedded", "embedded"),
        ("redis://ada:hunter2@host:6379/0", "redis://host:6379/0"),
        ("redis://host:6379/0?password=hunter2", "redis://host:6379/0"),
        ("redis://ada:47/hunter2@host", "redis://…"),
    ],
)
def test_the_status_shows_addresses_without_passwords(url: str, shown: str) -> None:
    assert without_password(url) == shown


class Flaky:
    """Fails so many times, then answers."""

    def __init__(self, *failures: type[Exception]) -> None:
        self.asked = 0
        self._failures = list(failures)

    def __call__(self) -> str:
        self.asked += 1
        if self._failures:
            raise self._failures.pop(0)
        return "answer"


def server() -> Server:
    return Server("Test", timeouts=(TimeoutError,), network=(ConnectionError,))


def test_a_lost_connection_is_tried_three_times_more_and_a_timeout_once() -> None:
    lost = Flaky(*[ConnectionError] * 3)
    assert server().ask(lost) == "answer"
    slow = Flaky(*[TimeoutError] * 2)
    with pytest.raises(StoreUnavailable):
        server().ask(slow)
    assert slow.asked == 2
    counting = Flaky(ConnectionError)
    with pytest.raises(StoreUnavailable):
        server().ask(counting, repeatable=False)
    assert counting.asked == 1


def test_a_silent_server_is_left_alone_for_a_while() -> None:
    one, call = server(), Flaky(*[TimeoutError] * 2)
    with pytest.raises(StoreUnavailable):
        one.ask(call)
    assert one.unreachable
    with pytest.raises(StoreUnavailable):
        one.ask(call)
    assert call.asked == 2
    time.sleep(REST_SECONDS)
    assert one.ask(call) == "answer"
    assert not one.unreachable
