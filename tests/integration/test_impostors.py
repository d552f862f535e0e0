"""Another user's program has taken the port of an engine that was killed, and answers in its place.

A killed engine leaves its address behind. Who asked there would hand over prompts and memories.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock
from websockets.sync.server import ServerConnection, serve

from mcp_server.engine.client import connect_to_engine
from mcp_server.engine.launcher import EngineAddress, Launcher, is_engine_running, write_address
from memvault.config.paths import StateFolder
from tests.integration.test_hook_command import Hooks
from tests.integration.tiny_engine import quick_command
from tests.unit.test_files import posix_only
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.usefixtures("forked_engines")


@pytest.fixture
def received() -> list[str]:
    return []


@pytest.fixture
def stale(received: list[str]) -> Iterator[EngineAddress]:
    """The address of a killed engine, whose port a program has that takes any token."""

    def take(connection: ServerConnection) -> None:
        received.extend(str(message) for message in connection)

    def any_path(connection: ServerConnection, request: object) -> None:
        received.append(str(request))

    with serve(take, "127.0.0.1", 0, process_request=any_path) as impostor:
        thread = threading.Thread(target=impostor.serve_forever)
        thread.start()
        port = impostor.socket.getsockname()[1]
        yield EngineAddress(2**22, "127.0.0.1", port, "old", "99.0", 0.0)
        impostor.shutdown()
        thread.join()


def test_no_client_asks_it(tmp_path: Path, stale: EngineAddress, received: list[str]) -> None:
    state = StateFolder(tmp_path)
    write_address(state, stale)
    launcher = Launcher(state, quick_command(tmp_path, 0.5), timeout=PATIENCE_SECONDS)
    with connect_to_engine(launcher, state) as client:
        assert client.call_tool("who", {})["result"] != stale.pid
        assert client.address.port != stale.port
    assert received == []


def test_no_hook_hands_it_a_prompt(
    tmp_path: Path, stale: EngineAddress, received: list[str]
) -> None:
    hooks = Hooks(tmp_path)
    hooks.state.create()
    write_address(hooks.state, stale)
    mark = Path(hooks.files.folder) / "starting"  # so that the hook starts no engine
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    ran = hooks.run("UserPromptSubmit", {"session_id": "s", "prompt": "my secret plan"})
    assert (ran.returncode, ran.stdout) == (0, b"")
    time.sleep(0.2)
    assert received == []


def test_only_a_lock_that_is_held_shows_an_engine(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    assert not is_engine_running(state)
    lock = FileLock(state.engine_lock)
    with lock:
        assert is_engine_running(state)
    assert not is_engine_running(state)


@posix_only
def test_nobody_who_looks_at_the_lock_is_taken_for_an_engine(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    with FileLock(state.engine_lock):
        pass
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: is_engine_running(state), range(8000)))
    assert not any(found)


def test_no_client_asks_it_to_make_way_for_a_newer_engine(
    tmp_path: Path, stale: EngineAddress, received: list[str]
) -> None:
    state = StateFolder(tmp_path)
    write_address(state, replace(stale, version="0.0.1"))
    launcher = Launcher(state, quick_command(tmp_path, 0.5), timeout=PATIENCE_SECONDS)
    with connect_to_engine(launcher, state) as client:
        assert client.address.port != stale.port
    assert received == []
