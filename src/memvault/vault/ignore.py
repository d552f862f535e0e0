"""Rules for which files of a vault are indexed."""

from __future__ import annotations

import os
import stat as stat_module
from pathlib import Path, PurePosixPath

from pathspec import GitIgnoreSpec

from memvault.vault.documents import DOCUMENT_SUFFIXES

IGNORE_FILE = ".memvaultignore"
MANIFEST = "manifest.md"
NOTE_SUFFIXES = frozenset({".md", ".markdown"})


class IgnoreRules:
    """The ignore rules of a vault.

    Excluded are dot files and folders (`.obsidian`, `.trash`, `.memvault`), the manifest, and what
    `.memvaultignore` lists in gitignore's syntax. That file is read again when it changes. Paths
    are relative to the vault, with forward slashes.
    """

    def __init__(self, root: Path) -> None:
        self._file = root / IGNORE_FILE
        self._seen: tuple[int, int] | None = None
        self._spec = GitIgnoreSpec.from_lines([])
        self.problem: str | None = None

    def excludes_folder(self, path: str) -> bool:
        """Whether this folder itself is excluded; its parents are not checked."""
        return _hidden(path) or bool(self._current().match_file(path + "/"))

    def excludes_file(self, path: str) -> bool:
        """Whether this file itself is excluded; its parents are not checked."""
        if _hidden(path) or path == MANIFEST:
            return True
        if PurePosixPath(path).suffix.lower() not in NOTE_SUFFIXES | DOCUMENT_SUFFIXES:
            return True
        return bool(self._current().match_file(path))

    def excludes(self, path: str) -> bool:
        """Whether the file or any folder above it is excluded."""
        parts = path.split("/")
        above = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
        return self.excludes_file(path) or any(map(self.excludes_folder, above))

    def lists(self, path: str) -> bool:
        """Whether `.memvaultignore` lists this file, note or not; its parents are not checked."""
        return bool(self._current().match_file(path))

    def _current(self) -> GitIgnoreSpec:
        try:
            stat = self._file.stat()
            seen = (stat.st_mtime_ns, stat.st_size)
        except OSError:
            seen = None
        if seen != self._seen:
            self._seen = seen
            self._spec = self._read() if seen else GitIgnoreSpec.from_lines([])
        return self._spec

    def _read(self) -> GitIgnoreSpec:
        self.problem = None
        try:
            lines = self._file.read_text(encoding="utf-8-sig", errors="replace").splitlines()
        except OSError:
            self.problem = f"{IGNORE_FILE} cannot be read; allow reading it"
            return GitIgnoreSpec.from_lines([])
        kept = []
        for number, line in enumerate(lines, start=1):
            try:
                GitIgnoreSpec.from_lines([line])
            except ValueError:
                self.problem = f"{IGNORE_FILE} line {number} is not a valid pattern and is ignored"
            else:
                kept.append(line)
        return GitIgnoreSpec.from_lines(kept)


def _hidden(path: str) -> bool:
    return path.rpartition("/")[2].startswith(".")


def is_link(entry: os.DirEntry[str]) -> bool:
    """Whether the entry is a symbolic link, or a junction of Windows."""
    if entry.is_symlink() or os.name != "nt":
        return entry.is_symlink()
    return _is_junction(entry.stat(follow_symlinks=False))


def is_link_path(path: Path) -> bool:
    """Whether the path is a symbolic link, or a junction of Windows."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat_module.S_ISLNK(found.st_mode) or _is_junction(found)


def _is_junction(found: os.stat_result) -> bool:
    mount_point = getattr(stat_module, "IO_REPARSE_TAG_MOUNT_POINT", None)
    return mount_point is not None and getattr(found, "st_reparse_tag", None) == mount_point
