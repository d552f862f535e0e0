"""What ``/metrics`` shows: tool calls, how long they took, errors by code; how often a memory's
text and vector were at hand."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from weakref import WeakSet

import mcp_types as mt
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult
from prometheus_client import REGISTRY, Counter, Histogram
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from memvault.cognition.nodes import MemoryNodes, Reads

CALLS = Counter("memvault_tool_calls", "Tool calls answered, errors included.", ["tool"])
ERRORS = Counter("memvault_tool_errors", "Tool calls that failed.", ["tool", "code"])
SECONDS = Histogram(
    "memvault_tool_seconds",
    "Time a tool call took.",
    ["tool"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0),
)


class MemoryReads(Collector):
    """Tells how the caches of memories do, when asked for."""

    def __init__(self) -> None:
        self._caches: WeakSet[MemoryNodes] = WeakSet()

    def watch(self, cache: MemoryNodes) -> None:
        self._caches.add(cache)

    def collect(self) -> Iterator[Metric]:
        caches = list(self._caches)
        reads = sum((cache.reads for cache in caches), Reads())
        name = "memvault_memory_cache"
        yield CounterMetricFamily(f"{name}_hits", "Memories that were at hand.", reads.hits)
        yield CounterMetricFamily(f"{name}_misses", "Memories read from disk.", reads.misses)
        yield CounterMetricFamily(f"{name}_evictions", "Memories put away.", reads.evictions)
        yield GaugeMetricFamily(f"{name}_hit_rate", "Share of reads at hand.", reads.hit_rate)
        yield GaugeMetricFamily(f"{name}_size", "Memories at hand.", sum(map(len, caches)))


READS = MemoryReads()
REGISTRY.register(READS)


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
