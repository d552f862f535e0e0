"""Redirects the links in a note, and keeps every other byte."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import quote, unquote

from memvault.model.note import LinkStyle, ParsedNote
from memvault.vault.frontmatter.read import read_frontmatter
from memvault.vault.frontmatter.yaml_text import NO_QUOTES, YamlQuotes
from memvault.vault.lines import lines_of, note_text
from memvault.vault.links import without_suffix
from memvault.vault.markdown import parse_markdown
from memvault.vault.markdown.inline_text import is_note_file, note_target
from memvault.vault.markdown.wikilink import Wikilink, read_wikilink
from memvault.vault.parse import parse_note

_DEST = r"(?P<dest><[^<>\n]*>|[^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*)"
_CANDIDATE = re.compile(
    r"(?P<hidden>%%.*?(?:%%|\Z)|<!--.*?(?:-->|\Z)|(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<embed>!?)(?P<wiki>\[\[)"
    r"|(?P<image>!?)\[(?P<shown>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\(" + _DEST,
    re.DOTALL,
)
_DESTINATION = re.compile(rf"\]\((?={_DEST})")
_ALL_QUOTES = (NO_QUOTES, YamlQuotes("'"), YamlQuotes('"'))


class NewTarget(NamedTuple):
    """The new target of a link: path in Markdown links, name in wikilinks, and heading or block.

    If ``name`` is None, only Markdown links are rewritten. A link reads as before, unless
    ``only_target``: then everything after its target stays as it is written, and a link without an
    alias shows the new name.
    """

    path: str
    name: str | None
    subpath: str | None
    only_target: bool = False


class WrittenLink(NamedTuple):
    """A link as written in a note; an embed (``![[…]]``) shows its target in place."""

    target: str
    subpath: str | None
    is_embed: bool


Redirect = Callable[[WrittenLink], NewTarget | None]
Attached = Callable[[str], str | None]


def rewrite_links(
    path: str, data: bytes, redirect: Redirect, attached: Attached = lambda _: None
) -> bytes:
    """Redirect a note's links; every other byte stays.

    The result is parsed again: if anything but the redirected links differs, the note is returned
    unchanged.

    Args:
        redirect: the new target of a link, None to keep it.
        attached: the new path of a Markdown image or file, None to keep it.

    Raises:
        MalformedFrontmatter: the note is UTF-16.
    """
    text = note_text(path, data)
    if not _may_change(text, redirect, attached):
        return data
    before = parse_note(path, data)
    changed = _Rewriter(text, before, redirect, attached).rewritten()
    if changed == text:
        return data
    after_data = changed.encode("utf-8", "surrogateescape")
    after = parse_note(path, after_data)
    return after_data if _differs_only_in_links(before, after, redirect) else data


def _may_change(text: str, redirect: Redirect, attached: Attached) -> bool:
    """Whether a link may be redirected. Those in code and comments are tried, too, and in each kind
    of quotes, since the text is not parsed, which takes ten times as long."""
    return any(redirect(link) is not None for link in _written_wikilinks(text)) or any(
        _may_lead_elsewhere(match["dest"], redirect, attached)
        for match in _DESTINATION.finditer(text)
    )


def _written_wikilinks(text: str) -> Iterator[WrittenLink]:
    position = text.find("[[")
    while position >= 0:
        if parsed := read_wikilink(text, position):
            link, is_embed = parsed[0], text.endswith("!", 0, position)
            yield from {_as_written(link, quotes, is_embed=is_embed) for quotes in _ALL_QUOTES}
        position = text.find("[[", position + 1)


def _as_written(link: Wikilink, quotes: YamlQuotes, *, is_embed: bool) -> WrittenLink:
    subpath = None if link.subpath is None else quotes.unescaped(link.subpath)
    return WrittenLink(quotes.unescaped(link.target), subpath, is_embed)


def _may_lead_elsewhere(dest: str, redirect: Redirect, attached: Attached) -> bool:
    dest = dest.removeprefix("<").removesuffix(">")
    target = note_target(dest)
    if target is None:
        return attached(dest) is not None
    links = (WrittenLink(*target, is_embed) for is_embed in (False, True))
    return bool(target[0]) and any(redirect(link) is not None for link in links)


class _Rewriter:
    def __init__(self, text: str, note: ParsedNote, redirect: Redirect, attached: Attached) -> None:
        self._text = text
        self._note = note
        self._redirect = redirect
        self._attached = attached
        self._lines = lines_of(text)
        self._in_table = _table_lines(text)

    def rewritten(self) -> str:
        """The text with rewritten links; code is unchanged."""
        pieces = []
        for first_line, end_line, is_text in self._code_and_text():
            section = "".join(self._lines[first_line:end_line])
            pieces.append(self._rewritten_text(section, first_line) if is_text else section)
        return "".join(pieces)

    def _code_and_text(self) -> Iterator[tuple[int, int, bool]]:
        """First line, end line (exclusive), both counted from 0, and whether it is text."""
        position = 0
        for code in sorted(self._note.code, key=lambda block: block.lines.first):
            start, end = code.lines.first - 1, code.lines.last
            if start > position:
                yield position, start, True
            if end > position:
                yield max(position, start), end, False
                position = end
        yield position, len(self._lines), True

    def _rewritten_text(self, section: str, first_line: int) -> str:
        pieces, position = [], 0
        while match := _CANDIDATE.search(section, position):
            pieces.append(section[position : match.start()])
            position = match.end()
            if match["hidden"] is not None:
                pieces.append(match[0])
            elif match["wiki"] is not None:
                rewritten, position = self._rewritten_wikilink(section, match, first_line)
                pieces.append(rewritten)
            else:
                pieces.append(self._rewritten_markdown_link(match))
        return "".join([*pieces, section[position:]])

    def _rewritten_wikilink(
        self, section: str, match: re.Match[str], first_line: int
    ) -> tuple[str, int]:
        parsed = read_wikilink(section, match.start("wiki"))
        if parsed is None:
            return match[0], match.end()
        link, end = parsed
        written = match["embed"] + section[match.start("wiki") : end]
        line = first_line + len(re.findall(r"\r\n|\r|\n", section[: match.start()]))
        quotes = (
            YamlQuotes.before(section[: match.start()]) if self._is_property(line) else NO_QUOTES
        )
        new_target = self._redirect(_as_written(link, quotes, is_embed=bool(match["embed"])))
        if new_target is None or new_target.name is None:
            return written, end
        name, subpath = quotes.escaped(new_target.name), quotes.escaped(new_target.subpath or "")
        bar = r"\|" if line in self._in_table else "|"
        if new_target.only_target:
            return _with_target(written, link, name, bar), end
        heading = f"#{subpath}" if subpath else ""
        # Obsidian shows a path including its folders.
        shows_same_text = (
            "/" not in name and Wikilink(name, subpath or None, None).text == link.text
        )
        alias = "" if shows_same_text else bar + link.text
        return f"{match['embed']}[[{name}{heading}{alias}]]", end

    def _is_property(self, line: int) -> bool:
        """Whether this line, counted from 0, is one of the frontmatter."""
        return line < self._note.body_line - 1

    def _rewritten_markdown_link(self, match: re.Match[str]) -> str:
        in_brackets = match["dest"].startswith("<")
        dest = match["dest"].removeprefix("<").removesuffix(">")
        new = self._destination(dest, is_embed=bool(match["image"]), in_brackets=in_brackets)
        if new is None:
            # The shown text may contain links itself.
            return match[0]
        new = f"<{new}>" if in_brackets else new
        return match[0][: match.start("dest") - match.start()] + new

    def _destination(self, dest: str, *, is_embed: bool, in_brackets: bool) -> str | None:
        target = note_target(dest)
        escaped: Callable[[str], str] = str if in_brackets else quote
        if target is None:
            path = self._attached(dest)
            return None if path is None else escaped(path)
        if not target[0]:
            return None
        new_target = self._redirect(WrittenLink(target[0], target[1], is_embed))
        if new_target is None:
            return None
        if new_target.only_target:
            written, hash_sign, subpath = dest.partition("#")
            has_suffix = is_note_file(unquote(written))
            path = new_target.path if has_suffix else without_suffix(new_target.path)
            return (path if in_brackets else _readably_escaped(path)) + hash_sign + subpath
        return escaped(new_target.path) + (
            f"#{escaped(new_target.subpath)}" if new_target.subpath else ""
        )


def _with_target(written: str, link: Wikilink, name: str, bar: str) -> str:
    """The wikilink with another target, and with an alias if a path would be shown instead."""
    opening = written.index("[[") + 2
    target_start = written.index(link.target, opening)
    changed = written[:target_start] + name + written[target_start + len(link.target) :]
    shows_path = "/" in name and "/" not in link.target and not written.startswith("!")
    if not shows_path or "|" in changed:
        return changed
    alias = link._replace(target=name).text
    return f"{changed.removesuffix(']]')}{bar}{alias}]]"


def _readably_escaped(path: str) -> str:
    """The path as in a Markdown link of Obsidian, where letters of all scripts stay as they are."""
    return "".join(
        quote(char, safe="/,'!&+=@;$") if char.isascii() or char.isspace() else char
        for char in path
    )


def _table_lines(text: str) -> frozenset[int]:
    """Lines, counted from 0, in which a bar separates table cells."""
    if "|" not in text:
        return frozenset()
    plain = "".join(line.rstrip("\r\n") + "\n" for line in lines_of(text)).removeprefix("\ufeff")
    frontmatter = read_frontmatter(plain)
    lines_above = frontmatter.body_line - 1
    return frozenset(
        lines_above + line
        for token in parse_markdown(plain[frontmatter.body_start :])
        if token.type == "tr_open" and token.map is not None
        for line in range(*token.map)
    )


def _differs_only_in_links(before: ParsedNote, after: ParsedNote, redirect: Redirect) -> bool:
    """Whether text, code, properties and all links that were not redirected are equal."""
    targets = [
        redirect(WrittenLink(link.target, link.subpath, link.style is LinkStyle.EMBED))
        for link in before.links
    ]
    if (
        not _has_same_texts(before, after, any(t is not None and t.only_target for t in targets))
        or [code.text for code in before.code] != [code.text for code in after.code]
        or before.frontmatter.keys() != after.frontmatter.keys()
        or len(before.links) != len(after.links)
        or before.frontmatter_problem != after.frontmatter_problem
    ):
        return False
    for old, new, new_target in zip(before.links, after.links, targets, strict=True):
        is_unchanged = (new.target, new.subpath) == (old.target, old.subpath)
        leads_to_target = new_target is not None and new.target in (
            new_target.name, without_suffix(new_target.path)
        )  # fmt: skip
        is_same_kind = (new.style, new.relation) == (old.style, old.relation)
        if not is_same_kind or not (leads_to_target or is_unchanged):
            return False
    return True


def _has_same_texts(before: ParsedNote, after: ParsedNote, shows_new_names: bool) -> bool:
    """Whether blocks and headings have the same texts, or where links may show new names, as many
    of them."""
    pairs = ((before.blocks, after.blocks), (before.headings, after.headings))
    if shows_new_names:
        return all(len(old) == len(new) for old, new in pairs)
    return all([part.text for part in old] == [part.text for part in new] for old, new in pairs)
