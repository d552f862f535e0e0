"""Installs and removes a plugin's files and hooks in a client.

Other programs use the same folders and hooks files, so each file of ours is marked as such, and no
other file or entry is touched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memvault.cli.config_files import ConfigFile
from memvault.cli.config_text import CannotEdit, Steps
from memvault.model.errors import StorageError
from memvault.vault.write import write_whole

MARK = "Installed by memvault; `memvault disconnect` removes it."


@dataclass(frozen=True, slots=True)
class Plugin:
    """Our files in a client, and our hooks in a file that it shares with other programs.

    Attributes:
        roots: the folders that hold ``files``; they are not removed, even if empty.
        hooks: entries by the client's own event name, for ``hooks_file``.
    """

    roots: tuple[Path, ...]
    files: Mapping[Path, bytes]
    hooks_file: ConfigFile | None = None
    hooks: Mapping[str, Any] = field(default_factory=dict)

    def install(self) -> bool:
        """Install the plugin; returns False if it is already installed.

        Raises:
            StorageError: a file of the same name is not ours, or one cannot be written. Nothing
                was written in the first case.
        """
        for path in self.files:
            if path.exists() and not _is_ours(path):
                raise StorageError(
                    f"{path} exists and is not memvault's; rename it, then connect again."
                )
        changed = False
        for path, data in self.files.items():
            try:
                if path.exists() and path.read_bytes() == data:
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, data)
            except OSError as error:
                raise StorageError(f"{path} cannot be written: {error.strerror}.") from error
            changed = True
        return self._put_hooks() or changed

    def remove(self) -> bool:
        """Remove what `install` added; returns False if nothing was installed.

        Folders that are then empty are removed, too.
        """
        installed = self._installed()
        for path in installed:
            path.unlink()
        for folder in sorted(
            {parent for path in installed for parent in path.parents}, reverse=True
        ):
            below = any(root in folder.parents for root in self.roots)
            if below and folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
        return self._cut_hooks() or bool(installed)

    def is_installed(self) -> bool:
        """Whether any of the files that `install` writes exist."""
        return bool(self._installed())

    def _installed(self) -> list[Path]:
        return [path for path in self.files if path.exists() and _is_ours(path)]

    def shown(self) -> str:
        """The files and hooks that would be installed, as text for a person."""
        parts = [f"{path}" for path in self.files]
        if self.hooks_file is not None:
            hooks = json.dumps({"hooks": {k: [v] for k, v in self.hooks.items()}}, indent=2)
            parts.append(f"In {self.hooks_file.path}:\n\n{hooks}")
        return "\n".join(parts)

    def _put_hooks(self) -> bool:
        if self.hooks_file is None:
            return False
        values: list[tuple[Steps, Any]] = []
        try:
            if self.hooks_file.format.read(self.hooks_file.text()) == {} and self._versioned:
                values.append((["version"], 1))
            for event, entry in self.hooks.items():
                present = self.hooks_file.get(["hooks", event]) or []
                ours = [at for at, group in enumerate(present) if _runs_hook(group)]
                values.append((["hooks", event, ours[0] if ours else len(present)], entry))
            return self.hooks_file.put(values)
        except CannotEdit as error:
            raise StorageError(
                f"{self.hooks_file.path} was not changed, because it cannot be edited safely: "
                f"{error}. Add this by hand:\n\n{self.shown()}"
            ) from error

    def _cut_hooks(self) -> bool:
        if self.hooks_file is None:
            return False
        steps: list[Steps] = []
        try:
            for event in self.hooks_file.get(["hooks"]) or {}:
                present = self.hooks_file.get(["hooks", event]) or []
                places = [at for at, group in enumerate(present) if _runs_hook(group)]
                steps += [["hooks", event, at] for at in reversed(places)]
            if steps and self._is_whole_ours(len(steps)):
                steps.insert(0, ["version"])
            return bool(steps) and self.hooks_file.cut(steps)
        except CannotEdit as error:
            raise StorageError(
                f"{self.hooks_file.path} was not changed, because it cannot be edited safely: "
                f"{error}. Remove the hooks that run memvault by hand."
            ) from error

    def _is_whole_ours(self, entries: int) -> bool:
        """Whether `install` created the hooks file, and it has only our ``entries``."""
        assert self.hooks_file is not None
        content, path = self.hooks_file.get([]), self.hooks_file.path
        backed_up = any(path.parent.glob(f"{path.name}.before-memvault*"))
        group_count = sum(len(groups) for groups in content.get("hooks", {}).values())
        return set(content) == {"version", "hooks"} and group_count == entries and not backed_up

    @property
    def _versioned(self) -> bool:
        """Whether the file needs a version, as Cursor's does."""
        return self.hooks_file is not None and ".cursor" in self.hooks_file.path.parts


def _is_ours(path: Path) -> bool:
    try:
        data = path.read_bytes()
    except OSError:
        return False
    if MARK.encode() in data:
        return True
    return path.suffix == ".json" and (b'"name": "memvault"' in data or b" hook " in data)


def _runs_hook(entry: Any) -> bool:
    """Whether an entry of a hooks file runs ``memvault hook``."""
    return re.search(r"memvault.* hook \w+ --client=", json.dumps(entry)) is not None
