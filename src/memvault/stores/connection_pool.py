"""A pool of connections to an embedded engine, so that several threads read at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, LifoQueue
from typing import Generic, Protocol, TypeVar

from memvault.stores import faults


class _Closable(Protocol):
    def close(self) -> None: ...


Connection = TypeVar("Connection", bound=_Closable)


class ConnectionPool(Generic[Connection]):
    """Keeps the connections that no thread uses at the moment. Thread-safe.

    Args:
        connect: opens a connection.
    """

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._idle: LifoQueue[Connection] = LifoQueue()
        self.closed = False

    @contextmanager
    def borrowed(self) -> Iterator[Connection]:
        """A connection for one read.

        Raises StoreUnavailable: they are closed.
        """
        if self.closed:
            raise faults.store_closed()
        try:
            connection = self._idle.get_nowait()
        except Empty:
            connection = self._connect()
        try:
            yield connection
        finally:
            if self.closed:
                connection.close()
            else:
                self._idle.put(connection)

    def close(self) -> None:
        """Close all connections; one in use is closed after its read."""
        self.closed = True
        with suppress(Empty):
            while True:
                self._idle.get_nowait().close()
