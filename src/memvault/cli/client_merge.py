"""Add one server to a client's configuration text; everything else in it stays as it is."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any


class CannotMerge(Exception):
    """The text is malformed, or in a form that cannot be added to without risk; says why."""


def merge_json(text: str, key: str, name: str, entry: dict[str, Any]) -> str:
    """``{key: {name: entry}}`` put into a JSON object, its order and indentation kept.

    Raises:
        CannotMerge: the text is not plain JSON (comments included), or names a key twice.
    """
    if not text.strip():
        return json.dumps({key: {name: entry}}, indent=2, ensure_ascii=False) + "\n"
    try:
        whole = json.loads(text, object_pairs_hook=_without_twins)
    except ValueError as error:
        raise CannotMerge(str(error)) from error
    if not isinstance(whole, dict) or not isinstance(whole.get(key, {}), dict):
        raise CannotMerge(f"it is not an object with an object {key}")
    if whole.get(key, {}).get(name) == entry:
        return text
    whole.setdefault(key, {})[name] = entry
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    indent = found[1] if found else 2
    end = "\n" if text.endswith("\n") else ""
    return json.dumps(whole, indent=indent, ensure_ascii=False) + end


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("it names a key twice")
    return fields


def merge_toml(text: str, key: str, name: str, entry: dict[str, Any]) -> str:
    """A table ``[key.name]`` appended, or put where it stood; every other byte is kept.

    Raises:
        CannotMerge: the text is not TOML, or writes the table in another way.
    """
    before = _toml(text)
    if before.get(key, {}).get(name) == entry:
        return text
    table = toml_table(key, name, entry)
    header = re.compile(
        rf"^[ \t]*\[{re.escape(key)}\.(?:{re.escape(name)}|\"{re.escape(name)}\")\][^\n]*\n"
        r"(?:(?![ \t]*\[)[^\n]*(?:\n|\Z))*",
        re.MULTILINE,
    )
    if found := header.search(text):
        rest = text[found.end() :]
        merged = text[: found.start()] + table + ("\n" if rest else "") + rest
    else:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        merged = text + gap + table
    after = _toml(merged)
    if _without(before, key, name) != _without(after, key, name) or after[key][name] != entry:
        raise CannotMerge(f"it writes {key} in a way that cannot be added to")
    return merged


def toml_table(key: str, name: str, entry: dict[str, Any]) -> str:
    """The entry as TOML; its values are strings and lists of them, which JSON writes alike."""
    lines = [f"{field} = {json.dumps(value)}" for field, value in entry.items()]
    return "\n".join([f"[{key}.{name}]", *lines, ""])


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CannotMerge(str(error)) from error


def _without(values: dict[str, Any], key: str, name: str) -> dict[str, Any]:
    table = values.get(key, {})
    others = {each: value for each, value in table.items() if each != name}
    return {**values, key: others}
