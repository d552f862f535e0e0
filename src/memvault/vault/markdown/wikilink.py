"""``[[Target#Sub|shown]]`` and ``![[Target]]``, as Obsidian reads them."""

from __future__ import annotations

import re
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

_INNER = re.compile(
    r"\[\[(?P<path>[^\[\]|\n]{0,1000})(?:\|(?P<shown>(?:[^\[\]\n]|\[(?!\[)|\](?!\])){0,1000}))?\]\]"
)


class Wikilink(NamedTuple):
    """``target`` is empty for a link inside the note; ``subpath`` has no leading ``#``."""

    target: str
    subpath: str | None
    shown: str | None

    @property
    def text(self) -> str:
        """The text shown for the link: its alias, else the note's name and the heading."""
        if self.shown:
            return self.shown
        name = self.target.rsplit("/", 1)[-1]
        if self.subpath and not self.subpath.startswith("^"):
            parts = [name] if name else []
            return " > ".join(parts + [part for part in self.subpath.split("#") if part])
        return name


def read_wikilink(text: str, position: int) -> tuple[Wikilink, int] | None:
    """The wikilink whose ``[[`` is at `position`, and its end offset; None if there is none."""
    match = _INNER.match(text, position)
    if match is None:
        return None
    path = match["path"].rstrip("\\")  # tables escape the bar
    target, _, subpath = path.partition("#")
    target, subpath = target.strip(), subpath.strip().strip("#")
    if not target and not subpath:
        return None
    shown = (match["shown"] or "").strip() or None
    return Wikilink(target, subpath or None, shown), match.end()


def find_wikilinks(text: str) -> list[Wikilink]:
    """The wikilinks in a plain string, such as a frontmatter value."""
    links = []
    position = text.find("[[")
    while position >= 0:
        parsed = read_wikilink(text, position)
        if parsed is not None:
            links.append(parsed[0])
        position = text.find("[[", parsed[1] if parsed else position + 1)
    return links


def without_wikilinks(text: str) -> str:
    """A plain string with its wikilinks replaced by the text they show."""
    return _INNER.sub(_shown_text, text)


def _shown_text(match: re.Match[str]) -> str:
    parsed = read_wikilink(match[0], 0)
    return parsed[0].text if parsed else match[0]


def _rule(state: StateInline, silent: bool) -> bool:
    source, position = state.src, state.pos
    is_embed = source.startswith("![[", position)
    if not is_embed and not source.startswith("[[", position):
        return False
    parsed = read_wikilink(source, position + is_embed)
    if parsed is None or parsed[1] > state.posMax:
        return False
    if "<%" in parsed[0].target:  # of a template
        if not silent:
            state.push("comment", "", 0)
    elif not silent:
        token = state.push("wikilink", "", 0)
        token.meta = {"link": parsed[0], "embed": is_embed}
    state.pos = parsed[1]
    return True


def wikilink_plugin(md: MarkdownIt) -> None:
    md.inline.ruler.before("link", "wikilink", _rule)
