"""Links that lead elsewhere from now on, and read as before; every other byte stays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import quote

from memvault.model.note import LinkStyle, ParsedNote
from memvault.vault.frontmatter.read import read_header
from memvault.vault.markdown import parse_markdown
from memvault.vault.markdown.inline_text import note_target
from memvault.vault.markdown.wikilink import Wikilink, read_wikilink
from memvault.vault.note_text import lines_of, note_text
from memvault.vault.parse import parse_note

_CANDIDATE = re.compile(
    r"(?P<hidden>%%.*?(?:%%|\Z)|<!--.*?(?:-->|\Z)|(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<embed>!?)(?P<wiki>\[\[)"
    r"|(?P<image>!?)\[(?P<shown>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\("
    r"(?P<dest><[^<>\n]*>|[^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*)",
    re.DOTALL,
)


class Led(NamedTuple):
    """Where a link leads from now on: a vault path, what a wikilink calls it, and the heading or
    block there. ``name`` None writes Markdown links only."""

    path: str
    name: str | None
    subpath: str | None


class Old(NamedTuple):
    """A link as it is written; ``is_embed`` shows its target in place."""

    target: str
    subpath: str | None
    is_embed: bool


Redirect = Callable[[Old], Led | None]
Attached = Callable[[str], str | None]


def rewrite_links(
    path: str, data: bytes, redirect: Redirect, attached: Attached = lambda _: None
) -> bytes:
    """The note with its links redirected. If it would not read as before, it is left as it is.

    Args:
        redirect: where a link leads now, None for one that stays.
        attached: the path that a Markdown image's or file's becomes, None for one that stays.

    Raises:
        MalformedFrontmatter: the note is UTF-16.
    """
    text = note_text(path, data)
    before = parse_note(path, data)
    changed = _Rewriter(text, before, redirect, attached).rewritten()
    if changed == text:
        return data
    after_data = changed.encode("utf-8", "surrogateescape")
    after = parse_note(path, after_data)
    return after_data if _reads_alike(before, after, redirect) else data


class _Rewriter:
    def __init__(self, text: str, note: ParsedNote, redirect: Redirect, attached: Attached) -> None:
        self._text = text
        self._note = note
        self._redirect = redirect
        self._attached = attached
        self._lines = lines_of(text)
        self._in_table = _table_lines(text)

    def rewritten(self) -> str:
        """The text in pieces: what is no code is rewritten, the rest is copied."""
        pieces = []
        for first, last, is_text in self._stretches():
            part = "".join(self._lines[first:last])
            pieces.append(self._stretch(part, first) if is_text else part)
        return "".join(pieces)

    def _stretches(self) -> Iterator[tuple[int, int, bool]]:
        """First line and the one behind the last, counted from 0, and whether it is no code."""
        at = 0
        for code in sorted(self._note.code, key=lambda each: each.lines.first):
            first, last = code.lines.first - 1, code.lines.last
            if first > at:
                yield at, first, True
            if last > at:
                yield max(at, first), last, False
                at = last
        yield at, len(self._lines), True

    def _stretch(self, part: str, first: int) -> str:
        pieces, at = [], 0
        while found := _CANDIDATE.search(part, at):
            pieces.append(part[at : found.start()])
            at = found.end()
            if found["hidden"] is not None:
                pieces.append(found[0])
            elif found["wiki"] is not None:
                new, at = self._wikilink(part, found, first)
                pieces.append(new)
            else:
                pieces.append(self._markdown(found))
        return "".join([*pieces, part[at:]])

    def _wikilink(self, part: str, found: re.Match[str], first: int) -> tuple[str, int]:
        read = read_wikilink(part, found.start("wiki"))
        if read is None:
            return found[0], found.end()
        link, end = read
        whole = found["embed"] + part[found.start("wiki") : end]
        led = self._redirect(Old(link.target, link.subpath, bool(found["embed"])))
        if led is None or led.name is None:
            return whole, end
        line = first + len(re.findall(r"\r\n|\r|\n", part[: found.start()]))
        bar = r"\|" if line in self._in_table else "|"
        heading = f"#{led.subpath}" if led.subpath else ""
        # Obsidian shows a path whole.
        reads_so = "/" not in led.name and Wikilink(led.name, led.subpath, None).text == link.text
        shown = "" if reads_so else bar + link.text
        return f"{found['embed']}[[{led.name}{heading}{shown}]]", end

    def _markdown(self, found: re.Match[str]) -> str:
        dest = found["dest"].removeprefix("<").removesuffix(">")
        new = self._destination(dest, is_embed=bool(found["image"]))
        if new is None:
            # What is shown may hold links of its own.
            return found[0]
        return found[0][: found.start("dest") - found.start()] + new

    def _destination(self, dest: str, *, is_embed: bool) -> str | None:
        target = note_target(dest)
        if target is None:
            path = self._attached(dest)
            return None if path is None else quote(path)
        if not target[0]:
            return None
        led = self._redirect(Old(target[0], target[1], is_embed))
        if led is None:
            return None
        return quote(led.path) + (f"#{quote(led.subpath)}" if led.subpath else "")


def _table_lines(text: str) -> frozenset[int]:
    """Lines, counted from 0, on which a bar ends a cell."""
    if "|" not in text:
        return frozenset()
    plain = "".join(line.rstrip("\r\n") + "\n" for line in lines_of(text)).removeprefix("\ufeff")
    header = read_header(plain)
    above = header.body_line - 1
    return frozenset(
        above + line
        for token in parse_markdown(plain[header.body_start :])
        if token.type == "tr_open" and token.map is not None
        for line in range(*token.map)
    )


def _reads_alike(before: ParsedNote, after: ParsedNote, redirect: Redirect) -> bool:
    """The same text, code and properties; the same links but for those that lead elsewhere."""
    if (
        [block.text for block in before.blocks] != [block.text for block in after.blocks]
        or [each.text for each in before.headings] != [each.text for each in after.headings]
        or [code.text for code in before.code] != [code.text for code in after.code]
        or before.frontmatter.keys() != after.frontmatter.keys()
        or len(before.links) != len(after.links)
        or before.frontmatter_problem != after.frontmatter_problem
    ):
        return False
    for old, new in zip(before.links, after.links, strict=True):
        led = redirect(Old(old.target, old.subpath, old.style is LinkStyle.EMBED))
        stays = (new.target, new.subpath) == (old.target, old.subpath)
        if led is None and not stays:
            return False
        leads = new.target in (led.name, led.path.removesuffix(".md")) if led else True
        if not (leads or stays) or (old.style, old.relation) != (new.style, new.relation):
            return False
    return True
