"""Reads frontmatter, even if its YAML is malformed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml
from frontmatter.default_handlers import SafeLoader, YAMLHandler

from memvault.model.note import FrontmatterProblem
from memvault.vault.frontmatter.fences import match_frontmatter

MAX_VALUES = 10_000
MAX_DEPTH = 20
MAX_YAML_DEPTH = 64

_KEY_LINE = re.compile(
    r"(?P<key>[^\s#:\-\[\]{}&*!|>'\"%@`,][^:\n]{0,99}?)[ \t]*:(?:[ \t]+|$)(?P<value>.*)"
)
_ITEM_LINE = re.compile(r"[ \t]*-[ \t]+(?P<value>.*)")
_MAYBE_DEEP = re.compile(r"(?:[-?][ \t]+){8}|^ {64}|(?:[\[{][^\[\]{}]*){16}", re.MULTILINE)
_BOOL = "tag:yaml.org,2002:bool"
_INT = "tag:yaml.org,2002:int"
_FLOAT = "tag:yaml.org,2002:float"
_DECIMAL = re.compile(r"[-+]?\d+\.\d+")
_TAB = "there is a tab where YAML wants spaces"
_TEXT_AFTER = (
    "text that follows a closing quote or bracket needs quotes around the whole value, or the line "
    "is indented wrongly"
)
# Parts of the messages of PyYAML and of libyaml, and what they mean to a person.
_REASONS = {
    "mapping values are not allowed": "a colon in the value needs quotes around it, or the line is "
    "indented wrongly",
    "tab character": _TAB,
    "expected ',' or ']'": "a list that begins with [ is not closed",
    "expected ',' or '}'": "what begins with { is not closed",
    "unexpected end of stream": "a quotation mark is not closed",
    "cannot start any token": "a value that begins with a sign such as @, % or ` needs quotes",
    "unhashable key": "a value that begins with { needs quotes",
    "undefined alias": "a value that begins with * needs quotes",
    "expected key": _TEXT_AFTER,
    "expected ':'": "the line has no `key: value`",
    "document start": "the line is indented wrongly",
    "expected <block end>": _TEXT_AFTER,
}
# Errors that PyYAML raises, in addition to its own, for a value that contradicts its tag.
_VALUE_ERRORS = (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError)


class WrittenNumber(float):
    """A number with its text, so that "48.90" is not shown as 48.9."""

    text: str

    def __new__(cls, text: str) -> WrittenNumber:
        number = super().__new__(cls, text)
        number.text = text
        return number


class FrontmatterLoader(SafeLoader):  # type: ignore[misc]
    """YAML as Obsidian reads it (1.2 core), with dates.

    YAML 1.1 reads ``no`` as false, ``12:30`` as 750 and ``010`` as 8, and fails on the whole
    block for a date such as 2026-13-45.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012 - the name and type are PyYAML's
        first: [(tag, pattern) for tag, pattern in rules if tag not in {_BOOL, _INT, _FLOAT}]
        for first, rules in SafeLoader.yaml_implicit_resolvers.items()
    }


def _timestamp(loader: Any, node: Any) -> Any:
    try:
        return SafeLoader.construct_yaml_timestamp(loader, node)
    except ValueError:
        return loader.construct_scalar(node)


def _untagged(loader: Any, _suffix: str, node: Any) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    return loader.construct_scalar(node)


def _integer(loader: Any, node: Any) -> Any:
    text = loader.construct_scalar(node)
    return int(text) if len(text) < 300 else text


def _decimal(loader: Any, node: Any) -> Any:
    """The number, with its text where it would be shown in another way, such as 48.90."""
    text, number = loader.construct_scalar(node), SafeLoader.construct_yaml_float(loader, node)
    is_other = _DECIMAL.fullmatch(text) and str(number) != text
    return WrittenNumber(text) if is_other else number


FrontmatterLoader.add_implicit_resolver(
    _BOOL, re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), "tTfF"
)
FrontmatterLoader.add_implicit_resolver(
    _INT, re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z"), "-+0123456789"
)
FrontmatterLoader.add_implicit_resolver(
    _FLOAT,
    re.compile(
        r"(?:[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)\.[0-9]*)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?(?:0|[1-9][0-9]*)[eE][-+]?[0-9]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
    ),
    "-+0123456789.",
)
FrontmatterLoader.add_constructor("tag:yaml.org,2002:timestamp", _timestamp)
FrontmatterLoader.add_constructor(_INT, _integer)
FrontmatterLoader.add_constructor(_FLOAT, _decimal)
FrontmatterLoader.add_multi_constructor("", _untagged)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """A note's frontmatter.

    Attributes:
        values: the values by key; dates are `date` or `datetime`.
        source: the text between the fences; empty without frontmatter.
        body_start: offset of the first character after the frontmatter.
        body_line: line of that character, counted from 1.
        problem: why the YAML could not be read completely.
        key_lines: the lines of the note with each key, by key; the last value counts. Empty if the
            YAML has a problem.
    """

    values: dict[str, Any] = field(default_factory=dict)
    source: str = ""
    body_start: int = 0
    body_line: int = 1
    problem: FrontmatterProblem | None = None
    key_lines: dict[str, tuple[int, ...]] = field(default_factory=dict)


def read_frontmatter(text: str) -> Frontmatter:
    """Read the frontmatter of a note with ``\\n`` line ends. Never raises.

    Text without any key between two ``---`` lines is body text between two rules.
    """
    match = match_frontmatter(text)
    if match is None:
        return Frontmatter()
    source = match["header"]
    values, problem = load_yaml(source)
    if problem is not None and not values:
        return Frontmatter(problem=problem)
    key_lines = {} if problem else _key_lines(source)
    return Frontmatter(values, source, match.end(), source.count("\n") + 3, problem, key_lines)


def _key_lines(source: str) -> dict[str, tuple[int, ...]]:
    """The lines of each key of readable YAML."""
    root = yaml.compose(source, Loader=FrontmatterLoader)
    lines: defaultdict[str, list[int]] = defaultdict(list)
    for key, _value in root.value if isinstance(root, yaml.MappingNode) else ():
        if isinstance(key, yaml.ScalarNode):
            lines[key.value].append(key.start_mark.line + 2)
    return {key: tuple(found) for key, found in lines.items()}


def load_yaml(source: str) -> tuple[dict[str, Any], FrontmatterProblem | None]:
    """The values of the YAML between the fences, and its problem if it is malformed.

    Malformed YAML gives the values of its readable lines."""
    loaded = _loaded(source)
    if isinstance(loaded, FrontmatterProblem):
        return _values_of_lines(source), loaded
    return _Bounded().mapping(loaded), None


def _loaded(source: str) -> dict[Any, Any] | FrontmatterProblem:
    try:
        if is_deep(source):
            return FrontmatterProblem(2, "it is nested too deeply")
        loaded = YAMLHandler().load(source, Loader=FrontmatterLoader)
    except yaml.YAMLError as error:
        line, problem = line_and_reason(error, source)
        return FrontmatterProblem(line + 2, problem)
    except _VALUE_ERRORS:
        return FrontmatterProblem(2, "a value cannot be read")
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        return FrontmatterProblem(2, "it is not a list of `key: value` lines")
    return loaded


def line_and_reason(error: yaml.YAMLError, source: str) -> tuple[int, str]:
    """The line of an error in this YAML, counted from 0, and its reason in plain words."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return 0, "it has characters that YAML does not allow"
    problem = error.problem or "it is not valid YAML"
    reason = next((words for part, words in _REASONS.items() if part in problem), problem)
    if _is_at_tab(error.problem_mark, source):  # which libyaml does not always name
        reason = _TAB
    marks = (error.context_mark, error.problem_mark)  # where it begins, and where reading ended
    is_at_begin = reason.endswith(("is not closed", "`key: value`"))
    mark = next(filter(None, marks if is_at_begin else marks[::-1]), None)
    return mark.line if mark else 0, reason


def _is_at_tab(mark: yaml.Mark | None, source: str) -> bool:
    if mark is None:
        return False
    return "".join(source.split("\n")[mark.line : mark.line + 1]).startswith("\t", mark.column)


def is_deep(source: str) -> bool:
    """Whether the YAML is nested so deeply that libyaml could overflow the stack, or refuses it."""
    if _MAYBE_DEEP.search(source) is None:
        return False
    depth = 0
    try:
        for event in yaml.parse(source, Loader=FrontmatterLoader):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > MAX_YAML_DEPTH:
                    return True
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
    except yaml.MarkedYAMLError as error:
        if error.problem == "exceeded maximum nesting depth":  # since PyYAML 6.0.4
            return True
        raise
    return False


def _values_of_lines(source: str) -> dict[str, Any]:
    """The readable values of malformed YAML.

    Each ``key: value`` line is read by itself, ``- item`` lines as lists."""
    values: dict[str, Any] = {}
    key: str | None = None
    for line in source.split("\n"):
        if pair := _KEY_LINE.fullmatch(line):
            key = pair["key"].strip()
            values[key] = read_value(pair["value"])
        elif key is not None and (item := _ITEM_LINE.fullmatch(line)):
            if values[key] is None:
                values[key] = []
            if isinstance(values[key], list):
                values[key].append(read_value(item["value"]))
    return values


def read_value(text: str) -> Any:
    """A property's value by its YAML; the text itself if that is a mapping, null or malformed."""
    text = text.strip()
    if text.startswith("[["):
        return text
    try:
        loaded = None if is_deep(text) else YAMLHandler().load(text, Loader=FrontmatterLoader)
    except (yaml.YAMLError, *_VALUE_ERRORS):
        return text
    return (
        text if isinstance(loaded, dict) or (loaded is None and text) else _Bounded().value(loaded)
    )


def is_malformed(text: str) -> bool:
    """Whether a property's value cannot be read as YAML, such as a quoted text without its end."""
    try:
        if not is_deep(text):
            YAMLHandler().load(text, Loader=FrontmatterLoader)
    except (yaml.YAMLError, *_VALUE_ERRORS):
        return True
    return False


class _Bounded:
    """Copies a loaded value to a tree of limited size and depth.

    YAML anchors can build cycles and trees of exponential size.
    """

    def __init__(self) -> None:
        self.left = MAX_VALUES

    def mapping(self, value: dict[Any, Any], depth: int = 0) -> dict[str, Any]:
        return {
            "" if key is None else str(key): self.value(item, depth + 1)
            for key, item in self._within(value.items())
        }

    def value(self, value: Any, depth: int = 0) -> Any:
        if isinstance(value, dict):
            return self.mapping(value, depth) if depth < MAX_DEPTH else {}
        if isinstance(value, list | tuple | set):
            items = self._within(value) if depth < MAX_DEPTH else ()
            return [self.value(item, depth + 1) for item in items]
        return value

    def _within(self, items: Any) -> Iterator[Any]:
        for item in items:
            self.left -= 1
            if self.left < 0:
                return
            yield item


def strings_of(value: Any) -> Iterator[str]:
    """Every string in a property's value, depth first.

    ``[[Name]]`` without quotes is a list in a list in YAML; it is returned as the wikilink.
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings_of(item)
    elif isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], list) and _all_plain(value[0]):
            yield f"[[{', '.join(str(part) for part in value[0])}]]"
            return
        for item in value:
            yield from strings_of(item)


def _all_plain(items: list[Any]) -> bool:
    return bool(items) and not any(isinstance(item, list | dict) for item in items)
