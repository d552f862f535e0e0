"""How often one client may call."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

import mcp_types as mt
from cachetools import LRUCache
from fastmcp.resources import ResourceResult
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult

from mcp_server.middleware.client_identity import connection_id
from mcp_server.middleware.errors import error_result, protocol_error
from memvault.config.settings import LimitSettings
from memvault.model.errors import RateLimited

MOST_REMEMBERED = 10_000  # clients; one forgotten begins with a full bucket


class Buckets:
    """Token buckets, one per client (https://en.wikipedia.org/wiki/Token_bucket). Thread-safe.

    A bucket holds ``burst`` calls and fills by ``rate`` calls per second.
    """

    def __init__(
        self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._levels: LRUCache[str, tuple[float, float]] = LRUCache(MOST_REMEMBERED)  # left, when
        self._lock = threading.Lock()

    def take(self, client: str) -> float:
        """Take a call out of the client's bucket: 0, or in how many seconds there will be one."""
        now = self._clock()
        with self._lock:
            left, since = self._levels.get(client, (float(self._burst), now))
            left = min(float(self._burst), left + (now - since) * self._rate)
            wait = 0.0 if left >= 1.0 else (1.0 - left) / self._rate
            self._levels[client] = (left if wait else left - 1.0, now)
        return wait


class RateLimits(Middleware):
    """Refuses the calls and readings of a client that asks too often, and says when it may ask
    again."""

    def __init__(
        self, settings: Callable[[], LimitSettings], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._buckets: Buckets | None = None
        self._lock = threading.Lock()

    async def on_call_tool(
        self,
        context: MiddlewareContext[mt.CallToolRequestParams],
        call_next: CallNext[mt.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        refused = self._refusal()
        return await call_next(context) if refused is None else error_result(refused)

    async def on_read_resource(
        self,
        context: MiddlewareContext[mt.ReadResourceRequestParams],
        call_next: CallNext[mt.ReadResourceRequestParams, ResourceResult],
    ) -> ResourceResult:
        refused = self._refusal()
        if refused is not None:
            raise protocol_error(refused)
        return await call_next(context)

    def _refusal(self) -> RateLimited | None:
        """Why this client may not ask now; takes one call out of its bucket if it may."""
        limits = self._settings()
        wait = self._buckets_for(limits).take(connection_id()) if limits.calls_per_second else 0.0
        return _limited(wait) if wait else None

    def _buckets_for(self, limits: LimitSettings) -> Buckets:
        with self._lock:
            if self._buckets is None:
                self._buckets = Buckets(limits.calls_per_second, limits.burst, self._clock)
            return self._buckets


def _limited(wait: float) -> RateLimited:
    seconds = math.ceil(wait * 100) / 100
    return RateLimited(
        f"Rate limit exceeded: ask again in {seconds:g} seconds", retry_after_seconds=seconds
    )
