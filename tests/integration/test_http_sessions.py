"""Sessions of MCP clients over HTTP continue after they ended in the engine."""

from __future__ import annotations

import asyncio
import json
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fastmcp
import pytest
from starlette.testclient import TestClient

from mcp_server.app import engine_app
from mcp_server.engine import http_sessions
from mcp_server.engine.startup import Startup
from mcp_server.runtime.activity_tracker import ActivityTracker
from mcp_server.runtime.container import Container
from mcp_server.security.access_policy import AccessPolicy, PageSessions, PublicAccess, WebClient
from mcp_server.server import build_server
from tests.integration.small_vault import opened

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "Kite reader", "version": "1"},
    },
}
STORE = {
    "name": "store_memory",
    "arguments": {"content": "The kite is red.", "rationale": "The person asked for it."},
}


class Http:
    """A client of one engine."""

    def __init__(self, client: TestClient) -> None:
        self._client = client

    def post(self, method: str, params: Any = None, session: str = "", token: str = "one") -> Any:
        message = {"jsonrpc": "2.0", "id": 2, "method": method, "params": params or {}}
        body = INITIALIZE if method == "initialize" else message
        return self.send("POST", session, token, json=body)

    def send(self, method: str, session: str, token: str = "one", **body: Any) -> Any:
        headers = {
            "authorization": f"Bearer {token}",
            "accept": "application/json, text/event-stream",
        }
        if session:
            headers["mcp-session-id"] = session
        return self._client.request(method, "/mcp", headers=headers, **body)

    def begin(self) -> str:
        return self.post("initialize").headers["mcp-session-id"]


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    container = opened(tmp_path_factory.mktemp("http"), {"Home.md": "# Home\n"})
    yield container
    container.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "http_sessions.json"


@contextmanager
def engine(container: Container, file: Path) -> Iterator[Http]:
    """An engine to which two clients on the web, approved under one name, have tokens."""
    startup = Startup.of(container)
    clients = {"one": WebClient("1", "Claude"), "two": WebClient("2", "Claude")}
    public = PublicAccess(
        "https://notes.example.com", clients.get, "", PageSessions(), asyncio.Event().wait
    )
    app = engine_app(
        build_server(startup),
        startup,
        policy=AccessPolicy("127.0.0.1", "engine", public=public),
        tracker=ActivityTracker(),
        stop=lambda: None,
        http_sessions=file,
    )
    with TestClient(app, base_url="https://notes.example.com") as client:
        yield Http(client)


def test_a_session_continues_in_each_engine_that_follows(container: Container, file: Path) -> None:
    with engine(container, file) as http:
        session = http.begin()
    for _ in range(2):
        with engine(container, file) as http:
            answer = http.post("tools/call", STORE, session)
            assert answer.status_code == 200
            assert answer.headers["mcp-session-id"] == session
            assert http.post("ping", session=session).status_code == 200
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_history_names_the_client_of_a_continued_session(
    container: Container, file: Path
) -> None:
    with engine(container, file) as http:
        session = http.post("initialize", token="engine").headers["mcp-session-id"]
    with engine(container, file) as http:
        assert http.post("tools/call", STORE, session, token="engine").status_code == 200
    assert container.curator.history.changes(limit=1)[0].actor.name == "Kite reader"


def test_no_client_continues_or_ends_the_session_of_another(
    container: Container, file: Path
) -> None:
    with engine(container, file) as http:
        session = http.begin()
    with engine(container, file) as http:
        for token in ("two", "engine"):
            assert http.post("ping", session=session, token=token).status_code == 404
            assert http.send("DELETE", session, token).status_code == 404
        assert http.post("ping", session=session).status_code == 200
        assert http.post("ping", session=session, token="two").status_code == 404


def test_a_session_that_ended_does_not_continue(container: Container, file: Path) -> None:
    with engine(container, file) as http:
        session, other = http.begin(), http.begin()
        assert http.send("DELETE", session).status_code == 200
        assert http.post("ping", session=session).status_code == 404
    with engine(container, file) as http:
        assert http.post("ping", session=session).status_code == 404
        assert http.send("DELETE", other).status_code == 200
        assert http.post("ping", session=other).status_code == 404
    assert json.loads(file.read_text()) == {}


def test_a_session_continues_after_it_was_idle_and_no_other_client_has_it_then(
    container: Container, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fastmcp.settings, "http_session_idle_timeout", 0.4)
    with engine(container, file) as http:
        session = http.begin()
        for _ in range(2):
            time.sleep(0.8)
            assert http.post("ping", session=session, token="two").status_code == 404
            answer = http.post("tools/call", STORE, session)
            assert answer.status_code == 200
            assert answer.headers["mcp-session-id"] == session
        time.sleep(0.8)
        assert http.send("DELETE", session).status_code == 200
        assert http.post("ping", session=session).status_code == 404


def test_the_sessions_used_last_are_kept(
    container: Container, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_sessions, "_MAX_SESSIONS", 2)
    with engine(container, file) as http:
        first, second = http.begin(), http.begin()
        assert http.post("ping", session=first).status_code == 200
        third = http.begin()
        assert http.post("ping", session=second).status_code == 200  # it goes on until it ends
    with engine(container, file) as http:
        found = [http.post("ping", session=each).status_code for each in (first, second, third)]
        assert found == [200, 404, 200]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}', '{"a": {"request": 1}}'])
def test_a_damaged_file_keeps_no_client_out(container: Container, file: Path, text: str) -> None:
    file.write_text(text)
    with engine(container, file) as http:
        assert http.post("ping", session=http.begin()).status_code == 200
        assert http.post("ping", session="unknown").status_code == 404
