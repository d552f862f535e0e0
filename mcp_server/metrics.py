"""Counters that ``/metrics`` shows: tool calls, how long they took, errors by code."""

from __future__ import annotations

import time
from typing import Any

import mcp_types as mt
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult
from prometheus_client import Counter, Histogram

CALLS = Counter("memvault_tool_calls", "Tool calls answered, errors included.", ["tool"])
ERRORS = Counter("memvault_tool_errors", "Tool calls that failed.", ["tool", "code"])
SECONDS = Histogram(
    "memvault_tool_seconds",
    "Time a tool call took.",
    ["tool"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0),
)


class ToolMetrics(Middleware):
    """Counts every call of a tool that exists."""

    async def on_call_tool(
        self,
        context: MiddlewareContext[mt.CallToolRequestParams],
        call_next: CallNext[mt.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        began = time.perf_counter()
        result = await call_next(context)
        tool = context.message.name
        CALLS.labels(tool).inc()
        SECONDS.labels(tool).observe(time.perf_counter() - began)
        if result.is_error:
            ERRORS.labels(tool, str(_code(result.structured_content))).inc()
        return result


def _code(content: dict[str, Any] | None) -> int:
    return int((content or {}).get("error", {}).get("code", 0))
