"""The engine process: one per vault, guarded, administrable, gone when nobody needs it."""

from __future__ import annotations

import asyncio
import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from fastmcp import Client
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect as websocket

from mcp_server.engine.client import connect_to_engine
from mcp_server.engine.launcher import (
    ABRUPT_END,
    EngineAddress,
    Launcher,
    is_engine_running,
    is_lost,
    read_address,
    write_address,
)
from mcp_server.runtime.engine_log import LOG_BYTES
from memvault.config.paths import StateFolder
from memvault.config.settings import EngineSettings
from memvault.model.errors import EngineUnavailable, InvalidParams, MemvaultError
from tests.integration.forked_engine import engine_forks, exit_code, start_logged
from tests.integration.tiny_engine import command, environment, quick_command, serve
from tests.waiting import PATIENCE_SECONDS, until

pytestmark = pytest.mark.usefixtures("forked_engines")
IDLE_SECONDS = 1.5  # longer than a busy machine takes from an engine's start to its first client


def spawn(state: StateFolder, idle_seconds: float | None = None) -> BaseProcess:
    return start_logged(engine_forks(), state, serve, state, idle_seconds)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StateFolder]:
    state = StateFolder(tmp_path_factory.mktemp("state"))
    process = spawn(state)
    until(lambda: read_address(state))
    yield state
    process.terminate()
    assert exit_code(process) == 0


def address_of(state: StateFolder) -> EngineAddress:
    address = read_address(state)
    assert address is not None
    return address


def status_of(
    state: StateFolder, path: str, method: str = "GET", **headers: str
) -> tuple[int, bytes]:
    address = address_of(state)
    connection = http.client.HTTPConnection(address.host, address.port, timeout=PATIENCE_SECONDS)
    connection.putrequest(method, path, skip_host=True)
    for name, value in {"Host": address.netloc, **headers}.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    return response.status, response.read()


def test_health_and_metrics_answer(engine: StateFolder) -> None:
    assert status_of(engine, "/healthz")[0] == 200
    status, text = status_of(engine, "/metrics")
    assert status == 200
    assert b"# HELP" in text


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_mcp_answers_over_http_in_the_old_and_the_newest_protocol(
    engine: StateFolder, mode: str
) -> None:
    address = address_of(engine)

    async def ask() -> object:
        async with Client(f"http://{address.netloc}/mcp", mode=mode) as client:
            return (await client.call_tool("who")).data

    assert asyncio.run(ask()) == address.pid


def test_a_client_over_http_sees_all_tools_when_it_asks_for_them(engine: StateFolder) -> None:
    address = address_of(engine)

    async def names(query: str) -> list[str]:
        async with Client(f"http://{address.netloc}/mcp{query}") as client:
            return [tool.name for tool in await client.list_tools()]

    assert asyncio.run(names("")) == ["who", "write", "keep"]
    assert asyncio.run(names("?tools=full")) == ["who", "write", "keep", "caller"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_call_under_way_is_answered_before_the_engine_ends(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    process = spawn(state)
    until(lambda: read_address(state))

    def end_it_amid_the_call() -> None:
        until((tmp_path / "asked").exists)
        process.terminate()

    threading.Thread(target=end_it_amid_the_call).start()
    with connect_to_engine(Launcher(state, []), state) as client:
        assert client.call_tool("who", {"pause": 0.5}) == {"result": process.pid}
    assert exit_code(process) == 0, state.log.read_text()


@pytest.mark.parametrize("path", ["/mcp", "/healthz", "/metrics", "/admin/status", "/bridge", "/"])
def test_a_foreign_host_or_origin_is_refused_on_every_route(engine: StateFolder, path: str) -> None:
    address = address_of(engine)
    bearer = f"Bearer {address.token}"
    assert status_of(engine, path, Host="evil.example", Authorization=bearer)[0] == 421
    for foreign in ("http://evil.example", "null", f"http://127.0.0.1:{address.port + 1}"):
        assert status_of(engine, path, Origin=foreign, Authorization=bearer)[0] == 403


def test_its_own_pages_may_ask(engine: StateFolder) -> None:
    address = address_of(engine)
    for name in ("127.0.0.1", "localhost"):
        own = f"{name}:{address.port}"
        assert status_of(engine, "/healthz", Host=own, Origin=f"http://{own}")[0] == 200


def test_administration_needs_the_token_of_the_state_folder(engine: StateFolder) -> None:
    bearer = f"Bearer {address_of(engine).token}"
    assert status_of(engine, "/admin/status")[0] == 401
    assert status_of(engine, "/admin/status", Authorization="Bearer guess")[0] == 401
    assert status_of(engine, "/admin/status", Authorization=bearer)[0] == 200


def test_the_websocket_is_guarded_like_every_route(engine: StateFolder) -> None:
    address = address_of(engine)
    url = f"ws://{address.netloc}/bridge"
    bearer = {"Authorization": f"Bearer {address.token}"}
    for headers in ({}, bearer | {"Origin": "http://evil.example"}):
        with pytest.raises(InvalidStatus), websocket(url, additional_headers=headers, proxy=None):
            pass
    with websocket(url, additional_headers=bearer, proxy=None):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file modes")
def test_the_address_is_for_its_owner_alone(engine: StateFolder) -> None:
    assert engine.engine_address.stat().st_mode & 0o777 == 0o600


def test_a_second_engine_on_the_same_vault_ends_at_once_and_says_why(engine: StateFolder) -> None:
    second = subprocess.run(
        quick_command(engine.root),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert second.returncode == 1
    assert f"already serves this vault (process {address_of(engine).pid})" in second.stderr
    assert "Traceback" not in second.stderr
    assert status_of(engine, "/healthz")[0] == 200


def test_the_command_line_client_reaches_tools_and_administration(engine: StateFolder) -> None:
    launcher = Launcher(engine, command("serve", engine.root))
    with connect_to_engine(launcher, engine) as client:
        assert client.call_tool("who", {}) == {"result": address_of(engine).pid}
        assert client.status()["notes"] == 3
        assert client.doctor(fix=True) == [{"problem": "a stale index", "fixed": True}]
        assert list(client.rebuild())[-1] == {"stage": "indexing", "done": 3, "total": 3}
        with pytest.raises(MemvaultError, match="no_such_tool"):
            client.call_tool("no_such_tool", {})


def test_shutdown_closes_the_stores_and_releases_the_engines_lock(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    first = spawn(state)
    until(lambda: read_address(state))
    with connect_to_engine(Launcher(state, []), state) as client:
        client.shutdown()
    assert exit_code(first) == 0, state.log.read_text()
    assert (tmp_path / "closed").read_text() == str(first.pid)
    assert read_address(state) is None


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_call_whose_engine_is_killed_says_that_memory_may_have_run_out(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    process = spawn(state)
    until(lambda: read_address(state))
    with connect_to_engine(Launcher(state, []), state) as client:
        assert process.pid is not None
        threading.Timer(0.5, os.kill, (process.pid, signal.SIGKILL)).start()
        with pytest.raises(EngineUnavailable) as raised:
            client.call_tool("who", {"pause": PATIENCE_SECONDS})
    assert raised.value.message.endswith(f"try again. {ABRUPT_END}")
    exit_code(process)
    following = spawn(state)
    until(lambda: (found := read_address(state)) and found.pid == following.pid)
    assert f"the last engine, process {process.pid}, did not stop. {ABRUPT_END}" in (
        state.log.read_text()
    )
    following.terminate()
    assert exit_code(following) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_engine_cleanly_even_with_a_bridge_open(
    tmp_path: Path, signum: signal.Signals
) -> None:
    state = StateFolder(tmp_path)
    process = spawn(state)
    until(lambda: read_address(state))
    with connect_to_engine(Launcher(state, []), state):
        assert process.pid is not None
        os.kill(process.pid, signum)
        assert exit_code(process) == 0, state.log.read_text()
    assert "Traceback" not in state.log.read_text()
    assert (tmp_path / "closed").exists()
    assert read_address(state) is None


def test_an_idle_engine_ends_after_its_last_client_left_and_not_before(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    process = spawn(state, idle_seconds=IDLE_SECONDS)
    until(lambda: read_address(state))
    with connect_to_engine(Launcher(state, []), state) as client:
        time.sleep(1.5 * IDLE_SECONDS)
        assert client.call_tool("who", {}) == {"result": process.pid}
    assert exit_code(process) == 0
    assert read_address(state) is None


def test_an_engine_ends_when_its_state_was_deleted_so_that_there_are_not_two(
    tmp_path: Path,
) -> None:
    state = StateFolder(tmp_path)
    process = spawn(state)
    until(lambda: read_address(state))
    for path in (state.engine_address, state.engine_lock):
        path.unlink(missing_ok=True)
    assert exit_code(process) == 0, state.log.read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lets few users make links")
def test_an_address_that_cannot_be_read_for_now_is_not_lost(tmp_path: Path) -> None:
    state, address = StateFolder(tmp_path), EngineAddress(1, "127.0.0.1", 1, "t", "1", 1.0)
    state.engine_address.symlink_to(state.engine_address)  # as a drive that does not answer
    assert not is_lost(state, address)
    state.engine_address.unlink()
    assert is_lost(state, address)


def test_an_address_left_by_a_dead_engine_is_not_believed(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    stale = EngineAddress(os.getpid(), "127.0.0.1", 9, "old", "0", 0.0)
    write_address(state, stale)
    launcher = Launcher(state, quick_command(tmp_path, IDLE_SECONDS), timeout=PATIENCE_SECONDS)
    with connect_to_engine(launcher, state) as client:
        pid = client.call_tool("who", {})["result"]
    assert pid != stale.pid


def test_an_address_whose_port_now_belongs_to_another_program_is_not_believed(
    tmp_path: Path, engine: StateFolder
) -> None:
    state = StateFolder(tmp_path)
    other = address_of(engine)
    write_address(state, EngineAddress(other.pid, other.host, other.port, "stale", "0", 0.0))
    launcher = Launcher(state, quick_command(tmp_path, IDLE_SECONDS), timeout=PATIENCE_SECONDS)
    with connect_to_engine(launcher, state) as client:
        assert client.call_tool("who", {})["result"] != other.pid


def test_a_client_goes_on_with_an_engine_of_an_earlier_memvault_that_was_installed_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = StateFolder(tmp_path)
    monkeypatch.setattr("mcp_server.engine.launcher.installed_version", lambda: "99.0")
    starting = spawn(state)  # of the earlier one, and has no address yet
    until(lambda: is_engine_running(state))
    launcher = Launcher(state, quick_command(tmp_path, IDLE_SECONDS), timeout=PATIENCE_SECONDS)
    with connect_to_engine(launcher, state) as client:
        pid = client.call_tool("who", {})["result"]
        assert exit_code(starting) == 0 and pid != starting.pid
        with connect_to_engine(launcher, state) as again:
            assert again.call_tool("who", {})["result"] == pid


def test_an_engine_that_cannot_start_is_reported_with_the_end_of_its_own_log(
    tmp_path: Path,
) -> None:
    state = StateFolder(tmp_path)
    state.log.write_text("an earlier engine\n")
    failing = [sys.executable, "-c", "import sys; sys.exit('the model is missing')"]
    with pytest.raises(EngineUnavailable, match=r"said:\nthe model is missing$"):
        Launcher(state, failing, timeout=PATIENCE_SECONDS).connect()


def test_an_engine_that_empties_a_long_log_first_is_reported_with_what_it_said(
    tmp_path: Path,
) -> None:
    state = StateFolder(tmp_path)
    state.log.write_bytes(b"an earlier engine\n" * (LOG_BYTES // 10))
    trimming = (
        "import sys; from pathlib import Path; from memvault.config.paths import StateFolder; "
        "from mcp_server.runtime.engine_log import trim_log; "
        "trim_log(StateFolder(Path(sys.argv[1]))); sys.exit('the model is missing')"
    )
    failing = [sys.executable, "-c", trimming, str(tmp_path)]
    with pytest.raises(EngineUnavailable, match=r"said:\nthe model is missing$"):
        Launcher(state, failing, timeout=PATIENCE_SECONDS).connect()
    assert state.earlier_log.stat().st_size > LOG_BYTES


def test_an_engine_that_never_answers_is_given_up_in_time(tmp_path: Path) -> None:
    sleeping = [sys.executable, "-c", "import time; time.sleep(20)"]
    with pytest.raises(EngineUnavailable, match="did not answer within 1 seconds"):
        Launcher(StateFolder(tmp_path), sleeping, timeout=1).connect()


def test_another_host_needs_a_token(tmp_path: Path) -> None:
    from mcp_server.engine.process import run_engine

    def assemble() -> tuple[object, object]:
        raise AssertionError("the stores must not be opened")

    with pytest.raises(InvalidParams, match="MEMVAULT_ENGINE__TOKEN"):
        run_engine(StateFolder(tmp_path), EngineSettings(host="0.0.0.0"), assemble)  # type: ignore[arg-type]


def test_a_vaults_usual_port_is_left_to_a_program_that_has_it() -> None:
    from mcp_server.engine.process import bound_socket

    with bound_socket(EngineSettings()) as other:
        usual = other.getsockname()[1]
        other.listen()
        with bound_socket(EngineSettings(), usual) as listener:
            assert listener.getsockname()[1] not in (0, usual)
        with (
            pytest.raises(EngineUnavailable, match=f"port {usual}"),
            bound_socket(EngineSettings(port=usual), usual),
        ):
            pass
    with bound_socket(EngineSettings(), usual) as listener:
        assert listener.getsockname()[1] == usual


def test_an_answer_is_sent_at_once_whatever_of_it_the_client_has_acknowledged() -> None:
    async def sends_at_once() -> bool:
        from mcp_server.engine.process import bound_socket

        sent_at_once = asyncio.get_running_loop().create_future()

        async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            option = writer.get_extra_info("socket").getsockopt
            sent_at_once.set_result(bool(option(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
            writer.close()

        with bound_socket(EngineSettings()) as listener:
            async with await asyncio.start_server(answer, sock=listener):
                _, writer = await asyncio.open_connection(*listener.getsockname())
                writer.close()
                return bool(await sent_at_once)

    assert asyncio.run(sends_at_once())
