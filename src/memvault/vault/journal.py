"""The journal: the history of changes, stored in the vault.

Append-only JSON lines in ``.memvault/journal/``, one file per month and computer, so that a sync
tool never finds one file changed on two. A crash may truncate the last line, and a sync tool may
create a "conflicted copy" of a file. Both are read without loss: a truncated line is kept and
reported, and a duplicate entry counts once.

Past months are compressed (`Journal.compress`). No entry is ever removed: all of them are needed to
know who wrote which words of a note, and which changes can be undone.
"""

from __future__ import annotations

import contextlib
import gzip
import heapq
import json
import logging
import math
import os
import threading
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4
from zlib import crc32

from filelock import FileLock, Timeout
from pydantic import AwareDatetime, BaseModel, Field, ValidationError

from memvault.model.change import Actor, Change
from memvault.model.errors import StorageError
from memvault.vault.files import Vault
from memvault.vault.journal_files import (
    COMPRESSED,
    DAMAGED,
    append_line,
    is_after_line_end,
    lines,
    opened,
)
from memvault.vault.own_folders import own_folder
from memvault.vault.write import storage_errors, write_whole

__all__ = ["Actor", "Follower", "Journal", "JournalEntry", "TornLine"]

FOLDER = Path(".memvault") / "journal"
LOCK_TIMEOUT_SECONDS = 30.0

_log = logging.getLogger(__name__)


class JournalEntry(BaseModel, frozen=True):
    """One event.

    Attributes:
        id: entries with equal ids are duplicates.
        ts: the time.
        kind: what happened, as a past participle: ``change_begun``, ``purged``.
        note_id, path: the note concerned, if any.
        before, after: the changed value, as JSON.
    """

    id: str = Field(default_factory=lambda: str(uuid4()))
    ts: AwareDatetime
    kind: str = Field(min_length=1)
    actor: Actor
    note_id: str | None = None
    path: str | None = None
    rationale: str | None = None
    before: Any = None
    after: Any = None
    data: dict[str, Any] = Field(default_factory=dict)

    @cached_property
    def change(self) -> Change | None:
        """The whole change that this entry begins; None if it begins none or cannot be read."""
        try:
            return Change.model_validate(self.data.get("change"))
        except ValidationError:
            return None


@dataclass(frozen=True, slots=True)
class TornLine:
    """A line of the journal that is not a valid entry."""

    path: str  # relative to the vault
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}, line {self.line} is not an entry: {self.text[:60]}"


@dataclass(slots=True, eq=False)
class Follower:
    """The entries that one reader of the journal has not taken yet.

    Attributes:
        kinds: the kinds of entries that it reads; None for all.
        waiting: the entries of each reading of the journal.
    """

    kinds: Collection[str] | None
    waiting: list[list[JournalEntry]] = field(default_factory=list)

    def add(self, entries: Collection[JournalEntry]) -> None:
        kinds = self.kinds
        if wanted := [entry for entry in entries if kinds is None or entry.kind in kinds]:
            self.waiting.append(wanted)


class Journal:
    """The journal of one vault. Safe for several threads and processes at once.

    Args:
        folder: the journal's folder, relative to the vault.
        writer: the computer that writes (`StateFolder.device`), part of the names of its files;
            "" for files without it, which earlier versions wrote.
    """

    def __init__(self, vault: Vault, folder: Path = FOLDER, writer: str = "") -> None:
        self._vault = vault
        self._root = Path(vault.root)
        self._name = folder.as_posix()
        self._folder = self._root / folder
        self.writer = writer
        self._ending = f"-{writer}.jsonl" if writer else ".jsonl"
        self._lengths: dict[str, tuple[int, int, int]] = {}  # of compressed files
        self._followers: list[Follower] = []
        self._marks: dict[str, int] = {}  # of the followers
        self._feeding = threading.Lock()

    def append(self, entry: JournalEntry, *, flush: bool = True) -> None:
        """Append the entry durably: it is on disk when this returns.

        Without ``flush``, the entry survives the end of the process, but perhaps not a power cut.

        Raises:
            StorageError: the journal cannot be written, or another process locks it too long.
            DiskFull: no space is left; the journal is unchanged.
        """
        line = entry.model_dump_json().encode("utf-8") + b"\n"
        file = self._folder / (entry.ts.astimezone(UTC).strftime("%Y-%m") + self._ending)
        with storage_errors(self._name):
            self._prepare()
            with self._locked():
                append_line(file, line, flush)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            with FileLock(
                self._folder / ".lock", timeout=LOCK_TIMEOUT_SECONDS, poll_interval=0.005
            ):
                yield
        except Timeout as error:
            raise StorageError(
                "Storage error: Operation timed out due to lock contention. Another process "
                "has locked the journal; stop it and try again."
            ) from error

    def compress(self, before: datetime) -> Iterator[int]:
        """Compress files of months before that of ``before``: this writer's, and those without a
        writer; yields the bytes saved.

        If interrupted, both files may exist; they are then read as one.

        Raises:
            StorageError, DiskFull: a file cannot be read or written; it stays as it is.
        """
        current_month = before.astimezone(UTC).strftime("%Y-%m")
        for file in sorted(self._folder.glob("*.jsonl")):
            month, ending = file.name[:7], file.name[7:]
            if ending in (self._ending, ".jsonl") and month < current_month:
                with storage_errors(self._name):
                    yield self._compress(file, file.with_name(file.name + COMPRESSED))

    def _compress(self, file: Path, target: Path) -> int:
        data = file.read_bytes()
        size = size_before = len(data)
        if not data.endswith(b"\n"):
            data += b"\n"
        if target.is_file():  # left by a crash, or an entry was added late
            size_before += target.stat().st_size
            try:
                earlier = gzip.decompress(target.read_bytes())
            except DAMAGED as error:
                raise StorageError(f"{self._name}/{target.name} is damaged") from error
            data = data if data.startswith(earlier) else earlier + data
        packed = gzip.compress(data, mtime=0)  # the same on every device
        self._prepare()
        with self._locked():
            if file.stat().st_size != size:
                return 0  # an entry was added just now
            write_whole(target, packed)
            file.unlink()
        return max(0, size_before - len(packed))

    def entries(self, kinds: Collection[str] | None = None) -> Iterator[JournalEntry]:
        """Every distinct entry, or those of some kinds, oldest file first.

        Invalid lines are skipped and logged.

        Raises:
            StorageError: the journal cannot be read.
        """
        for item in self._read(kinds):
            if isinstance(item, JournalEntry):
                if kinds is None or item.kind in kinds:
                    yield item
            else:
                _log.warning("journal: %s", item)

    def follow(self, kinds: Collection[str] | None = None) -> Follower:
        """Follow the entries of some kinds, or all, which `new_entries` then returns.

        Followers that are made before the first `new_entries` share its reading of the journal.
        """
        follower = Follower(kinds)
        with self._feeding:
            if not self._marks:
                self._followers.append(follower)
        return follower

    def new_entries(self, follower: Follower) -> list[list[JournalEntry]]:
        """The entries since this follower's last call; some may be repeated.

        One list for each time that the journal was read, perhaps for other followers; each is
        ordered as by `entries_after`, but older entries may have come late.

        Each line is read and parsed once for all followers.

        Raises:
            StorageError: the journal cannot be read.
        """
        with self._feeding:
            entries, self._marks = self.entries_after(self._marks)
            for each in self._followers:
                each.add(entries)
            if follower not in self._followers:  # made after others had read
                follower.add(self.entries_after({})[0])
                self._followers.append(follower)
            new, follower.waiting = follower.waiting, []
            return new

    def entries_for(self, follower: Follower) -> list[JournalEntry]:
        """All entries of a follower's kinds, as `entries_after` orders them.

        Raises:
            StorageError: the journal cannot be read.
        """
        everything = Follower(follower.kinds)
        everything.add(self.entries_after({})[0])
        return [entry for entries in everything.waiting for entry in entries]

    def entries_after(self, marks: Mapping[str, int]) -> tuple[list[JournalEntry], dict[str, int]]:
        """The entries after these marks, and the new marks.

        The entries are in the order of their times, but those of one file in the order in which
        they were written.

        Marks are byte offsets by file name; in a compressed file, offsets in its text. A file that
        is shorter than its mark, or has no line end there, is read from its start, so entries may
        be repeated. Invalid lines are skipped.

        Raises:
            StorageError: the journal cannot be read.
        """
        with storage_errors(self._name):
            try:
                return self._entries_after(marks)
            except FileNotFoundError:  # a file was compressed just now
                return self._entries_after(marks)

    def _entries_after(self, marks: Mapping[str, int]) -> tuple[list[JournalEntry], dict[str, int]]:
        entries_by_file: list[list[JournalEntry]] = []
        known_ids: set[str] = set()
        new_marks: dict[str, int] = {}
        sizes = self.sizes()
        for name, size in sizes.items():
            key, twin = name, name + COMPRESSED
            start = marks.get(name, marks.get(name.removesuffix(COMPRESSED), 0))
            if twin in sizes:  # left by a crash, or created by a late entry
                key = f"{name}#{crc32(self._start_of(name))}"
                if key not in marks and (twin_mark := marks.get(twin, start)):
                    entries, _ = self._entries_of(twin, sizes[twin], 0, twin_mark)
                    known_ids.update(entry.id for entry in entries)
                start = marks.get(key, 0)
            new_marks[key] = size
            if start and size == start:  # unchanged: a shortcut, as this runs for every note read
                continue
            entries, new_marks[key] = self._entries_of(name, size, start)
            entries_by_file.append([entry for entry in entries if entry.id not in known_ids])
        merged = heapq.merge(*entries_by_file, key=lambda entry: entry.ts)
        return list({entry.id: entry for entry in merged}.values()), new_marks

    def _entries_of(
        self, name: str, size: int, start: int, end: float = math.inf
    ) -> tuple[list[JournalEntry], int]:
        """The entries of a file between two marks, and the mark where reading ended."""
        entries = []
        with opened(self._folder / name) as stream:
            stream.seek(start if start <= size and is_after_line_end(stream, start) else 0)
            for raw in lines(stream):
                if not raw.endswith(b"\n"):  # another process is still writing it
                    stream.seek(-len(raw), os.SEEK_CUR)
                    break
                with contextlib.suppress(ValidationError):
                    entries.append(JournalEntry.model_validate_json(raw))
                if stream.tell() >= end:
                    break
            return entries, size if name.endswith(COMPRESSED) else stream.tell()

    def _start_of(self, name: str) -> bytes:
        with (self._folder / name).open("rb") as stream:
            return stream.read(64)  # with the id of the first entry

    def sizes(self) -> dict[str, int]:
        """The bytes of text in each file of the journal, by name; these are marks at the ends."""
        return {file.name: self._length(file) for file in self.files()}

    def _length(self, file: Path) -> int:
        stat = file.stat()
        if file.suffix != COMPRESSED:
            return stat.st_size
        cached = self._lengths.get(file.name)
        if cached is None or cached[:2] != (stat.st_mtime_ns, stat.st_size):
            with file.open("rb") as stream:  # it ends with the length (RFC 1952)
                stream.seek(max(0, stat.st_size - 4))
                length = int.from_bytes(stream.read(), "little")
            cached = stat.st_mtime_ns, stat.st_size, length
            self._lengths[file.name] = cached
        return cached[2]

    def torn_lines(self) -> list[TornLine]:
        """The invalid lines that a crash or an editor left."""
        return [item for item in self._read() if isinstance(item, TornLine)]

    def files(self) -> list[Path]:
        """The journal's files, oldest month first; a pipe or device, which may never end, is none.

        Raises:
            StorageError: the folder cannot be read. It does not count as empty: then the notes'
                sentences of others would count as the person's.
        """
        with storage_errors(self._name):
            try:
                with os.scandir(self._folder) as entries:
                    files = sorted(Path(entry.path) for entry in entries if entry.is_file())
            except FileNotFoundError:
                return []
        kinds = (".jsonl", COMPRESSED)
        return [file for file in files if file.suffix in kinds and ".jsonl" in file.name]

    def _read(self, kinds: Collection[str] | None = None) -> Iterator[JournalEntry | TornLine]:
        seen_ids: set[str] = set()
        quoted_kinds = None if kinds is None else [json.dumps(kind).encode() for kind in kinds]
        for file in self.files():
            name = file.relative_to(self._root).as_posix()
            with storage_errors(name), opened(file) as stream:
                for number, raw in enumerate(lines(stream), 1):
                    if quoted_kinds is not None and not any(kind in raw for kind in quoted_kinds):
                        continue  # skipping a line is much faster than parsing it
                    item = _parsed(raw, name, number) if raw.strip() else None
                    if isinstance(item, JournalEntry):
                        if item.id in seen_ids:
                            continue
                        seen_ids.add(item.id)
                    if item is not None:
                        yield item

    def _prepare(self) -> None:
        own_folder(self._vault, self._folder.relative_to(self._root))
        self.files()  # a journal that cannot be read accepts no entry


def _parsed(raw: bytes, path: str, line: int) -> JournalEntry | TornLine:
    try:
        return JournalEntry.model_validate_json(raw)
    except ValidationError:
        return TornLine(path, line, raw.decode("utf-8", "replace").rstrip("\r\n"))


def file_of(mark: str) -> str:
    """The name of a mark's file, without the suffix of a compressed one."""
    return mark.partition("#")[0].removesuffix(COMPRESSED)
