"""Formulas, ``$…$`` and ``$$…$$``, whose text is kept as written.

In a formula, ``_``, ``*``, ``\\`` and ``[[`` have TeX's meaning. As in Obsidian, a formula in ``$``
has no space just inside its ends, and no digit follows it: "$5 or $10" is no formula. Nor is "$5
for [[Ann]] and 6$", which contains a link: in TeX, ``[[`` follows a symbol, as in ``k[[t]]``.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

DISPLAYED = "$$"  # around a formula that Obsidian shows on lines of its own
_LINK = r"\[\[[^\[\]\n]+\]\]"
_FORMULA = re.compile(
    rf"\$\$(?:\\[\s\S]|(?<!\s)\[|(?!{_LINK})\[|\$(?!\$)|[^\\$[])+\$\$"
    rf"|\$(?![\s$])(?:\\[\s\S]|(?<!\s)\[|(?!{_LINK})\[|[^\\$`[])+(?<!\s)\$(?!\d)"
)
# A heading or a link to a note, neither of which is in a formula.
_NO_TEX = re.compile(rf"[ \t]*#{{1,6}}[ \t]|(?:.*\s)?{_LINK}")


def _inline(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "$":
        return False
    match = _FORMULA.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        state.push("formula", "", 0).content = match[0]
    state.pos = match.end()
    return True


def _has_displayed(state: StateBlock) -> bool:
    """Whether there is ``$$`` in the text.

    It is searched once, since the rule is tried at every paragraph and list item.
    """
    cached: tuple[str, bool] | None = state.env.get(DISPLAYED)
    if cached is None or cached[0] is not state.src:
        cached = state.env[DISPLAYED] = (state.src, DISPLAYED in state.src)
    return cached[1]


def _paragraph(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a paragraph with a formula of several lines, none of which starts another block."""
    if silent or not _has_displayed(state):
        return False
    terminators = state.md.block.ruler.getRules("paragraph")
    parent, state.parentType = state.parentType, "paragraph"
    line, is_open, has_lines = start, False, False
    while line < end and not state.isEmpty(line):
        text = state.src[state.bMarks[line] : state.eMarks[line]]
        if is_open and (
            state.sCount[line] < state.blkIndent or _NO_TEX.match(text.partition(DISPLAYED)[0])
        ):
            break
        may_end = line > start and not is_open and 0 <= state.sCount[line] <= state.blkIndent + 3
        if may_end and any(rule(state, line, end, True) for rule in terminators):
            break
        is_open ^= text.count(DISPLAYED) % 2 == 1
        has_lines |= is_open
        line += 1
    state.parentType = parent
    if is_open or not has_lines:
        return False
    content = state.getLines(start, line, state.blkIndent, False).strip()
    state.line = line
    state.push("paragraph_open", "p", 1).map = [start, line]
    token = state.push("inline", "", 0)
    token.content, token.map, token.children = content, [start, line], []
    state.push("paragraph_close", "p", -1)
    return True


def formula_plugin(md: MarkdownIt) -> None:
    md.inline.ruler.before("link", "formula", _inline)
    md.block.ruler.before("lheading", "formula", _paragraph)
