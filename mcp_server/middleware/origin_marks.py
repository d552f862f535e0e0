"""Marks the origin of every memory in an answer, and removes claims from critical answers.

Tools already withhold claims by the rule of `Searcher`. This is the last gate: it sees the finished
answer of every tool and resource, also of those that only mention a memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import mcp_types as mt
from fastmcp.resources import ResourceContent, ResourceResult
from fastmcp.server.middleware import Middleware
from fastmcp.tools import ToolResult
from pydantic_core import to_json

from mcp_server.middleware import CallTool, ReadResource, ResourceRead, ToolCall
from memvault.model.json_text import json_value
from memvault.model.memory import Memory
from memvault.model.note import LineRange
from memvault.model.provenance import Origin, OriginKind
from memvault.verification.sensitive_topics import sensitive_topic_of

if TYPE_CHECKING:
    from indexer.catalogue import Catalogue
    from mcp_server.runtime.container import Container

QUESTION_ARGUMENTS = ("query", "topic", "question", "goal", "reasoning_summary")  # of tools
# The fields that quote a note; all others name or measure it.
QUOTATIONS = frozenset({
    "content", "text", "sentence", "said", "snippet", "content_snippet", "opening", "excerpt",
    "quote", "summary", "statement", "rationale", "current_content", "content_before",
    "content_after", "before", "after", "raw_content", "explanation",
})  # fmt: skip
# The fields that show so much of a memory that the person's origin is marked, too.
_TEXTS = frozenset({"content", "text", "current_content", "raw_content"})
_TITLED = frozenset({"title", "name"})


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
        marked = self._marked(json_value(part.content), gated=False)
        return ResourceContent(
            to_json(marked).decode(), mime_type=part.mime_type, meta=part.meta
        )  # fmt: skip

    def _marked(self, value: Any, *, gated: bool) -> Any:
        return marked(value, self._container().live.catalogue, gated=gated)


def marked(value: Any, catalogue: Catalogue, *, gated: bool = False) -> Any:
    """The answer with the origin of every memory in it; if ``gated``, without unverified claims."""
    if isinstance(value, list):
        return [marked(item, catalogue, gated=gated) for item in value]
    if not isinstance(value, dict):
        return value
    marked_fields = {
        key: marked(item, catalogue, gated=gated) if isinstance(item, dict | list) else item
        for key, item in value.items()
    }
    memory = _memory(value, catalogue)
    if memory is None:
        return marked_fields
    if value.get("origin") == OriginKind.PERSON:
        return marked_fields  # the tool shows the person's own words alone
    line = value.get("line")
    origin = _origin_of(memory, value.get("lines", None if line is None else [line, line]))
    if origin.is_person:
        is_named = not _TITLED.isdisjoint(value) and not QUOTATIONS.isdisjoint(value)
        if is_named or not _TEXTS.isdisjoint(value):
            marked_fields.setdefault("origin", str(origin.kind))
        return marked_fields
    marked_fields["origin"] = str(origin.kind)
    if origin.name:
        marked_fields["written_by"] = origin.name
    marked_fields.setdefault("verified", memory.verified)
    if gated and not marked_fields["verified"]:
        marked_fields |= {
            key: ""
            for key in marked_fields
            if key in QUOTATIONS and isinstance(marked_fields[key], str)
        }
    return marked_fields


def _memory(shape: Mapping[str, Any], catalogue: Catalogue) -> Memory | None:
    for key in ("stated_in", "path"):  # a quoted sentence is of the note that states it
        place = shape.get(key)
        if isinstance(place, str) and (memory := catalogue.by_path(place)) is not None:
            return memory
    for key in ("id", "node_id"):
        name = shape.get(key)
        if isinstance(name, str) and (memory := catalogue.by_id(name)) is not None:
            return memory
    return None


def _origin_of(memory: Memory, lines: object) -> Origin:
    """The origin of the shown lines, or of the whole note without lines: the person only if all of
    it is theirs."""
    if isinstance(lines, list) and [type(number) for number in lines] == [int, int]:
        return memory.provenance.of_lines(LineRange(*lines))
    return memory.provenance.claimant
