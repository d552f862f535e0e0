"""Resolves links between notes as Obsidian does, writes and redirects them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import quote

from memvault.model.note import LinkStyle, ParsedNote
from memvault.vault.compose import lines_of, note_text
from memvault.vault.frontmatter.read import read_header
from memvault.vault.markdown import parse_markdown
from memvault.vault.markdown.inline_text import note_target
from memvault.vault.markdown.wikilink import Wikilink, read_wikilink
from memvault.vault.parse import parse_note

_UNLINKABLE = re.compile(r"[\[\]#^|]")
_SUFFIXES = (".md", ".markdown")


class _Entry(NamedTuple):
    """A note's path, and that without extension, as written and folded for comparison."""

    path: str
    written: str
    folded: str
    aliases: frozenset[str]


def link_key(target: str) -> str:
    """The part that two links to the same note share: the last part of the path, without
    extension, ignoring case and Unicode form."""
    return _fold(target.strip()).rstrip("/").rpartition("/")[2]


def keys_of(path: str, aliases: Iterable[str]) -> set[str]:
    """The keys under which a note can be linked.

    Adding, moving or removing a note only affects the resolution of links whose `link_key` is one
    of its keys.
    """
    return {link_key(path), *map(link_key, aliases)} - {""}


class LinkIndex:
    """Resolves links to the notes of a vault.

    The result does not depend on the order in which notes were added.
    """

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._by_key: dict[str, dict[str, _Entry]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, path: str, aliases: Iterable[str] = ()) -> None:
        """Add a note, or update its aliases."""
        self.remove(path)
        aliases = tuple(aliases)
        folded_aliases = frozenset(_fold(alias.strip()) for alias in aliases)
        entry = _Entry(path, _without_suffix(path), _fold(path), folded_aliases)
        self._entries[path] = entry
        for key in keys_of(path, aliases):
            self._by_key.setdefault(key, {})[path] = entry

    def remove(self, path: str) -> None:
        """Remove a note; an unknown path is no error."""
        entry = self._entries.pop(path, None)
        if entry is None:
            return
        for key in keys_of(path, entry.aliases):
            notes = self._by_key[key]
            del notes[path]
            if not notes:
                del self._by_key[key]

    def resolve(self, target: str, source: str) -> str | None:
        """The path of the note that a link in the note at path `source` leads to, or None.

        ``./`` and ``../`` start at the source's folder, ``/`` at the vault's root. Any other target
        resolves to the note at exactly this path, else to a note whose path ends with it: first in
        the source's folder or below it, then by the fewest folders, then by name. Aliases are
        tried last.
        """
        target = target.strip()
        if not target:
            return source if source in self._entries else None
        notes = self._by_key.get(link_key(target))
        if not notes:
            return None
        wanted, written = _fold(target), _without_suffix(_nfc(target))
        home = _fold(source).rpartition("/")[0]
        anchored = _anchored(wanted, home)
        if anchored is not None:
            found = [entry for entry in notes.values() if entry.folded == anchored]
        else:
            ending = "/" + wanted
            found = [
                entry
                for entry in notes.values()
                if entry.folded == wanted or entry.folded.endswith(ending)
            ]
            found = found or [entry for entry in notes.values() if wanted in entry.aliases]
        if not found:
            return None
        if len(found) == 1:
            return found[0].path
        return min(found, key=lambda entry: _rank(entry, wanted, written, home)).path


def wikilink(path: str, source: str, links: LinkIndex | None = None) -> str:
    """The shortest link from ``source`` to the note at ``path`` that Obsidian would write.

    That is the bare name if it resolves to the note, else (or without an index) the path from the
    vault's root with the name shown. A name with characters that wikilinks cannot contain
    (``# ^ [ ] |``) becomes a Markdown link.
    """
    name = PurePosixPath(path).stem
    whole = path.removesuffix(".md").removesuffix(".markdown")
    if _UNLINKABLE.search(whole):
        shown = name.replace("[", "\\[").replace("]", "\\]")
        return f"[{shown}]({quote(path)})"
    if whole == name or (links is not None and links.resolve(name, source) == path):
        return f"[[{name}]]"
    return f"[[{whole}|{name}]]"


def _rank(entry: _Entry, wanted: str, written: str, home: str) -> tuple[bool | int | str, ...]:
    below = not home or entry.folded.startswith(home + "/")
    return (
        entry.folded != wanted,
        not below,
        entry.folded.count("/"),
        not _nfc(entry.written).endswith(written),
        entry.folded,
        entry.path,
    )


def _anchored(wanted: str, home: str) -> str | None:
    """The full path of a target that starts with ``/``, ``./`` or ``../``, else None."""
    if wanted.startswith("/"):
        return wanted.lstrip("/")
    if not wanted.startswith(("./", "../")):
        return None
    parts = home.split("/") if home else []
    for part in wanted.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _without_suffix(path: str) -> str:
    lowered = path[-10:].lower()
    for suffix in _SUFFIXES:
        if lowered.endswith(suffix):
            return path[: -len(suffix)]
    return path


@lru_cache(maxsize=65_536)
def _fold(path: str) -> str:
    return _nfc(_nfc(_without_suffix(path)).casefold())


_CANDIDATE = re.compile(
    r"(?P<hidden>%%.*?(?:%%|\Z)|<!--.*?(?:-->|\Z)|(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<embed>!?)(?P<wiki>\[\[)"
    r"|(?P<image>!?)\[(?P<shown>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\("
    r"(?P<dest><[^<>\n]*>|[^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*)",
    re.DOTALL,
)


class NewTarget(NamedTuple):
    """The new target of a link: vault path, name in wikilinks, and heading or block.

    If ``name`` is None, only Markdown links are rewritten.
    """

    path: str
    name: str | None
    subpath: str | None


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
        """The text with rewritten links; code is unchanged."""
        pieces = []
        for first, last, is_text in self._stretches():
            part = "".join(self._lines[first:last])
            pieces.append(self._stretch(part, first) if is_text else part)
        return "".join(pieces)

    def _stretches(self) -> Iterator[tuple[int, int, bool]]:
        """First line, end line (exclusive), both counted from 0, and whether it is text."""
        at = 0
        for code in sorted(self._note.code, key=lambda block: block.lines.first):
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
        new_target = self._redirect(WrittenLink(link.target, link.subpath, bool(found["embed"])))
        if new_target is None or new_target.name is None:
            return whole, end
        line = first + len(re.findall(r"\r\n|\r|\n", part[: found.start()]))
        bar = r"\|" if line in self._in_table else "|"
        heading = f"#{new_target.subpath}" if new_target.subpath else ""
        # Obsidian shows a path including its folders.
        reads_so = (
            "/" not in new_target.name
            and Wikilink(new_target.name, new_target.subpath, None).text == link.text
        )
        alias = "" if reads_so else bar + link.text
        return f"{found['embed']}[[{new_target.name}{heading}{alias}]]", end

    def _markdown(self, found: re.Match[str]) -> str:
        dest = found["dest"].removeprefix("<").removesuffix(">")
        new = self._destination(dest, is_embed=bool(found["image"]))
        if new is None:
            # The shown text may contain links itself.
            return found[0]
        return found[0][: found.start("dest") - found.start()] + new

    def _destination(self, dest: str, *, is_embed: bool) -> str | None:
        target = note_target(dest)
        if target is None:
            path = self._attached(dest)
            return None if path is None else quote(path)
        if not target[0]:
            return None
        new_target = self._redirect(WrittenLink(target[0], target[1], is_embed))
        if new_target is None:
            return None
        return quote(new_target.path) + (
            f"#{quote(new_target.subpath)}" if new_target.subpath else ""
        )


def _table_lines(text: str) -> frozenset[int]:
    """Lines, counted from 0, in which a bar separates table cells."""
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
    """Whether text, code, properties and all links that were not redirected are equal."""
    if (
        [block.text for block in before.blocks] != [block.text for block in after.blocks]
        or [heading.text for heading in before.headings]
        != [heading.text for heading in after.headings]
        or [code.text for code in before.code] != [code.text for code in after.code]
        or before.frontmatter.keys() != after.frontmatter.keys()
        or len(before.links) != len(after.links)
        or before.frontmatter_problem != after.frontmatter_problem
    ):
        return False
    for old, new in zip(before.links, after.links, strict=True):
        new_target = redirect(WrittenLink(old.target, old.subpath, old.style is LinkStyle.EMBED))
        stays = (new.target, new.subpath) == (old.target, old.subpath)
        if new_target is None and not stays:
            return False
        leads = (
            new.target in (new_target.name, new_target.path.removesuffix(".md"))
            if new_target
            else True
        )
        if not (leads or stays) or (old.style, old.relation) != (new.style, new.relation):
            return False
    return True
