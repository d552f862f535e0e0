"""What a client sends at the moment in which its bridge reaches an engine."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from websockets.sync.client import ClientConnection

from mcp_server.engine.bridge import Bridge
from mcp_server.engine.launcher import Launcher, read_address
from memvault.config.paths import StateFolder
from tests.integration.forked_engine import engine_forks, exit_code, start_logged
from tests.integration.tiny_engine import serve
from tests.waiting import PATIENCE_SECONDS, until

pytestmark = pytest.mark.usefixtures("forked_engines")
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Hurried(Bridge):
    """A bridge that reaches its engine as soon as it has remembered a request."""

    def __init__(self, launcher: Launcher, stdin: BinaryIO, stdout: BinaryIO) -> None:
        super().__init__(launcher, stdin, stdout)
        self._request_is_remembered, self._has_resumed = threading.Event(), threading.Event()

    def _remember(self, message: dict[str, Any], line: bytes) -> None:
        super()._remember(message, line)
        self._request_is_remembered.set()
        self._has_resumed.wait(0.5)

    def _resume(self, connection: ClientConnection) -> None:
        assert self._request_is_remembered.wait(PATIENCE_SECONDS)
        super()._resume(connection)
        self._has_resumed.set()


@pytest.mark.parametrize(
    ("method", "arguments"),
    [("tools/call", {"name": "write", "arguments": {"word": "once"}}), ("tools/list", {})],
)
def test_a_request_made_while_the_bridge_connects_is_sent_and_answered_once(
    tmp_path: Path, method: str, arguments: dict[str, Any]
) -> None:
    state = StateFolder(tmp_path)
    engine = start_logged(engine_forks(), state, serve, state, None)
    until(lambda: read_address(state))
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**arguments, "_meta": META}}
    (given, client), (output, answered) = os.pipe(), os.pipe()
    with (
        os.fdopen(given, "rb") as stdin,
        os.fdopen(answered, "wb") as stdout,
        os.fdopen(output, "rb") as answers,
    ):
        bridge = Hurried(Launcher(state, []), stdin, stdout)
        running = threading.Thread(target=bridge.run)
        running.start()
        os.write(client, json.dumps(request).encode() + b"\n")
        answer = json.loads(answers.readline())
        os.write(client, json.dumps(request | {"id": 2, "method": "tools/list"}).encode() + b"\n")
        next_answer = json.loads(answers.readline())
        os.close(client)
        running.join(PATIENCE_SECONDS)
    engine.terminate()
    assert exit_code(engine) == 0
    assert (answer["id"], next_answer["id"]) == (1, 2)
    assert "result" in answer, answer
    if method == "tools/call":
        assert (tmp_path / "words").read_text() == "once\n"
