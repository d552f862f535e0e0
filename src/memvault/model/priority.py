"""Lets questions go first, between two short steps of background work.

Work that nobody waits for runs within `making_way`. Its long parts, which also run in work that
somebody waits for, call `make_way` between two steps.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_PAUSE_SECONDS = 0.001
_let_pass: ContextVar[Callable[[], None] | None] = ContextVar("let_pass", default=None)
_held: ContextVar[tuple[AwaitedLock, ...]] = ContextVar("held", default=())


@contextmanager
def making_way(let_pass: Callable[[], None] | None) -> Iterator[None]:
    """Make `make_way` call ``let_pass`` in the block.

    This includes threads that run in a copy of its context. None is for work that somebody waits
    for.
    """
    token = _let_pass.set(let_pass)
    try:
        yield
    finally:
        _let_pass.reset(token)


def make_way() -> None:
    """Let questions pass, unless somebody waits for this work or for a lock that it holds."""
    let_pass = _let_pass.get()
    if let_pass is not None and not any(lock.awaited for lock in _held.get()):
        let_pass()


class AwaitedLock:
    """A re-entrant lock that knows whether urgent work waits for it.

    Urgent is work that does not make way. While it waits, the holder of the lock does not make way
    either.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._waiting: set[int] = set()  # threads

    @property
    def awaited(self) -> bool:
        return bool(self._waiting)

    @property
    def is_held(self) -> bool:
        """Whether the caller is in a block of this lock."""
        return self in _held.get()

    def after_others(self) -> AwaitedLock:
        """Return the lock once nobody waits for it; for callers that acquire it repeatedly."""
        while self.awaited and not self.is_held:
            time.sleep(_PAUSE_SECONDS)
        return self

    def acquire(self, timeout: float = -1.0) -> bool:
        """Like `threading.Lock.acquire`, in seconds."""
        thread = threading.get_ident()
        if _let_pass.get() is None:
            self._waiting.add(thread)
        try:
            return self._lock.acquire(timeout=timeout)
        finally:
            self._waiting.discard(thread)

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> None:
        self.acquire()
        _held.set((*_held.get(), self))

    def __exit__(self, *_: object) -> None:
        _held.set(_held.get()[:-1])
        self.release()
