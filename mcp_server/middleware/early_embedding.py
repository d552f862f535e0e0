"""Starts to embed a question before its call reaches the search thread."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import mcp_types as mt
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult

MAX_CHARS = 4_096  # longest question that tools accept


class EarlyEmbedding(Middleware):
    """Starts to embed the argument ``query`` of a call.

    The model computes in threads of its own, so the search waits less for the vector.

    Args:
        begin: starts to embed a question.
    """

    def __init__(self, begin: Callable[[str], object]) -> None:
        self._begin = begin

    async def on_call_tool(
        self,
        context: MiddlewareContext[mt.CallToolRequestParams],
        call_next: CallNext[mt.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        query = (context.message.arguments or {}).get("query")
        if isinstance(query, str) and len(query) <= MAX_CHARS and (question := query.strip()):
            with suppress(Exception):  # the tool fails in the same way, and reports it
                self._begin(question)
        return await call_next(context)
