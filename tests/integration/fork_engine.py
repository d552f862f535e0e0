"""A command that starts a tiny engine without the seconds that a new process takes to import one.

``fork_engine.py ADDRESS STATE [IDLE_SECONDS]`` asks a process that has imported all of it
(`answer_commands`) to fork the engine, and ends with it. Imports little itself.
"""

from __future__ import annotations

import os
import socket
import sys
from contextlib import suppress


def main(address: str, arguments: list[str]) -> int:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        socket.send_fds(connection, ["\n".join(arguments).encode()], [1, 2])
        return int(connection.recv(8) or b"1")


def answer_commands(address: str) -> None:
    """Fork a tiny engine for each connection, until this process is ended."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        while True:
            connection, _ = listener.accept()
            with connection:
                if os.fork() == 0:
                    listener.close()
                    _run_engine(connection)
            _reap_ended()


def _reap_ended() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass


def _run_engine(connection: socket.socket) -> None:
    """Run the engine that was asked for in a process of its own, and report its exit code."""
    from tests.integration.tiny_engine import main as run

    given, outputs, _, _ = socket.recv_fds(connection, 4096, 2)
    engine = os.fork()
    if engine != 0:
        _, status = os.waitpid(engine, 0)
        connection.sendall(str(os.waitstatus_to_exitcode(status) & 0xFF).encode())
        os._exit(0)
    connection.close()
    for number, output in enumerate(outputs, start=1):
        os.dup2(output, number)
    os.setsid()
    sys.exit(run(["serve", *given.decode().split("\n")]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
