"""``memvault hook``: whatever happens, the client goes on, and nothing acknowledged is lost."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from filelock import FileLock

from mcp_server.engine.launcher import EngineAddress, ask, read_address, write_address
from memvault.config.hook_files import LIMITS, MAX_TIMEOUTS, HookFiles
from memvault.config.paths import StateFolder
from memvault.model.errors import EngineUnavailable
from tests.integration.forked_engine import start_engine
from tests.integration.tiny_engine import environment
from tests.waiting import PATIENCE_SECONDS, until

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("forked_engines")
SAID = "I moved to Bergen in May."
# The command with more time than clients give it, which a busy machine may need.
PATIENT = (
    "from memvault.config.hook_files import LIMITS; "
    f"LIMITS.update(dict.fromkeys(LIMITS, {PATIENCE_SECONDS})); "
    "from memvault.cli import main; main()"
)


class Hooks:
    """The hook command of a vault, run as clients run it."""

    def __init__(self, folder: Path) -> None:
        self.vault = folder / "vault"
        self.vault.mkdir()
        self.state = StateFolder.of_vault(self.vault, folder / "state")
        self.files = HookFiles(str(self.state.root))
        self.environment = {
            **environment(),
            "MEMVAULT_STATE": str(folder / "state"),
            "MEMVAULT_INDEX__NER": "off",
        }

    def run(
        self, event: str, given: bytes | dict[str, object], *more: str, patient: bool = False
    ) -> subprocess.CompletedProcess[bytes]:
        data = given if isinstance(given, bytes) else json.dumps(given).encode()
        state, vault = f"--state={self.state.root}", f"--vault={self.vault}"
        program = ["-c", PATIENT] if patient else ["-m", "memvault.cli"]
        command = [sys.executable, *program, "hook", event, state, vault, *more]
        return subprocess.run(
            command,
            input=data,
            capture_output=True,
            check=False,
            env=self.environment,
            timeout=PATIENCE_SECONDS,
        )

    def serve(self) -> BaseProcess:
        mark = Path(self.files.folder) / "starting"  # so that no hook starts another one
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
        engine = start_engine(self.vault, self.state, self.environment)
        until(lambda: self.is_ready(engine.pid))
        until(
            lambda: (
                self.run("UserPromptSubmit", {"session_id": "probe"}, patient=True).returncode == 0
                and self.answered()
            )
        )
        return engine

    def is_ready(self, pid: int | None) -> bool:
        address = read_address(self.state)
        if address is None or address.pid != pid:
            return False
        with suppress(EngineUnavailable):
            return bool(json.loads(ask(address, "GET", "/healthz"))["status"] == "ok")
        return False

    def answered(self) -> bool:
        return "nothing added\n" in self.log()[-60:]

    def log(self) -> str:
        file = Path(self.files.log_file)
        return file.read_text() if file.exists() else ""

    def pending(self) -> list[Path]:
        return sorted(Path(self.files.pending).glob("*.hook"))

    def notes(self) -> list[str]:
        return [path.read_text() for path in (self.vault / "sessions").rglob("*.md")]

    def stop_input(self, folder: Path, said: str = SAID) -> dict[str, object]:
        path = folder / "t.jsonl"
        entry = {
            "type": "user",
            "message": {"role": "user", "content": said},
            "timestamp": "2026-03-01T09:00:00Z",
        }
        path.write_text(json.dumps(entry) + "\n")
        return {"session_id": "s-1", "cwd": "/srv/aurora", "transcript_path": str(path)}


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(tmp_path)


@pytest.fixture
def silent_engine(hooks: Hooks) -> Iterator[None]:
    """Takes connections and never answers."""
    hooks.state.create()
    with FileLock(hooks.state.engine_lock), socket.create_server(("127.0.0.1", 0)) as listener:
        held: list[socket.socket] = []
        stop = threading.Event()

        def hold() -> None:
            listener.settimeout(0.1)
            while not stop.is_set():
                try:
                    held.append(listener.accept()[0])
                except TimeoutError:
                    continue

        thread = threading.Thread(target=hold)
        thread.start()
        port = listener.getsockname()[1]
        write_address(hooks.state, EngineAddress(os.getpid(), "127.0.0.1", port, "t", "0.1.0", 0.0))
        yield
        stop.set()
        thread.join()
        for each in held:
            each.close()


def test_the_command_imports_next_to_nothing(tmp_path: Path) -> None:
    state, vault = tmp_path / "state", tmp_path / "no vault"
    code = (
        "import sys; from memvault.cli.hook import run_hook_command; "
        f"run_hook_command(['hook', 'Stop', '--state={state}', '--vault={vault}']); "
        "print(*sorted(sys.modules))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        input="",
        env=environment,
        capture_output=True,
        text=True,
    )
    loaded = set(ran.stdout.split())
    heavy = {"asyncio", "http.client", "numpy", "platformdirs", "pydantic", "subprocess", "typer"}
    assert "memvault.cli.hook" in loaded and not loaded & {*heavy, "typing"}


def test_every_event_of_the_specification_has_its_limit() -> None:
    assert LIMITS == {
        "SessionStart": 15, "UserPromptSubmit": 3, "PreToolUse": 2, "PostToolUse": 5,
        "PreCompact": 5, "Stop": 10, "SubagentStop": 10, "SessionEnd": 120,
        "Notification": 5, "PermissionRequest": 2,
    }  # fmt: skip


def test_no_arguments_whatever_end_in_another_exit_code_than_zero(hooks: Hooks) -> None:
    """Clients take the exit code 2 as an order to block."""
    hooks.vault.rmdir()
    for more in ([], ["--new-option"], ["two", "words"], ["--client"], ["--client=nobody"]):
        assert hooks.run("UserPromptSubmit", {"session_id": "s-1"}, *more).returncode == 0
    command = [sys.executable, "-m", "memvault.cli", "hook"]
    ran = subprocess.run(command, input=b"{}", check=False, env=hooks.environment)
    assert ran.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_nobody_who_reads_the_output_is_no_other_exit_code(hooks: Hooks, tmp_path: Path) -> None:
    """Python ends with 120 if it cannot write what is left of the output, and with 1 on an error
    without a stderr to report it to."""
    hooks.state.create()
    answer = b"HTTP/1.1 200 OK\r\n\r\n{}"
    with (
        FileLock(hooks.state.engine_lock),
        socket.create_server(("127.0.0.1", 0)) as listener,
        Path("/dev/full").open("wb") as full,
    ):
        port = listener.getsockname()[1]
        write_address(hooks.state, EngineAddress(os.getpid(), "127.0.0.1", port, "t", "0.1.0", 0.0))
        command = [sys.executable, "-m", "memvault.cli", "hook", "SessionStart"]
        places = [f"--state={hooks.state.root}", f"--vault={hooks.vault}"]
        for start in (command, [*command[:3], *places[1:], "hook", "SessionStart"]):
            ran = subprocess.Popen(
                [*start, *places] if start is command else start,
                stdin=subprocess.PIPE, stdout=full, env=hooks.environment,
            )  # fmt: skip
            assert ran.stdin is not None
            ran.stdin.write(b'{"session_id": "s-1"}')
            ran.stdin.close()
            with listener.accept()[0] as connection:
                connection.recv(65_536)
                connection.sendall(answer)
            assert ran.wait(PATIENCE_SECONDS) == 0
    too_long = f"--vault={'a' * 5_000}"
    for redirection in ("2>&-", "2>/dev/full"):
        shell = f'"$0" -m memvault.cli hook Stop "$1" {redirection}'
        silent = ["sh", "-c", shell, sys.executable, too_long]
        ran_silently = subprocess.run(silent, input=b"{}", check=False, env=hooks.environment)
        assert ran_silently.returncode == 0


def test_a_missing_vault_is_a_line_in_the_log(hooks: Hooks, tmp_path: Path) -> None:
    hooks.vault.rmdir()
    ran = hooks.run("SessionStart", {"session_id": "s-1"})
    assert (ran.returncode, ran.stdout) == (0, b"")
    assert "there is no vault at" in hooks.log()
    assert not hooks.vault.exists()


@pytest.mark.parametrize("given", [b"", b"garbage", b"\xff\x00", b"[1, 2"])
def test_garbage_is_passed_over(hooks: Hooks, given: bytes) -> None:
    hooks.vault.rmdir()  # so that no engine is started
    for event in ("UserPromptSubmit", "Stop", "NoSuchEvent"):
        ran = hooks.run(event, given)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def test_a_state_folder_that_cannot_be_written_is_reported_and_passed_over(
    hooks: Hooks, tmp_path: Path
) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    ran = hooks.run("Stop", {"session_id": "s-1"})
    assert (ran.returncode, ran.stdout) == (0, b"")
    assert b"hooks.log: Not a directory" in ran.stderr


def test_four_time_outs_in_a_row_switch_the_hook_off_with_a_notice(
    hooks: Hooks, silent_engine: None
) -> None:
    for _ in range(3):
        ran = hooks.run("PreToolUse", {"session_id": "s-1"})
        assert (ran.returncode, ran.stdout) == (0, b"")
    notice = json.loads(hooks.run("PreToolUse", {"session_id": "s-1"}).stdout)["systemMessage"]
    assert "memvault hooks on PreToolUse" in notice
    assert hooks.run("PreToolUse", {"session_id": "s-1"}).stdout == b""
    assert not Path(hooks.files.switch("UserPromptSubmit")).exists()
    assert hooks.log().count("timed out") == 4  # the last one did not ask the engine


def test_time_outs_at_once_are_one_in_a_row(hooks: Hooks, silent_engine: None) -> None:
    enough = MAX_TIMEOUTS + 1  # more would not all start at once on a busy machine
    with ThreadPoolExecutor(enough) as pool:
        list(pool.map(lambda _: hooks.run("PreToolUse", {"session_id": "s-1"}), range(enough)))
    assert hooks.log().count("timed out") == enough
    assert not hooks.files.is_off("PreToolUse")


def test_a_client_that_never_closes_stdin_does_not_hold_the_hook(hooks: Hooks) -> None:
    state, vault = f"--state={hooks.state.root}", f"--vault={hooks.vault}"
    command = [sys.executable, "-m", "memvault.cli", "hook", "PreToolUse", state, vault]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env=hooks.environment)
    try:
        assert process.wait(timeout=LIMITS["PreToolUse"] + 5) == 0
    finally:
        process.kill()
        process.communicate()


def test_without_an_engine_one_is_started_and_the_capture_is_made_then(
    hooks: Hooks, tmp_path: Path
) -> None:
    given = hooks.stop_input(tmp_path)
    with ThreadPoolExecutor(16) as pool:
        runs = list(pool.map(lambda _: hooks.run("Stop", given), range(20)))
    assert {(run.returncode, run.stdout) for run in runs} == {(0, b"")}
    assert hooks.log().count("the engine is being started") == 1
    until(lambda: read_address(hooks.state) is not None and hooks.notes() != [])
    address = read_address(hooks.state)
    assert address is not None
    try:
        until(lambda: hooks.pending() == [])
        (note,) = hooks.notes()
        assert note.count("Bergen") == 1
    finally:
        os.kill(address.pid, signal.SIGTERM)


def test_a_session_that_began_without_an_engine_gets_its_start_with_the_next_prompt(
    hooks: Hooks,
) -> None:
    note = hooks.vault / "Cache.md"
    note.write_text("---\ntype: preference\n---\nI prefer SQLite, because it needs no server.\n")
    begun = {"session_id": "s-1", "source": "startup", "cwd": "/srv/aurora"}
    resumed = begun | {"session_id": "s-3"}
    assert hooks.run("SessionStart", begun).stdout == b""
    assert hooks.run("SessionStart", resumed).stdout == b""
    until(lambda: read_address(hooks.state) is not None and hooks.pending() == [])
    address = read_address(hooks.state)
    assert address is not None
    try:
        thanks = {"session_id": "s-1", "cwd": "/srv/aurora", "prompt": "thanks"}
        given = hooks.run("UserPromptSubmit", thanks).stdout
        assert b"I prefer SQLite" in given
        assert hooks.run("UserPromptSubmit", thanks).stdout == b""
        assert hooks.run("UserPromptSubmit", thanks | {"session_id": "s-2"}).stdout == b""
        resume = resumed | {"source": "resume"}
        assert b"I prefer SQLite" in hooks.run("SessionStart", resume).stdout
        assert hooks.run("UserPromptSubmit", thanks | {"session_id": "s-3"}).stdout == b""
    finally:
        os.kill(address.pid, signal.SIGTERM)


def test_an_engine_killed_at_any_moment_loses_nothing_that_it_took(
    hooks: Hooks, tmp_path: Path
) -> None:
    sentences = [f"Fact number {n} is that box {n} stands on shelf {n * 7}." for n in range(8)]
    for n, sentence in enumerate(sentences):
        (tmp_path / str(n)).mkdir()
        given = hooks.stop_input(tmp_path / str(n), sentence) | {"session_id": f"s-{n}"}
        if n % 4 == 0:
            engine = hooks.serve()
        assert hooks.run("Stop", given).returncode == 0
        if n % 4 == 3:
            time.sleep(0.05 * n)
            engine.kill()
            engine.join()
    engine = hooks.serve()
    try:
        until(lambda: hooks.pending() == [])
        notes = "\n".join(hooks.notes())
        assert [sentence for sentence in sentences if sentence not in notes] == []
        assert all(notes.count(sentence) == 1 for sentence in sentences)
    finally:
        engine.terminate()
        engine.join()


def test_a_hook_killed_at_any_moment_leaves_a_whole_capture_or_none(
    hooks: Hooks, tmp_path: Path
) -> None:
    hooks.vault.rmdir()  # so that no engine is started
    given = json.dumps(hooks.stop_input(tmp_path) | {"last_assistant_message": "x " * 200_000})
    state, vault = f"--state={hooks.state.root}", f"--vault={hooks.vault}"
    command = [sys.executable, "-m", "memvault.cli", "hook", "Stop", state, vault]
    acknowledged = 0
    for n in range(16):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env=hooks.environment)
        killer = threading.Timer(0.01 * n, process.kill)
        killer.start()
        with suppress(BrokenPipeError):
            process.communicate(given.encode())
        killer.cancel()
        acknowledged += process.returncode == 0
    assert hooks.run("Stop", given.encode()).returncode == 0
    kept = [json.loads(path.read_bytes().split(b"\n", 1)[1]) for path in hooks.pending()]
    assert len(kept) >= acknowledged + 1
    assert {len(each["last_assistant_message"]) for each in kept} == {399_999}


def test_forty_hooks_at_once_are_all_answered(hooks: Hooks) -> None:
    (hooks.vault / "Cache.md").write_text(
        "We keep the cache in SQLite, because it needs no server.\n"
    )
    engine = hooks.serve()
    try:

        def prompt(n: int) -> subprocess.CompletedProcess[bytes]:
            return hooks.run(
                "UserPromptSubmit",
                {"session_id": f"s-{n}", "prompt": "Where do we keep the cache?"},
                patient=True,
            )

        until(lambda: b"SQLite" in prompt(-1).stdout or prompt(-2).stdout != b"")
        with ThreadPoolExecutor(16) as pool:
            runs = list(pool.map(prompt, range(40)))
        assert all(run.returncode == 0 and b"SQLite" in run.stdout for run in runs)
    finally:
        engine.terminate()
        engine.join()
