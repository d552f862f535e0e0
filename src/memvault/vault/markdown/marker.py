"""Marks that are not read as words: ``^block-id``, ``[!callout]``, ``[x]`` of a task, and
footnote labels."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, paragraph
from markdown_it.rules_block import reference as link_reference
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

_BLOCK_ID = re.compile(r"\^([A-Za-z0-9-]{1,100})\s*\Z")
_CALLOUT = re.compile(r"\[!([^\]\n]{1,100})\][+-]?[ \t]*")
_TASK = re.compile(r"\[[^\]\n]\][ \t]+(?=\S)")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,100}\]")
_FOOTNOTE_LABEL = re.compile(r"\[\^[^\]\s]{1,100}\]:[ \t]*")


def _block_id(state: StateInline, silent: bool) -> bool:
    source, position = state.src, state.pos
    if source[position] != "^" or (position and not source[position - 1].isspace()):
        return False
    match = _BLOCK_ID.match(source, position)
    if match is None:
        return False
    if not silent:
        state.push("block_id", "", 0).meta = {"id": match[1]}
    state.pos = state.posMax
    return True


def _footnote(state: StateInline, silent: bool) -> bool:
    source, position = state.src, state.pos
    if not source.startswith("[^", position):
        return False
    starts_line = position == 0 or source[position - 1] == "\n"
    match = _FOOTNOTE_LABEL.match(source, position) if starts_line else None
    match = match or _FOOTNOTE.match(source, position)
    if match is None:
        return False
    if not silent:
        state.push("footnote", "", 0)
    state.pos = match.end()
    return True


def _footnote_text(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A footnote's text is a paragraph of its own; CommonMark would take it for a link's target
    and drop the words."""
    first = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith("[^", first) or state.is_code_block(start):
        return False
    if _FOOTNOTE_LABEL.match(state.src, first, state.eMarks[start]) is None:
        return False
    return silent or paragraph(state, start, end, False)


def _reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    first = state.bMarks[start] + state.tShift[start]
    return state.src.startswith("[", first) and link_reference(state, start, end, silent)


def _strip_markers(state: StateCore) -> None:
    """Take the callout's and the task's mark off the text that follows it."""
    tokens = state.tokens
    for index, token in enumerate(tokens):
        if token.type != "inline" or index < 2 or not token.content.startswith("["):
            continue
        parent = tokens[index - 2].type
        if parent == "blockquote_open":
            _strip_callout(token)
        elif parent == "list_item_open" and (task := _TASK.match(token.content)):
            token.content = token.content[task.end() :]


def _strip_callout(token: Token) -> None:
    match = _CALLOUT.match(token.content)
    if match is None:
        return
    rest = token.content[match.end() :]
    if rest.startswith("\n"):
        rest = rest[1:]
        if token.map is not None:
            token.map = [token.map[0] + 1, token.map[1]]
    else:
        token.meta["titled"] = True
    token.content = rest


def marker_plugin(md: MarkdownIt) -> None:
    md.inline.ruler.before("link", "block_id", _block_id)
    md.inline.ruler.before("link", "footnote", _footnote)
    ends = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    md.block.ruler.before("reference", "footnote", _footnote_text, ends)  # type: ignore[arg-type]
    md.block.ruler.at("reference", _reference)
    md.core.ruler.after("block", "strip_markers", _strip_markers)
