"""A note's text as HTML that can do nothing.

markdown-it reads the note with HTML switched off, so tags and scripts in it are shown as the text
they are; a code block, one of Mermaid too, is shown as its source. Links lead to other memories, to
the web by http(s) and mail, and nowhere else; pictures are named, not loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import quote, unquote

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

from memvault.vault.markdown.comment import comment_plugin
from memvault.vault.markdown.tag import tag_plugin
from memvault.vault.markdown.wikilink import wikilink_plugin

MAX_CHARS = 30_000  # that are laid out; a hostile note takes under a second
# The mark of a task; a tag in front of it is the renderer's own, since text has none.
_TASK = re.compile(r"(<li>\n?(?:<p>)?)\[([ xX/-])\](?= )")
_BOXES = {False: "☐", True: "☑"}
WEB = ("http://", "https://", "mailto:")

# The address of what a link's target means, or None.
Resolve = Callable[[str], str | None]
_Env = MutableMapping[str, Any]


def note_html(text: str, resolve: Resolve) -> Markup:
    """The text under the frontmatter, laid out; at most `MAX_CHARS` of it."""
    html = _parser().render(text[:MAX_CHARS], {"resolve": resolve})
    return Markup(_TASK.sub(lambda found: found[1] + _BOXES[found[2].strip() != ""], html))


@cache
def _parser() -> MarkdownIt:
    md = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": 30})
    md.enable(["table", "strikethrough"])
    for plugin in (wikilink_plugin, tag_plugin, comment_plugin):
        plugin(md)
    md.validateLink = _any_link  # type: ignore[method-assign,assignment]
    rules: dict[str, Callable[..., str]] = {
        "wikilink": _wikilink,
        "tag": _tag,
        "comment": _nothing,
        "comment_mark": _nothing,
        "link_open": _link,
        "image": _image,
        "th_open": _cell,
        "td_open": _cell,
    }
    for name, rule in rules.items():
        md.add_render_rule(name, rule)
    return md


def _any_link(_url: str) -> bool:
    """`_link` decides which of them lead anywhere."""
    return True


def _nothing(_self: RendererHTML, *_: object) -> str:
    return ""


def _tag(_self: RendererHTML, tokens: Sequence[Token], at: int, *_: object) -> str:
    name = tokens[at].meta["name"]
    return f'<a class="tag" href="/memories?find={quote("#" + name)}">#{escapeHtml(name)}</a>'


def _wikilink(
    _self: RendererHTML, tokens: Sequence[Token], at: int, _options: object, env: _Env
) -> str:
    link, embed = tokens[at].meta["link"], tokens[at].meta["embed"]
    shown = escapeHtml(("⧉ " if embed else "") + link.text)
    address = env["resolve"](link.target)
    if address is None:
        return f'<span class="missing" title="no note yet">{shown}</span>'
    return f'<a href="{escapeHtml(address)}">{shown}</a>'


def _link(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: _Env) -> str:
    token = tokens[at]
    target = str(token.attrs.get("href", ""))
    title = token.attrs.get("title")
    token.attrs = {} if title is None else {"title": title}
    if target.lower().startswith(WEB):
        token.attrs |= {"href": target, "rel": "noopener noreferrer", "target": "_blank"}
    elif (address := env["resolve"](unquote(target.partition("#")[0]))) is not None:
        token.attrs["href"] = address
    return self.renderToken(tokens, at, options, env)


def _cell(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: _Env) -> str:
    """A column's alignment as a class: the pages allow no style of their own in a text."""
    style = str(tokens[at].attrs.pop("style", ""))
    if style:
        tokens[at].attrs["class"] = style.replace(":", "-")
    return self.renderToken(tokens, at, options, env)


def _image(
    _self: RendererHTML, tokens: Sequence[Token], at: int, _options: object, _env: _Env
) -> str:
    token = tokens[at]
    target = str(token.attrs.get("src", ""))
    shown = escapeHtml(f"⧉ {token.content or target}")
    if not target.lower().startswith(WEB):
        return f'<span class="missing">{shown}</span>'
    return f'<a href="{escapeHtml(target)}" rel="noopener noreferrer" target="_blank">{shown}</a>'
