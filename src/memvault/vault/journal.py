"""The journal: the history of changes, stored in the vault.

Append-only JSON lines in ``.memvault/journal/``, one file per month. A crash may truncate the last
line, and a sync tool may create a "conflicted copy" of a file. Both are read without loss: a
truncated line is kept and reported, and a duplicate entry counts once.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from memvault.model.change import Actor
from memvault.model.errors import OutsideVault, StorageError
from memvault.vault.files import Vault
from memvault.vault.write import storage_errors, sync_folder

__all__ = ["Actor", "Journal", "JournalEntry", "TornLine"]

FOLDER = Path(".memvault") / "journal"
LOCK_TIMEOUT_SECONDS = 30.0

_log = logging.getLogger(__name__)


class JournalEntry(BaseModel):
    """One event.

    Attributes:
        id: entries with equal ids are duplicates.
        ts: the time, with a time zone.
        kind: what happened, as a past participle: ``created``, ``imported``, ``preference_set``.
        note_id, path: the note concerned, if any.
        before, after: the changed value, as JSON.
    """

    model_config = ConfigDict(frozen=True)

    id: str = Field(default_factory=lambda: str(uuid4()))
    ts: datetime
    kind: str = Field(min_length=1)
    actor: Actor
    note_id: str | None = None
    path: str | None = None
    rationale: str | None = None
    before: Any = None
    after: Any = None
    data: dict[str, Any] = Field(default_factory=dict)

    @field_validator("ts")
    @classmethod
    def _with_zone(cls, ts: datetime) -> datetime:
        if ts.tzinfo is None:
            raise ValueError("ts needs a time zone")
        return ts


@dataclass(frozen=True, slots=True)
class TornLine:
    """A line of the journal that is not a valid entry."""

    path: str  # relative to the vault
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}, line {self.line} is not an entry: {self.text[:60]}"


class Journal:
    """The journal of one vault. Safe for several threads and processes at once.

    Args:
        folder: where it is, relative to the vault.
        writer: part of the names of the files that are written, if each writer has its own: then
            a sync tool never finds one file changed on two devices.
    """

    def __init__(self, vault: Vault, folder: Path = FOLDER, writer: str = "") -> None:
        self._vault = vault
        self._root = Path(vault.root)
        self._name = folder.as_posix()
        self._folder = self._root / folder
        self._ending = f"-{writer}.jsonl" if writer else ".jsonl"

    def append(self, entry: JournalEntry, *, flush: bool = True) -> None:
        """Append the entry durably: when this returns, it is on disk. Without ``flush`` it
        survives the end of the process, but perhaps not a power cut.

        Raises:
            StorageError: the journal cannot be written, or another process locks it too long.
            DiskFull: no space is left; the journal is unchanged.
        """
        line = entry.model_dump_json().encode("utf-8") + b"\n"
        file = self._folder / (entry.ts.astimezone(UTC).strftime("%Y-%m") + self._ending)
        with storage_errors(self._name):
            self._prepare()
            try:
                with FileLock(
                    self._folder / ".lock", timeout=LOCK_TIMEOUT_SECONDS, poll_interval=0.005
                ):
                    _append_line(file, line, flush)
            except Timeout as error:
                raise StorageError(
                    "Storage error: Operation timed out due to lock contention. Another process "
                    "has locked the journal; stop it and try again."
                ) from error

    def entries(self, kinds: Collection[str] | None = None) -> Iterator[JournalEntry]:
        """Every distinct entry, or those of some kinds, oldest file first. Invalid lines are
        skipped and logged."""
        for item in self._read(kinds):
            if isinstance(item, JournalEntry):
                if kinds is None or item.kind in kinds:
                    yield item
            else:
                _log.warning("journal: %s", item)

    def entries_after(self, marks: Mapping[str, int]) -> tuple[list[JournalEntry], dict[str, int]]:
        """The entries after these marks, and the new marks.

        A mark is a byte offset by file name. A file that is shorter than its mark, or has no end of
        a line there, is read from its start, so entries may be repeated; invalid lines are skipped.

        Raises:
            StorageError: the journal cannot be read.
        """
        found: list[JournalEntry] = []
        reached: dict[str, int] = {}
        with storage_errors(self._name):
            for file in self.files():
                start = marks.get(file.name, 0)
                if start and file.stat().st_size == start:  # as before: asked for every note read
                    reached[file.name] = start
                    continue
                with file.open("rb") as stream:
                    size = stream.seek(0, os.SEEK_END)
                    stream.seek(start if start <= size and _ends_line(stream, start) else 0)
                    for raw in stream:
                        if not raw.endswith(b"\n"):  # another process is still writing it
                            stream.seek(-len(raw), os.SEEK_CUR)
                            break
                        with contextlib.suppress(ValidationError):
                            found.append(JournalEntry.model_validate_json(raw))
                    reached[file.name] = stream.tell()
        return found, reached

    def torn_lines(self) -> list[TornLine]:
        """The invalid lines that a crash or an editor left."""
        return [item for item in self._read() if isinstance(item, TornLine)]

    def files(self) -> list[Path]:
        """The journal's files, oldest month first."""
        return sorted(self._folder.glob("*.jsonl")) if self._folder.is_dir() else []

    def _read(self, kinds: Collection[str] | None = None) -> Iterator[JournalEntry | TornLine]:
        seen: set[str] = set()
        named = None if kinds is None else [json.dumps(kind).encode() for kind in kinds]
        for file in self.files():
            name = file.relative_to(self._root).as_posix()
            with file.open("rb") as stream:
                for number, raw in enumerate(stream, 1):
                    if not raw.strip():
                        continue
                    if named is not None and not any(name in raw for name in named):
                        continue  # skipping a line is much faster than parsing it
                    try:
                        entry = JournalEntry.model_validate_json(raw)
                    except ValidationError:
                        yield TornLine(name, number, raw.decode("utf-8", "replace").rstrip("\r\n"))
                        continue
                    if entry.id not in seen:
                        seen.add(entry.id)
                        yield entry

    def _prepare(self) -> None:
        self._vault.check()  # a new folder would be mistaken for the vault
        self._folder.mkdir(parents=True, exist_ok=True)
        if not self._folder.resolve().is_relative_to(self._root.resolve()):
            raise OutsideVault(
                "The vault's .memvault folder is a link out of the vault. Make it a real folder."
            )


def _ends_line(stream: BinaryIO, offset: int) -> bool:
    stream.seek(max(0, offset - 1))
    return offset == 0 or stream.read(1) == b"\n"


def _append_line(file: Path, line: bytes, flush: bool) -> None:
    """Append with one write; a truncated last line is terminated first."""
    is_new = not file.exists()
    with file.open("a+b", buffering=0) as stream:
        size = stream.seek(0, os.SEEK_END)
        if size:
            stream.seek(size - 1)
            if stream.read(1) != b"\n":
                line = b"\n" + line
        _write_whole(stream, line, size, flush)
    if is_new:
        sync_folder(file.parent)


def _write_whole(stream: FileIO, line: bytes, size: int, flush: bool) -> None:
    try:
        if stream.write(line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if flush:
            os.fsync(stream.fileno())
    except OSError:
        stream.truncate(size)
        raise
