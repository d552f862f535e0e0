"""Prometheus metrics of tool calls; `engine_metrics` has those of the engine's state."""

from __future__ import annotations

import time
from collections import deque
from functools import partial
from math import nan
from statistics import fmean
from typing import Any

from fastmcp.server.middleware import Middleware
from fastmcp.tools import ToolResult
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.registry import Collector

from mcp_server.middleware import CallTool, ToolCall
from mcp_server.runtime.activity_tracker import ActivityTracker

MAX_COMPRESSIONS = 1_000  # latest contexts in the mean
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """The metrics of one engine."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        counter = partial(Counter, registry=self.registry)
        gauge = partial(Gauge, registry=self.registry)
        self.calls = counter(
            "memvault_tool_calls", "Tool calls answered, errors included.", ["tool"]
        )
        doc = "Tool calls that failed, by the code of the error."
        self.errors = counter("memvault_tool_errors", doc, ["tool", "code"])
        doc = "Answers with a notice, which mostly says what is missing."
        self.notices = counter("memvault_tool_notices", doc, ["tool"])
        self.seconds = Histogram(
            "memvault_tool_seconds", "Duration of tool calls.", ["tool"],
            buckets=_BUCKETS, registry=self.registry,
        )  # fmt: skip
        doc = "Questions that epistemic_action gave."
        self.questions = counter("epistemic_questions_generated", doc)
        doc = "Mean share of a question's entropy that its answer removed."
        self.entropy_reduction = gauge("epistemic_entropy_reduction_avg", doc)
        self.entropy_reduction.set(nan)  # until a first question is answered
        self._reductions: list[float] = []
        doc = "Mean share of tokens that contexts save against the memories they are made from."
        self.compression = gauge("predictive_compression_ratio", doc)
        self.compression.set(nan)  # until a first context
        self._compressions: deque[float] = deque(maxlen=MAX_COMPRESSIONS)

    def count_question(self, question: str | None, last: dict[str, Any] | None) -> None:
        """Count a question, and the share of entropy that the answer to the last one removed."""
        if question:
            self.questions.inc()
        if last and last["entropy_before"]:
            self._reductions.append(1 - last["entropy_after"] / last["entropy_before"])
            self.entropy_reduction.set(fmean(self._reductions))

    def count_context(self, saved: float) -> None:
        """Count the share of tokens that a context saved."""
        self._compressions.append(saved)
        self.compression.set(fmean(self._compressions))

    def watch(self, collector: Collector) -> None:
        """Add a collector, which is read at each request."""
        self.registry.register(collector)

    def watch_clients(self, tracker: ActivityTracker) -> None:
        """Add the number of connected clients."""
        doc = "Open bridges and running requests."
        connections = Gauge("memvault_connections", doc, registry=self.registry)
        connections.set_function(lambda: tracker.visits)

    def text(self) -> bytes:
        """All metrics in Prometheus's text format."""
        return generate_latest(self.registry)


class ToolMetrics(Middleware):
    """Counts every call of a tool that exists."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    async def on_call_tool(self, context: ToolCall, call_next: CallTool) -> ToolResult:
        began = time.perf_counter()
        result = await call_next(context)
        seconds = time.perf_counter() - began
        tool, content = context.message.name, result.structured_content or {}
        self._metrics.calls.labels(tool).inc()
        self._metrics.seconds.labels(tool).observe(seconds)
        if result.is_error:
            self._metrics.errors.labels(tool, str(_code(content))).inc()
        elif content.get("notice"):
            self._metrics.notices.labels(tool).inc()
        if tool == "epistemic_action" and not result.is_error:
            self._metrics.count_question(content.get("question"), content.get("last"))
        if (saved := content.get("compression_ratio")) is not None:
            self._metrics.count_context(saved)
        return result


def _code(content: dict[str, Any]) -> int:
    return int(content.get("error", {}).get("code", 0))
