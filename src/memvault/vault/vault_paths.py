"""The paths of a vault: checked, resolved, and spelled as on disk."""

from __future__ import annotations

import contextlib
import os
import stat as stat_module
from pathlib import Path

from memvault.model.errors import OutsideVault
from memvault.vault.file_names import folded_name, safe_name
from memvault.vault.ignore import IgnoreRules, is_link_path
from memvault.vault.note_folders import NoteFolders
from memvault.vault.walk import is_unicode, printable
from memvault.vault.write import storage_errors

NOTE_SUFFIX = ".md"


class VaultPaths:
    """Checks paths of a vault, and finds the files and folders that they name.

    Paths are relative to ``root``, with forward slashes on every system. memvault writes new notes
    in ``folders``.

    Symbolic links are not followed: a target inside the vault has its own path, and a target
    outside is not part of the vault.
    """

    def __init__(self, root: Path, folders: NoteFolders = NoteFolders()) -> None:
        self._given_root = _absolute(root.expanduser())
        self.root = Path(os.path.realpath(self._given_root))
        self.ignore_rules = IgnoreRules(self.root, folders)
        self.folders = folders

    def relative(self, path: Path) -> str | None:
        """The vault path of an absolute path, or None if it is outside."""
        absolute = _absolute(path)
        for root in (self.root, self._given_root):
            if absolute.is_relative_to(root):
                return absolute.relative_to(root).as_posix()
        real = Path(os.path.realpath(absolute))
        return real.relative_to(self.root).as_posix() if real.is_relative_to(self.root) else None

    def unresolved(self, path: str) -> Path:
        """The absolute path of a vault path, checked without touching the file system."""
        parts = path.replace("\\", "/").split("/") if os.name == "nt" else path.split("/")
        unsafe = any(part in {"", ".", ".."} or "\0" in part for part in parts)
        if unsafe or (os.name == "nt" and ":" in path):
            raise OutsideVault(f"{printable(path)!r} is not a path inside the vault")
        return self.root.joinpath(*parts)

    def file_path(self, path: str) -> Path:
        """The absolute path of a vault path, with links resolved.

        Raises:
            OutsideVault: it is not inside the vault.
        """
        if not path:
            return self.root
        file = self.unresolved(path)
        with storage_errors(printable(path)):  # a folder may be replaced by a link meanwhile
            real = Path(os.path.realpath(file))
        if not real.is_relative_to(self.root):
            raise OutsideVault(f"{printable(path)!r} leads out of the vault")
        return real

    def is_folder(self, path: str) -> bool:
        return stat_module.S_ISDIR(mode_of(self.root / path))

    def note_folder(self, folder: str) -> str:
        """A folder's checked path, in the upper and lower case of an existing folder.

        Most systems ignore case. Characters that some system forbids are replaced.

        Raises:
            OutsideVault: it is outside or hidden, behind a link or a file, or the ignore rules
                exclude it.
        """
        path = ""
        for name in folder.replace("\\", "/").strip("/").split("/") if folder.strip("/\\") else []:
            if name.strip() in {"", ".", ".."} or name.startswith(".") or "\0" in name:
                raise OutsideVault(f"{folder!r} cannot hold notes; name a folder inside the vault")
            exists = is_unicode(name) and mode_of(self.root / path / name) != 0
            spelled = name if exists else self._existing_spelling(path, safe_name(name))
            path = f"{path}/{spelled}" if path else spelled
            if is_link_path(self.root / path):
                raise self._unusable(
                    folder, f"{path} is a link, and what links lead to is not read"
                )
            if mode_of(self.root / path) and not self.is_folder(path):
                raise self._unusable(folder, f"{path} is a file, not a folder")
        self.file_path(path)
        if path and (reason := self.ignore_rules.why_excluded(f"{path}/note{NOTE_SUFFIX}")):
            raise self._unusable(path, f"a note there would not be read, as {reason}")
        return path

    def new_note_path(self, path: str) -> str:
        """The path of a new note in the folder that `note_folder` gives. Raises OutsideVault."""
        folder, _, name = path.rpartition("/")
        return f"{self.note_folder(folder)}/{name}" if folder else name

    def _unusable(self, folder: str, reason: str) -> OutsideVault:
        chosen = self.folders.chosen
        is_chosen = chosen and folded_name(f"{folder}/").startswith(folded_name(f"{chosen}/"))
        how = " with `memvault init --notes-folder`" if is_chosen else ""
        return OutsideVault(
            f"{folder} cannot hold new notes: {reason}. Correct that, or choose another "
            f"folder{how}."
        )

    def _existing_spelling(self, folder: str, name: str) -> str:
        """An existing subfolder's name that differs only in case or Unicode form, else ``name``."""
        spellings = self.spellings_in(folder).get(folded_name(name), ())
        return next((each for each in spellings if (self.root / folder / each).is_dir()), name)

    def spellings_in(self, folder: str) -> dict[str, list[str]]:
        """The names in a folder by their `folded_name`, sorted; empty without such a folder."""
        names: dict[str, list[str]] = {}
        with contextlib.suppress(OSError, OutsideVault):
            for entry in sorted(self.file_path(folder).iterdir()):
                names.setdefault(folded_name(entry.name), []).append(entry.name)
        return names


def _absolute(path: Path) -> Path:
    """The absolute path; unlike `Path.resolve`, this does not follow links."""
    return Path(os.path.abspath(path))  # noqa: PTH100


def mode_of(path: Path) -> int:
    """File type and permissions, 0 if the path does not exist or is invalid (too long)."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0
