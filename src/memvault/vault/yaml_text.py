"""Values as YAML text that every reader, old or new, reads as the same value."""

from __future__ import annotations

import json
import math
import re
from datetime import date, datetime

import yaml

from memvault.model.errors import InvalidParams

MAX_KEY_CHARS = 500

# Certainly one string in every version of YAML, once words such as ``yes`` are ruled out.
_PLAIN = re.compile(r"[^\W\d_](?:[\w ./()'+;-]*[\w./()'+;-])?")
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def scalar_text(value: object) -> str:
    """One value on one line.

    Raises:
        InvalidParams: not a string, number, bool, None, date or datetime, or no Unicode text.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        return _string_text(value)
    raise InvalidParams(f"a {type(value).__name__} cannot be written into frontmatter")


def key_text(key: str) -> str:
    """A key in front of its colon.

    Raises:
        InvalidParams: empty, or longer than YAML allows.
    """
    if not key or len(key) > MAX_KEY_CHARS:
        raise InvalidParams(f"a frontmatter key has 1 to {MAX_KEY_CHARS} characters")
    return _string_text(key)


def flow_text(values: list[object]) -> str:
    return "[" + ", ".join(scalar_text(value) for value in values) + "]"


def items_text(values: list[object], indent: str, newline: str) -> str:
    """Lines of a list, each with a line end in front."""
    return "".join(f"{newline}{indent}- {scalar_text(value)}" for value in values)


def _float_text(value: float) -> str:
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    text = repr(value)
    mantissa, exponent, power = text.partition("e")
    return f"{mantissa}.0e{power}" if exponent and "." not in mantissa else text


def _string_text(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidParams("the text holds half a character; send valid Unicode") from error
    is_word = _PLAIN.fullmatch(text) and text.lower() not in {"y", "n"}
    if is_word and yaml.safe_load(text) == text:
        return text
    return _UNPRINTABLE.sub(_escaped, json.dumps(text, ensure_ascii=False))


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
