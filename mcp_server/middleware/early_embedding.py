"""Embeds a question while its call is on the way to the thread that searches."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import mcp_types as mt
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult

if TYPE_CHECKING:
    from memvault.text.embedding import Embedder

MOST_CHARS = 4_096  # of a question that a tool takes


class EarlyEmbedding(Middleware):
    """Starts to embed the argument ``query`` of a call. The model computes in a thread of its own,
    so the search waits up to a millisecond less for the vector."""

    def __init__(self, embedder: Callable[[], Embedder]) -> None:
        self._embedder = embedder

    async def on_call_tool(
        self,
        context: MiddlewareContext[mt.CallToolRequestParams],
        call_next: CallNext[mt.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        query = (context.message.arguments or {}).get("query")
        if isinstance(query, str) and len(query) <= MOST_CHARS and (asked := query.strip()):
            with suppress(Exception):  # the tool fails in the same way, and says so
                self._embedder().begin_query(asked)
        return await call_next(context)
