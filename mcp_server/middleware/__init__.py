"""Middleware of every MCP call: errors, limits, tool sets, client identity, origins, quarantine,
and the early embedding of questions."""

from __future__ import annotations

import mcp_types as mt
from fastmcp.resources import ResourceResult
from fastmcp.server.middleware import CallNext, MiddlewareContext
from fastmcp.tools import ToolResult

# What a middleware is given with a tool call and with the read of a resource.
ToolCall = MiddlewareContext[mt.CallToolRequestParams]
CallTool = CallNext[mt.CallToolRequestParams, ToolResult]
ResourceRead = MiddlewareContext[mt.ReadResourceRequestParams]
ReadResource = CallNext[mt.ReadResourceRequestParams, ResourceResult]
