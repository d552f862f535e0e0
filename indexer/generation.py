"""Generations of indexes: a rebuild fills a new folder next to the live one, then is swapped in.

A pointer names the live folder. It is replaced atomically, so a crash leaves either the old or the
new generation live; folders that it does not name can be deleted. Data on servers is named after
its generation's folder. If the key-value store is on a server, so is the pointer, and machines that
share the indexes share it.
"""

from __future__ import annotations

import logging
import os
import shutil
import uuid
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from memvault.config.paths import StateFolder
from memvault.model.errors import MemvaultError


@dataclass(frozen=True, slots=True)
class Progress:
    """``stage`` is reading, indexing, linking or entities; counts are notes."""

    stage: str
    done: int
    total: int


Report = Callable[[Progress], None]


def report_nothing(_: Progress) -> None:
    """Report to nobody."""


@dataclass(slots=True)
class ScanReport:
    """What a scan or a batch of changes came to."""

    indexed: int = 0
    relinked: int = 0  # unchanged notes whose edges changed because other notes did
    unfinished: bool = False  # whether something is left for `Indexer.finish_some`
    removed: int = 0
    unchanged: int = 0
    problems: list[str] = field(default_factory=list)


logger = logging.getLogger(__name__)
POINTER = "current"
DAMAGED = "damaged"  # the last generation that could not be opened, for who wants to look
Drop = Callable[[Path], None]  # removes what servers keep of a folder's generation


class Pointer(Protocol):
    """Names the live generation."""

    def read(self) -> str | None: ...

    def write(self, name: str | None) -> None:
        """Name another, durably, or none."""
        ...

    def claim(self, name: str) -> str:
        """Name this one if none is named; the one that is named then."""
        ...

    def close(self) -> None: ...


class FilePointer:
    """A file next to the generations, ``indexes/current``, of one machine's one engine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self) -> str | None:
        """None also where the folder that it names is gone."""
        file = self._folder / POINTER
        name = file.read_text(encoding="utf-8").strip() if file.is_file() else ""
        return name if name and (self._folder / name).is_dir() else None

    def write(self, name: str | None) -> None:
        if name is None:
            (self._folder / POINTER).unlink(missing_ok=True)
            return
        temporary = self._folder / f".{POINTER}-{uuid.uuid4().hex[:8]}"
        with temporary.open("w", encoding="utf-8") as file:
            file.write(name)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._folder / POINTER)

    def claim(self, name: str) -> str:
        if (known := self.read()) is not None:
            return known
        self.write(name)
        return name

    def close(self) -> None:
        """Nothing is open."""


class Generations:
    """The generations of one state folder."""

    def __init__(self, state: StateFolder, pointer: Pointer, drop: Drop) -> None:
        self._folder = state.indexes
        self._pointer = pointer
        self._drop = drop

    def live_name(self) -> str | None:
        return self._pointer.read()

    def live(self) -> Path:
        """The folder of the live generation, made if there is none yet."""
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
        """Keep a damaged generation out of the way, in place of one kept earlier."""
        self._pointer.write(None)
        self._dropped(folder)
        kept = self._folder / DAMAGED
        shutil.rmtree(kept, ignore_errors=True)
        # Where a file in it is still held open (Windows), it stays, and is removed as stale later.
        with suppress(OSError):
            folder.rename(kept)

    def remove_stale(self, in_use: Collection[Path] = ()) -> None:
        """Delete generations that are neither live nor in use (left by a rebuild that was cut off).
        A folder stays as long as a server that keeps some of its generation does not answer."""
        live = self.live()
        for entry in self._folder.iterdir():
            if entry.name in (POINTER, DAMAGED) or entry == live or entry in in_use:
                continue
            if not entry.is_dir():
                entry.unlink(missing_ok=True)
            elif self._dropped(entry):
                shutil.rmtree(entry, ignore_errors=True)

    def close(self) -> None:
        self._pointer.close()

    def _dropped(self, folder: Path) -> bool:
        try:
            self._drop(folder)
        except MemvaultError as error:
            logger.warning("an old generation of indexes stays for now: %s", error.message)
            return False
        return True
