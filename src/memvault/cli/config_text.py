"""Changes one value in a JSON or TOML text and keeps every other byte, comments included."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast


class CannotEdit(Exception):
    """The text is malformed, or does not have the expected shape; the message says why."""


Steps = Sequence[str | int]
"""Where a value is: the keys, and the positions in lists, that lead to it."""


# JSON, as programs keep it: with comments and trailing commas


@dataclass(slots=True)
class _Node:
    """A value and its span in the text; ``items`` are the members of an object or list."""

    start: int
    end: int
    kind: Literal["object", "list", "scalar"]
    value: Any
    items: list[_Item] = field(default_factory=list)


@dataclass(slots=True)
class _Item:
    """A member; ``start`` is the offset of its key, or of its value in a list."""

    key: str | int
    start: int
    node: _Node


_GAP = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_scalar_at = json.JSONDecoder().raw_decode
_COMMENT_ON_THE_LINE = re.compile(r"[ \t]*(?://[^\r\n]*?(?=[ \t]*(?:[\r\n]|\Z))|/\*[^\r\n]*?\*/)")


def read_json(text: str) -> Any:
    """The value of a JSON text, which may have comments and trailing commas; {} if it is empty.

    Raises:
        CannotEdit: the text is malformed.
    """
    return _parse(text).value if text.strip() else {}


def put_json(text: str, steps: Steps, value: Any) -> str:
    """The text with the value set; missing objects and lists on the way are created.

    A position equal to the length of a list appends to it.

    Raises:
        CannotEdit: the text is malformed, a key on the way exists twice, or a value on the way
            is neither an object nor a list.
    """
    if not text.strip():
        return json.dumps(_nested(steps, value), indent=2, ensure_ascii=False) + "\n"
    node = _parse(text)
    for depth, step in enumerate(steps):
        item = _item(node, step)
        if item is None:
            return _insert(text, node, step, _nested(steps[depth + 1 :], value))
        node = item.node
    if node.value == value:
        return text
    written = _dumped(value, _unit(text), _indent_of_line(text, node.start), _newline(text))
    return text[: node.start] + written + text[node.end :]


def cut_json(text: str, steps: Steps) -> str:
    """The text without the value, its comma and its line; unchanged if there is no such value.

    Raises:
        CannotEdit: as `put_json`.
    """
    if not text.strip():
        return text
    node = _parse(text)
    for step in steps[:-1]:
        item = _item(node, step)
        if item is None:
            return text
        node = item.node
    item = _item(node, steps[-1])
    return text if item is None else _removed(text, node, item)


def _parse(text: str) -> _Node:
    try:
        node = _parse_value(text, _skip(text, 0))
        end = _skip(text, node.end)
    except (ValueError, IndexError, RecursionError) as error:
        raise CannotEdit(str(error) or type(error).__name__) from error
    if end != len(text):
        raise CannotEdit(f"unexpected text in {_line(text, end)}")
    return node


def _skip(text: str, at: int) -> int:
    return cast(re.Match[str], _GAP.match(text, at)).end()


def _line(text: str, at: int) -> str:
    return f"line {text.count(chr(10), 0, at) + 1}"


def _parse_value(text: str, at: int) -> _Node:
    if text[at] in "{[":
        return _parse_container(text, at)
    value, end = _scalar_at(text, at)
    return _Node(at, end, "scalar", value)


def _parse_container(text: str, start: int) -> _Node:
    """Parse an object or a list from its opening bracket."""
    is_object, items = text[start] == "{", list[_Item]()
    close, at = ("}" if is_object else "]"), _skip(text, start + 1)
    while text[at] != close:
        key, begin = len(items), at
        if is_object:
            key, at = _parse_key(text, at)
        items.append(_Item(key, begin, _parse_value(text, at)))
        at = _skip(text, items[-1].node.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
        elif text[at] != close:
            raise CannotEdit(f"a comma is missing in {_line(text, at)}")
    values = [item.node.value for item in items]
    value = dict(zip((item.key for item in items), values, strict=True)) if is_object else values
    return _Node(start, at + 1, "object" if is_object else "list", value, items)


def _parse_key(text: str, at: int) -> tuple[Any, int]:
    if text[at] != '"':
        raise CannotEdit(f"no key where one is expected, in {_line(text, at)}")
    key, at = _scalar_at(text, at)
    at = _skip(text, at)
    if text[at] != ":":
        raise CannotEdit(f"a colon is missing in {_line(text, at)}")
    return key, _skip(text, at + 1)


def _item(node: _Node, step: str | int) -> _Item | None:
    if node.kind != ("object" if isinstance(step, str) else "list"):
        raise CannotEdit(f"there is no {'object' if isinstance(step, str) else 'list'} for {step}")
    items = [item for item in node.items if item.key == step]
    if len(items) > 1:
        raise CannotEdit(f"it has the key {step} twice")
    if not items and isinstance(step, int) and step != len(node.items):
        raise CannotEdit(f"there is no position {step}")
    return items[0] if items else None


def _nested(steps: Steps, value: Any) -> Any:
    for step in reversed(steps):
        value = {step: value} if isinstance(step, str) else [value]
    return value


def _insert(text: str, holder: _Node, step: str | int, value: Any) -> str:
    """The text with a new last member, on its own line or on the same, like its neighbours."""
    newline, unit = _newline(text), _unit(text)
    if not holder.items:
        outer = _indent_of_line(text, holder.start)
        inside = text[holder.start + 1 : holder.end - 1]
        end = "" if "\n" in inside else newline + outer
        member = _member(text, step, value, outer + unit)
        at = holder.start + 1
        return text[:at] + newline + outer + unit + member + end + text[at:]
    first, last = holder.items[0], holder.items[-1]
    comma = _skip(text, last.node.end)
    has_comma = text[comma] == ","
    at = comma + 1 if has_comma else last.node.end
    if "\n" in text[holder.start : first.start]:
        indent = _indent_of_line(text, first.start)
        if comment := _COMMENT_ON_THE_LINE.match(text, at):
            at = comment.end()
        new = newline + indent + _member(text, step, value, indent)
    else:
        new = " " + _member(text, step, value, None)
    following = text[last.node.end : at]
    return (
        text[: last.node.end]
        + ("" if has_comma else ",")
        + following
        + new
        + ("," if has_comma else "")
        + text[at:]
    )


def _member(text: str, step: str | int, value: Any, indent: str | None) -> str:
    written = _dumped(value, _unit(text), indent, _newline(text))
    return (
        f"{json.dumps(step, ensure_ascii=False)}: {written}" if isinstance(step, str) else written
    )


def _dumped(value: Any, unit: str, indent: str | None, newline: str) -> str:
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return (newline + indent).join(lines)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    match = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return match[1] if match else "  "


def _indent_of_line(text: str, at: int) -> str:
    begin = text.rfind("\n", 0, at) + 1
    return cast(re.Match[str], re.compile(r"[ \t]*").match(text, begin))[0]


def _removed(text: str, holder: _Node, item: _Item) -> str:
    """The text without the member, the blanks before it, and its comma."""
    position = holder.items.index(item)
    floor = holder.items[position - 1].node.end if position else holder.start + 1
    begin = floor + len(text[floor : item.start].rstrip(" \t\r\n"))
    end = item.node.end
    comma = _skip(text, end)
    if text[comma] == ",":
        return text[:begin] + text[end:comma] + text[comma + 1 :]
    if position == 0:
        rest = text[end : holder.end - 1]
        return text[:begin] + (rest if rest.strip() else "") + text[holder.end - 1 :]
    comma = _skip(text, floor)
    return text[:comma] + text[comma + 1 : begin] + text[end:]


# TOML


def read_toml(text: str) -> dict[str, Any]:
    """The values of a TOML text.

    Raises:
        CannotEdit: the text is malformed.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CannotEdit(str(error)) from error


def put_toml(text: str, steps: Steps, value: Any) -> str:
    """The text with the value set; missing tables on the way are created.

    Raises:
        CannotEdit: the text is malformed, or a value on the way is not a table.
    """
    values = read_toml(text)
    if _value_at(values, steps) == value:
        return text
    return _toml_edited(text, steps, value)


def cut_toml(text: str, steps: Steps) -> str:
    """The text without the value; unchanged if there is no such value.

    Raises:
        CannotEdit: as `put_toml`.
    """
    if _value_at(read_toml(text), steps) is None:
        return text
    return _toml_edited(text, steps, None)


def _value_at(values: Any, steps: Steps) -> Any:
    for step in steps:
        if not isinstance(values, dict):
            raise CannotEdit(f"there is no table for {step}")
        values = values.get(step)
        if values is None:
            return None
    return values


def _toml_edited(text: str, steps: Steps, value: Any) -> str:
    """The text with one value set, or removed for None; checks that all other values are equal."""
    import tomlkit  # here, because only `connect` and `disconnect` need it
    from tomlkit.items import InlineTable

    document = tomlkit.parse(text)
    table: Any = document
    for step in steps[:-1]:
        if step not in table:
            table[step] = tomlkit.table(is_super_table=True)
        table = table[step]
    if value is None:
        del table[steps[-1]]
    elif isinstance(value, dict):
        inline = isinstance(table, InlineTable)
        new: Any = tomlkit.inline_table() if inline else tomlkit.table()
        new.update(value)
        table[steps[-1]] = new
    else:
        table[steps[-1]] = value
    edited = tomlkit.dumps(document)
    if _without_empty(read_toml(edited)) != _without_empty(_set(read_toml(text), steps, value)):
        raise CannotEdit(f"{'.'.join(map(str, steps))} is written in a form that cannot be edited")
    return edited


def _set(values: dict[str, Any], steps: Steps, value: Any) -> dict[str, Any]:
    table = values
    for step in steps[:-1]:
        table = table.setdefault(str(step), {})
    table[str(steps[-1])] = value
    return values


def _without_empty(values: dict[str, Any]) -> dict[str, Any]:
    """The values without None and empty tables, as a table may vanish with its last member."""
    pruned = {
        key: _without_empty(value) if isinstance(value, dict) else value
        for key, value in values.items()
    }
    return {key: value for key, value in pruned.items() if value not in (None, {})}


@dataclass(frozen=True, slots=True)
class Format:
    """The functions that read and edit a kind of file."""

    read: Callable[[str], Any]
    put: Callable[[str, Steps, Any], str]
    cut: Callable[[str, Steps], str]


JSON = Format(read_json, put_json, cut_json)
TOML = Format(read_toml, put_toml, cut_toml)
