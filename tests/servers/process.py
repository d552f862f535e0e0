"""A server process that a test may kill, pause and start again."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

PATIENCE_SECONDS = 120.0
_PORTS = range(20_000, 32_000)  # below those that the system gives to clients
# A run that is broken off has no time to stop its servers. Nor may a thread start one that ends
# before the run does: the system takes that for the parent.
_WITH_ITS_PARENT = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []


def free_port() -> int:
    """One that no client is ever given by the system, so that a server that was killed finds it
    free when it comes back; by chance, since several test processes look for one at once."""
    for port in random.SystemRandom().sample(_PORTS, 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no port is free")


class ServerProcess:
    """Always on the same port and folder, so that it can come back as it was, or empty."""

    def __init__(
        self, command: Sequence[str | Path], port: int, folder: Path, ready: Callable[[], bool]
    ) -> None:
        self.port = port
        self.folder = folder
        self._command = [*_WITH_ITS_PARENT, *(str(part) for part in command)]
        self._ready = ready
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder
            )
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self._ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                said = (self.folder / "server.log").read_text(errors="replace")
                raise RuntimeError(f"the server did not start: {said[-2_000:]}")
            time.sleep(0.05)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """Let it end by itself."""
        assert self._process is not None
        self._process.terminate()
        self._process.wait()
        self._process = None

    def pause(self) -> None:
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)

    def limit(self, what: int, most: int) -> None:
        """Lower one of the limits that the system sets a process; it does not outlive it."""
        assert self._process is not None
        resource.prlimit(self._process.pid, what, (most, resource.getrlimit(what)[1]))
