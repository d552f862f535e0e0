"""How memories are used: counted in memory, kept in the key-value store, checkpointed to the
journal.

A call only counts. What changed is written to the key-value store a moment later, all at once, so
a killed engine loses the last seconds at most. At the end, and at most once an hour, what changed
since the last checkpoint goes to the journal, from which a key-value store that begins empty is
filled again: counts are then as old as that checkpoint, never lost.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

from memvault.model.activity import FORMAT, MemoryActivity
from memvault.model.errors import MemvaultError, SerializationFailed, UnknownFormat
from memvault.model.johari import UTLState
from memvault.stores.keyvalue import KeyValueStore
from memvault.vault.journal import Actor, Journal, JournalEntry

logger = logging.getLogger(__name__)
NAMESPACE = "activity"  # by memory id
UNJOURNALED = "activity_unjournaled"  # ids whose record is newer than the last checkpoint
MARKS = "activity_marks"
FILLED = "filled"  # a mark: what the journal holds is in this store
CHECKPOINT = "activity_checkpointed"
FLUSH_SECONDS = 2.0
CHECKPOINT_EVERY = timedelta(hours=1)
MEMORIES_PER_ENTRY = 1_000
UNUSED = MemoryActivity()


def _now() -> datetime:
    return datetime.now(UTC)


class Activity:
    """One per vault and process. Thread-safe.

    Args:
        clock: gives the time, with a zone.
    """

    def __init__(
        self, keyvalue: KeyValueStore, journal: Journal, clock: Callable[[], datetime] = _now
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._records: dict[str, MemoryActivity] = {}
        self._foreign: dict[str, bytes] = {}  # of formats that this program cannot read
        self._unflushed: set[str] = set()
        self._lock = threading.Lock()  # of the above
        self._writing = threading.Lock()  # of the store: one flush at a time
        self._keyvalue = keyvalue
        self._checkpointed = clock()
        self._changed = threading.Event()
        self._closing = threading.Event()
        self._worker: threading.Thread | None = None
        self._load(keyvalue)
        if keyvalue.get(MARKS, FILLED) is None:
            self._fill()

    def accessed(self, ids: Iterable[str]) -> None:
        """Count that an answer gave these memories, each once. Takes microseconds."""
        now = self._clock()
        with self._lock:
            for id in set(ids) - self._foreign.keys():
                known = self._records.get(id, UNUSED)
                self._records[id] = known.model_copy(
                    update={
                        "access_count": known.access_count + 1,
                        "last_accessed": max(now, known.last_accessed or now),
                    }
                )
                self._unflushed.add(id)
        self._tell()

    def stored(self, id: str, agent_id: str | None, utl_state: UTLState) -> None:
        """Keep which client stored the memory, and how it stood to what was known.

        The first account holds: the same memory stored again, by a retry, is no other's.
        """
        with self._lock:
            if id not in self._foreign:
                given = MemoryActivity(agent_id=agent_id, utl_state=utl_state)
                self._records[id] = self._records.get(id, UNUSED).merged(given)
                self._unflushed.add(id)
        self._tell()

    def of(self, id: str) -> MemoryActivity:
        """How this memory has been used.

        Raises:
            UnknownFormat: a newer memvault wrote it.
        """
        with self._lock:
            found = self._records.get(id)
            foreign = self._foreign.get(id) if found is None else None
        if foreign is not None:
            return FORMAT.read(MemoryActivity, foreign, id)
        return found or UNUSED

    def all(self) -> dict[str, MemoryActivity]:
        """By memory id, those of notes that are gone included."""
        with self._lock:
            return dict(self._records)

    def flush(self) -> None:
        """Write to the key-value store what changed; what cannot be written now stays waiting."""
        with self._writing:
            self._flush()

    def checkpoint(self) -> None:
        """Write to the journal what changed since it was last written there."""
        with self._writing:
            try:
                if self._flush():
                    self._write_checkpoint()
            except MemvaultError as error:
                logger.warning("the use of memories is not in the journal yet: %s", error.message)

    def move_to(self, keyvalue: KeyValueStore) -> None:
        """Go on in the store of a fresh generation, which takes over everything.

        Raises:
            StorageError: it cannot be written; the old store is still in use.
        """
        with self._writing:
            self._flush()
            with self._lock:
                records, foreign = dict(self._records), dict(self._foreign)
            try:
                waiting = self._unjournaled()
            except MemvaultError:  # the old store is damaged, which is why a fresh one is made
                waiting = list(records)
            written = {id: _bytes(record) for id, record in records.items()}
            keyvalue.put_many(UNJOURNALED, dict.fromkeys(waiting, b""))
            keyvalue.put_many(NAMESPACE, written | foreign)
            keyvalue.put(MARKS, FILLED, b"")
            self._keyvalue = keyvalue

    def close(self) -> None:
        """Write everything down, last of all a checkpoint; never raises."""
        self._closing.set()
        self._changed.set()
        if self._worker is not None:
            self._worker.join()
        self.checkpoint()

    # -- writing ------------------------------------------------------------------------------

    def _tell(self) -> None:
        self._changed.set()
        if self._worker is None:
            with self._lock:
                if self._worker is None and not self._closing.is_set():
                    self._worker = threading.Thread(target=self._run, name="activity", daemon=True)
                    self._worker.start()

    def _run(self) -> None:
        while True:
            self._changed.wait()
            if self._closing.wait(FLUSH_SECONDS):
                return
            self._changed.clear()
            if self._clock() - self._checkpointed < CHECKPOINT_EVERY:
                self.flush()
            else:
                self.checkpoint()

    def _flush(self) -> bool:
        """Whether everything is in the store now."""
        with self._lock:
            taken, self._unflushed = self._unflushed, set()
            written = {id: _bytes(self._records[id]) for id in taken}
        if not written:
            return True
        try:
            # First: a record that is in the store must not be taken for one in the journal.
            self._keyvalue.put_many(UNJOURNALED, dict.fromkeys(written, b""))
            self._keyvalue.put_many(NAMESPACE, written)
        except MemvaultError as error:
            logger.warning("the use of memories is not written yet: %s", error.message)
            with self._lock:
                self._unflushed |= taken
            return False
        return True

    def _write_checkpoint(self) -> None:
        self._checkpointed = now = self._clock()
        waiting = iter(sorted(self._unjournaled()))
        while some := list(islice(waiting, MEMORIES_PER_ENTRY)):
            with self._lock:
                known = {id: self._records[id] for id in some if id in self._records}
            self._journal.append(
                JournalEntry(
                    ts=now,
                    kind=CHECKPOINT,
                    actor=Actor(kind="system"),
                    data={
                        "format": FORMAT.current,
                        "memories": {
                            id: record.model_dump(mode="json", exclude_defaults=True)
                            for id, record in known.items()
                        },
                    },
                )
            )
            self._keyvalue.delete(UNJOURNALED, some)

    def _unjournaled(self) -> list[str]:
        return [id for id, _ in self._keyvalue.items(UNJOURNALED)]

    # -- reading ------------------------------------------------------------------------------

    def _load(self, keyvalue: KeyValueStore) -> None:
        for id, value in keyvalue.items(NAMESPACE):
            try:
                self._records[id] = FORMAT.read(MemoryActivity, value, id)
            except UnknownFormat as error:
                logger.error("%s", error.message)
                self._foreign[id] = value
            except SerializationFailed as error:
                logger.error("activity of %s is lost: %s", id, error.message)

    def _fill(self) -> None:
        """Take in what the journal holds; a store that was filled is marked so."""
        try:
            for id, told in self._journaled():
                if id not in self._foreign:
                    self._records[id] = self._records.get(id, UNUSED).merged(told)
            written = {id: _bytes(record) for id, record in self._records.items()}
            self._keyvalue.put_many(NAMESPACE, written)
            self._keyvalue.put(MARKS, FILLED, b"")
        except (MemvaultError, OSError) as error:  # the next start tries again
            logger.warning("the use of memories is not read from the journal: %s", error)

    def _journaled(self) -> Iterator[tuple[str, MemoryActivity]]:
        for entry in self._journal.entries(("created", CHECKPOINT)):
            if entry.kind == "created" and entry.note_id and entry.actor.kind == "client":
                yield entry.note_id, MemoryActivity(agent_id=entry.actor.name or None)
            elif entry.kind == CHECKPOINT:
                memories = entry.data.get("memories")
                for id, fields in memories.items() if isinstance(memories, dict) else ():
                    try:
                        version = int(entry.data.get("format", 0))
                        yield id, FORMAT.migrated(MemoryActivity, version, fields, id)
                    except (SerializationFailed, TypeError, ValueError) as error:
                        logger.warning("journal: the activity of %s is not read: %s", id, error)


def _bytes(record: MemoryActivity) -> bytes:
    return FORMAT.write(record, sparse=True)
