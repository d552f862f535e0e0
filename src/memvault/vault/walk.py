"""Lists the notes below a vault's folder, and records what cannot be read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memvault.vault.documents import is_document
from memvault.vault.ignore import IGNORE_FILE, IgnoreRules, is_link

ICLOUD_SUFFIX = ".icloud"
IN_ICLOUD = (
    "it is only in iCloud, so it is not found; download it in Finder, and switch off Optimise Mac "
    "Storage to keep notes on this computer"
)


@dataclass(frozen=True, slots=True)
class NoteStat:
    """Size and modification time of a file; ``path`` is relative to the vault."""

    path: str
    size: int
    mtime_ns: int


MAX_NOTE_BYTES = 200_000_000  # a larger note would be read into memory whole, for its beginning
TOO_LARGE = (
    f"it is larger than {MAX_NOTE_BYTES // 1_000_000} MB, and not read; divide it, or list it in "
    f"{IGNORE_FILE}"
)


class NoteWalk:
    """Lists the notes of one vault.

    Attributes:
        problems: by path, why a file or folder could not be read in the last walk.
        unreadable: folders that could not be read in the last walk; empty text for the vault's own.
    """

    def __init__(self, root: Path, ignore: IgnoreRules, max_document_bytes: int) -> None:
        self._root = root
        self._ignore = ignore
        self._max_document_bytes = max_document_bytes
        self.problems: dict[str, str] = {}
        self.unreadable: set[str] = set()

    def notes(self) -> Iterator[NoteStat]:
        """List every note to index once, ordered by path within each folder.

        A folder or file that cannot be read is recorded in `problems` and skipped.
        """
        self.problems, self.unreadable = {}, set()
        folders = [""]
        while folders:
            folder = folders.pop()
            subfolders = []
            for entry in self._entries(folder):
                path = f"{folder}/{entry.name}" if folder else entry.name
                try:
                    if is_link(entry):
                        self._record_link(path, entry)
                    elif entry.is_dir():
                        if not self._ignore.excludes_folder(path):
                            subfolders.append(path)
                    elif not_here := _in_icloud(path):
                        self._record_icloud(not_here)
                    elif (stat := self._stat_to_index(path, entry)) is not None:
                        yield stat
                except OSError:
                    self.problems[printable(path)] = "it cannot be read"
            folders.extend(reversed(subfolders))
        if self._ignore.problem:
            self.problems["."] = self._ignore.problem

    def _stat_to_index(self, path: str, entry: os.DirEntry[str]) -> NoteStat | None:
        """The stat of a file to index; None for any other."""
        if not entry.is_file() or self._ignore.excludes_file(path):
            return None
        stat = self._stat(path, entry)
        if stat is None or not self.is_too_large(stat):
            return stat
        if not is_document(path):
            self.problems[path] = TOO_LARGE
        return None

    def _record_icloud(self, path: str) -> None:
        """Record a note that is only in iCloud; a placeholder may be left next to the note."""
        if not self._ignore.excludes_file(path) and not (self._root / path).exists():
            self.problems[printable(path)] = IN_ICLOUD

    def _record_link(self, path: str, entry: os.DirEntry[str]) -> None:
        """Record a link to a folder or a note outside the vault, which the person may miss."""
        link = Path(entry.path)
        excludes = self._ignore.excludes_folder if link.is_dir() else self._ignore.excludes_file
        if not link.exists() or not is_unicode(path) or excludes(path):
            return
        if not link.resolve().is_relative_to(self._root.resolve()):
            self.problems[path] = (
                "it is a link out of the vault, and what it leads to is not read; move that into "
                f"the vault, or list the link in {IGNORE_FILE}"
            )

    def is_too_large(self, stat: NoteStat) -> bool:
        """Whether this is a note or document with more bytes than are read."""
        most = self._max_document_bytes if is_document(stat.path) else MAX_NOTE_BYTES
        return stat.size > most

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self._root / folder) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except FileNotFoundError:
            return []
        except OSError:
            self.problems[printable(folder) or "."] = "the folder cannot be read; allow reading it"
            self.unreadable.add(folder)
            return []

    def _stat(self, path: str, entry: os.DirEntry[str]) -> NoteStat | None:
        """The size and time of a file; None if its name is not Unicode."""
        if not is_unicode(path):
            self.problems[printable(path)] = "its name is not Unicode; rename it"
            return None
        stat = note_stat(path, entry.stat(follow_symlinks=False))
        if not os.access(entry.path, os.R_OK):
            self.problems[path] = "it cannot be read; allow reading it"
        return stat


def _in_icloud(path: str) -> str | None:
    """The path of the note for which iCloud left this file, ``.Note.md.icloud``; None for others.

    macOS does so when it frees space; the note is then no longer on this computer.
    """
    folder, slash, name = path.rpartition("/")
    if not (name.startswith(".") and name.endswith(ICLOUD_SUFFIX)):
        return None
    return f"{folder}{slash}{name[1 : -len(ICLOUD_SUFFIX)]}"


def note_stat(path: str, stat: os.stat_result) -> NoteStat:
    return NoteStat(path, stat.st_size, stat.st_mtime_ns)


def is_unicode(path: str) -> bool:
    """Whether a path can be encoded; one with bytes that no Unicode text has cannot."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def printable(path: str) -> str:
    """The path, with ``?`` for what cannot be encoded."""
    return path.encode("utf-8", errors="replace").decode("utf-8")
