"""CommonMark with tables, strikethrough, and the additions of Obsidian and Logseq."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from unicodedata import east_asian_width

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline, emphasis, image, link
from markdown_it.rules_inline import backtick as code_span
from markdown_it.rules_inline import html_inline as html_tag
from markdown_it.token import Token

from memvault.vault.markdown.formulas import formula_plugin
from memvault.vault.markdown.logseq_marks import logseq_plugin
from memvault.vault.markdown.plugins import (
    anchor_plugin,
    comment_plugin,
    container_plugin,
    field_plugin,
    highlight_plugin,
    marker_plugin,
    tag_plugin,
)
from memvault.vault.markdown.wikilink import wikilink_plugin

InlineRule = Callable[[StateInline, bool], bool]
MAX_NESTING = 100
MAX_INLINE_CHARS = 200_000
MAX_LINK_CHARS = 1000

# Places where a rule can start, or a link's text end; all rules are tried at each of them. Each
# alternative starts with a literal, so that `re` can search for these characters.
_STOPS = re.compile(
    r"\n|\*|\[|\]|\\|`|\$(?=\S)|!(?=\[)|#(?=\S)|%(?=%)|~(?=~)|=(?==)|&(?=[#\w])|<(?=[\w/!?%])"
    r"|\^(?=[A-Za-z0-9-])|_(?:(?<![^\W_]_)|(?![^\W_]))|\((?=[^()\n:]{1,80}::)"
)

# The data of a picture embedded in the text: megabytes that nobody reads or searches for.
_EMBEDDED_DATA = re.compile(r"(?<=;base64,)[A-Za-z0-9+/=_-]{100,}")


def parse_markdown(text: str) -> list[Token]:
    """Block tokens of a note's body, without embedded data; line maps count from 0."""
    return _parser().parse(_EMBEDDED_DATA.sub("", text), {})


@cache
def _parser() -> MarkdownIt:
    md = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    plugins = (
        wikilink_plugin, field_plugin, tag_plugin, comment_plugin, marker_plugin, formula_plugin,
        logseq_plugin, anchor_plugin, highlight_plugin, container_plugin,
    )  # fmt: skip
    for plugin in plugins:
        plugin(md)
    md.inline.terminator_re = _STOPS
    md.inline.ruler.at("text", _text)
    md.inline.ruler.at("backticks", _counting_lines(code_span))
    md.inline.ruler.at("html_inline", _counting_lines(html_tag))
    md.inline.ruler.at("link", _link)
    md.inline.ruler.at("image", _image)
    md.inline.ruler.at("emphasis", _emphasis)
    md.core.ruler.at("inline", _inline)
    # Only renderers need these: line ends are normalised already, and readers join the text.
    md.core.ruler.disable(["normalize", "text_join"])
    md.inline.ruler2.disable("fragments_join")
    # Nothing is rendered, so no link is dangerous.
    md.validateLink = lambda _: True  # type: ignore[method-assign,assignment]
    md.normalizeLink = str  # type: ignore[method-assign,assignment]
    return md


def _emphasis(state: StateInline, silent: bool) -> bool:
    """markdown-it's own rule, with marks next to a wide letter, as Chinese and Japanese have no
    spaces around them ("**重要（必読）**です")."""
    start, known = state.pos, len(state.delimiters)
    if not emphasis.tokenize(state, silent):
        return False
    before, after = state.src[start - 1 : start], state.src[state.pos : state.pos + 1]
    if before and after and state.src[start] == "*":
        for mark in state.delimiters[known:]:
            mark.open = mark.open or (_is_wide(before) and not after.isspace())
            mark.close = mark.close or (_is_wide(after) and not before.isspace())
    return True


def _is_wide(character: str) -> bool:
    return east_asian_width(character) in "WF"


def _inline(state: StateCore) -> None:
    """markdown-it's own rule, with a shortcut for text without markup."""
    for token in state.tokens:
        if token.type != "inline":
            continue
        content = token.content
        if _STOPS.search(content) is None or len(content) > MAX_INLINE_CHARS:
            text = Token("text", "", 0)
            text.content = content
            token.children = [text]
        else:
            token.children = state.md.inline.parse(content, state.md, state.env, [])


def _text(state: StateInline, silent: bool) -> bool:
    """markdown-it's own rule, but never past the end of the range being parsed."""
    stop = _STOPS.search(state.src, state.pos, state.posMax)
    end = stop.start() if stop else state.posMax
    if end == state.pos:
        return False
    if not silent:
        state.append_pending(state.src[state.pos : end])
    state.pos = end
    return True


def _closes_soon(state: StateInline, start: int) -> bool:
    """Whether a link's text can end nearby.

    Without this limit, a long run of ``[`` would take quadratic time.
    """
    end = start + MAX_LINK_CHARS
    closing = "]" if "references" in state.env else "]("
    return state.src.find(closing, start, end) >= 0


def _link(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "[" or not _closes_soon(state, state.pos):
        return False
    return link(state, silent)


def _image(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "!" or not _closes_soon(state, state.pos):
        return False
    return image(state, silent)


def _counting_lines(rule: InlineRule) -> InlineRule:
    """The rule, whose token also has the number of line ends in its source."""

    def counting(state: StateInline, silent: bool) -> bool:
        start = state.pos
        applies = rule(state, silent)
        lines = 0 if silent or not applies else state.src.count("\n", start, state.pos)
        if lines and state.tokens:
            state.tokens[-1].meta["lines"] = lines
        return applies

    return counting
