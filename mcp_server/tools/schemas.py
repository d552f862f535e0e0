"""Schemas as clients list them: every token of them is a model's, in every conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastmcp.utilities.json_schema import dereference_refs

_TEXT_LIMITS = frozenset({"minLength", "minItems", "title", "format"})
_LIMITED = frozenset({"rationale", "content"})  # longer texts are often tried there


def lean_input(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a tool's arguments without what is true of every tool.

    An optional argument has its own type: leaving it out is the way to give none. Lengths are
    checked and told by an error; ranges of numbers and choices stay.
    """
    described = dereference_refs(dict(schema))
    properties = {
        name: _lean(part, limited=name in _LIMITED)
        for name, part in described.get("properties", {}).items()
    }
    return {**described, "properties": properties}


def lean_output(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Which fields an answer always has. What they hold is read from the answer itself, and said in
    the tool's description where a model must know it before."""
    return {"type": "object", "required": schema.get("required", [])}


def _lean(part: Mapping[str, Any], *, limited: bool = False) -> dict[str, Any]:
    choices = [each for each in part.get("anyOf", []) if each.get("type") != "null"]
    kept = {key: value for key, value in part.items() if key != "anyOf"}
    if len(choices) == 1:
        inner = {key: value for key, value in choices[0].items() if key != "description"}
        kept = {**inner, **kept}
    elif choices:
        kept["anyOf"] = [_lean(each) for each in choices]
    lean = {
        key: value
        for key, value in kept.items()
        if key not in _TEXT_LIMITS
        and (key not in ("maxLength", "maxItems") or limited)
        and not (key == "default" and value is None)
    }
    if "properties" in lean:
        lean["properties"] = {name: _lean(each) for name, each in lean["properties"].items()}
        lean.pop("additionalProperties", None)
    if "items" in lean:
        lean["items"] = _lean(lean["items"])
    return lean
