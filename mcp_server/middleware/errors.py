"""Translates errors for clients; no other module does.

A failed call is a tool result with ``isError``: its text is the message, its structured content
``{error: {code, message, data}}``. Calling a tool that does not exist is a protocol error.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

import mcp_types as mt
from fastmcp.exceptions import DisabledError, NotFoundError, PromptError, ResourceError
from fastmcp.exceptions import ValidationError as InvalidArguments
from fastmcp.prompts import PromptResult
from fastmcp.prompts.function_prompt import FunctionPrompt
from fastmcp.resources import ResourceResult
from fastmcp.server.middleware import Middleware
from fastmcp.tools import ToolResult
from fastmcp.tools.function_tool import FunctionTool
from mcp import MCPError
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from mcp_server.answers.base import Shape
from mcp_server.middleware import CallTool, ReadResource, ResourceRead, ToolCall
from mcp_server.tools.arguments import coerced, without_omitted
from memvault.model.errors import InvalidParams, MemvaultError, StorageError, reason_of

logger = logging.getLogger(__name__)

RATIONALE = "Rationale is required (10-500 characters)"
VERBOSITY = "Verbosity level must be 0, 1, or 2"

# Messages quoted from the specification (EC-CORE-002, -003, -016), by parameter and pydantic error.
MESSAGES = {
    ("rationale", "missing"): RATIONALE,
    ("rationale", "string_type"): RATIONALE,
    ("query", "string_too_short"): "The question is empty: give a question or keywords",
    ("sources", "too_short"): "sources needs at least 2 memories; the target may be one of them",
    ("content", "string_too_long"): "Content exceeds maximum length of 65536 characters",
    **{
        (parameter, kind): VERBOSITY
        for parameter in ("verbosity_level", "level")
        for kind in (
            *("greater_than_equal", "less_than_equal"),
            *("int_type", "int_parsing", "int_from_float", "missing"),
        )
    },
}
STORAGE_PREFIXES = ("Storage error: ", "Database integrity check failed")
OUT_OF_RANGE = {"greater_than_equal", "less_than_equal", "greater_than", "less_than"}
MISSING = {"missing_argument", "missing_keyword_only_argument"}
UNKNOWN = {"unexpected_keyword_argument", "extra_forbidden"}
NO_OBJECT = {"model_type", "model_attributes_type", "dataclass_type"}


NO_TEXT = mt.TextContent(type="text", text="")


class AnsweringTool(FunctionTool):
    """A tool whose errors are results that a model can act on."""

    def get_meta(self) -> dict[str, Any]:
        """The metadata without tags, which would cost tokens in every conversation."""
        return self.meta or {}

    def convert_result(self, raw_value: Any) -> ToolResult:
        """The result of a tool, made faster than by FastMCP: a `Shape` is converted to JSON once.

        Its text is left empty for `OriginMarks`, which writes it from the marked answer.
        """
        if not isinstance(raw_value, Shape):
            return super().convert_result(raw_value)
        fields = raw_value.model_dump(mode="json")
        return ToolResult.model_construct(content=[NO_TEXT], structured_content=fields)

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        try:
            is_destructive = self.annotations is not None and self.annotations.destructive_hint
            given = without_omitted(arguments, self.parameters, empty=not is_destructive)
            return await super().run(coerced(given, self.parameters))
        except InvalidArguments as error:
            cause = error.__cause__
            if not isinstance(cause, ValidationError):
                raise
            return error_result(invalid_params(cause, self.parameters))
        except MemvaultError as error:
            return error_result(_as_specified(error, self.name))
        except MCPError:
            raise
        except Exception:
            reference = uuid4().hex[:8]
            logger.exception("tool %s failed (reference %s)", self.name, reference)
            return error_result(
                MemvaultError(
                    f"Internal error (reference {reference}): the engine's log has the details",
                    reference=reference,
                )
            )


class AnsweringPrompt(FunctionPrompt):
    """A prompt whose errors name the argument to correct.

    Empty arguments count as left out: clients send all fields of the form that they show.
    """

    async def render(self, arguments: dict[str, Any] | None = None) -> PromptResult:
        given = {name: text for name, text in (arguments or {}).items() if str(text).strip()}
        for argument in self.arguments or []:
            if argument.required and argument.name not in given:
                raise protocol_error(InvalidParams(f"The prompt needs a {argument.name}"))
        try:
            return await super().render(given)
        except MemvaultError as error:
            raise protocol_error(error) from error
        except PromptError as error:  # FastMCP before 4.2 wraps it
            if isinstance(error.__cause__, MemvaultError):
                raise protocol_error(error.__cause__) from error
            raise


class UnknownTools(Middleware):
    """Raises a protocol error for a call of a tool that does not exist."""

    async def on_call_tool(self, context: ToolCall, call_next: CallTool) -> ToolResult:
        try:
            return await call_next(context)
        except (NotFoundError, DisabledError) as error:
            name = context.message.name
            raise MCPError(mt.INVALID_PARAMS, f"Unknown tool: {name}") from error


def _as_specified(error: MemvaultError, operation: str) -> MemvaultError:
    """A storage error in the words of the specification (ERR-CORE-001), unless it has them."""
    if type(error) is not StorageError or error.message.startswith(STORAGE_PREFIXES):
        return error
    worded = StorageError(f"Storage error: {operation} failed - {error.message}", **error.data)
    worded.__cause__ = error.__cause__
    return worded


class ResourceErrors(Middleware):
    """Gives errors of resources their own code; a resource has no error result."""

    async def on_read_resource(
        self, context: ResourceRead, call_next: ReadResource
    ) -> ResourceResult:
        try:
            return await call_next(context)
        except ResourceError as error:
            if isinstance(error.__cause__, MemvaultError):
                raise protocol_error(error.__cause__) from error
            raise


def protocol_error(error: MemvaultError) -> MCPError:
    """The protocol error, for requests whose results cannot be errors."""
    return MCPError(error.code, error.message, error.data or None)


def error_result(error: MemvaultError) -> ToolResult:
    """The tool result for this error."""
    level = logging.WARNING if isinstance(error, StorageError) else logging.INFO
    cause = error.__cause__
    # An error of pydantic repeats the arguments of the call.
    reason = "" if cause is None or isinstance(cause, ValidationError) else f": {cause!r}"
    logger.log(level, "answered with error %d (%s)%s", error.code, type(error).__name__, reason)
    content: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data:
        content["data"] = error.data
    return ToolResult(content=error.message, structured_content={"error": content}, is_error=True)


def invalid_params(error: ValidationError, schema: Mapping[str, Any]) -> InvalidParams:
    """The error for invalid arguments of a call.

    Args:
        schema: the tool's input schema, for the range of the parameter.
    """
    errors = error.errors(include_url=False, include_input=True)
    # A name that does not exist explains why another argument is missing.
    details = next((each for each in errors if each["type"] in UNKNOWN), errors[0])
    kind = "missing" if details["type"] in MISSING else details["type"]
    location = [str(part) for part in details["loc"]]
    parameter = ".".join(location) or "arguments"
    data: dict[str, Any] = {"parameter": parameter}
    if isinstance(details["input"], str) and kind.startswith("string_too"):
        data["received"] = len(details["input"])
    message = MESSAGES.get((parameter, kind))
    if message is None and kind in OUT_OF_RANGE:
        message = _range_message(parameter, _schema_at(schema, location))
    if message is None:
        described = _schema_at(schema, location if kind in NO_OBJECT else location[:-1])
        object_schema = _first_with_properties(described, schema)
        explanation = _explanation(kind, details, object_schema.get("properties", {}))
        message = f"Invalid params: {parameter} - {explanation}"
    return InvalidParams(message, **data)


def _explanation(kind: str, details: ErrorDetails, parameters: Iterable[str]) -> str:
    if kind == "missing":
        return "it is required"
    if kind in UNKNOWN:
        return f"there is no such parameter. There are: {', '.join(parameters)}"
    if kind in NO_OBJECT:
        return f"it must be an object with: {', '.join(parameters)}"
    if kind.startswith(("date_", "datetime_")):
        return (
            "it must be a date or time in ISO 8601, such as 2026-03-14 or "
            "2026-03-14T09:30:00+01:00; without a zone, a time is in UTC"
        )
    if details.get("ctx") == {"min_length": 1}:
        return "it must not be empty"
    return reason_of(details["msg"].replace(" after validation", ""))


def _range_message(parameter: str, described: Mapping[str, Any]) -> str | None:
    low, high = described.get("minimum"), described.get("maximum")
    if low is None or high is None:
        return None
    return f"{parameter} must be between {low:g} and {high:g}"


def _schema_at(schema: Mapping[str, Any], location: list[str]) -> Mapping[str, Any]:
    """The part of a JSON schema that describes the value at this location."""
    described: Mapping[str, Any] = schema
    for name in location:
        lists = [choice for choice in (described, *described.get("anyOf", [])) if "items" in choice]
        if lists and name.isdigit():
            described = lists[0]["items"]
        else:
            described = (
                _first_with_properties(described, schema).get("properties", {}).get(name, {})
            )
    choices = [described, *described.get("anyOf", [])]
    return next((choice for choice in choices if "minimum" in choice), described)


def _first_with_properties(part: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    for choice in (part, *part.get("anyOf", [])):
        if "$ref" in choice:
            name = choice["$ref"].rsplit("/", 1)[-1]
            return dict(schema.get("$defs", {}).get(name, {}))
        if "properties" in choice:
            return dict(choice)
    return {}
