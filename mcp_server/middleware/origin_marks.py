"""Marks the origin of every memory in an answer, and removes claims from critical answers.

Tools already withhold claims by the rule of `Searcher`. This is the last gate: it sees the finished
answer of every tool and resource, also of those that only mention a memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import mcp_types as mt
from fastmcp.resources import ResourceContent, ResourceResult
from fastmcp.server.middleware import Middleware
from fastmcp.tools import ToolResult
from pydantic_core import to_json

from mcp_server.answers.origins import marked
from mcp_server.middleware import CallTool, ReadResource, ResourceRead, ToolCall
from memvault.model.json_text import json_value
from memvault.verification.sensitive_topics import sensitive_topic_of

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container

QUESTION_ARGUMENTS = ("query", "topic", "question", "goal", "reasoning_summary")  # of tools


class OriginMarks(Middleware):
    """Adds `origin` to quoted memories, and `written_by` and `verified` to those of others."""

    def __init__(self, container: Callable[[], Container]) -> None:
        self._container = container

    async def on_call_tool(self, context: ToolCall, call_next: CallTool) -> ToolResult:
        result = await call_next(context)
        structured = result.structured_content
        if not isinstance(structured, dict) or result.is_error:
            return result
        arguments = context.message.arguments or {}
        question = " ".join(str(arguments[key]) for key in QUESTION_ARGUMENTS if key in arguments)
        critical = bool(question) and sensitive_topic_of(question) is not None
        gated = critical and not arguments.get("allow_unverified")
        shown = self._marked(structured, gated=gated)
        parts = result.content
        is_text = len(parts) == 1 and isinstance(parts[0], mt.TextContent)
        if is_text:
            parts = [mt.TextContent(type="text", text=to_json(shown).decode())]
        return result.model_copy(update={"content": parts, "structured_content": shown})

    async def on_read_resource(
        self, context: ResourceRead, call_next: ReadResource
    ) -> ResourceResult:
        result = await call_next(context)
        contents = [self._resource(content) for content in result.contents]
        return ResourceResult(contents, meta=result.meta)

    def _resource(self, part: ResourceContent) -> ResourceContent:
        if part.mime_type != "application/json" or not isinstance(part.content, str):
            return part
        text = to_json(self._marked(json_value(part.content), gated=False)).decode()
        return ResourceContent(text, mime_type=part.mime_type, meta=part.meta)

    def _marked(self, value: Any, *, gated: bool) -> Any:
        return marked(value, self._container().live.catalogue, gated=gated)
