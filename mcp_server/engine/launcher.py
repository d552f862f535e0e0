"""Finds the engine of a vault, or starts one; used by bridges and the command line.

Every bridge imports this when it starts, so imports that only starting an engine needs are local.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import quote

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from mcp_server.engine.build_version import installed_version
from memvault.config.engine_lock import is_held
from memvault.config.paths import StateFolder
from memvault.model.errors import EngineUnavailable
from memvault.model.json_text import json_value


@dataclass(frozen=True, slots=True)
class EngineAddress:
    """``started`` is seconds since 1970; ``token`` opens ``/bridge`` and ``/admin``."""

    pid: int
    host: str
    port: int
    token: str
    version: str
    started: float

    @property
    def netloc(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_address(state: StateFolder) -> EngineAddress | None:
    """The last address written, possibly of a killed engine; None if there is no valid one."""
    try:
        values = json_value(state.engine_address.read_bytes())
        return EngineAddress(**values)
    except (OSError, ValueError, TypeError):
        return None


def write_address(state: StateFolder, address: EngineAddress) -> None:
    """Replace the file in one step, readable by its owner alone.

    Raises:
        StorageError, DiskFull: it was not written.
    """
    from memvault.vault.write import storage_errors, write_whole

    with storage_errors(str(state.engine_address)):
        write_whole(state.engine_address, json.dumps(asdict(address)).encode(), 0o600)


def is_lost(state: StateFolder, address: EngineAddress) -> bool:
    """Whether clients no longer find the engine of this address, as its state folder was deleted.

    An engine that goes on would serve indexes that nobody reads, next to the engine that the next
    client starts.
    """
    try:
        state.engine_address.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # a network drive that does not answer, say
        return False
    return read_address(state) not in (None, address)


def remove_address(state: StateFolder, address: EngineAddress) -> None:
    """Remove our own address, never that of a later engine."""
    if read_address(state) == address:
        state.engine_address.unlink(missing_ok=True)


ABRUPT_END = (
    "It crashed, or the system killed it, as when memory runs out: free some memory if that is so."
)
_RELEASE_SECONDS = 0.5
_HANDSHAKE_SECONDS = 10.0
_POLL_SECONDS = 0.05
_OPENING_POLL_SECONDS = 0.3
_LOG_TAIL_LINES = 8


def engine_command(vault: Path, config: Path | None = None) -> list[str]:
    """The command line of an engine that stops when no client needs it."""
    # -P: the engine must not import modules from the folder that a client was started in.
    command = [sys.executable, "-P", "-m", "memvault.cli", "--vault", str(vault)]
    if config is not None:
        command += ["--config", str(config.absolute())]
    return [*command, "serve", "--idle-exit"]


class Launcher:
    """Connects to the engine of one vault, and starts it if none runs."""

    def __init__(
        self,
        state: StateFolder,
        command: Sequence[str],
        timeout: float = 180.0,
        *,
        tools: str = "core",
    ) -> None:
        self._state = state
        self._command = list(command)
        self._timeout = timeout
        self._log_start = 0  # bytes that earlier engines wrote
        self._version: str | None = None  # of an earlier memvault that was installed meanwhile
        self._path = "/bridge?tools=full" if tools == "full" else "/bridge"

    def connect(self) -> ClientConnection:
        """An open websocket to ``/bridge`` of the running engine, or of one started now.

        Concurrent calls start only one engine. An engine of an older memvault, or of an earlier
        build of this one, is stopped and replaced; a newer one is used. So is an older one that
        was started here: an earlier memvault was installed since this process began.

        Raises:
            EngineUnavailable: the engine died while starting (with the end of its log), or did
                not answer in time.
        """
        connection = self._connect_if_running()
        if connection is not None:
            return connection
        from filelock import FileLock, Timeout

        self._state.create()
        deadline = time.monotonic() + self._timeout
        try:
            with FileLock(self._state.start_lock, timeout=self._timeout, poll_interval=0.02):
                return self._connect_if_running() or self._start(deadline)
        except Timeout:
            raise self._timed_out() from None

    def wait_until_open(self, report: Callable[[str], None], at_most: float | None = None) -> None:
        """Wait until the engine's indexes are open, or cannot be opened, but ``at_most`` so many
        seconds; ``report`` is called with each step."""
        reported, began = "", time.monotonic()
        address = read_address(self._state)
        with suppress(EngineUnavailable, ValueError):
            while address is not None and (at_most is None or time.monotonic() - began < at_most):
                health = json_value(ask(address, "GET", "/healthz"))
                if health["status"] != "starting":
                    return
                if health["doing"] != reported:
                    reported = str(health["doing"])
                    report(reported)
                time.sleep(_OPENING_POLL_SECONDS)

    def abrupt_end(self) -> str:
        """A sentence about an engine that ended without stopping; empty if it stopped, or one runs.

        Such an engine leaves its address behind. Its lock may be released a moment after its
        connections.
        """
        deadline = time.monotonic() + _RELEASE_SECONDS
        while is_engine_running(self._state):
            if time.monotonic() > deadline:
                return ""
            time.sleep(_POLL_SECONDS)
        return "" if read_address(self._state) is None else ABRUPT_END

    def _connect_if_running(self) -> ClientConnection | None:
        # A killed engine leaves its address behind, whose port another user's program may have by
        # now: it would read all that is stored, and answer in the engine's place.
        if not is_engine_running(self._state):
            return None
        address = read_address(self._state)
        if address is None or self._is_older(address):
            return None
        try:
            return connect(
                f"ws://{address.netloc}{self._path}",
                additional_headers={"Authorization": f"Bearer {address.token}"},
                user_agent_header=None,
                compression=None,
                proxy=None,
                max_size=None,
                ping_interval=None,
                open_timeout=_HANDSHAKE_SECONDS,
                close_timeout=1.0,
            )
        except (OSError, EOFError, WebSocketException):
            return None  # the engine was killed just now

    def _start(self, deadline: float) -> ClientConnection:
        """Called with the start lock held."""
        child: subprocess.Popen[bytes] | None = None
        stopped: EngineAddress | None = None
        while time.monotonic() < deadline:
            address = read_address(self._state) if is_engine_running(self._state) else None
            if address is not None and address != stopped and self._is_older(address):
                if child is None:
                    stopped = address
                    self._stop(address)
                else:
                    self._version = address.version
            connection = self._connect_if_running()
            if connection is not None:
                return connection
            has_ended = child is None or child.poll() is not None
            # Another process holds the lock: an engine is just starting or stopping.
            if has_ended and not is_engine_running(self._state):
                if child is not None:
                    raise self._died(child.returncode)
                child = self._spawn()
            time.sleep(_POLL_SECONDS)
        raise self._timed_out()

    def _stop(self, address: EngineAddress) -> None:
        with suppress(EngineUnavailable):  # a killed engine's address
            ask(address, "POST", f"/admin/shutdown?newer={quote(installed_version())}")

    def _is_older(self, address: EngineAddress) -> bool:
        return _numbers(address.version) < _numbers(self._version or installed_version())

    def _spawn(self) -> subprocess.Popen[bytes]:
        environment = dict(os.environ)
        if "PYTHONPATH" in environment:  # relative entries refer to the current folder
            entries = environment["PYTHONPATH"].split(os.pathsep)
            environment["PYTHONPATH"] = os.pathsep.join(str(Path(e).absolute()) for e in entries)
        with self._state.log.open("ab") as log:
            self._log_start = log.tell()
            engine = _detached(self._command, log.fileno(), self._state.root, environment)
        # Reap the engine: as a zombie, it would look alive to `memvault stop`.
        threading.Thread(target=engine.wait, daemon=True).start()
        return engine

    def _died(self, code: int) -> EngineUnavailable:
        from memvault.stores.faults import is_disk_full

        if is_disk_full(self._state.root):  # the log is then of an earlier engine
            return EngineUnavailable(
                f"The memvault engine could not start: the disk with {self._state.root} is full. "
                "Free some space and try again."
            )
        killed = f" {ABRUPT_END}" if code < 0 else ""  # by a signal
        return EngineUnavailable(
            f"The memvault engine could not start (exit code {code}).{killed} It said:\n"
            f"{self._log_tail()}"
        )

    def _timed_out(self) -> EngineUnavailable:
        return EngineUnavailable(
            f"The memvault engine did not answer within {self._timeout:.0f} seconds. "
            f"The end of its log:\n{self._log_tail()}"
        )

    def _log_tail(self) -> str:
        with suppress(OSError):  # the engine wrote none
            log = self._state.log.read_bytes()
            is_emptied = len(log) < self._log_start  # by the new engine, as it was long
            written = log if is_emptied else log[self._log_start :]
            lines = written[-8192:].decode(errors="replace").splitlines()
            return "\n".join(lines[-_LOG_TAIL_LINES:]) or "(nothing)"
        return "(nothing)"


def is_engine_running(state: StateFolder) -> bool:
    """Whether a process holds the engine's lock; it may be starting, or not answer."""
    return is_held(str(state.engine_lock))


def ask(address: EngineAddress, method: str, path: str) -> bytes:
    """The engine's answer to a short request over HTTP.

    Raises:
        EngineUnavailable: no engine answers, or it refuses.
    """
    from http.client import HTTPConnection, HTTPException

    connection = HTTPConnection(address.host, address.port, timeout=_HANDSHAKE_SECONDS)
    try:
        connection.request(method, path, headers={"Authorization": f"Bearer {address.token}"})
        response = connection.getresponse()
        body = response.read()
    except (OSError, HTTPException) as error:
        raise EngineUnavailable("The engine stopped during this request.") from error
    finally:
        connection.close()
    if response.status >= 400 and not body.startswith(b"{"):
        raise EngineUnavailable(f"The engine answered {response.status} to {path}.")
    return body


def _numbers(version: str) -> list[int]:
    """The numbers of a release, then of its build: 0.1.0+20261128.023000. Old engines name none."""
    return [int(number) for number in re.findall(r"\d+", version)]


def _detached(
    command: list[str], log: int, folder: Path, environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    """Start a process that outlives this one and its terminal, without a window."""

    def start(flags: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder,
            env=environment,
            creationflags=flags,
            start_new_session=sys.platform != "win32",
        )

    if sys.platform != "win32":
        return start(0)
    flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    try:
        # Clients keep their servers in a Windows job that ends with them; leave it if allowed.
        return start(flags | subprocess.CREATE_BREAKAWAY_FROM_JOB)
    except OSError:
        return start(flags)
