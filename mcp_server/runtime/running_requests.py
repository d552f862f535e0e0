"""Counts the requests that somebody waits for, and pauses background work for them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fastmcp.resources import ResourceResult
from fastmcp.server.middleware import Middleware
from fastmcp.tools import ToolResult

from mcp_server.middleware import CallTool, ReadResource, ResourceRead, ToolCall
from mcp_server.runtime.worker import collect_between_requests

ANSWER_SECONDS = 0.005  # time to send an answer
PASSING_SECONDS = 0.25  # longest wait of background work for requests
WORK_SHARE = 0.25  # of the waiting time that work is owed; runs between waits reduce it
TURN_SECONDS = 0.05  # owed time from which work runs despite requests


class RunningRequests:
    """The requests that somebody waits for: of tools, resources, pages and hooks. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._no_request_runs = threading.Condition(self._lock)
        self._running = 0
        self._began = self._ended = time.monotonic()
        self._per_thread = threading.local()  # the time each thread is owed, and the end of its run

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count a request while the block runs."""
        with self._lock:
            if not self._running:
                self._began = time.monotonic()
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                self._ended = time.monotonic()
                self._no_request_runs.notify_all()

    def let_pass(self) -> None:
        """Wait until no request runs and the answers are sent.

        Called before each short step of background work, which gets at least a fifth of the time.
        """
        began = time.monotonic()
        until = began + PASSING_SECONDS
        thread = self._per_thread
        if self._work_resumes_at(until) <= began or began < getattr(thread, "runs_until", 0.0):
            return
        with self._no_request_runs:
            while (remaining_seconds := self._work_resumes_at(until) - time.monotonic()) > 0.0:
                self._no_request_runs.wait(remaining_seconds)
        now = time.monotonic()
        worked = began - getattr(thread, "ended", began)
        thread.owed = max(0.0, getattr(thread, "owed", 0.0) - worked) + WORK_SHARE * (now - began)
        thread.ended = now
        if thread.owed >= TURN_SECONDS:
            thread.runs_until, thread.owed = now + thread.owed, 0.0

    def _work_resumes_at(self, until: float) -> float:
        """The time at which work may continue: ``until`` while a request runs."""
        return until if self._running else min(until, self._ended + ANSWER_SECONDS)

    def running_seconds(self) -> float | None:
        """Seconds for which requests have been running without a gap; None if none runs."""
        with self._lock:
            return time.monotonic() - self._began if self._running else None

    def idle_seconds(self) -> float:
        """Seconds since the last request ended; 0 while one runs."""
        with self._lock:
            return 0.0 if self._running else time.monotonic() - self._ended


class Interrupted(Exception):
    """Background work ends early, because the engine closes or its indexes were replaced."""


WORK_SECONDS = 0.02  # of background work, followed by a rest as long: half a core
QUIET_SECONDS = 0.5  # without a request, after which background work continues
LOOK_SECONDS = 0.01


class Breaks:
    """Divides background work into short steps: at most half a core, with a stop for every request.

    Not thread-safe: make one for each piece of work.

    Args:
        stopped: whether the work should end.
        woken: called with the seconds that a request waited until the work stopped.
    """

    def __init__(
        self,
        requests: RunningRequests,
        stopped: Callable[[], bool],
        woken: Callable[[float], object] = lambda _: None,
    ) -> None:
        self._requests = requests
        self._stopped = stopped
        self._woken = woken
        self._began = time.monotonic()
        self._before = 0.0

    @property
    def worked(self) -> float:
        """Seconds of work so far, without breaks."""
        return self._before + time.monotonic() - self._began

    @property
    def seconds(self) -> float:
        """Seconds of work and rest, without those in which requests ran."""
        return 2.0 * self.worked

    def take(self) -> None:
        """Take a break if one is due; call this between two steps of the work.

        Raises Interrupted: the work should end.
        """
        if self._stopped():
            raise Interrupted
        worked_seconds = time.monotonic() - self._began
        waiting = self._requests.running_seconds()
        if waiting is None and worked_seconds < WORK_SECONDS:
            return
        self._before += worked_seconds
        if waiting is not None:
            self._woken(min(waiting, worked_seconds))
            self._let_pass()
        else:
            self._rest(worked_seconds)
        self._began = time.monotonic()

    def _rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (remaining_seconds := until - time.monotonic()) > 0 and not self._stopped():
            time.sleep(min(remaining_seconds, LOOK_SECONDS))

    def _let_pass(self) -> None:
        while self._requests.idle_seconds() < QUIET_SECONDS:
            if self._stopped():
                raise Interrupted
            time.sleep(LOOK_SECONDS)


# This tool starts background work and waits for its result, so the work must not stop for it.
_WAITS_FOR_WORK = "trigger_dream"


class CountRequests(Middleware):
    """Counts calls of tools and reads of resources as requests that somebody waits for."""

    def __init__(self, requests: Callable[[], RunningRequests]) -> None:
        self._requests = requests

    async def on_call_tool(self, context: ToolCall, call_next: CallTool) -> ToolResult:
        if context.message.name == _WAITS_FOR_WORK:
            return await call_next(context)
        requests = self._requests()
        try:
            with requests.running():
                return await call_next(context)
        finally:
            asyncio.get_running_loop().call_later(ANSWER_SECONDS, _collect_garbage, requests)

    async def on_read_resource(
        self, context: ResourceRead, call_next: ReadResource
    ) -> ResourceResult:
        with self._requests().running():
            return await call_next(context)


def _collect_garbage(requests: RunningRequests) -> None:
    if requests.running_seconds() is None:
        collect_between_requests()
