"""What ``/metrics`` tells: tool calls as they are answered, the rest read when it is asked for.

An engine has a registry of its own, so that two in one process count apart.
"""

from __future__ import annotations

import time
from typing import Any

import mcp_types as mt
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.registry import Collector

from mcp_server.presence import Presence

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """One engine's figures."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.calls = Counter(
            "memvault_tool_calls",
            "Tool calls answered, errors included.",
            ["tool"],
            registry=self.registry,
        )
        self.errors = Counter(
            "memvault_tool_errors",
            "Tool calls that failed, by the code of the error.",
            ["tool", "code"],
            registry=self.registry,
        )
        self.notices = Counter(
            "memvault_tool_notices",
            "Answers with a notice: most say what they lack, and why.",
            ["tool"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "memvault_tool_seconds",
            "Time a tool call took.",
            ["tool"],
            buckets=_BUCKETS,
            registry=self.registry,
        )

    def watch(self, figures: Collector) -> None:
        """Ask these too, each time somebody looks."""
        self.registry.register(figures)

    def watch_clients(self, presence: Presence) -> None:
        """Tell how many are connected."""
        connections = Gauge(
            "memvault_connections",
            "Open bridges, and requests under way.",
            registry=self.registry,
        )
        connections.set_function(lambda: presence.visits)

    def text(self) -> bytes:
        """As Prometheus reads it."""
        return generate_latest(self.registry)


class ToolMetrics(Middleware):
    """Counts every call of a tool that exists."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    async def on_call_tool(
        self,
        context: MiddlewareContext[mt.CallToolRequestParams],
        call_next: CallNext[mt.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        began = time.perf_counter()
        result = await call_next(context)
        spent = time.perf_counter() - began
        tool, content = context.message.name, result.structured_content or {}
        self._metrics.calls.labels(tool).inc()
        self._metrics.seconds.labels(tool).observe(spent)
        if result.is_error:
            self._metrics.errors.labels(tool, str(_code(content))).inc()
        elif content.get("notice"):
            self._metrics.notices.labels(tool).inc()
        return result


def _code(content: dict[str, Any]) -> int:
    return int(content.get("error", {}).get("code", 0))
