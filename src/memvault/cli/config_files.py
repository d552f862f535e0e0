"""Edits the configuration files of other programs, and can undo the edit to the byte."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memvault.cli.config_text import CannotEdit, Format, Steps
from memvault.model.errors import StorageError
from memvault.vault.write import write_whole


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """Another program's file; it need not exist. If it is a link, it stays a link."""

    path: Path
    format: Format

    def text(self) -> str:
        """The whole text; empty if there is no file.

        Raises:
            StorageError: it cannot be read.
            CannotEdit: it is not UTF-8.
        """
        try:
            return self.path.read_bytes().decode()
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError as error:
            raise CannotEdit(str(error)) from error
        except OSError as error:
            raise StorageError(f"{self.path} cannot be read: {error.strerror}.") from error

    def get(self, steps: Steps) -> Any:
        """The value at these steps, or None.

        Raises:
            CannotEdit: the file is malformed.
        """
        value: Any = self.format.read(self.text())
        for step in steps:
            if isinstance(value, dict):
                value = value.get(step)
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                return None
        return value

    def put(self, values: Sequence[tuple[Steps, Any]]) -> bool:
        """Set values, after a backup of the file; False if they are already set.

        Raises:
            CannotEdit: the file is malformed; it is unchanged.
            StorageError: it cannot be written; it is unchanged.
        """
        before = self.text()
        return self._write(before, self._put_in(before, values))

    def cut(self, all_steps: Sequence[Steps]) -> bool:
        """Remove values; False if none exists. For several positions in one list, give the last
        first.

        If a backup plus these values equals the file, nothing else has changed since: the backup is
        restored, to the byte. A file that `put` created is deleted.

        Raises:
            CannotEdit, StorageError: as `put`.
        """
        before = after = self.text()
        for steps in all_steps:
            after = self.format.cut(after, steps)
        if after == before:
            return False
        values = [(steps, self.get(steps)) for steps in all_steps]
        present = [(steps, value) for steps, value in values if value is not None]
        for backup in self._backups():
            if self._comes_from(backup, present, before):
                _replace(self._real_path, backup.read_bytes(), backup=None)
                backup.unlink()
                return True
        if self._put_in("", present) == before:
            self._real_path.unlink()
            return True
        return self._write(before, after)

    @property
    def _real_path(self) -> Path:
        """The file's real path, as people link such files to folders of their own."""
        return Path(os.path.realpath(self.path))

    def _backups(self) -> Iterator[Path]:
        """The backups of this file, newest first."""
        stem = f"{self._real_path.name}.before-memvault"
        backups = [path for path in self._real_path.parent.iterdir() if path.name.startswith(stem)]
        yield from sorted(backups, key=lambda path: path.stat().st_mtime_ns, reverse=True)

    def _comes_from(self, backup: Path, values: Sequence[tuple[Steps, Any]], now: str) -> bool:
        """Whether the backup with these values is the text ``now``."""
        try:
            text = backup.read_bytes().decode()
            has_none = all(self.format.cut(text, steps) == text for steps, _ in values)
            return has_none and self._put_in(text, values) == now
        except (OSError, UnicodeDecodeError, CannotEdit):
            return False

    def _put_in(self, text: str, values: Sequence[tuple[Steps, Any]]) -> str:
        for steps, value in values:
            text = self.format.put(text, steps, value)
        return text

    def _write(self, before: str, after: str) -> bool:
        if after == before:
            return False
        path = self._real_path
        try:
            backup = _free_backup_name(path) if path.exists() else None
            _replace(path, after.encode(), backup=backup)
        except OSError as error:
            raise StorageError(f"{self.path} cannot be written: {error.strerror}.") from error
        return True


def _replace(path: Path, data: bytes, *, backup: Path | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if backup is not None:
        shutil.copy2(path, backup)
    write_whole(path, data, None if path.exists() else 0o600)  # such files may hold secrets


def _free_backup_name(path: Path) -> Path:
    """``NAME.before-memvault``, numbered if that exists: no backup is ever overwritten."""
    stem = f"{path.name}.before-memvault"
    taken = {entry.name for entry in path.parent.iterdir()}
    names = (stem if n == 1 else f"{stem}-{n}" for n in range(1, len(taken) + 2))
    return path.with_name(next(name for name in names if name not in taken))
