"""Tracks use of the engine: open bridges, running requests and tool calls, and the time of the last
one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fastmcp.server.middleware import Middleware
from fastmcp.tools import ToolResult
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_server.middleware import CallTool, ToolCall

# Monitoring must not keep an idle engine alive.
_NOT_A_CLIENT = frozenset({"/healthz", "/metrics"})


class ActivityTracker:
    """Counts visits; thread-safe. ``arrived`` is called when one begins.

    Attributes:
        unanswered_calls: the tool calls that run or whose answer is not sent yet, so that a
            stopping engine can wait for them; used on the event loop only.
    """

    def __init__(self) -> None:
        self.arrived: Callable[[], None] = lambda: None
        self.unanswered_calls = 0
        self._lock = threading.Lock()
        self._visits = 0
        self._last_left = time.monotonic()

    @property
    def visits(self) -> int:
        return self._visits

    @contextmanager
    def visit(self) -> Iterator[None]:
        with self._lock:
            self._visits += 1
        self.arrived()
        try:
            yield
        finally:
            with self._lock:
                self._visits -= 1
                self._last_left = time.monotonic()

    def idle_seconds(self) -> float:
        """Seconds since the last visit ended; 0 while one lasts."""
        with self._lock:
            return 0.0 if self._visits else time.monotonic() - self._last_left


class CountRunningCalls(Middleware):
    """Counts tool calls as unanswered while they run.

    Over HTTP, uvicorn waits for the answers; a bridge counts its calls until they are sent.
    """

    def __init__(self, tracker: ActivityTracker) -> None:
        self._tracker = tracker

    async def on_call_tool(self, context: ToolCall, call_next: CallTool) -> ToolResult:
        self._tracker.unanswered_calls += 1
        try:
            return await call_next(context)
        finally:
            self._tracker.unanswered_calls -= 1


class UnansweredCalls:
    """The tool calls of one bridge whose answers are not sent yet."""

    def __init__(self, tracker: ActivityTracker) -> None:
        self._tracker = tracker
        self._ids = set[int | str]()

    def add(self, request_id: int | str) -> None:
        """Count a call until `remove`."""
        if request_id not in self._ids:
            self._ids.add(request_id)
            self._tracker.unanswered_calls += 1

    def remove(self, request_id: int | str) -> None:
        """Forget a call, as its answer is sent or will never be; ignores other requests."""
        if request_id in self._ids:
            self._ids.remove(request_id)
            self._tracker.unanswered_calls -= 1

    def clear(self) -> None:
        """Forget all calls, as the bridge has left."""
        for request_id in list(self._ids):
            self.remove(request_id)


class TrackRequests:
    """Counts every request and websocket as a visit for as long as it is open."""

    def __init__(self, app: ASGIApp, tracker: ActivityTracker) -> None:
        self._app = app
        self._tracker = tracker

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"] in _NOT_A_CLIENT:
            await self._app(scope, receive, send)
            return
        with self._tracker.visit():
            await self._app(scope, receive, send)
