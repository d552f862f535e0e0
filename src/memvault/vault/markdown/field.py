"""``[key:: value]`` and ``(key:: value)``. Those that fill a line are read by `named`."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

_OPEN = re.compile(r"[\[(][ \t]*([^\W\d_][^\n:\[\](){}|<>`]{0,59}?)[ \t]*::[ \t]*")
_CLOSERS = {"[": "]", "(": ")"}
_BRACKETS = re.compile(r"[\[\]()\n]")
MAX_VALUE_CHARS = 1000
MAX_DEPTH = 8


def _rule(state: StateInline, silent: bool) -> bool:
    source, position = state.src, state.pos
    opener = source[position]
    if opener not in _CLOSERS:
        return False
    match = _OPEN.match(source, position, state.posMax)
    end = _closing(source, match.end(), state.posMax, opener) if match else None
    if match is None or end is None:
        return False
    if not silent:
        token = state.push("field_open", "", 1)
        token.meta = {"key": match[1].strip("*_ ")}
        state.pos, after = match.end(), state.posMax
        state.posMax = end
        state.md.inline.tokenize(state)
        state.posMax = after
        state.push("field_close", "", -1)
    state.pos = end + 1
    return True


def _closing(source: str, start: int, stop: int, opener: str) -> int | None:
    """Where the bracket opened before `start` closes, on the same line."""
    depth = 0
    for match in _BRACKETS.finditer(source, start, min(stop, start + MAX_VALUE_CHARS)):
        if match[0] == opener:
            depth += 1
            if depth > MAX_DEPTH:
                return None
        elif match[0] == "\n":
            return None
        elif match[0] == _CLOSERS[opener]:
            if depth == 0:
                return match.start() if match.start() > start else None
            depth -= 1
    return None


def field_plugin(md: MarkdownIt) -> None:
    md.inline.ruler.before("wikilink", "field", _rule)
