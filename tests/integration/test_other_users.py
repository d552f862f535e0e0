"""Another user of the computer cannot use the engine's port."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from mcp_server.engine.launcher import read_address
from mcp_server.security.access_policy import AccessMiddleware, AccessPolicy
from mcp_server.security.peer_user import Address, is_of_another_user
from memvault.config.paths import StateFolder
from tests.integration.forked_engine import engine_forks, exit_code, start_logged
from tests.integration.tiny_engine import serve
from tests.servers.process import free_port
from tests.waiting import until

NOBODY = 65534
CLOSED, RESET = "/closed", "/reset"  # paths for which a program ends its connection at once
become_others = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="needs Linux, and root to become another"
)


@pytest.fixture
def served() -> list[str]:
    """The paths that were requested and not refused."""
    return []


@pytest.fixture
def port(served: list[str]) -> Iterator[int]:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        served.append(scope["path"])
        await PlainTextResponse("a note")(scope, receive, send)

    policy = AccessPolicy("127.0.0.1", engine_token="engine")
    app = AccessMiddleware(answer, policy)
    chosen = free_port()
    server = uvicorn.Server(uvicorn.Config(app, port=chosen, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    until(lambda: server.started)
    yield chosen
    server.should_exit = True
    thread.join()


def fetched_as(uid: int, port: int, path: str = "/", header: str = "Connection: close") -> str:
    """What a program of this user gets, which reads the answer unless it waits for none."""
    code = f"""import os, socket, struct
os.setuid({uid})
with socket.socket() as one:
    one.connect(("127.0.0.1", {port}))
    one.sendall(b"GET {path} HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\n{header}\\r\\n\\r\\n")
    if {path!r} == {RESET!r}:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    elif {path!r} != {CLOSED!r}:
        print(one.recv(4096))"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return run.stdout + run.stderr


@become_others
def test_only_the_engines_user_and_root_are_answered(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "200 OK" in fetched_as(0, port)
    assert "403" in fetched_as(NOBODY, port)
    monkeypatch.setattr(os, "geteuid", lambda: NOBODY)
    assert "200 OK" in fetched_as(NOBODY, port)


@become_others
@pytest.mark.parametrize("path", [CLOSED, RESET])
def test_who_ends_the_connection_at_once_is_not_served_either(
    port: int, served: list[str], path: str
) -> None:
    for _ in range(10):  # the connection ends before or after it is looked at
        fetched_as(NOBODY, port, path)
    assert "200 OK" in fetched_as(0, port, "/last")
    assert served == ["/last"]


@become_others
def test_no_header_makes_another_user_seem_to_be_elsewhere(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    forks = engine_forks()
    engine = start_logged(forks, state, serve, state, None)
    try:
        address = until(lambda: read_address(state))
        answer = fetched_as(NOBODY, address.port, "/healthz", "X-Forwarded-For: 203.0.113.9")
        assert "403" in answer
        assert "200 OK" in fetched_as(0, address.port, "/healthz")
    finally:
        engine.terminate()
        assert exit_code(engine) == 0


def test_connections_from_elsewhere_are_not_judged() -> None:
    assert not is_of_another_user(Address("203.0.113.9", 5), Address("192.0.2.1", 80))
    assert not is_of_another_user(Address("testclient", 5), Address("testserver", 80))
