"""A command that starts an engine without the seconds that a new process takes to import one.

``fork_engine.py ADDRESS STATE [IDLE_SECONDS]`` asks a process that has imported all of it
(`answer_commands`) to fork a tiny engine, and ends with it. Imports little itself.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from contextlib import suppress

_MAX_BYTES = 200_000  # of a command and its environment


def main(address: str, arguments: list[str], program: str = "tiny") -> int:
    """Fork an engine with these arguments, the environment and folder of this process."""
    command = [program, arguments, dict(os.environ), os.getcwd()]  # noqa: PTH109
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _MAX_BYTES)
        connection.connect(address)
        socket.send_fds(connection, [json.dumps(command).encode()], [1, 2])
        return int(connection.recv(8) or b"1")


def answer_commands(address: str) -> None:
    """Fork an engine for each connection, until this process is ended."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
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
    command, outputs, _, _ = socket.recv_fds(connection, _MAX_BYTES, 2)
    program, arguments, environment, folder = json.loads(command)
    engine = os.fork()
    if engine != 0:
        _, status = os.waitpid(engine, 0)
        connection.sendall(str(os.waitstatus_to_exitcode(status) & 0xFF).encode())
        os._exit(0)
    connection.close()
    for number, output in enumerate(outputs, start=1):
        os.dup2(output, number)
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    if program == "tiny":
        from tests.integration.tiny_engine import main as run
    else:
        from memvault.cli.app import run
    sys.exit(run(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], ["serve", *sys.argv[2:]]))
