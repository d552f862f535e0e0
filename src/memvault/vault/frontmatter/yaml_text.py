"""Finds entries and quotes of a YAML header, and writes values that YAML 1.1 and 1.2 read alike."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from datetime import date, datetime
from typing import NamedTuple, Self

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamStartEvent,
)

from memvault.model.errors import InvalidParams, MalformedFrontmatter
from memvault.vault.frontmatter.read import WrittenNumber, is_deep, line_and_reason

_OPENING = re.compile(r"(?:^|[:\[{,-])[ \t]*\Z")
_COLON = re.compile(r"\s*:")
_STARTS = (MappingStartEvent, SequenceStartEvent)
_ENDS = (MappingEndEvent, SequenceEndEvent)


class TextSpan(NamedTuple):
    start: int
    end: int


class Entry(NamedTuple):
    """One ``key: value`` of the header; offsets are into its text.

    Attributes:
        line: start of the key's line.
        colon: just after the key's colon.
        value: from anchor or tag to the last character of its content; empty for no value.
        block: whether the value is a block list or mapping, on lines of its own.
        flow: whether it is a ``[…]`` list.
        literal: whether it is a ``|`` or ``>`` text.
        items: the spans of a block list's plain or quoted items, empty if it has others.
    """

    key: str
    line: int
    column: int
    colon: int
    value: TextSpan
    block: bool
    flow: bool
    literal: bool
    items: tuple[TextSpan, ...]


def find_entries(source: str) -> list[Entry]:
    """The entries of a header.

    Raises:
        MalformedFrontmatter: it is not YAML, or not ``key: value`` lines.
    """
    try:
        if is_deep(source):
            raise malformed_line(0, "it is nested too deeply")
        return list(_entries(source))
    except yaml.YAMLError as error:
        raise malformed_line(*line_and_reason(error, source)) from error


def malformed_line(line: int, problem: str) -> MalformedFrontmatter:
    """The error for a line of the header, counted from 0 after the opening fence."""
    number = line + 2
    return MalformedFrontmatter(
        f"the note's frontmatter is malformed at line {number}: {problem}; correct it, then try "
        "again",
        line=number,
    )


def _entries(source: str) -> Iterator[Entry]:
    events = yaml.parse(source, Loader=yaml.SafeLoader)
    first_event = next(events)
    while isinstance(first_event, StreamStartEvent | DocumentStartEvent):
        first_event = next(events)
    if not isinstance(first_event, MappingStartEvent):
        if isinstance(first_event, ScalarEvent | AliasEvent | SequenceStartEvent):
            raise malformed_line(_line(first_event), "it is not a list of `key: value` lines")
        return
    if first_event.flow_style:
        raise malformed_line(_line(first_event), "it is written in braces, not in lines")
    for key in events:
        if isinstance(key, MappingEndEvent):
            break
        end_of_key = _last_event(key, events)[0]
        value = next(events)
        yield _entry(source, key, end_of_key, value, events)
    for _rest in events:  # an error after the mapping is raised only when it is parsed
        pass


def _entry(
    source: str, key: Event, end_of_key: Event, value: Event, events: Iterator[Event]
) -> Entry:
    colon = _COLON.match(source, _end(end_of_key))
    start = _start(key)
    line = line_start(source, start)
    explicit = source[line:start].strip()
    name = key.value if isinstance(key, ScalarEvent) and colon and not explicit else ""
    last_event, items = _last_event(value, events)
    block = isinstance(value, _STARTS) and not value.flow_style
    end = _end(last_event)
    literal = isinstance(last_event, ScalarEvent) and last_event.style in {"|", ">"}
    if literal:
        end = _start(last_event) + len(source[_start(last_event) : end].rstrip())
    begin = _start(value)
    return Entry(
        key=name,
        line=line,
        column=start - line,
        colon=colon.end() if colon else begin,
        value=TextSpan(begin, max(begin, end)),
        block=block,
        flow=isinstance(value, SequenceStartEvent) and bool(value.flow_style),
        literal=literal and value is last_event,
        items=items if isinstance(value, SequenceStartEvent) else (),
    )


def line_start(text: str, offset: int) -> int:
    """The offset at which the line of an offset starts."""
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def _start(event: Event) -> int:
    assert event.start_mark is not None
    return event.start_mark.index


def _end(event: Event) -> int:
    assert event.end_mark is not None
    return event.end_mark.index


def _line(event: Event) -> int:
    assert event.start_mark is not None
    return event.start_mark.line


def _last_event(opening: Event, events: Iterator[Event]) -> tuple[Event, tuple[TextSpan, ...]]:
    """The event in which a node's text ends, and the spans of a list's one-line items.

    YAML ends a block collection at the start of the next entry, after comments that do not belong
    to it. So this returns the event of its last content.
    """
    if not isinstance(opening, _STARTS):
        return opening, ()
    depth = 1
    last_event: Event = opening
    items: list[TextSpan] = []
    is_simple = True
    while depth:
        event = next(events)
        if isinstance(event, _STARTS):
            depth += 1
            is_simple = False
        elif isinstance(event, _ENDS):
            depth -= 1
            if _end(event) > _start(event):  # the bracket of a flow collection
                last_event = event
            continue
        elif depth == 1 and isinstance(event, ScalarEvent) and event.style not in {"|", ">"}:
            items.append(TextSpan(_start(event), _end(event)))
        else:
            is_simple = False
        last_event = event
    return last_event, tuple(items) if is_simple else ()


MAX_KEY_CHARS = 500

# A string in every version of YAML, once words such as ``yes`` are excluded.
_PLAIN = re.compile(r"[^\W\d_](?:[\w ./()'+;-]*[\w./()'+;-])?")
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def scalar_text(value: object) -> str:
    """A value as YAML on one line.

    Raises:
        InvalidParams: not a string, number, bool, None, date or datetime, or not valid Unicode.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, WrittenNumber):
        return value.text
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
    """A key as YAML, without its colon.

    Raises:
        InvalidParams: empty, or longer than YAML allows.
    """
    if not key or len(key) > MAX_KEY_CHARS:
        raise InvalidParams(f"a frontmatter key has 1 to {MAX_KEY_CHARS} characters")
    return _string_text(key)


def flow_text(values: list[object]) -> str:
    return "[" + ", ".join(scalar_text(value) for value in values) + "]"


def items_text(values: list[object], indent: str, newline: str) -> str:
    """The lines of a list, each with a line end before it."""
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
    json_text = json.dumps(text, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", json_text)


class YamlQuotes(NamedTuple):
    """The quote character around a text; "" for none."""

    mark: str

    @classmethod
    def before(cls, text: str) -> Self:
        """The quotes that are open at the end of this text, which begins anywhere in the YAML."""
        line = re.split(r"[\r\n]", text)[-1]
        mark, at = "", 0
        while at < len(line):
            char = line[at]
            if not mark and char in "'\"" and _OPENING.search(line[:at]):
                mark = char
            elif (mark == '"' and char == "\\") or (mark == "'" and line.startswith("''", at)):
                at += 1
            elif char == mark:
                mark = ""
            at += 1
        return cls(mark)

    def escaped(self, text: str) -> str:
        if self.mark == "'":
            return text.replace("'", "''")
        return re.sub(r'(["\\])', r"\\\1", text) if self.mark else text

    def unescaped(self, text: str) -> str:
        if self.mark == "'":
            return text.replace("''", "'")
        return re.sub(r'\\(["\\])', r"\1", text) if self.mark else text


NO_QUOTES = YamlQuotes("")
