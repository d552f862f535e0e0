"""Changed notes that are read, parsed and given ids, ready to be indexed."""

from __future__ import annotations

import logging
import pickle
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from indexer.catalogue import FORMAT, Catalogue, NoteRecord
from indexer.name_registry import AffectedLinks, NameRegistry, holder_of
from indexer.note_reading import NoteReading, UnreadableNote, read_note
from indexer.progress import Progress, Report, ScanReport
from memvault.model.errors import DiskFull, StorageError
from memvault.model.memory import Memory
from memvault.model.priority import make_way
from memvault.text.names import Name, names_of
from memvault.vault.files import Rename, Vault
from memvault.vault.walk import NoteStat

logger = logging.getLogger(__name__)


MAX_OBJECTS = 256  # notes kept as objects; more are pickled, which takes less memory, more time


class ReadingBuffer:
    """Notes read in the first pass of a scan, until the second pass takes them."""

    def __init__(self) -> None:
        self._readings: dict[str, NoteReading | bytes] = {}

    def add(self, reading: NoteReading) -> None:
        packs = len(self._readings) >= MAX_OBJECTS
        self._readings[reading.note.path] = pickle.dumps(reading, protocol=5) if packs else reading

    def take(self, paths: Iterable[str]) -> Iterator[NoteReading]:
        for path in paths:
            reading = self._readings.pop(path)
            yield pickle.loads(reading) if isinstance(reading, bytes) else reading


LARGE_BYTES = 200_000  # of a note; a larger one takes seconds

FIRST_BATCH = 16  # notes


@dataclass(slots=True)
class ChangeSet:
    """The result of the first pass over changed notes.

    Attributes:
        memories: by path, with their final ids.
        names: by path, the names that the note adds.
        claimed_ids, own_ids: by path, see `NoteReading`; several notes may claim one id.
        deleted: paths of deleted notes.
        resaved: records of notes that were saved, but did not change.
        large: paths of notes that take seconds each.
        stats: by path, for the notes that were read; None for notes that did not exist.
    """

    readings: ReadingBuffer = field(default_factory=ReadingBuffer)
    memories: dict[str, Memory] = field(default_factory=dict)
    names: dict[str, tuple[Name, ...]] = field(default_factory=dict)
    claimed_ids: dict[str, str | None] = field(default_factory=dict)
    own_ids: dict[str, str] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    resaved: list[NoteRecord] = field(default_factory=list)
    large: set[str] = field(default_factory=set)
    stats: dict[str, NoteStat | None] = field(default_factory=dict)

    def drop(self, paths: Collection[str]) -> None:
        """Leave these notes out."""
        for path in paths:
            for by_path in (self.memories, self.names, self.claimed_ids, self.own_ids):
                by_path.pop(path, None)
        self.deleted.difference_update(paths)
        self.resaved = [record for record in self.resaved if record.memory.path not in paths]

    def give_id(self, path: str, memory_id: str) -> None:
        memory = self.memories[path]
        self.memories[path] = memory.model_copy(update={"id": memory_id})
        self.names[path] = tuple(
            replace(name, target=memory_id) if name.target == memory.id else name
            for name in self.names[path]
        )

    def batches(self, max_notes: int) -> Iterator[list[NoteReading]]:
        """Batches that grow to `max_notes`: the first are soon searchable, and writes are few.

        Large notes come last, one at a time, so that no other note waits for them.
        """
        paths = iter([path for path in self.memories if path not in self.large])
        size = min(FIRST_BATCH, max_notes)
        while batch := list(islice(paths, size)):
            yield list(self.readings.take(batch))
            size = min(2 * size, max_notes)
        for path in self._large_last():
            yield list(self.readings.take([path]))

    def progress(self, done: int) -> Progress:
        """The progress when so many notes of the batches are indexed."""
        large = self._large_last()
        total = len(self.memories)
        next_large = done - (total - len(large))
        note = large[next_large] if 0 <= next_large < len(large) else None
        return Progress("indexing", done, total, note)

    def _large_last(self) -> list[str]:
        return [path for path in self.memories if path in self.large] if self.large else []


@dataclass(frozen=True, slots=True)
class ChangeSetReader:
    """Fills a `ChangeSet` from the vault and the catalogue."""

    vault: Vault
    catalogue: Catalogue
    names: NameRegistry
    max_bytes: int

    def read(
        self,
        paths: Collection[str],
        changes: ChangeSet,
        report: Report,
        result: ScanReport,
        *,
        forced: Collection[str] = (),
        on_reading: Callable[[NoteReading], None] = lambda _: None,
    ) -> None:
        """Add changed, deleted and ``forced`` notes to ``changes``.

        Args:
            on_reading: called with each note to be indexed.
        """
        for done, path in enumerate(sorted(paths), 1):
            reading = self._read_one(path, changes, result, forced=path in forced)
            if reading is not None:
                on_reading(reading)
            report(Progress("reading", done, len(paths)))

    def _read_one(
        self, path: str, changes: ChangeSet, result: ScanReport, *, forced: bool
    ) -> NoteReading | None:
        changes.stats[path] = None
        try:
            reading = read_note(self.vault, path, self.max_bytes)
            if reading is not None:
                changes.stats[path] = reading.stat
                if self.vault.stat(path) != reading.stat:  # written meanwhile
                    reading = read_note(self.vault, path, self.max_bytes)
        except UnreadableNote as error:
            result.problems[path] = error.message.removeprefix(f"{path}: ")
            return None
        record = self.catalogue.record(path)
        if reading is None:
            if self.names.memory(path) is not None:
                changes.deleted.add(path)
            return None
        if record is not None and not forced and self._is_unchanged(reading, record):
            stat = reading.stat
            changes.resaved.append(
                record.model_copy(update={"size": stat.size, "mtime_ns": stat.mtime_ns})
            )
            return None
        self._add(reading, changes)
        return reading

    def _is_unchanged(self, reading: NoteReading, record: NoteRecord) -> bool:
        return (
            record.format == FORMAT
            and reading.note.content_hash == record.memory.content_hash
            and reading.memory(record.memory.id) == record.memory
            and self.names.memory(record.memory.path) == record.memory  # no change is pending
        )

    @staticmethod
    def _add(reading: NoteReading, changes: ChangeSet) -> None:
        path = reading.note.path
        changes.readings.add(reading)
        if reading.stat.size > LARGE_BYTES:
            changes.large.add(path)
        changes.claimed_ids[path], changes.own_ids[path] = reading.claimed_id, reading.own_id
        memory = reading.memory(reading.claimed_id or reading.own_id)
        changes.memories[path] = memory
        changes.names[path] = names_of(reading.note, memory)

    def recognise_renames(self, changes: ChangeSet) -> None:
        """Let notes that were renamed in another program keep their ids.

        A note was renamed if of all notes with its bytes one is gone and one is new. Files of other
        sizes differ, even if the same text is indexed of them, as of scans with one title.

        Raises:
            DiskFull: the journal cannot be written.
        """
        gone = defaultdict[tuple[str, int], list[str]](list)
        new = defaultdict[tuple[str, int], list[str]](list)
        for path in changes.deleted:
            record = self.catalogue.record(path)
            if record is not None and record.size and not self.exists(path):
                gone[record.memory.content_hash, record.size].append(path)
        for path, memory in changes.memories.items() if gone else ():
            stat = changes.stats.get(path)
            if stat is not None and self.catalogue.record(path) is None:
                new[memory.content_hash, stat.size].append(path)
        renames = [
            Rename(path, new_path, note_id, key[0])
            for key, (new_path, *others) in new.items()
            for path in gone[key]
            if not others
            and len(gone[key]) == 1
            and (note_id := self._id_claimed_at(path)) != changes.memories[new_path].id
        ]
        if not renames:
            return
        try:
            self.vault.record_renames(renames)
        except DiskFull:
            raise  # all is indexed when there is room again
        except StorageError as error:
            logger.warning("Renamed notes get new ids, as the journal is not writable: %s", error)
            return
        for rename in renames:
            if (reading := self._read_again(rename.new_path)) is not None:
                self._add(reading, changes)

    def _id_claimed_at(self, former_path: str) -> str:
        """The id that the note claimed there, or its own. The note has it already at its new path
        if its frontmatter states it, or after the undo of a move."""
        names = self.names
        return names.claimed_id_of(former_path) or names.own_id_of(former_path) or ""

    def settle_ids(self, changes: ChangeSet) -> None:
        """Decide by `holder_of` which notes get the ids that several claim."""
        path_of_id: dict[str, str] = {}
        settled = set[str]()
        while paths := (changes.claimed_ids.keys() | changes.deleted) - settled:
            path_of_id |= {changes.own_ids[path]: path for path in paths if path in changes.own_ids}
            for memory_id in sorted(self._ids_to_settle(paths, changes)):
                owner = path_of_id.get(memory_id) or self._owner(memory_id, changes)
                if (
                    owner is not None
                    and owner not in changes.claimed_ids
                    and not self.exists(owner)
                ):
                    changes.deleted.add(owner)  # its event comes later, but its id is free now
                self._settle_id(memory_id, None if owner in changes.deleted else owner, changes)
            settled |= paths  # deletions found meanwhile make other ids free

    def _ids_to_settle(self, paths: Collection[str], changes: ChangeSet) -> set[str]:
        """The ids that these notes claim or claimed, and those derived from their paths that other
        notes claim."""
        claimed = {changes.claimed_ids.get(path) or "" for path in paths}
        claimed |= {self.names.claimed_id_of(path) or "" for path in paths}
        claimed.discard("")
        own_ids = {changes.own_ids.get(path) or "" for path in paths}
        own_ids |= {self.names.own_id_of(path) or "" for path in paths}
        return claimed | {key for key in own_ids if self.names.claimants(key)}

    def _owner(self, memory_id: str, changes: ChangeSet) -> str | None:
        """The path from which an id is derived, of an indexed note that was not read now.

        If another note took the id along when it left that path, the note there is read now.
        """
        path = self.names.path_of(memory_id)
        if path is None or self.vault.own_id(path) == memory_id:
            return path
        if path not in changes.claimed_ids and path not in changes.deleted:
            if (reading := self._read_again(path)) is not None:
                self._add(reading, changes)
            else:
                changes.deleted.add(path)
        return None

    def _settle_id(self, memory_id: str, owner: str | None, changes: ChangeSet) -> None:
        """Give the id to its holder.

        Args:
            owner: the path from which the id is derived; None if no note has it.
        """
        names = self.names
        unread = names.claimants(memory_id) - set(changes.claimed_ids) - changes.deleted
        moved = {path for path in unread if not self.exists(path)}
        changes.deleted |= moved  # their events come later
        unread -= moved
        claiming = {path for path, id_ in changes.claimed_ids.items() if id_ == memory_id}
        holder = holder_of(owner, unread | claiming)
        for path in sorted(unread | claiming):
            own_id = changes.own_ids.get(path) or names.own_id_of(path) or ""
            settled_id = memory_id if path == holder else own_id
            registered = names.memory(path)
            if path in unread and registered is not None and registered.id != settled_id:
                reading = self._read_again(path)
                if reading is None or reading.claimed_id != memory_id:  # its event comes later
                    changes.deleted.add(path)
                    continue
                self._add(reading, changes)
            if path in changes.memories:
                changes.give_id(path, settled_id)

    def register_names(self, changes: ChangeSet) -> tuple[AffectedLinks, set[str]]:
        """Register the notes' names.

        Returns the links that this affects, and the ids that notes no longer have.
        """
        affected, stale = AffectedLinks(), set[str]()
        for path in (*changes.deleted, *changes.memories):
            make_way()
            new = changes.memories.get(path)
            for old in (self.names.memory(path), self.catalogue.by_path(path)):
                if old is not None and (new is None or new.id != old.id):
                    affected |= self.names.update(path, None)
                    stale.add(old.id)
        for path, memory in changes.memories.items():
            make_way()
            ids = (changes.claimed_ids[path], changes.own_ids[path])
            affected |= self.names.update(path, memory, changes.names[path], *ids)
        return affected, {memory_id for memory_id in stale if not self.names.has(memory_id)}

    def exists(self, path: str) -> bool:
        """Whether a note exists at this path."""
        return self.vault.is_note(path) and self.vault.stat(path) is not None

    def _read_again(self, path: str) -> NoteReading | None:
        """Read a note that loses its id to another; None if it cannot be read."""
        try:
            return read_note(self.vault, path, self.max_bytes)
        except UnreadableNote:
            return None
