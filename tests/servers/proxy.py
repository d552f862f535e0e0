"""A way to a server that a test may make slow or interrupt, as a bad network would."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress

from tests.servers.process import free_port


class Proxy:
    """Passes bytes on; those that the server says, after ``delay`` seconds, or once it is less."""

    def __init__(self, port: int) -> None:
        self.delay = 0.0
        self._server = ("127.0.0.1", port)
        self._open: set[socket.socket] = set()
        self.port = free_port()
        self.start()

    def start(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self.port), backlog=32)
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def close(self) -> None:
        """Nobody listens from now on, and what was connected is cut off."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # ends `accept`, too
        self._listener.close()
        for each in list(self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                try:
                    server = socket.create_connection(self._server)
                except OSError:  # the server is down
                    client.close()
                    continue
                self._open |= {client, server}
                for source, target, slow in ((client, server, False), (server, client, True)):
                    threading.Thread(
                        target=self._pass, args=(source, target, slow), daemon=True
                    ).start()

    def _pass(self, source: socket.socket, target: socket.socket, slow: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                began = time.monotonic()
                while slow and time.monotonic() - began < self.delay:
                    time.sleep(0.01)
                target.sendall(data)
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
