"""Starts to embed a question before its call reaches the search thread."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from fastmcp.server.middleware import Middleware
from fastmcp.tools import ToolResult

from mcp_server.middleware import CallTool, ToolCall

MAX_CHARS = 4_096  # longest question that tools accept


class EarlyEmbedding(Middleware):
    """Starts to embed the argument ``query`` of a call.

    The model computes in threads of its own, so the search waits less for the vector.

    Args:
        begin: starts to embed a question.
    """

    def __init__(self, begin: Callable[[str], object]) -> None:
        self._begin = begin

    async def on_call_tool(self, context: ToolCall, call_next: CallTool) -> ToolResult:
        query = (context.message.arguments or {}).get("query")
        if isinstance(query, str) and len(query) <= MAX_CHARS and (question := query.strip()):
            with suppress(Exception):  # the tool fails in the same way, and reports it
                self._begin(question)
        return await call_next(context)
