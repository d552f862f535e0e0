"""Which tools a client sees: every tool costs its model tokens, so most see the core set.

A connection asks for all with ``/bridge?tools=full`` or ``/mcp?tools=full``. A tool that is not
listed can be called all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal
from urllib.parse import parse_qs

import mcp_types as mt
from fastmcp.server.dependencies import get_http_request
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import Tool

ToolSet = Literal["core", "full"]
_asked: ContextVar[ToolSet | None] = ContextVar("tools asked for", default=None)


def asked_in(query: str) -> ToolSet | None:
    """The set that the query of a connection's address names, if any."""
    match parse_qs(query).get("tools"):
        case ["full"]:
            return "full"
        case ["core"]:
            return "core"
    return None


@contextmanager
def connection_with(tools: ToolSet | None) -> Iterator[None]:
    """What is served within belongs to a connection that asked for this set."""
    token = _asked.set(tools)
    try:
        yield
    finally:
        _asked.reset(token)


def wanted_set() -> ToolSet | None:
    """The set that the connection of the present call asked for, if any."""
    return _asked.get() or _asked_over_http()


class ToolSets(Middleware):
    """Lists the tools of the set that the connection asked for, else of the engine's own."""

    def __init__(self, usual: ToolSet) -> None:
        self._usual: ToolSet = usual

    async def on_list_tools(
        self,
        context: MiddlewareContext[mt.ListToolsRequest],
        call_next: CallNext[mt.ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        tools = await call_next(context)
        if (wanted_set() or self._usual) == "full":
            return tools
        return [tool for tool in tools if "core" in tool.tags]


def _asked_over_http() -> ToolSet | None:
    try:
        return asked_in(get_http_request().url.query)
    except RuntimeError:  # not over HTTP
        return None
