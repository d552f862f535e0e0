"""Finds the temporary files that killed writes left behind, and removes memvault's own."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from memvault.model.errors import OutsideVault, StorageError
from memvault.vault.files import Vault
from memvault.vault.ignore import is_link_path
from memvault.vault.write import TEMPORARY_PREFIX, TEMPORARY_SUFFIX

OWN_FOLDERS = tuple(
    f".memvault/{name}" for name in ("archive", "history", "journal", "learning", "manifest")
)
LONGEST_WRITE_SECONDS = 60.0  # an older temporary file is of a write that was killed


def leftovers(vault: Vault) -> list[str]:
    """Paths of the temporary files that killed writes left among the notes.

    A file may hold text that a person saved at that moment, so memvault never deletes it.
    """
    paths = []
    for folder, names, files in os.walk(vault.root):
        names[:] = [name for name in names if not name.startswith(".")]
        paths += [
            Path(folder, name).relative_to(vault.root).as_posix()
            for name in files
            if _is_temporary(name)
        ]
    return sorted(paths)


def own_leftovers(vault: Vault) -> list[str]:
    """Paths of the temporary files that killed writes left in memvault's own folders.

    No person saves anything there.
    """
    paths = []
    for folder in OWN_FOLDERS:
        with contextlib.suppress(OSError, OutsideVault, StorageError):
            for entry in vault.file_path(folder).iterdir():
                if _is_temporary(entry.name) and not is_link_path(entry) and entry.is_file():
                    paths.append(f"{folder}/{entry.name}")
    return sorted(paths)


def remove_own_leftovers(vault: Vault) -> None:
    """Remove the files of `own_leftovers` that no running write can need."""
    for path in own_leftovers(vault):
        with contextlib.suppress(OSError, OutsideVault, StorageError):  # the doctor lists it
            file = vault.file_path(path)
            if time.time() - file.stat().st_mtime > LONGEST_WRITE_SECONDS:
                file.unlink()


def _is_temporary(name: str) -> bool:
    return name.startswith(TEMPORARY_PREFIX) and name.endswith(TEMPORARY_SUFFIX)
