"""Which sessions are alive: kept in memory, expiring after a day without a call."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from memvault.model.errors import SessionNotFound

IDLE_SECONDS = 24 * 3600.0
MOST_REMEMBERED = 10_000  # sessions, expired ones included


class Sessions:
    """A session begins with the first call that names it. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last_call: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def touch(self, session_id: str | None) -> None:
        """Note a call of this session; None is a call outside of any.

        Raises:
            SessionNotFound: the session has expired (core EC-CORE-015).
        """
        if session_id is None:
            return
        now = self._clock()
        with self._lock:
            last = self._last_call.get(session_id)
            if last is not None and now - last > IDLE_SECONDS:
                raise SessionNotFound(
                    "Session expired or not found: begin a new session_id, or leave it out",
                    session_id=session_id,
                )
            self._last_call[session_id] = now
            self._last_call.move_to_end(session_id)
            while len(self._last_call) > MOST_REMEMBERED:
                self._last_call.popitem(last=False)
