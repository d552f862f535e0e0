"""The records of indexed notes, in the key-value store and in memory.

Writing a note's record commits its indexing and comes last. So, after a crash, the next scan finds
every note whose record differs from the file, and indexes it again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from datetime import UTC, date, datetime
from typing import Any

from pydantic import BaseModel

from memvault.model.memory import Memory, id_of_path
from memvault.search.lists.note_properties import property_words
from memvault.stores.keyvalue import NOTHING, KeyValueStore, Rows
from memvault.text.names import Name, frontmatter_names
from memvault.text.words import name_key

NAMESPACE = "notes"
UNFLUSHED = "unflushed"  # paths of notes whose chunks are not yet on disk
PREFIX_DIGITS = 8  # first digits of an id, which few ids share
FORMAT = 45  # raise it to have every note indexed again, when the derived data changes


class NoteRecord(BaseModel, frozen=True):
    """A note as it was when it was indexed."""

    memory: Memory
    size: int
    mtime_ns: int
    claimed_id: str | None = None  # see `NoteReading`
    own_id: str = ""  # see `NoteReading`; "" if it is simply the id of its path
    link_keys: tuple[str, ...] = ()
    names: tuple[Name, ...] = ()
    days: tuple[date, ...] = ()  # named in its text or its properties
    open_tasks: tuple[str, ...] = ()  # their texts, as written
    chunks: int = 0  # in the vector index
    frontmatter_problem: str | None = None
    warnings: tuple[str, ...] = ()
    format: int  # without a default, so that it is always stored

    @property
    def changed_at(self) -> datetime:
        """The time at which its file was last saved."""
        return datetime.fromtimestamp(self.mtime_ns / 1e9, tz=UTC)

    @property
    def ids(self) -> tuple[str | None, str]:
        """The id that the note claims and its own, see `NoteReading`."""
        return self.claimed_id, self.own_id or id_of_path(self.memory.path)

    def packed(self) -> bytes:
        """The record as JSON, without fields that have their default values."""
        return self.model_dump_json(exclude_defaults=True).encode()


class Queue:
    """Texts that wait in the store until they are removed."""

    def __init__(self, store: KeyValueStore, namespace: str) -> None:
        self._store = store
        self._namespace = namespace

    def add(self, texts: Collection[str]) -> None:
        if texts:
            self._store.put_many(self._namespace, dict.fromkeys(texts, b""))

    def all(self) -> set[str]:
        return {text for text, _ in self._store.items(self._namespace)}

    def remove(self, texts: Collection[str]) -> None:
        if texts:
            self._store.delete(self._namespace, list(texts))


class Catalogue:
    """Note records by path, with look-ups. Thread-safe to read; only the indexer calls `commit`.

    Attributes:
        to_relink: paths of the notes whose edges must be written again.
        new_phrases: phrases; notes that contain one must be relinked.
    """

    def __init__(self, store: KeyValueStore) -> None:
        self._store = store
        self.to_relink = Queue(store, "links_owed")
        self.new_phrases = Queue(store, "names_owed")
        self._records: dict[str, NoteRecord] = {}
        self._path_of_id: dict[str, str] = {}
        self._ids_by_prefix: dict[str, tuple[str, ...]] = {}  # ids by their first digits
        self._linking: dict[str, set[str]] = defaultdict(set)
        self._naming: dict[str, set[str]] = defaultdict(set)
        self._in_project: dict[str, set[str]] = defaultdict(set)
        self._of_type: dict[str, set[str]] = defaultdict(set)
        self._with_property: dict[str, set[str]] = defaultdict(set)
        self._with_word: dict[str, set[str]] = defaultdict(set)
        self._in_group: dict[str, set[str]] = defaultdict(set)
        self._shared_groups: dict[str, None] = {}  # keys of `_in_group` with several notes
        self._of_day: dict[date, set[str]] = defaultdict(set)
        self._unflushed = {path for path, _ in store.items(UNFLUSHED)}
        for path, value in store.items(NAMESPACE):
            self._remember(path, NoteRecord.model_validate_json(value))

    def commit(
        self,
        records: Iterable[NoteRecord],
        removed: Iterable[str] = (),
        *,
        unflushed: bool = False,
        delete: Mapping[str, Collection[str]] = NOTHING,
        write: Rows = NOTHING,
    ) -> None:
        """Write records and delete removed ones, first in the store, then in memory.

        Args:
            unflushed: have the next scan index these notes again, unless `mark_flushed` comes
                first.
            delete, write: rows of other namespaces, in the same transaction, also without a record.
        """
        removed_paths = list(removed)
        by_path = {record.memory.path: record for record in records}
        rows = {path: record.packed() for path, record in by_path.items()}
        marks = dict.fromkeys(rows if unflushed else (), b"")
        deletions = {**delete, NAMESPACE: removed_paths}
        upserts = {**write, UNFLUSHED: marks, NAMESPACE: rows}
        if any(deletions.values()) or any(upserts.values()):
            self._store.change(deletions, upserts)
        self._unflushed.update(marks)
        for path, record in by_path.items():
            self._remember(path, record)
        for path in removed_paths:  # last, so that the id of a note that was moved never lacks one
            if path not in by_path:
                self._forget(path)

    @property
    def waiting_for_flush(self) -> int:
        """The number of notes that this process has not flushed."""
        return len(self._unflushed)

    def unflushed(self) -> set[str]:
        """Paths of the notes that are not flushed, also by another process."""
        self._unflushed = {path for path, _ in self._store.items(UNFLUSHED)}
        return set(self._unflushed)

    def mark_flushed(self, paths: Iterable[str]) -> None:
        flushed = self._unflushed.intersection(paths)
        if flushed:
            self._store.delete(UNFLUSHED, list(flushed))
            self._unflushed -= flushed

    @property
    def has_newer_records(self) -> bool:
        """Whether a newer memvault indexed a note; this one may not be able to read its data."""
        return any(record.format > FORMAT for record in self._records.values())

    def has_lost_records(self) -> bool:
        """Whether the store has fewer records than were written.

        A server that lost its data may have new records since. During a commit that removes
        records, this may be true for a moment.
        """
        known = len(self._records)  # before the count, since a commit writes to the store first
        return self._store.count(NAMESPACE) < known

    def reload(self, paths: Collection[str] | None) -> set[str]:
        """Read these records again (all, if None) after another process wrote them.

        Returns the paths of changed ones.
        """
        if paths is None:
            rows = dict(self._store.items(NAMESPACE))
            paths = rows.keys() | self._records.keys()
        else:
            rows = self._store.get_many(NAMESPACE, paths)
        changed = set()
        for path in paths:
            value = rows.get(path)
            record = None if value is None else NoteRecord.model_validate_json(value)
            if record == self._records.get(path):
                continue
            changed.add(path)
            if record is None:
                self._forget(path)
            else:
                self._remember(path, record)
        return changed

    def record(self, path: str) -> NoteRecord | None:
        return self._records.get(path)

    def records(self) -> list[NoteRecord]:
        return list(self._records.values())

    def paths(self) -> set[str]:
        return set(self._records)

    def by_path(self, path: str) -> Memory | None:
        record = self._records.get(path)
        return record.memory if record else None

    def by_id(self, memory_id: str) -> Memory | None:
        former = None
        while (path := self._path_of_id.get(memory_id)) not in (None, former):
            memory = self.by_path(path)
            if memory is not None and memory.id == memory_id:
                return memory
            former = path  # it was moved, removed or replaced in between
        return None

    def changed_at(self, path: str) -> datetime | None:
        """The time at which the note at a path was last saved."""
        record = self._records.get(path)
        return record.changed_at if record else None

    def by_ids(self, memory_ids: Iterable[str]) -> list[Memory]:
        """The memories with these ids, in this order, without those that are gone."""
        return [memory for key in memory_ids if (memory := self.by_id(key)) is not None]

    def days_named(self, path: str) -> Sequence[date]:
        """The days that the note's text or its properties name."""
        record = self._records.get(path)
        return record.days if record else ()

    def ids_starting(self, digits: str) -> Sequence[str]:
        """The ids that begin with these hexadecimal digits, ignoring dashes."""
        is_short = len(digits) < PREFIX_DIGITS
        candidates = (
            list(self._path_of_id)
            if is_short
            else self._ids_by_prefix.get(digits[:PREFIX_DIGITS], ())
        )
        return [
            memory_id for memory_id in candidates if memory_id.replace("-", "").startswith(digits)
        ]

    def all(self) -> Iterator[Memory]:
        return (record.memory for record in list(self._records.values()))

    def linking(self, keys: Iterable[str]) -> set[str]:
        """Paths of the notes with a link of one of these keys."""
        return set().union(*(self._linking.get(key, set()) for key in keys))

    def naming(self, keys: Iterable[str]) -> set[str]:
        """Paths of the notes whose frontmatter or folder contains one of these names."""
        return set().union(*(self._naming.get(key, set()) for key in keys))

    def in_project(self, project: str) -> set[str]:
        return set(self._in_project.get(project.casefold(), set()))

    def projects(self) -> set[str]:
        """The names of all projects, as notes spell them."""
        return {memory.project for memory in self.all() if memory.project}

    def project_named(self, name: str) -> str | None:
        """The project with this name, as notes spell it: "aurora-west" for "Aurora West".

        None if there is no such project.
        """
        if self._in_project.get(name.casefold()):
            return name
        return next(
            (project for project in self.projects() if name_key(project) == name_key(name)), None
        )

    def types(self) -> list[str]:
        """The types of all notes."""
        return [kind for kind, paths in list(self._of_type.items()) if paths]

    def paths_of_type(self, kind: str) -> Set[str]:
        """The paths of the notes of this type. Like those of the other `paths_` methods, the set
        changes with the vault: copy it before you iterate over it."""
        return self._of_type.get(kind, frozenset())

    def groups(self) -> list[str]:
        """The names of folders and tags that several notes share, in small letters."""
        return list(self._shared_groups)

    def paths_in_group(self, group: str) -> Set[str]:
        """The paths of the notes in folders of this name or with this tag."""
        return self._in_group.get(group, frozenset())

    def property_keys(self) -> list[str]:
        """The keys of the properties that notes have, besides those that memvault itself reads."""
        return [key for key, paths in list(self._with_property.items()) if paths]

    def paths_with_property(self, key: str) -> Set[str]:
        """The paths of the notes that have a property of this key."""
        return self._with_property.get(key, frozenset())

    def paths_with_word(self, word: str) -> Set[str]:
        """The paths of the notes with a word, in small letters, in a name of theirs or in the value
        of a property."""
        return self._with_word.get(word, frozenset())

    def of_days(self, is_meant: Callable[[date], bool]) -> list[Memory]:
        """The notes that are of a day for which ``is_meant`` is true, or name one."""
        days = [day for day in list(self._of_day) if is_meant(day)]
        paths = set().union(*(self._of_day.get(day, ()) for day in days))
        return self.by_paths(paths)

    def with_open_tasks(self) -> list[tuple[Memory, Sequence[str]]]:
        """The notes with open tasks, and the texts of these."""
        records = list(self._records.values())
        return [(record.memory, record.open_tasks) for record in records if record.open_tasks]

    def by_paths(self, paths: Iterable[str]) -> list[Memory]:
        """The memories at these paths, ordered by path, without notes that were deleted
        meanwhile."""
        records = map(self._records.get, sorted(paths))
        return [record.memory for record in records if record is not None]

    def __len__(self) -> int:
        return len(self._records)

    def _remember(self, path: str, record: NoteRecord) -> None:
        """Add or replace a note; other threads find it meanwhile, as it was or as it is."""
        former = self._records.get(path)
        self._records[path] = record
        memory_id = record.memory.id
        self._path_of_id[memory_id] = path
        same_prefix = self._ids_by_prefix.get(memory_id[:PREFIX_DIGITS], ())
        self._ids_by_prefix[memory_id[:PREFIX_DIGITS]] = (
            *(other_id for other_id in same_prefix if other_id != memory_id),
            memory_id,
        )
        for index, key in self._entries_of(record):
            index[key].add(path)
        for group in record.memory.groups:
            if len(self._in_group[group]) > 1:
                self._shared_groups[group] = None
        if former is not None:
            self._remove_entries(path, former, record)

    def _forget(self, path: str) -> None:
        record = self._records.get(path)
        if record is not None:
            self._remove_entries(path, record, None)
            del self._records[path]  # last, since `by_id` relies on it

    def _remove_entries(self, path: str, record: NoteRecord, successor: NoteRecord | None) -> None:
        """Remove what leads to a record, except what leads to its successor, too."""
        memory_id, kept = record.memory.id, set[tuple[int, Any]]()
        if successor is not None:
            kept = {(id(index), key) for index, key in self._entries_of(successor)}
        is_same = successor is not None and successor.memory.id == memory_id
        if not is_same and self._path_of_id.get(memory_id) == path:
            del self._path_of_id[memory_id]
            same_prefix = self._ids_by_prefix.pop(memory_id[:PREFIX_DIGITS], ())
            remaining = tuple(other_id for other_id in same_prefix if other_id != memory_id)
            if remaining:
                self._ids_by_prefix[memory_id[:PREFIX_DIGITS]] = remaining
        for index, key in self._entries_of(record):
            if (id(index), key) not in kept:
                index[key].discard(path)
        for group in record.memory.groups:
            if len(self._in_group[group]) < 2:
                self._shared_groups.pop(group, None)

    def _entries_of(self, record: NoteRecord) -> Iterator[tuple[dict[Any, set[str]], Any]]:
        """Each look-up that has the record's path, and the key under which it has it."""
        memory = record.memory
        yield self._of_type, memory.type
        if memory.project:
            yield self._in_project, memory.project.casefold()
        yield from ((self._linking, key) for key in record.link_keys)
        yield from ((self._naming, key) for key in frontmatter_names(memory))
        yield from ((self._in_group, group) for group in memory.groups)
        yield from ((self._with_property, key) for key in memory.properties)
        yield from ((self._with_word, word) for word in property_words(memory))
        yield from ((self._of_day, day) for day in (*memory.days, *record.days))
