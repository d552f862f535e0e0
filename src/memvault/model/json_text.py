"""Reads JSON that others wrote: clients, notes, exports, files of other programs."""

from __future__ import annotations

import json

TYPE_CHECKING = False  # without importing typing: clients wait for hooks at every prompt
if TYPE_CHECKING:
    from typing import Any


def json_value(text: str | bytes, **options: Any) -> Any:
    """The value of a JSON text.

    Args:
        options: those of `json.loads`.

    Raises:
        ValueError: the text is not JSON, not UTF-8, or nested too deeply.
    """
    try:
        return json.loads(text, **options)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error


def json_object(text: str | bytes) -> dict[str, Any] | None:
    """The object of a JSON text; None if the text is no JSON object."""
    try:
        value = json_value(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
