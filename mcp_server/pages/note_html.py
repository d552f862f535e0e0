"""Renders a note's text as harmless HTML.

markdown-it reads the note with HTML switched off, so tags and scripts are shown as text. Code
blocks, also of Mermaid, are shown as source, and so are comments, because AI clients can read them.
Links lead only to other memories, http(s) and mail; pictures are named, not loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, MutableMapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import quote, unquote

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import Markup

from memvault.text.diff import stretches
from memvault.vault.markdown.formulas import formula_plugin
from memvault.vault.markdown.plugins import anchor_plugin, tag_plugin
from memvault.vault.markdown.wikilink import wikilink_plugin

MAX_CHARS = 30_000  # that are rendered; a hostile note takes under a second
# The box of a task. Tags before it are the renderer's, because a note's own tags are escaped.
_TASK = re.compile(r"(<li>\n?(?:<p>)?(?:<mark[^>]*>)?)\[([ xX/-])\](?=(?:</mark>)? )")
_CALLOUT = re.compile(r"\[!([\w-]{1,30})\][+-]?[ \t]*([^\n]*)(?:\n|\Z)")
_BLOCK_ID = re.compile(r"(?:^|\s)\^[A-Za-z0-9-]+[ \t]*\Z")
_HIGHLIGHT = re.compile(r"==(?=\S)([^=\n]+?)(?<=\S)==")
_KINDS = {
    **dict.fromkeys(("tip", "hint", "important", "success", "check", "done"), "good"),
    **dict.fromkeys(("warning", "caution", "attention", "question", "help", "faq"), "warn"),
    **dict.fromkeys(("danger", "error", "bug", "failure", "fail", "missing"), "bad"),
}  # the colours of callouts; any other is plain
WEB = ("http://", "https://", "mailto:")

# Returns the address of a link's target, or None.
Resolve = Callable[[str], str | None]
_Env = MutableMapping[str, Any]


def note_html(text: str, resolve: Resolve) -> Markup:
    """The text below the frontmatter as HTML, laid out as in Obsidian; at most `MAX_CHARS`."""
    html = _parser().render(text[:MAX_CHARS], {"resolve": resolve})
    return Markup(_TASK.sub(_task_box, html))


MAX_WORDS = 3_000  # of each text that are compared
MIN_COMMON = 1 / 3  # share of the words of the shorter text, from which on differences are marked
_WORD = re.compile(r"\s+|==|\[[ xX/-]\](?=\s)|(?:(?!==)\S)+")
# Noncharacters, which no text may contain, mark differences until the text is HTML.
_MARK, _MARK_END = "\ufdd0", "\ufdd1"
_TO_HTML = {ord(_MARK): '<mark class="differs">', ord(_MARK_END): "</mark>"}
_SPLIT = (
    "text",
    "formula",
    "code_inline",
    "code_block",
    "fence",
)  # tokens of which single words can differ
_Words = list[tuple[str, tuple[str, ...]]]  # words with the links and emphasis around them


def compared(left: tuple[str, Resolve], right: tuple[str, Resolve]) -> tuple[Markup, Markup]:
    """Both texts as `note_html`, with their differences marked.

    Texts with too few words in common differ throughout, so nothing is marked. A text longer than
    `MAX_WORDS` words ends with an ellipsis.
    """
    parsed = [_parser().parse(_first_words(text), {}) for text, _ in (left, right)]
    words = [[word for leaf in _leaves(tokens) for word in _words(*leaf)] for tokens in parsed]
    differ: tuple[set[int], set[int]] = (set(), set())
    found = list(stretches(*words))
    common = sum(_count(words[0][each.i1 : each.i2]) for each in found if each.equal)
    has_enough = common >= MIN_COMMON * min(map(_count, words))
    for equal, i1, i2, j1, j2 in found:
        if has_enough and not equal:
            differ[0].update(range(i1, i2))
            differ[1].update(range(j1, j2))
    html = []
    for tokens, changed, (_, resolve) in zip(parsed, differ, (left, right), strict=True):
        _mark(tokens, changed)
        shown = _parser().renderer.render(tokens, _parser().options, {"resolve": resolve})
        html.append(Markup(_TASK.sub(_task_box, shown.translate(_TO_HTML))))
    return html[0], html[1]


def _count(words: _Words) -> int:
    """The number of words without white space."""
    return sum(bool(word.strip()) for word, _ in words)


def _first_words(text: str) -> str:
    words = _WORD.findall(text.translate(dict.fromkeys(_TO_HTML))[:MAX_CHARS])
    return "".join(words[:MAX_WORDS]) + (" …" if len(words) > MAX_WORDS else "")


def _leaves(tokens: Sequence[Token]) -> Iterator[tuple[Token, tuple[str, ...]]]:
    """The tokens that hold text, each with the links and emphasis around it."""
    for block in tokens:
        around: list[str] = []
        for token in [block] if block.children is None else block.children:
            if token.nesting == 1 and block.children is not None:
                around.append(f"{token.type} {token.attrs}")
            elif token.nesting == -1 and around:
                around.pop()
            elif token.type in _SPLIT or token.type in ("wikilink", "tag", "image"):
                yield token, tuple(around)


def _words(token: Token, around: tuple[str, ...]) -> _Words:
    if token.type in _SPLIT:
        return [(word, around) for word in _WORD.findall(token.content)]
    return [(f"{token.type} {token.content} {token.meta} {token.attrs}", around)]


def _mark(tokens: Sequence[Token], differ: Collection[int]) -> None:
    """Mark the words with these numbers.

    White space and the marks of a highlight are never marked, so that tags nest.
    """
    at = 0
    for token, around in _leaves(tokens):
        words = _words(token, around)
        flags = [at + k in differ for k in range(len(words))]
        at += len(words)
        if token.type in _SPLIT:
            token.content = "".join(
                f"{_MARK}{word}{_MARK_END}" if differs and word.strip() and word != "==" else word
                for (word, _), differs in zip(words, flags, strict=True)
            ).replace(f"{_MARK_END} {_MARK}", " ")
        elif flags[0]:
            token.meta["differs"] = True


def _marked(rule: Callable[..., str]) -> Callable[..., str]:
    def render(self: RendererHTML, tokens: Sequence[Token], index: int, *arguments: Any) -> str:
        html = rule(self, tokens, index, *arguments)
        return f'<mark class="differs">{html}</mark>' if tokens[index].meta.get("differs") else html

    return render


def _task_box(match: re.Match[str]) -> str:
    done = " checked" if match[2].strip() else ""
    item = match[1].replace("<li>", '<li class="task">')
    return f'{item}<input type="checkbox" disabled{done} aria-label="task">'


@cache
def _parser() -> MarkdownIt:
    md = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": 30})
    md.enable(["table", "strikethrough"])
    for plugin in (wikilink_plugin, tag_plugin, formula_plugin, anchor_plugin):
        plugin(md)
    md.core.ruler.after("block", "obsidian", _obsidian)
    md.validateLink = _any_link  # type: ignore[method-assign,assignment]
    rules: dict[str, Callable[..., str]] = {
        "wikilink": _marked(_wikilink),
        "tag": _marked(_tag),
        "link_open": _link,
        "image": _marked(_image),
        "th_open": _cell,
        "td_open": _cell,
        "table_open": _table,
        "table_close": _table,
        "text": _text,
        "formula": _formula,
    }
    for name, rule in rules.items():
        md.add_render_rule(name, rule)
    return md


def _any_link(_url: str) -> bool:
    """Accept every URL; `_link` decides which become links."""
    return True


def _obsidian(state: StateCore) -> None:
    """Give callouts a title, and hide block ids."""
    tokens: list[Token] = []
    for index, token in enumerate(state.tokens):
        tokens.append(token)
        if token.type != "inline":
            continue
        token.content = _BLOCK_ID.sub("", token.content)
        callout = _CALLOUT.match(token.content)
        if callout is not None and index >= 2 and state.tokens[index - 2].type == "blockquote_open":
            state.tokens[index - 2].attrs["class"] = (
                f"callout {_KINDS.get(callout[1].lower(), 'plain')}"
            )
            title, text_after = Token("inline", "", 0), token.content[callout.end() :]
            title.content, title.children = callout[2] or callout[1].capitalize(), []
            title.map, title.level = token.map, token.level
            token.content = text_after
            opening, closing = state.tokens[index - 1], Token("paragraph_close", "p", -1)
            title_opening = Token("paragraph_open", "p", 1)
            title_opening.attrs["class"] = "callout-title"
            tokens[-2:] = [title_opening, title, closing, opening, token]
    state.tokens = tokens


def _text(_self: RendererHTML, tokens: Sequence[Token], index: int, *_: object) -> str:
    return _HIGHLIGHT.sub(r"<mark>\1</mark>", escapeHtml(tokens[index].content))


def _formula(_self: RendererHTML, tokens: Sequence[Token], index: int, *_: object) -> str:
    return escapeHtml(tokens[index].content).replace("\n", "<br />\n")


def _table(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: _Env) -> str:
    """A table in a box that scrolls by itself, so that a wide table does not widen the page."""
    table = self.renderToken(tokens, index, options, env)
    return f'<div class="wide">{table}' if tokens[index].nesting == 1 else f"{table}</div>"


def _tag(_self: RendererHTML, tokens: Sequence[Token], index: int, *_: object) -> str:
    name = tokens[index].meta["name"]
    return f'<a class="tag" href="/memories?find={quote("#" + name)}">#{escapeHtml(name)}</a>'


def _wikilink(
    _self: RendererHTML, tokens: Sequence[Token], index: int, _options: object, env: _Env
) -> str:
    link, embed = tokens[index].meta["link"], tokens[index].meta["embed"]
    text = escapeHtml(("↳ " if embed else "") + link.text)
    address = env["resolve"](link.target)
    if address is None:
        return f'<span class="missing" title="no note yet">{text}</span>'
    return f'<a href="{escapeHtml(address)}">{text}</a>'


def _link(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: _Env) -> str:
    token = tokens[index]
    target = str(token.attrs.get("href", ""))
    title = token.attrs.get("title")
    token.attrs = {} if title is None else {"title": title}
    if target.lower().startswith(WEB):
        token.attrs |= {"href": target, "rel": "noopener noreferrer", "target": "_blank"}
    elif (address := env["resolve"](unquote(target.partition("#")[0]))) is not None:
        token.attrs["href"] = address
    return self.renderToken(tokens, index, options, env)


def _cell(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: _Env) -> str:
    """A cell with its column's alignment as a class, because the pages forbid inline styles."""
    style = str(tokens[index].attrs.pop("style", ""))
    if style:
        tokens[index].attrs["class"] = style.replace(":", "-")
    return self.renderToken(tokens, index, options, env)


def _image(
    _self: RendererHTML, tokens: Sequence[Token], index: int, _options: object, _env: _Env
) -> str:
    token = tokens[index]
    target = str(token.attrs.get("src", ""))
    text = escapeHtml(f"⧉ {token.content or target}")
    if not target.lower().startswith(WEB):
        return f'<span class="missing">{text}</span>'
    return f'<a href="{escapeHtml(target)}" rel="noopener noreferrer" target="_blank">{text}</a>'
