"""Limits how often one client may call."""

from __future__ import annotations

import math
from collections.abc import Callable

from cachetools import LRUCache
from fastmcp.resources import ResourceResult
from fastmcp.server.middleware import Middleware
from fastmcp.server.middleware.rate_limiting import TokenBucketRateLimiter
from fastmcp.tools import ToolResult

from mcp_server.middleware import CallTool, ReadResource, ResourceRead, ToolCall
from mcp_server.middleware.client_identity import connection_id
from mcp_server.middleware.errors import error_result, protocol_error
from memvault.config.settings import LimitSettings
from memvault.model.errors import RateLimited

MAX_REMEMBERED = 10_000  # clients; a forgotten one starts with a full bucket


class RateLimits(Middleware):
    """Refuses tool calls and resource reads of a client that calls too often, and says when to
    retry.

    The buckets are FastMCP's. Its own middleware never forgets a client, also limits lists and
    pings, and does not say when to retry.
    """

    def __init__(self, settings: Callable[[], LimitSettings]) -> None:
        self._settings = settings
        self._buckets: LRUCache[str, TokenBucketRateLimiter] = LRUCache(MAX_REMEMBERED)

    async def on_call_tool(self, context: ToolCall, call_next: CallTool) -> ToolResult:
        wait = await self.wait(connection_id())
        return await call_next(context) if not wait else error_result(_limited(wait))

    async def on_read_resource(
        self, context: ResourceRead, call_next: ReadResource
    ) -> ResourceResult:
        wait = await self.wait(connection_id())
        if wait:
            raise protocol_error(_limited(wait))
        return await call_next(context)

    async def wait(self, client: str) -> float:
        """Count a call of this client; returns the seconds until it is allowed, 0 if it is now."""
        limits = self._settings()
        if not limits.calls_per_second:
            return 0.0
        bucket = self._buckets.get(client)
        if bucket is None:
            bucket = TokenBucketRateLimiter(limits.burst, limits.calls_per_second)
            self._buckets[client] = bucket
        return 0.0 if await bucket.consume() else (1.0 - bucket.tokens) / bucket.refill_rate


def _limited(wait: float) -> RateLimited:
    seconds = math.ceil(wait * 100) / 100
    return RateLimited(
        f"Rate limit exceeded: ask again in {seconds:g} seconds", retry_after_seconds=seconds
    )
