"""``%% comment %%``, in a line or over many."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

MARK = "%%"


def _inline(state: StateInline, silent: bool) -> bool:
    source, position = state.src, state.pos
    if not source.startswith(MARK, position):
        return False
    end = source.find(MARK, position + 2, state.posMax)
    if not silent:
        # One that this paragraph does not close is paired over the whole note, see `blocks`.
        token = state.push("comment" if end >= 0 else "comment_mark", "", 0)
        token.meta = {"lines": source.count("\n", position, end + 2) if end >= 0 else 0}
    state.pos = (end if end >= 0 else position) + 2
    return True


def _block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A line that starts with ``%%`` and does not close it opens a comment up to the next ``%%``,
    or, as in Obsidian, to the end."""
    first = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith(MARK, first) or state.is_code_block(start):
        return False
    if state.src.find(MARK, first + 2, state.eMarks[start]) >= 0:
        return False
    if silent:
        return True
    line = start + 1
    while line < end:
        close = state.src.find(MARK, state.bMarks[line], state.eMarks[line])
        if close >= 0:
            _keep_rest(state, line, state.src[close + 2 : state.eMarks[line]].strip())
            line += 1
            break
        line += 1
    state.line = line
    return True


def _keep_rest(state: StateBlock, line: int, rest: str) -> None:
    if not rest:
        return
    state.push("paragraph_open", "p", 1).map = [line, line + 1]
    token = state.push("inline", "", 0)
    token.content, token.map, token.children = rest, [line, line + 1], []
    state.push("paragraph_close", "p", -1)


def comment_plugin(md: MarkdownIt) -> None:
    md.inline.ruler.before("link", "comment", _inline)
    ends = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    md.block.ruler.before("fence", "comment", _block, ends)  # type: ignore[arg-type]
