"""A server process that a test may kill, pause and start again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

PATIENCE_SECONDS = 60.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class ServerProcess:
    """Always on the same port and folder, so that it can come back as it was, or empty."""

    def __init__(
        self, command: Sequence[str | Path], port: int, folder: Path, ready: Callable[[], bool]
    ) -> None:
        self.port = port
        self.folder = folder
        self._command = [str(part) for part in command]
        self._ready = ready
        self._process: subprocess.Popen[bytes] | None = None

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

    def pause(self) -> None:
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)
