"""Plugins for comments, containers, inline fields, ids of blocks and headings, callouts, tasks,
tags and highlights."""

from __future__ import annotations

import re
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, paragraph
from markdown_it.rules_block import reference as link_reference
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

COMMENT_MARK = "%%"
MAX_COMMAND_CHARS = 10_000  # of a template, in a paragraph
# JavaScript, or what asks Templater itself; other languages have such marks, too.
_COMMAND = re.compile(r"<%[-_]?(?:\*|[^%]*\btp\.)")
_NO_COMMAND_BEFORE = "no command before"
_ENDS: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}


def _comment(state: StateInline, silent: bool) -> bool:
    source, position = state.src, state.pos
    if not source.startswith(COMMENT_MARK, position):
        return False
    end = source.find(COMMENT_MARK, position + 2, state.posMax)
    if not silent:
        # `InlineReader` pairs marks that this paragraph does not close, across the note.
        token = state.push("comment" if end >= 0 else "comment_mark", "", 0)
        token.meta = {"lines": source.count("\n", position, end + 2) if end >= 0 else 0}
    state.pos = (end if end >= 0 else position) + 2
    return True


def _template_command(state: StateInline, silent: bool) -> bool:
    """Parse a command of the plugin Templater (``<% … %>``), which is read as a comment is."""
    source, position = state.src, state.pos
    if _COMMAND.match(source, position, state.posMax) is None:
        return False
    end = source.find("%>", position + 2, min(state.posMax, position + MAX_COMMAND_CHARS))
    if end < 0:
        return False
    if not silent:
        state.push("comment", "", 0).meta = {"lines": source.count("\n", position, end)}
    state.pos = end + 2
    return True


def _comment_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a comment that opens with an unclosed ``%%`` at the start of a line.

    It extends to the next ``%%`` or, as in Obsidian, to the end of the note.
    """
    line_start = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith(COMMENT_MARK, line_start) or state.is_code_block(start):
        return False
    if state.src.find(COMMENT_MARK, line_start + 2, state.eMarks[start]) >= 0:
        return False
    if not silent:
        state.line = _end_of_block(state, COMMENT_MARK, start, end)
    return True


def _command_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a command of Templater with several lines, also empty ones."""
    line_start = state.bMarks[start] + state.tShift[start]
    if _COMMAND.match(state.src, line_start) is None or state.is_code_block(start):
        return False
    stop = state.eMarks[end - 1]
    if stop <= state.env.get(_NO_COMMAND_BEFORE, 0):
        return False
    close = state.src.find("%>", line_start, stop)
    if close < 0:
        state.env[_NO_COMMAND_BEFORE] = stop  # searched once, not from each line
    if close < state.eMarks[start]:
        return False
    if not silent:
        state.line = _end_of_block(state, "%>", start, end)
    return True


def _end_of_block(state: StateBlock, mark: str, start: int, end: int) -> int:
    """The line below that with the mark, the text after which is a paragraph; else the end."""
    for line in range(start + 1, end):
        close = state.src.find(mark, state.bMarks[line], state.eMarks[line])
        if close >= 0:
            _add_paragraph(state, line, state.src[close + 2 : state.eMarks[line]].strip())
            return line + 1
    return end


def _add_paragraph(state: StateBlock, line: int, text: str) -> None:
    if not text:
        return
    state.push("paragraph_open", "p", 1).map = [line, line + 1]
    token = state.push("inline", "", 0)
    token.content, token.map, token.children = text, [line, line + 1], []
    state.push("paragraph_close", "p", -1)


# As VitePress, Docusaurus, MyST and Pandoc write callouts: the word for the kind is not shown.
_CONTAINER_MARK = re.compile(
    r":{3,}[ \t]*(?:\{[^}\n]*\}|(?:note|tip|info|important|warning|caution|danger|details|success"
    r"|example|question|quote|seealso)(?![^\s:]))?[ \t:]*"
)


def _container_mark(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a line that begins or ends a container (``::: warning Title`` … ``:::``), of which only
    the title is text."""
    line_start = state.bMarks[start] + state.tShift[start]
    match = _CONTAINER_MARK.match(state.src, line_start, state.eMarks[start])
    if match is None or state.is_code_block(start):
        return False
    if not silent:
        _add_paragraph(state, start, state.src[match.end() : state.eMarks[start]].strip())
        state.line = start + 1
    return True


def container_plugin(md: MarkdownIt) -> None:
    md.block.ruler.before("fence", "container", _container_mark, _ENDS)


def comment_plugin(md: MarkdownIt) -> None:
    md.inline.ruler.before("link", "comment", _comment)
    md.inline.ruler.before("comment", "template_command", _template_command)
    md.block.ruler.before("fence", "comment", _comment_block, _ENDS)
    md.block.ruler.before("fence", "command", _command_block)


_FIELD_OPENING = re.compile(r"[\[(][ \t]*([^\W\d_][^\n:\[\](){}|<>`]{0,59}?)[ \t]*::[ \t]*")
_FIELD_CLOSERS = {"[": "]", "(": ")"}
_BRACKETS = re.compile(r"[\[\]()\n]")
MAX_VALUE_CHARS = 1000
MAX_DEPTH = 8


def _field(state: StateInline, silent: bool) -> bool:
    source, position = state.src, state.pos
    opener = source[position]
    if opener not in _FIELD_CLOSERS:
        return False
    match = _FIELD_OPENING.match(source, position, state.posMax)
    end = _closing(source, match.end(), state.posMax, opener) if match else None
    if match is None or end is None:
        return False
    if not silent:
        token = state.push("field_open", "", 1)
        token.meta = {"key": match[1].strip("*_ ")}
        state.pos, outer_end = match.end(), state.posMax
        state.posMax = end
        state.md.inline.tokenize(state)
        state.posMax = outer_end
        state.push("field_close", "", -1)
    state.pos = end + 1
    return True


def _closing(source: str, start: int, stop: int, opener: str) -> int | None:
    """The offset of the bracket that closes the one before `start`, on the same line."""
    depth = 0
    for match in _BRACKETS.finditer(source, start, min(stop, start + MAX_VALUE_CHARS)):
        if match[0] == opener:
            depth += 1
            if depth > MAX_DEPTH:
                return None
        elif match[0] == "\n":
            return None
        elif match[0] == _FIELD_CLOSERS[opener]:
            if depth == 0:
                return match.start() if match.start() > start else None
            depth -= 1
    return None


def field_plugin(md: MarkdownIt) -> None:
    md.inline.ruler.before("wikilink", "field", _field)


_BLOCK_ID = re.compile(r"\^([A-Za-z0-9-]{1,100})\s*\Z")
_CALLOUT = re.compile(r"\[!([^\]\n]{1,100})\][+-]?[ \t]*")
_TASK = re.compile(r"\[[^\]\n]\][ \t]+(?=\S)|\[[ xX]\]\Z")  # the second: a task without text
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
    """Parse a footnote's text as a paragraph.

    CommonMark would parse it as a link definition and drop the text.
    """
    line_start = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith("[^", line_start) or state.is_code_block(start):
        return False
    if _FOOTNOTE_LABEL.match(state.src, line_start, state.eMarks[start]) is None:
        return False
    return silent or paragraph(state, start, end, False)


def _reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    line_start = state.bMarks[start] + state.tShift[start]
    return state.src.startswith("[", line_start) and link_reference(state, start, end, silent)


def _strip_markers(state: StateCore) -> None:
    """Remove the markers of callouts and tasks from the text."""
    tokens = state.tokens
    for index, token in enumerate(tokens):
        if token.type != "inline" or index < 2 or not token.content.startswith("["):
            continue
        parent = tokens[index - 2].type
        if parent == "blockquote_open":
            _strip_callout(token)
        elif parent == "list_item_open" and (task := _TASK.match(token.content)):
            token.content = token.content[task.end() :]
            token.meta["checkbox"] = task[0][1]


def _strip_callout(token: Token) -> None:
    match = _CALLOUT.match(token.content)
    if match is None:
        return
    text = token.content[match.end() :]
    if text.startswith("\n"):
        text = text[1:]
        if token.map is not None:
            token.map = [token.map[0] + 1, token.map[1]]
    else:
        token.meta["titled"] = True
    token.content = text


# ``{#id}`` at the end of a heading, as Pandoc, Docusaurus and kramdown write it, with classes and
# attributes, but no other words: these are the person's.
_ANCHOR = re.compile(
    r"(?<=\S)[ \t]*\{:?[ \t]*#([\w.:-]{1,100})"
    r"(?:[ \t]+(?:\.[\w-]+|[\w-]+=[\w\"'-]+))*[ \t]*\}[ \t]*\Z"
)


def split_anchor(heading: str) -> tuple[str, str | None]:
    """A heading's text and the id at its end, if any."""
    match = _ANCHOR.search(heading) if "{" in heading else None
    return (heading[: match.start()], match[1]) if match else (heading, None)


def _strip_anchors(state: StateCore) -> None:
    for opening, token in pairwise(state.tokens):
        if opening.type == "heading_open":
            token.content, token.meta["anchor"] = split_anchor(token.content)


def anchor_plugin(md: MarkdownIt) -> None:
    md.core.ruler.after("block", "strip_anchors", _strip_anchors)


def marker_plugin(md: MarkdownIt) -> None:
    md.inline.ruler.before("link", "block_id", _block_id)
    md.inline.ruler.before("link", "footnote", _footnote)
    md.block.ruler.before("reference", "footnote", _footnote_text, _ENDS)
    md.block.ruler.at("reference", _reference)
    md.core.ruler.after("block", "strip_markers", _strip_markers)


# Obsidian's character class: no space, no ASCII punctuation except - _ /, no general punctuation
# except the joiner inside emoji, and no CJK or full-width punctuation, which ends a word.
_TAG_NAME = (
    r"(?:[^\s\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20"
    r"\uff3b-\uff40\uff5b-\uff65'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\])+"
)
_TAG = re.compile("#(" + _TAG_NAME + ")")
_BEFORE_TAG = frozenset("([{\"'“‘«*_~|>,;:、。，")


def clean_tag(text: str) -> str | None:
    """A tag's name without ``#`` and stray slashes, or None if invalid (digits only)."""
    match = re.fullmatch(_TAG_NAME, text.strip().lstrip("#"))
    name = match[0].strip("/") if match else ""
    return name if name and not name.replace("/", "").isdigit() else None


def _tag(state: StateInline, silent: bool) -> bool:
    source, position = state.src, state.pos
    if source[position] != "#":
        return False
    preceding = source[position - 1] if position else " "
    if not preceding.isspace() and preceding not in _BEFORE_TAG:
        return False
    match = _TAG.match(source, position, state.posMax)
    name = clean_tag(match[1]) if match else None
    if match is None or name is None:
        return False
    end = position + 1 + len(match[1].rstrip("/"))
    if not silent:
        token = state.push("tag", "", 0)
        token.content = source[position:end]
        token.meta = {"name": name}
    state.pos = end
    return True


def tag_plugin(md: MarkdownIt) -> None:
    md.inline.ruler.before("link", "tag", _tag)


# Not within an address or a comparison, as in "?q=YQ==&r=Yg==" and "a==b"; Chinese and Japanese
# have no spaces around a highlight.
_OPENS_HIGHLIGHT = re.compile(r"(?<![A-Za-z0-9=&?/%])==(?![\s=])")
_CLOSES_HIGHLIGHT = re.compile(r"(?<![\s=])==(?!=)")


def _highlight_mark(state: StateInline, silent: bool) -> bool:
    """Parse a ``==`` that may start or end a highlight. Which of them do is known only when the
    links and the code between them are."""
    opens = _OPENS_HIGHLIGHT.match(state.src, state.pos) is not None
    closes = _CLOSES_HIGHLIGHT.match(state.src, state.pos) is not None
    if silent or not (opens or closes):
        return False
    token = state.push("text", "", 0)
    token.content = "=="
    token.meta = {"opens": opens, "closes": closes}
    state.pos += 2
    return True


def _highlights(state: StateInline) -> None:
    """Remove the marks of each highlight; both are in the same link, or in none."""
    starts: list[Token | None] = [None]  # of the text outside links, then of each open link
    for token in state.tokens:
        if token.nesting == 1:
            starts.append(None)
        elif token.nesting == -1:
            starts.pop()
        elif token.meta.get("closes") and (start := starts[-1]) is not None:
            start.content = token.content = ""
            starts[-1] = None
        elif token.meta.get("opens"):
            starts[-1] = token


def highlight_plugin(md: MarkdownIt) -> None:
    md.inline.ruler.before("link", "highlight", _highlight_mark)
    md.inline.ruler2.before("balance_pairs", "highlight", _highlights)
