"""Links resolved as Obsidian resolves them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

_SUFFIXES = (".md", ".markdown")


class _Entry(NamedTuple):
    """A note by its path without extension: as written, and folded for comparison."""

    path: str
    written: str
    folded: str
    aliases: frozenset[str]


def link_key(target: str) -> str:
    """What two links must share to be able to mean the same note: the last part of the path,
    without extension, whatever its case and Unicode form."""
    return _fold(target.strip()).rstrip("/").rpartition("/")[2]


def keys_of(path: str, aliases: Iterable[str]) -> set[str]:
    """The keys under which a note can be linked.

    Adding, moving or removing a note can only change how links resolve whose `link_key` is among
    its keys.
    """
    return {link_key(path), *map(link_key, aliases)} - {""}


class LinkIndex:
    """Every note of a vault, to be found by what links say.

    The answer depends on the notes alone, not on the order in which they were added.
    """

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._by_key: dict[str, dict[str, _Entry]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, path: str, aliases: Iterable[str] = ()) -> None:
        """Add a note, or change its aliases."""
        self.remove(path)
        aliases = tuple(aliases)
        folded_aliases = frozenset(_fold(alias.strip()) for alias in aliases)
        entry = _Entry(path, _without_suffix(path), _fold(path), folded_aliases)
        self._entries[path] = entry
        for key in keys_of(path, aliases):
            self._by_key.setdefault(key, {})[path] = entry

    def remove(self, path: str) -> None:
        """Forget a note; one that is not there is no error."""
        entry = self._entries.pop(path, None)
        if entry is None:
            return
        for key in keys_of(path, entry.aliases):
            notes = self._by_key[key]
            del notes[path]
            if not notes:
                del self._by_key[key]

    def resolve(self, target: str, source: str) -> str | None:
        """The path of the note that `target` means in the note at path `source`, or None.

        ``./`` and ``../`` start at the source's folder, ``/`` at the vault's top. Else the note is
        the one at exactly this path, or one whose path ends so: in the source's folder or below it
        first, then by the fewest folders, then by name. Aliases count where no path does.
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
    """The full path of a target that starts at a folder, None for one that starts anywhere."""
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
