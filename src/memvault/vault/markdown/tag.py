"""``#tag`` and ``#nested/tag``."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

# Obsidian's own class: no space, no ASCII punctuation but - _ /, no general punctuation (except
# the joiner inside emoji); and no CJK or full-width punctuation, which ends a word there.
_NAME = (
    r"(?:[^\s\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20"
    r"\uff3b-\uff40\uff5b-\uff65'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\])+"
)
_TAG = re.compile("#(" + _NAME + ")")
_BEFORE = frozenset("([{\"'“‘«*_~|>,;:、。，")


def clean_tag(text: str) -> str | None:
    """A tag's name without ``#`` and stray slashes, or None if it is none (digits alone)."""
    match = re.fullmatch(_NAME, text.strip().lstrip("#"))
    name = match[0].strip("/") if match else ""
    return name if name and not name.replace("/", "").isdigit() else None


def _rule(state: StateInline, silent: bool) -> bool:
    source, position = state.src, state.pos
    if source[position] != "#":
        return False
    before = source[position - 1] if position else " "
    if not before.isspace() and before not in _BEFORE:
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
    md.inline.ruler.before("link", "tag", _rule)
