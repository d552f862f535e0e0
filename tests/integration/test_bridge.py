"""The bridge: many clients, one engine, and an engine that dies under them."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import psutil
import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from mcp_server.engine.build_version import installed_version, newest_file
from mcp_server.engine.launcher import ABRUPT_END, read_address
from memvault import __version__
from memvault.config.paths import StateFolder
from tests.integration.forked_engine import engine_forks, exit_code, start_logged
from tests.integration.tiny_engine import command, environment, serve_as
from tests.waiting import PATIENCE_SECONDS, until

IDLE_SECONDS = 3.0
pytestmark = pytest.mark.usefixtures("forked_engines")
WRITTEN = ("asked", "words", "kept")  # by the tools of the tiny engine
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


class RawBridge:
    """A bridge and both its pipes, spoken to in lines."""

    def __init__(self, state: Path, idle_seconds: float = IDLE_SECONDS, **variables: str) -> None:
        self.process = subprocess.Popen(
            command("bridge", state, idle_seconds),
            env=environment() | variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def send(self, method: str, id_: int | None = None, **params: Any) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if id_ is not None:
            message["id"] = id_
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return dict(json.loads(self.process.stdout.readline()))

    def ask(self, method: str, id_: int, **params: Any) -> dict[str, Any]:
        self.send(method, id_, **params)
        answer = self.receive()
        assert answer["id"] == id_
        return answer

    def shake_hands(self) -> None:
        info = {"name": "test", "version": "1"}
        self.ask("initialize", 0, protocolVersion="2025-06-18", capabilities={}, clientInfo=info)
        self.send("notifications/initialized")

    def who(self, id_: int, pause: float = 0.0) -> int:
        answer = self.ask("tools/call", id_, name="who", arguments={"pause": pause})
        return int(answer["result"]["structuredContent"]["result"])

    def close(self) -> int:
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        return self.process.wait(timeout=PATIENCE_SECONDS)


def end_the_engine(state: Path) -> None:
    address = read_address(StateFolder(state))
    if address is not None:
        with suppress(OSError):
            os.kill(address.pid, signal.SIGTERM)


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    end_the_engine(tmp_path)


@pytest.fixture(scope="module")
def engine_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("engine")
    yield folder
    end_the_engine(folder)


@pytest.fixture
def shared_state(engine_folder: Path) -> Path:
    """The state folder of an engine that tests share, since starting one takes seconds. Whoever
    kills it leaves the start of the next one to a bridge."""
    for name in WRITTEN:
        (engine_folder / name).unlink(missing_ok=True)
    return engine_folder


@pytest.fixture
def bridge(shared_state: Path) -> Iterator[RawBridge]:
    raw = RawBridge(shared_state, idle_seconds=PATIENCE_SECONDS)
    raw.shake_hands()
    yield raw
    raw.close()


def engines_started(state: Path) -> int:
    return (state / "engine.log").read_text().count("listens on")


def kill_the_engine(state: Path) -> int:
    address = read_address(StateFolder(state))
    assert address is not None
    os.kill(address.pid, KILL)
    return address.pid


def kill_the_engine_amid_a_question(state: Path) -> None:
    """As soon as one with a pause is under way; returns at once."""

    def kill() -> None:
        until((state / "asked").exists)
        kill_the_engine(state)

    threading.Thread(target=kill).start()


def test_three_bridges_at_the_same_instant_start_one_engine_and_survive_its_death(
    state: Path,
) -> None:
    bridges = [RawBridge(state) for _ in range(3)]
    for raw in bridges:
        raw.shake_hands()
        raw.ask("tools/list", 9)
    first = {raw.who(1) for raw in bridges}
    assert len(first) == 1
    assert engines_started(state) == 1

    assert {kill_the_engine(state)} == first
    second = {raw.who(2) for raw in bridges}
    assert len(second) == 1
    assert second != first
    assert engines_started(state) == 2
    assert [raw.close() for raw in bridges] == [0, 0, 0]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_real_client_works_in_the_old_and_the_newest_protocol_and_after_a_crash(
    shared_state: Path, mode: str
) -> None:
    argv = command("bridge", shared_state, PATIENCE_SECONDS)

    async def use() -> tuple[list[str], object, object]:
        transport = StdioTransport(argv[0], argv[1:], env=environment(), keep_alive=False)
        async with Client(transport, mode=mode) as client:
            tools = [tool.name for tool in await client.list_tools()]
            before = (await client.call_tool("who")).data
            kill_the_engine(shared_state)
            after = (await client.call_tool("who")).data
            return tools, before, after

    tools, before, after = asyncio.run(use())
    assert tools == ["who", "write", "keep"]
    assert before != after


def test_a_client_that_tried_both_protocols_during_a_slow_start_works_after_a_crash(
    shared_state: Path,
) -> None:
    """Its request for what the server offers took long, so it began a handshake, in vain."""
    raw = RawBridge(shared_state, idle_seconds=PATIENCE_SECONDS)
    info, capabilities = {"name": "test", "version": "1"}, dict[str, Any]()
    keys = ("protocolVersion", "clientInfo", "clientCapabilities")
    values = zip(keys, ("2026-07-28", info, capabilities), strict=True)
    meta = {f"io.modelcontextprotocol/{key}": value for key, value in values}
    assert "result" in raw.ask("server/discover", 0, _meta=meta)
    handshake = raw.ask(
        "initialize", 1, protocolVersion="2025-06-18", capabilities=capabilities, clientInfo=info
    )
    assert "error" in handshake
    raw.ask("tools/list", 2, _meta=meta)
    kill_the_engine(shared_state)
    answer = raw.ask("tools/call", 3, name="who", arguments={"pause": 0.0}, _meta=meta)
    assert raw.close() == 0
    assert "result" in answer, answer


def test_a_client_whose_second_handshake_was_refused_works_after_a_crash(
    shared_state: Path,
) -> None:
    raw = RawBridge(shared_state, idle_seconds=PATIENCE_SECONDS)
    raw.shake_hands()
    assert "error" in raw.ask("initialize", 1, protocolVersion=3)
    before = raw.who(2)
    kill_the_engine(shared_state)
    assert raw.who(3) != before
    assert raw.close() == 0


def test_messages_pass_with_their_bytes_untouched(bridge: RawBridge) -> None:
    word = "žluťoučký 🐎 \u2028 \\n"
    answer = bridge.ask("tools/call", 1, name="write", arguments={"word": word})
    assert answer["result"]["structuredContent"] == {"result": word}
    large = "x" * 3_000_000
    answer = bridge.ask("tools/call", 2, name="write", arguments={"word": large})
    assert answer["result"]["structuredContent"] == {"result": large}


@pytest.mark.parametrize(
    ("line", "code", "id_"),
    [(b"\xff\xfe no json", -32700, None), (b"[1, 2]", -32700, None),
     (b'{"jsonrpc": "2.0", "id": 6}', -32600, 6),
     (b'{"id": NaN}', -32600, None), (b'{"id": {"a": 1}}', -32600, None)],
)  # fmt: skip
def test_what_is_no_message_is_answered_and_hurts_nobody(
    bridge: RawBridge, line: bytes, code: int, id_: int | None
) -> None:
    assert bridge.process.stdin is not None
    bridge.process.stdin.write(line + b"\n\n")
    bridge.process.stdin.flush()
    answer = bridge.receive()
    assert (answer["error"]["code"], answer["id"]) == (code, id_)
    assert bridge.who(7) > 0


def test_a_request_that_is_not_valid_is_answered_with_what_is_wrong(bridge: RawBridge) -> None:
    cut = "a word and \ud83d"  # what a client leaves of an emoji that it cuts in two
    answer = bridge.ask("tools/call", 5, name="write", arguments={"word": cut})
    assert "half of a character" in answer["error"]["message"]
    assert "send it again" in answer["error"]["message"]
    assert bridge.process.stdin is not None
    deep = b'"method": "ping", "params": {"x": ' + b"[" * 300 + b"]" * 300 + b"}"
    for wrong in (b'"method": 5', b'"method": "tools/call", "params": "x"', deep):
        bridge.process.stdin.write(b'{"jsonrpc": "2.0", "id": "six", ' + wrong + b"}\n")
        bridge.process.stdin.flush()
        answer = bridge.receive()
        assert answer["id"] == "six"
        assert re.search(r"should be|recursion limit", answer["error"]["message"])
    bridge.who(7)


def test_a_question_under_way_when_the_engine_dies_is_asked_again(
    bridge: RawBridge, shared_state: Path
) -> None:
    bridge.ask("tools/list", 1)
    before = bridge.who(2)
    kill_the_engine_amid_a_question(shared_state)
    assert bridge.who(3, pause=1.0) != before


def test_a_question_is_asked_again_even_for_a_client_that_never_listed_the_tools(
    bridge: RawBridge, shared_state: Path
) -> None:
    before = bridge.who(2)
    kill_the_engine_amid_a_question(shared_state)
    assert bridge.who(3, pause=1.0) != before


def test_a_call_under_way_when_the_engine_dies_is_sent_again_under_its_key(
    bridge: RawBridge, shared_state: Path
) -> None:
    """To a tool that says that it knows a call by its key; every call has another key."""
    bridge.ask("tools/list", 2)  # that the tool says so may else be on its way when the engine dies
    kill_the_engine_amid_a_question(shared_state)
    answer = bridge.ask("tools/call", 3, name="keep", arguments={"word": "once", "pause": 1.0})
    assert answer["result"]["structuredContent"] == {"result": "once"}
    bridge.ask("tools/call", 4, name="keep", arguments={"word": "other"})
    kept = [line.split() for line in (shared_state / "kept").read_text().splitlines()]
    assert [word for word, _ in kept] == ["once", "once", "other"]
    keys = [key for _, key in kept]
    assert keys[0] == keys[1] != keys[2] and "None" not in keys


def test_the_bridges_own_question_is_not_answered_to_the_client(bridge: RawBridge) -> None:
    for id_ in range(1, 4):
        assert bridge.who(id_) > 0


def test_a_bridge_may_ask_for_all_tools(shared_state: Path) -> None:
    def listed(raw: RawBridge) -> list[str]:
        raw.shake_hands()
        tools = [tool["name"] for tool in raw.ask("tools/list", 1)["result"]["tools"]]
        raw.close()
        return tools

    assert listed(RawBridge(shared_state, PATIENCE_SECONDS)) == ["who", "write", "keep"]
    assert listed(RawBridge(shared_state, PATIENCE_SECONDS, TINY_TOOLS="full")) == [
        "who",
        "write",
        "keep",
        "caller",
    ]


def engine_of_version(version: str, state: Path) -> BaseProcess:
    folder = StateFolder(state)
    process = start_logged(engine_forks(), folder, serve_as, version, folder)
    until(lambda: (own := read_address(folder)) and own.version == version)
    return process


@pytest.mark.parametrize(
    "version", ["0.0.9", __version__, f"{__version__}+20260101.000000"],
    ids=["an older release", "a build without a name", "an earlier build"],
)  # fmt: skip
def test_an_engine_of_an_older_version_is_replaced(state: Path, version: str) -> None:
    older = engine_of_version(version, state)
    raw = RawBridge(state)
    raw.shake_hands()
    assert raw.who(1) != older.pid
    assert exit_code(older) == 0
    assert f"memvault {installed_version()} is newer" in StateFolder(state).log.read_text()
    assert raw.close() == 0


@pytest.mark.parametrize("version", ["99.1.0", f"{__version__}+99990101.000000"])
def test_an_engine_of_a_newer_version_is_used(state: Path, version: str) -> None:
    newer = engine_of_version(version, state)
    raw = RawBridge(state)
    raw.shake_hands()
    assert raw.who(1) == newer.pid
    raw.close()
    newer.terminate()
    assert exit_code(newer) == 0


def test_a_write_under_way_when_the_engine_dies_is_not_done_twice(
    bridge: RawBridge, shared_state: Path
) -> None:
    bridge.ask("tools/list", 1)
    bridge.send("tools/call", 2, name="write", arguments={"word": "once", "pause": 5})
    words = shared_state / "words"
    until(words.exists)
    kill_the_engine(shared_state)
    answer = bridge.receive()
    assert answer["id"] == 2
    assert "may or may not have been done" in answer["error"]["message"]
    assert answer["error"]["message"].endswith(ABRUPT_END)
    assert bridge.who(3) > 0
    assert words.read_text() == "once\n"


def test_an_engine_stopped_by_hand_is_started_again_only_when_asked(state: Path) -> None:
    bridge = RawBridge(state)
    bridge.shake_hands()
    before = bridge.who(1)
    os.kill(before, signal.SIGTERM)
    started = psutil.Process(bridge.process.pid).children
    until(lambda: started() == [])  # the bridge leaves no zombie of what it started
    assert not psutil.pid_exists(before)
    time.sleep(0.7)
    assert started() == []
    assert bridge.who(2) != before
    assert bridge.close() == 0


def test_the_bridge_ends_when_its_client_does_and_the_engine_later(state: Path) -> None:
    raw = RawBridge(state)
    raw.shake_hands()
    assert raw.close() == 0
    assert read_address(StateFolder(state)) is not None
    until(lambda: (state / "closed").exists() and read_address(StateFolder(state)) is None)


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell closes them")
@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_a_bridge_without_a_client_ends_without_a_word(state: Path, closed: str) -> None:
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *command("bridge", state, IDLE_SECONDS)]
    done = subprocess.run(shell, env=environment(), input=b"", capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_client_that_says_all_at_once_and_leaves_still_gets_its_answers(
    shared_state: Path,
) -> None:
    lines = [
        {
            "jsonrpc": "2.0",
            "id": 0,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    ]
    done = subprocess.run(
        command("bridge", shared_state, PATIENCE_SECONDS),
        env=environment(),
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [0, 1]


def test_an_engine_that_cannot_start_is_an_answer_to_the_client(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from mcp_server.engine.bridge import run_bridge; from mcp_server.engine.launcher import Launcher\n"
        "from memvault.config.paths import StateFolder\n"
        f"run_bridge(Launcher(StateFolder(Path({str(tmp_path)!r})),"
        " [sys.executable, '-c', 'exit(\"no disk\")'], timeout=5))"
    )
    request = {"jsonrpc": "2.0", "id": 5, "method": "tools/list"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(),
        input=json.dumps(request) + "\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    answer = json.loads(done.stdout)
    assert answer["id"] == 5
    assert "no disk" in answer["error"]["message"]


@pytest.mark.parametrize("module", ["bridge", "client"])
def test_the_bridge_and_the_command_line_load_no_heavy_module(module: str) -> None:
    script = (
        f"import sys, mcp_server.engine.{module}\n"
        "heavy = {'mcp', 'fastmcp', 'pydantic', 'typer', 'rich', 'starlette', 'filelock', 'numpy'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_build_is_named_by_its_newest_file_without_bytecode(tmp_path: Path) -> None:
    assert re.fullmatch(re.escape(__version__) + r"\+\d{8}\.\d{6}", installed_version())
    for number, path in enumerate(["a.py", "pages/style.css", "pages/__pycache__/a.pyc"]):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        os.utime(file, (0, 1000 + number))
    assert newest_file(tmp_path) == 1001
