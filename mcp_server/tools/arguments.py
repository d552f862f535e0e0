"""The tools' arguments: their limits, and their descriptions for models."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal

from fastmcp.utilities.json_schema import dereference_refs
from mcp_types import ToolAnnotations
from pydantic import Field, StringConstraints

from memvault.model.json_text import json_value
from memvault.model.search import Filters

CORE = {"core"}
FULL = {"full"}
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
EDITS = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)
SETS = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)
TUNES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


def _as_text(schema: dict[str, Any]) -> None:
    """Describe a choice of types as text, which every model can give and the tool converts."""
    del schema["anyOf"]
    schema["type"] = "string"


Importance = Annotated[
    float | str | None,
    Field(
        description="critical, high, medium (default), low, or 0 to 1.",
        json_schema_extra=_as_text,
    ),
]

Query = Annotated[
    str,
    StringConstraints(strip_whitespace=True),
    Field(min_length=1, max_length=4096, description="A question or keywords, in plain language."),
]
MaxCount = Annotated[int, Field(ge=1, le=100, description="How many at most.")]
TopK = Annotated[int, Field(ge=1, le=100, description="Maximum number of results.")]
MaxResults = Annotated[
    int | None,
    Field(
        ge=1,
        le=100,
        description="Maximum number of results; default: 10 or by mode, without unlikely ones.",
    ),
]
AllowUnverified = Annotated[
    bool,
    Field(description="Also show withheld text that nothing confirms. Tell the person so."),
]
MaxHops = Annotated[int, Field(ge=1, le=5, description="Longest chain of relations.")]
InProject = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=100,
        description="Search only this project and notes of no project.",
    ),
]
Verbosity = Annotated[
    int | None,
    Field(ge=0, le=2, description="0: titles. 1: answering passages (default). 2: more, and why."),
]
SessionId = Annotated[
    str | None,
    Field(min_length=1, max_length=128, description="Default: this connection."),
]
Narrowing = Annotated[
    Filters | None,
    Field(description="All given conditions must hold. Dates: ISO 8601."),
]
RequestedMode = Annotated[
    Literal["auto", "planning", "execution", "default"],
    Field(description="planning: varied ideas. execution: few, certain."),
]
MemoryId = Annotated[str, Field(min_length=1, max_length=64, description="A memory's id.")]
_RATIONALE = {"minLength": 10, "maxLength": 500}
WhyKept = Annotated[
    str,
    Field(description="Why this is kept.", json_schema_extra={**_RATIONALE}),
]
WhyChanged = Annotated[
    str,
    Field(
        description="Reason for this change.",
        json_schema_extra={**_RATIONALE},
    ),
]
Preview = Annotated[bool, Field(description="Only show what would change.")]
TargetName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=1024,
        description="Title, alias, file name, path or id; a tag with its #.",
    ),
]


# Not in the schemas: the tool checks these limits. Gemini knows no `exclusiveMinimum`.
_CHECKED = frozenset({"minLength", "minItems", "title", "format", "exclusiveMinimum"})
# Of all answers. Names of fields would cost tokens, and errors have others: clients made with the
# TypeScript SDK check these, too, and would show the person a mismatch instead of the error.
ANSWER = {"type": "object"}
_LIMITED = frozenset({"rationale", "content"})  # texts outside their limits are often tried there


def lean_input(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a tool's arguments, shortened to save tokens.

    An optional argument has only its own type, without null, since it can be left out. Lengths
    are checked by the tool, whose error names them; ranges of numbers, choices and the lengths of
    `_LIMITED` stay. Every part has a type, and `anyOf` no key next to it: providers of models
    refuse all tools of a client for one whose schema does not (Vertex AI, for example).
    """
    described = dereference_refs(dict(schema))
    properties = {
        name: _lean(part, limited=name in _LIMITED)
        for name, part in described.get("properties", {}).items()
    }
    return {**described, "properties": properties}


def coerced(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call with texts converted to the types of the schema.

    Objects and lists that a client sent as JSON text are parsed; a single text becomes a list of
    one.

    Args:
        schema: the tool's input schema.
    """
    described = schema.get("properties", {})
    return {
        name: _converted(value, described.get(name, {})) if isinstance(value, str) else value
        for name, value in arguments.items()
    }


def without_omitted(
    arguments: Mapping[str, Any], schema: Mapping[str, Any], *, empty: bool
) -> dict[str, Any]:
    """The arguments without those that may be left out and are null: some clients give every
    argument.

    Args:
        schema: the tool's input schema.
        empty: leave out empty texts, too, as small models give these.
    """
    optional = {*schema.get("properties", {})} - {*schema.get("required", ())}

    def is_omitted(value: Any) -> bool:
        return value is None or (empty and isinstance(value, str) and not value.strip())

    return {
        name: value
        for name, value in arguments.items()
        if name not in optional or not is_omitted(value)
    }


def _converted(text: str, schema: Mapping[str, Any]) -> Any:
    choices = [schema, *schema.get("anyOf", [])]
    kinds = {"object" if "$ref" in choice else choice.get("type") for choice in choices}
    if "string" in kinds or kinds.isdisjoint({"object", "array"}):
        return text
    with suppress(ValueError):
        value = json_value(text)
        if isinstance(value, (dict, list)):
            return value
    return [text] if "array" in kinds else text


def _lean(schema: Mapping[str, Any], *, limited: bool = False) -> dict[str, Any]:
    choices = [choice for choice in schema.get("anyOf", []) if choice.get("type") != "null"]
    merged = {key: value for key, value in schema.items() if key != "anyOf"}
    if len(choices) == 1:
        merged = {**choices[0], **merged}
        if "enum" in merged and "description" not in schema:
            merged.pop("description", None)  # an enumeration's docstring, not about the argument
    elif choices:
        return {"anyOf": [_lean(choice) for choice in choices]}
    lean = {
        key: value
        for key, value in merged.items()
        if (key not in _CHECKED or (limited and key == "minLength"))
        and (key not in ("maxLength", "maxItems") or limited)
        and not (key == "default" and value is None)
    }
    if "properties" in lean:
        lean["properties"] = {
            name: _lean(property_schema) for name, property_schema in lean["properties"].items()
        }
        lean.pop("additionalProperties", None)
    if "items" in lean:
        lean["items"] = _lean(lean["items"])
    if lean.get("additionalProperties") == {}:  # of any type
        del lean["additionalProperties"]
    return lean
