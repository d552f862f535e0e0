"""Rules for which files of a vault are indexed."""

from __future__ import annotations

import errno
import os
import re
import stat as stat_module
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from pathspec import GitIgnoreSpec

from memvault.model.json_text import json_value
from memvault.model.unicode_forms import normalized
from memvault.vault.documents import DOCUMENT_SUFFIXES
from memvault.vault.lines import bare_lines
from memvault.vault.note_folders import NoteFolders

IGNORE_FILE = ".memvaultignore"
MANIFEST = "manifest.md"
UNKNOWN = (
    f"{IGNORE_FILE} cannot be read, so memvault does not know what it hides, and reads no note. "
    "Allow reading it, or replace it by a file"
)
UNREADABLE = (
    f"{IGNORE_FILE} cannot be read; until it can, what it excluded before stays so, and if that is "
    "not known, no note is read. Allow reading it, or replace it by a file"
)
NOTE_SUFFIXES = frozenset({".md", ".markdown"})
# Settings of Obsidian and its plugins, and the key that names excluded files, or a folder of
# templates or scripts.
OBSIDIAN_SETTINGS = {
    ".obsidian/app.json": "userIgnoreFilters",
    ".obsidian/templates.json": "folder",
    ".obsidian/plugins/templater-obsidian/data.json": "templates_folder",
    ".obsidian/plugins/quickadd/data.json": "templateFolderPath",
    ".obsidian/plugins/obsidian-excalidraw-plugin/data.json": "scriptFolderPath",
}
_WILDCARD = re.compile(r"([\\*?\[\]])")


class IgnoreRules:
    """The ignore rules of a vault.

    They exclude dot files and folders (`.obsidian`, `.trash`, `.memvault`), the manifest, what
    Obsidian's settings exclude or name as folders of templates, and the patterns in
    `.memvaultignore`, in gitignore's syntax; ``!/Templates/`` includes such a folder again. These
    files are read again when they change. While `.memvaultignore` cannot be read, what it said
    before holds; if that is not known, everything is excluded, as it may hide anything. Paths are
    relative to the vault, with forward slashes.
    """

    def __init__(self, root: Path, folders: NoteFolders = NoteFolders()) -> None:
        self._root = root
        self._written = folders.written()
        self._files = [root / file for file in (IGNORE_FILE, *OBSIDIAN_SETTINGS)]
        self._file_stamps: list[tuple[int, int] | None] = [None] * len(self._files)
        self._settings: dict[str, Any] = {}  # as last read, by file
        self._listed: list[str] | None = None  # the lines as last read
        self._listed_spec = self._spec = GitIgnoreSpec.from_lines([])
        self.problem: str | None = None

    @property
    def are_unknown(self) -> bool:
        """Whether everything is excluded, as `.memvaultignore` could not be read even once."""
        self._current()
        return self.problem == UNREADABLE and self._listed is None

    def excludes_folder(self, path: str) -> bool:
        """Whether this folder itself is excluded; its parents are not checked."""
        return _is_hidden(path) or _matches(self._current(), path + "/")

    def excludes_file(self, path: str) -> bool:
        """Whether this file itself is excluded; its parents are not checked."""
        if _is_hidden(path) or path == MANIFEST:
            return True
        if PurePosixPath(path).suffix.lower() not in NOTE_SUFFIXES | DOCUMENT_SUFFIXES:
            return True
        return _matches(self._current(), path)

    def excludes(self, path: str) -> bool:
        """Whether the file or any folder above it is excluded."""
        parts = path.split("/")
        folders = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
        return self.excludes_file(path) or any(map(self.excludes_folder, folders))

    def why_excluded(self, path: str) -> str | None:
        """Which rule excludes the file at this path, whether it exists or not; None without one."""
        parts = path.split("/")
        folders = ["/".join(parts[:depth]) + "/" for depth in range(1, len(parts))]
        return next(filter(None, map(self._why, [*folders, path])), None)

    def excluded_note(self, name: str) -> str | None:
        """The path of an excluded note whose file has this name, without regard to case.

        Folders whose name begins with a dot are not searched.
        """
        for folder, subfolders, files in os.walk(self._root):
            subfolders[:] = sorted(each for each in subfolders if not _is_hidden(each))
            for file in map(Path(folder).joinpath, sorted(files)):
                names = (file.stem.casefold(), file.name.casefold())
                if file.suffix.lower() in NOTE_SUFFIXES and name.casefold() in names:
                    path = file.relative_to(self._root).as_posix()
                    if self.why_excluded(path):
                        return path
        return None

    def _why(self, place: str) -> str | None:
        """Which rule excludes this file, or this folder, which ends in a slash."""
        if _is_hidden(place.rstrip("/")):
            return "files and folders whose name begins with a dot are not read"
        if not _matches(self._current(), place):
            return None
        if _matches(self._listed_spec, place):
            return f"{IGNORE_FILE} " + (
                "cannot be read" if self.are_unknown else f"excludes {place}"
            )
        return (
            f"Obsidian's settings exclude {place} or keep templates there; to have it indexed, add "
            f"the line !/{place} to {IGNORE_FILE}"
        )

    def lists(self, path: str) -> bool:
        """Whether `.memvaultignore` lists this file, note or not; its parents are not checked."""
        self._current()
        return _matches(self._listed_spec, path)

    def _current(self) -> GitIgnoreSpec:
        stamps = [_stamp(file) for file in self._files]
        can_be_read_now = self.problem == UNREADABLE and _is_readable(self._files[0])
        if stamps != self._file_stamps or can_be_read_now:
            self.problem = None
            patterns = [normalized(line) for line in self._read()] if stamps[0] else []
            self._listed_spec = GitIgnoreSpec.from_lines(patterns)
            self._spec = GitIgnoreSpec.from_lines([*self._excluded_in_obsidian(), *patterns])
            self._file_stamps = stamps  # last, as other threads take the patterns from then on
        return self._spec

    def _excluded_in_obsidian(self) -> Iterator[str]:
        """Patterns of excluded files and of folders of templates.

        The folders in which clients write are never excluded so: who hides them from Obsidian's
        search still wants them remembered.
        """
        for file, key in OBSIDIAN_SETTINGS.items():
            try:
                self._settings[file] = json_value(_text(self._root / file))
            except OSError:
                self._settings[file] = None  # the person does not use this plugin
            except ValueError:
                pass  # Obsidian is writing it: what it said before still holds
            settings = self._settings.get(file)
            setting = settings.get(key) if isinstance(settings, dict) else None
            for start in _starts(setting):
                folder = start.strip("/")
                if folder not in ("", ".") and folder.casefold() not in self._written:
                    pattern = _WILDCARD.sub(r"\\\1", normalized(start))
                    yield f"/{pattern}" if start.endswith("/") else f"/{pattern}*"

    def _read(self) -> list[str]:
        """The valid lines of `.memvaultignore`, or what holds while it cannot be read."""
        try:
            text = _text(self._root / IGNORE_FILE, errors="replace")
        except OSError:
            self.problem = UNREADABLE
            return ["*"] if self._listed is None else self._listed
        patterns = self._listed = []
        for number, line in enumerate(bare_lines(text), start=1):
            try:
                GitIgnoreSpec.from_lines([line])
            except ValueError:
                self.problem = f"{IGNORE_FILE} line {number} is not a valid pattern and is ignored"
            else:
                patterns.append(line)
        return patterns


def _text(file: Path, errors: str = "strict") -> str:
    """Raises OSError also for what is no ordinary file, such as a pipe, which may never end."""
    if not file.is_file():
        raise OSError(errno.EINVAL, "not an ordinary file")
    return file.read_text(encoding="utf-8-sig", errors=errors)


def _is_readable(file: Path) -> bool:
    return file.is_file() and os.access(file, os.R_OK)


def _matches(spec: GitIgnoreSpec, path: str) -> bool:
    """Whether a pattern matches the path; its Unicode form, which systems change, is ignored."""
    return bool(spec.match_file(normalized(path)))


def _starts(setting: object) -> list[str]:
    """The starts of excluded paths: a folder of templates, or Obsidian's list, in which a regular
    expression is between slashes and is not read."""
    if isinstance(setting, str):
        return [setting.strip("/") + "/"]
    starts = setting if isinstance(setting, list) else []
    return [start for start in starts if isinstance(start, str) and not start.startswith("/")]


def _stamp(file: Path) -> tuple[int, int] | None:
    """Modification time and size of a file; None if it does not exist.

    A link to nothing, such as to a drive that is not connected, exists but cannot be read.
    """
    try:
        stat = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return (0, 0) if file.is_symlink() else None
    except OSError:
        return 0, 0
    return stat.st_mtime_ns, stat.st_size


def _is_hidden(path: str) -> bool:
    return path.rpartition("/")[2].startswith(".")


def is_link(entry: os.DirEntry[str]) -> bool:
    """Whether the entry is a symbolic link or a Windows junction."""
    if entry.is_symlink() or os.name != "nt":
        return entry.is_symlink()
    return _is_junction(entry.stat(follow_symlinks=False))


def is_link_path(path: Path) -> bool:
    """Whether the path is a symbolic link or a Windows junction."""
    try:
        stat = path.lstat()
    except OSError:
        return False
    return stat_module.S_ISLNK(stat.st_mode) or _is_junction(stat)


def _is_junction(stat: os.stat_result) -> bool:
    mount_point = getattr(stat_module, "IO_REPARSE_TAG_MOUNT_POINT", None)
    return mount_point is not None and getattr(stat, "st_reparse_tag", None) == mount_point
