"""Resolves links between notes as Obsidian does, and writes them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import quote

from memvault.model.unicode_forms import normalized

_UNLINKABLE = re.compile(r"[\[\]#^|]")
_SUFFIXES = (".md", ".markdown")


class _Entry(NamedTuple):
    """A note's path, and that without extension, as written and folded for comparison."""

    path: str
    written: str
    folded: str
    aliases: frozenset[str]


def link_key(target: str) -> str:
    """The part of a link target that all links to the same note share.

    It is the last part of the path, without extension, ignoring case and Unicode form.
    """
    return _fold(target.strip()).rstrip("/").rpartition("/")[2]


def keys_of(path: str, aliases: Iterable[str]) -> set[str]:
    """The keys under which a note can be linked.

    Adding, moving or removing a note only affects the resolution of links whose `link_key` is one
    of its keys.
    """
    return {link_key(path), *map(link_key, aliases)} - {""}


def obsidian_address(vault: str, path: str) -> str:
    """The address that opens the note at a path in Obsidian (https://help.obsidian.md/uri).

    Args:
        vault: the name of its folder.
    """
    return f"obsidian://open?vault={quote(vault, safe='')}&file={quote(path, safe='')}"


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
        entry = _Entry(path, without_suffix(path), _fold(path), folded_aliases)
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

    def after_moves(self, moves: Mapping[str, str]) -> LinkIndex:
        """The index as it will be when the notes at these paths are at their new paths."""
        moved = LinkIndex()
        moved._entries = dict(self._entries)
        moved._by_key = dict(self._by_key)
        entries = {path: entry for path in moves if (entry := self._entries.get(path)) is not None}
        for path, entry in entries.items():
            for key in (*keys_of(path, entry.aliases), *keys_of(moves[path], entry.aliases)):
                moved._by_key[key] = dict(moved._by_key.get(key, {}))
        for path in entries:
            moved.remove(path)
        for path, entry in entries.items():
            moved.add(moves[path], entry.aliases)
        return moved

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
        folded_target, written_target = _fold(target), without_suffix(normalized(target))
        source_folder = _fold(source).rpartition("/")[0]
        anchored = _anchored(folded_target, source_folder)
        if anchored is not None:
            candidates = [entry for entry in notes.values() if entry.folded == anchored]
        else:
            ending = "/" + folded_target
            candidates = [
                entry
                for entry in notes.values()
                if entry.folded == folded_target or entry.folded.endswith(ending)
            ]
            candidates = candidates or [
                entry for entry in notes.values() if folded_target in entry.aliases
            ]
        if not candidates:
            return None
        if len(candidates) == 1:
            return candidates[0].path
        return min(
            candidates, key=lambda entry: _rank(entry, folded_target, written_target, source_folder)
        ).path


def moved_link(target: str, path: str, source: str, links: LinkIndex) -> tuple[str | None, str]:
    """What a link leads to the note at ``path`` with, in the form of ``target``: in wikilinks, and
    in Markdown links.

    A path that starts at the source's folder or at the root stays one; any other target becomes
    the note's bare name if that resolves to it, and in Markdown links only if it was one. The first
    is None for a name that wikilinks cannot contain.

    Args:
        target: the target of the link as it was.
        source: the path of the note with the link.
        links: resolves links as they will be.
    """
    file, is_path = PurePosixPath(path).name, "/" in target
    if target.startswith(("./", "../")):
        new_target = posixpath.relpath(path, PurePosixPath(source).parent)
        new_target = new_target if new_target.startswith("../") else f"./{new_target}"
    elif target.startswith("/"):
        new_target = f"/{path}"
    elif links.resolve(file, source) == path:
        new_target = file
    else:
        new_target = path
    name = without_suffix(new_target)
    markdown = path if is_path and new_target == file else new_target
    return None if _UNLINKABLE.search(name) else name, markdown


def wikilink(path: str, source: str, links: LinkIndex | None = None) -> str:
    """The shortest link from ``source`` to the note at ``path`` that Obsidian would write.

    That is the bare name if it resolves to the note, else (or without an index) the path from the
    vault's root with the name shown. A name with characters that wikilinks cannot contain
    (``# ^ [ ] |``) becomes a Markdown link.
    """
    name = PurePosixPath(path).stem
    path_name = without_suffix(path)
    if _UNLINKABLE.search(path_name):
        alias = name.replace("[", "\\[").replace("]", "\\]")
        return f"[{alias}]({quote(path)})"
    if path_name == name or (links is not None and links.resolve(name, source) == path):
        return f"[[{name}]]"
    return f"[[{path_name}|{name}]]"


def wikilink_from_all(path: str, sources: Iterable[str], links: LinkIndex) -> str:
    """The shortest link that leads to the note at ``path`` from each of these notes."""
    wikilinks = {wikilink(path, source, links) for source in sources}
    return wikilinks.pop() if len(wikilinks) == 1 else wikilink(path, "")


def _rank(
    entry: _Entry, folded_target: str, written_target: str, source_folder: str
) -> tuple[bool | int | str, ...]:
    is_below_source = not source_folder or entry.folded.startswith(source_folder + "/")
    return (
        entry.folded != folded_target,
        not is_below_source,
        entry.folded.count("/"),
        not normalized(entry.written).endswith(written_target),
        entry.folded,
        entry.path,
    )


def _anchored(folded_target: str, source_folder: str) -> str | None:
    """The full path of a target that starts with ``/``, ``./`` or ``../``, else None."""
    if folded_target.startswith("/"):
        return folded_target.lstrip("/")
    if not folded_target.startswith(("./", "../")):
        return None
    parts = source_folder.split("/") if source_folder else []
    for part in folded_target.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def without_suffix(path: str) -> str:
    """A note's path without ``.md`` or ``.markdown``."""
    lowered = path[-10:].lower()
    for suffix in _SUFFIXES:
        if lowered.endswith(suffix):
            return path[: -len(suffix)]
    return path


@lru_cache(maxsize=65_536)
def _fold(path: str) -> str:
    return normalized(normalized(without_suffix(path)).casefold())
