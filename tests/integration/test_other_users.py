"""Another user of the computer cannot use the engine's port."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.responses import PlainTextResponse

from mcp_server.security.access_policy import AccessMiddleware, AccessPolicy
from mcp_server.security.peer_user import Address, is_of_another_user
from tests.servers.process import free_port

NOBODY = 65534


@pytest.fixture
def port() -> Iterator[int]:
    policy = AccessPolicy("127.0.0.1", engine_token="engine")
    app = AccessMiddleware(PlainTextResponse("a note"), policy)
    chosen = free_port()
    server = uvicorn.Server(uvicorn.Config(app, port=chosen, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        pass
    yield chosen
    server.should_exit = True
    thread.join()


def fetched_as(uid: int, port: int) -> str:
    code = f"""import os, socket
os.setuid({uid})
with socket.socket() as one:
    one.connect(("127.0.0.1", {port}))
    one.sendall(b"GET / HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\nConnection: close\\r\\n\\r\\n")
    while part := one.recv(4096):
        print(part)"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return run.stdout + run.stderr


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="needs Linux, and root to become another"
)
def test_only_the_engines_user_and_root_are_answered(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "a note" in fetched_as(0, port)
    assert "403" in fetched_as(NOBODY, port)
    monkeypatch.setattr(os, "geteuid", lambda: NOBODY)
    assert "a note" in fetched_as(NOBODY, port)


def test_connections_from_elsewhere_are_not_judged() -> None:
    assert not is_of_another_user(Address("203.0.113.9", 5), Address("192.0.2.1", 80))
    assert not is_of_another_user(Address("testclient", 5), Address("testserver", 80))
