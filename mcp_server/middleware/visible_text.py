"""Removes invisible characters from what goes to a model: with them, a text could say more to a
model than the person sees. The notes stay as they are."""

from __future__ import annotations

from typing import Any

import mcp_types as mt
from fastmcp.prompts import PromptResult
from fastmcp.resources import ResourceContent, ResourceResult
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult

from mcp_server.middleware import CallTool, ReadResource, ResourceRead, ToolCall
from memvault.model.unicode_forms import without_invisible


class VisibleText(Middleware):
    """Removes invisible characters from all answers, errors, resources and prompts."""

    async def on_call_tool(self, context: ToolCall, call_next: CallTool) -> ToolResult:
        result = await call_next(context)
        return result.model_copy(
            update={
                "content": [_visible_part(part) for part in result.content],
                "structured_content": visible(result.structured_content),
            }
        )

    async def on_read_resource(
        self, context: ResourceRead, call_next: ReadResource
    ) -> ResourceResult:
        result = await call_next(context)
        parts = [
            ResourceContent(visible(part.content), mime_type=part.mime_type, meta=part.meta)
            for part in result.contents
        ]
        return ResourceResult(parts, meta=result.meta)

    async def on_get_prompt(
        self,
        context: MiddlewareContext[mt.GetPromptRequestParams],
        call_next: CallNext[mt.GetPromptRequestParams, PromptResult],
    ) -> PromptResult:
        result = await call_next(context)
        messages = [
            message.model_copy(update={"content": _visible_part(message.content)})
            for message in result.messages
        ]
        return result.model_copy(update={"messages": messages})


def visible(value: Any) -> Any:
    """The value with invisible characters removed from all texts in it."""
    if isinstance(value, str):
        return without_invisible(value)
    if isinstance(value, dict):
        return {visible(key): visible(item) for key, item in value.items()}
    if isinstance(value, list):
        return [visible(item) for item in value]
    return value


def _visible_part(part: Any) -> Any:
    if not isinstance(part, mt.TextContent):
        return part
    return part.model_copy(update={"text": without_invisible(part.text)})
