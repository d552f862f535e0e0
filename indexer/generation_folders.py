"""Folders of indexes: a rebuild fills a new one next to the live one, then takes its place.

A pointer names the live folder. It is replaced atomically, so a crash leaves either the old or the
new generation live; folders that it does not name can be deleted. Data on servers is named after
its generation's folder. If the key-value store is on a server, so is the pointer, which machines
that share the indexes share.
"""

from __future__ import annotations

import logging
import os
import shutil
import time
import uuid
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from memvault.config.paths import StateFolder
from memvault.model.errors import MemvaultError
from memvault.vault.write import write_whole

logger = logging.getLogger(__name__)
POINTER = "current"
DAMAGED = "damaged"  # the last generation that could not be opened, kept for inspection
KEPT_SECONDS = 30 * 24 * 3600.0  # of a damaged generation, which takes as much space as a live one
Drop = Callable[[Path], None]  # removes the data of a folder's generation from servers


class Pointer(Protocol):
    """Names the live generation."""

    def read(self) -> str | None: ...

    def write(self, name: str | None) -> None:
        """Durably set the name of the live generation; None removes it."""
        ...

    def claim(self, name: str) -> str:
        """Set this name if none is set; returns the name that is set then."""
        ...

    def close(self) -> None: ...


class FilePointer:
    """The pointer of a single engine: the file ``indexes/current`` next to the generations."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self) -> str | None:
        """The name in the file; None if there is none or its folder is gone."""
        file = self._folder / POINTER
        name = file.read_text(encoding="utf-8").strip() if file.is_file() else ""
        return name if name and (self._folder / name).is_dir() else None

    def write(self, name: str | None) -> None:
        if name is None:
            (self._folder / POINTER).unlink(missing_ok=True)
            return
        write_whole(self._folder / POINTER, name.encode())

    def claim(self, name: str) -> str:
        if (present := self.read()) is not None:
            return present
        self.write(name)
        return name

    def close(self) -> None:
        """Nothing is open."""


class GenerationFolders:
    """The generations of one state folder."""

    def __init__(self, state: StateFolder, pointer: Pointer, drop: Drop) -> None:
        self._folder = state.indexes
        self._pointer = pointer
        self._drop = drop

    def live_name(self) -> str | None:
        return self._pointer.read()

    def live(self) -> Path:
        """The folder of the live generation, which is created if needed."""
        name = self._pointer.read()
        if name is None:
            fresh = self.new()
            name = self._pointer.claim(fresh.name)
            if name != fresh.name:
                fresh.rmdir()
        folder = self._folder / name
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder

    def new(self) -> Path:
        folder = self._folder / uuid.uuid4().hex[:12]
        folder.mkdir(parents=True, mode=0o700)
        return folder

    def make_live(self, folder: Path) -> None:
        self._pointer.write(folder.name)

    def put_aside(self, folder: Path) -> None:
        """Move a damaged generation aside, in place of the one kept earlier."""
        self._pointer.write(None)
        self._drop_data(folder)
        damaged = self._folder / DAMAGED
        shutil.rmtree(damaged, ignore_errors=True)
        # If a file in it is still open (Windows), the folder stays and is later removed as stale.
        with suppress(OSError):
            folder.rename(damaged)
            os.utime(damaged)

    def remove_stale(self, in_use: Collection[Path] = ()) -> None:
        """Delete generations that are neither live nor in use, as after an interrupted rebuild.

        A folder stays while a server with data of its generation does not answer.
        """
        live = self.live()
        for entry in self._folder.iterdir():
            is_kept = entry.name == DAMAGED and time.time() - entry.stat().st_mtime < KEPT_SECONDS
            if is_kept or entry.name == POINTER or entry == live or entry in in_use:
                continue
            if not entry.is_dir():
                entry.unlink(missing_ok=True)
            elif self._drop_data(entry):
                shutil.rmtree(entry, ignore_errors=True)

    def close(self) -> None:
        self._pointer.close()

    def _drop_data(self, folder: Path) -> bool:
        try:
            self._drop(folder)
        except MemvaultError as error:
            logger.warning("an old generation of indexes stays for now: %s", error.message)
            return False
        return True
