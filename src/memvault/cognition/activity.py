"""Counts the use of memories: in memory, in the key-value store, and in the journal.

A call only counts in memory. Changes are written to the key-value store together, a moment later,
so a killed engine loses at most the last seconds. Several machines may count at once: each adds its
counts to those in the store and takes over the sums. At the end, and at most once an hour, changes
since the last checkpoint go to the journal. An empty key-value store is filled from the journal
again, so counts are never lost, only as old as the last checkpoint.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from memvault.model.batched import batched
from memvault.model.errors import MemvaultError, SerializationFailed, UnknownFormat
from memvault.model.memory import ACTIVITY_FORMAT, MemoryActivity, UTLState
from memvault.stores.keyvalue import KeyValueStore
from memvault.vault.journal import Actor, Journal, JournalEntry

logger = logging.getLogger(__name__)
NAMESPACE = "activity"  # by memory id
UNJOURNALED = "activity_unjournaled"  # ids whose record is newer than the last checkpoint
MARKS = "activity_marks"
FILLED = "filled"  # mark of a store that has the counts of the journal
CHECKPOINT = "activity_checkpointed"
FLUSH_SECONDS = 2.0
CHECKPOINT_EVERY = timedelta(hours=1)
MEMORIES_PER_ENTRY = 1_000
UNUSED = MemoryActivity()


class Activity:
    """The use of a vault's memories; one instance per vault and process. Thread-safe.

    Args:
        clock: gives the time, with a zone.
    """

    def __init__(
        self,
        keyvalue: KeyValueStore,
        journal: Journal,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._records: dict[str, MemoryActivity] = {}
        self._foreign: dict[str, bytes] = {}  # records in a newer format
        self._unflushed: dict[str, int] = {}  # accesses that are not in the store yet
        self._lock = threading.Lock()  # guards the above
        self._writing = threading.Lock()  # allows one flush at a time
        self._keyvalue = keyvalue
        self._checkpointed = clock()
        self._is_dirty = False
        self._load(keyvalue)
        if keyvalue.get(MARKS, FILLED) is None:
            self._fill()

    def accessed(self, ids: Iterable[str]) -> None:
        """Count one access of each of these memories, which an answer gave. Takes microseconds."""
        now = self._clock()
        with self._lock:
            for id in set(ids) - self._foreign.keys():
                record = self._records.get(id, UNUSED)
                self._records[id] = record.model_copy(
                    update={
                        "access_count": record.access_count + 1,
                        "last_accessed": max(now, record.last_accessed or now),
                    }
                )
                self._unflushed[id] = self._unflushed.get(id, 0) + 1
        self._is_dirty = True

    def stored(self, id: str, agent_id: str | None, utl_state: UTLState) -> None:
        """Record which client stored a memory, and its learning state at that time.

        The first record stays: a retry that stores the same memory again does not replace it.
        """
        with self._lock:
            if id not in self._foreign:
                record = MemoryActivity(agent_id=agent_id, utl_state=utl_state)
                self._records[id] = self._records.get(id, UNUSED).merged(record)
                self._unflushed.setdefault(id, 0)
        self._is_dirty = True

    def of(self, id: str) -> MemoryActivity:
        """The use of a memory.

        Raises:
            UnknownFormat: a newer memvault wrote it.
        """
        with self._lock:
            record = self._records.get(id)
            foreign = self._foreign.get(id) if record is None else None
        if foreign is not None:
            return ACTIVITY_FORMAT.read(MemoryActivity, foreign, id)
        return record or UNUSED

    def all(self) -> dict[str, MemoryActivity]:
        """The use of all memories, by id, including those of removed notes."""
        with self._lock:
            return dict(self._records)

    def write(self) -> float:
        """Write new counts to the store, and once an hour to the journal.

        Returns the seconds until the next write.
        """
        if self._is_dirty:
            self._is_dirty = False
            if self._clock() - self._checkpointed < CHECKPOINT_EVERY:
                self.flush()
            else:
                self.checkpoint()
        return FLUSH_SECONDS

    def flush(self) -> None:
        """Write the changes to the key-value store; those that cannot be written stay queued."""
        with self._writing:
            self._flush()

    def checkpoint(self) -> None:
        """Write the changes since the last checkpoint to the journal."""
        with self._writing:
            try:
                if self._flush():
                    self._write_checkpoint()
            except MemvaultError as error:
                logger.warning("the use of memories is not in the journal yet: %s", error.message)

    def move_to(self, keyvalue: KeyValueStore) -> None:
        """Copy everything to the store of a new generation, and use it from now on.

        Raises:
            StorageError: the new store cannot be written; the old store is still in use.
        """
        with self._writing:
            self._flush()
            with self._lock:
                records, foreign = list(self._records), dict(self._foreign)
            try:
                waiting = self._unjournaled()
            except MemvaultError:  # the old store is damaged, hence the new one
                waiting = records
            keyvalue.put_many(UNJOURNALED, dict.fromkeys(waiting, b""))
            keyvalue.swap(NAMESPACE, {id: (None, value) for id, value in foreign.items()})
            self._add(keyvalue, dict.fromkeys(records, 0))
            keyvalue.put(MARKS, FILLED, b"")
            self._keyvalue = keyvalue

    def close(self) -> None:
        """Write all changes to the store and the journal; never raises."""
        self.checkpoint()

    # -- writing ------------------------------------------------------------------------------

    def _flush(self) -> bool:
        """Write the changes to the store; False if some could not be written."""
        with self._lock:
            counts, self._unflushed = self._unflushed, {}
        if not counts:
            return True
        try:
            # Done first, or after a crash the record would count as checkpointed.
            self._keyvalue.put_many(UNJOURNALED, dict.fromkeys(counts, b""))
            self._add(self._keyvalue, counts)
        except MemvaultError as error:
            logger.warning("the use of memories is not written yet: %s", error.message)
            with self._lock:
                for id, count in counts.items():
                    self._unflushed[id] = self._unflushed.get(id, 0) + count
            self._is_dirty = True
            return False
        return True

    def _add(self, keyvalue: KeyValueStore, counts: Mapping[str, int]) -> None:
        """Add these accesses to the store's records, and take over the sums.

        If another process writes a record in between, the accesses are added to that.
        """
        for batch in batched(counts, MEMORIES_PER_ENTRY):
            ids = set(batch)
            while ids:
                ids = self._add_some(keyvalue, {id: counts[id] for id in ids})

    def _add_some(self, keyvalue: KeyValueStore, counts: dict[str, int]) -> set[str]:
        """Add accesses; returns the ids that another process wrote meanwhile, to try again."""
        stored = keyvalue.get_many(NAMESPACE, counts)
        written: dict[str, tuple[bytes | None, bytes]] = {}
        sums: dict[str, MemoryActivity] = {}
        for id, count in counts.items():
            record = self._decoded(id, stored.get(id))
            if record is not None:
                sums[id] = self._summed(id, record, count)
                written[id] = (stored.get(id), _bytes(sums[id]))
        to_retry = keyvalue.swap(NAMESPACE, written)
        self._take_over({id: sums[id] for id in sums.keys() - to_retry})
        return to_retry

    def _decoded(self, id: str, value: bytes | None) -> MemoryActivity | None:
        """The stored record; UNUSED if it is missing or unreadable.

        None for a record that a newer memvault wrote, which is kept.
        """
        if value is None:
            return UNUSED
        try:
            return ACTIVITY_FORMAT.read(MemoryActivity, value, id)
        except UnknownFormat as error:
            logger.error("%s", error.message)
            with self._lock:
                self._foreign[id] = value
            return None
        except SerializationFailed as error:
            logger.error("activity of %s is lost: %s", id, error.message)
            return UNUSED

    def _summed(self, id: str, stored: MemoryActivity, count: int) -> MemoryActivity:
        """The stored record plus these accesses, merged with the record in memory.

        So a store that lost records gets them back.
        """
        with self._lock:
            record, newer = self._records[id], self._unflushed.get(id, 0)
        total = stored.access_count + count
        in_memory = record.model_copy(update={"access_count": record.access_count - newer})
        return stored.model_copy(update={"access_count": total}).merged(in_memory)

    def _take_over(self, sums: Mapping[str, MemoryActivity]) -> None:
        with self._lock:
            for id, record in sums.items():
                total = record.access_count + self._unflushed.get(id, 0)
                self._records[id] = record.model_copy(update={"access_count": total}).merged(
                    self._records[id]
                )

    def _write_checkpoint(self) -> None:
        self._checkpointed = now = self._clock()
        for ids in batched(sorted(self._unjournaled()), MEMORIES_PER_ENTRY):
            latest = self._latest(ids)
            self._journal.append(
                JournalEntry(
                    ts=now,
                    kind=CHECKPOINT,
                    actor=Actor(kind="system"),
                    data={
                        "format": ACTIVITY_FORMAT.current,
                        "memories": {
                            id: record.model_dump(mode="json", exclude_defaults=True)
                            for id, record in latest.items()
                        },
                    },
                )
            )
            self._keyvalue.delete(UNJOURNALED, ids)

    def _latest(self, ids: Sequence[str]) -> dict[str, MemoryActivity]:
        """The latest records of these memories, including the counts of other processes."""
        stored = self._keyvalue.get_many(NAMESPACE, ids)
        with self._lock:
            latest = {id: self._records[id] for id in ids if id in self._records}
        for id, value in stored.items():
            record = self._decoded(id, value)
            if record is not None and record != UNUSED:
                latest[id] = latest.get(id, UNUSED).merged(record)
        return latest

    def _unjournaled(self) -> list[str]:
        return [id for id, _ in self._keyvalue.items(UNJOURNALED)]

    # -- reading ------------------------------------------------------------------------------

    def _load(self, keyvalue: KeyValueStore) -> None:
        for id, value in keyvalue.items(NAMESPACE):
            record = self._decoded(id, value)
            if record is not None and record != UNUSED:
                self._records[id] = record

    def _fill(self) -> None:
        """Fill the store from the journal, and mark it as filled."""
        try:
            for id, record in self._journaled():
                if id not in self._foreign:
                    self._records[id] = self._records.get(id, UNUSED).merged(record)
            written = {id: _bytes(record) for id, record in self._records.items()}
            self._keyvalue.put_many(NAMESPACE, written)
            self._keyvalue.put(MARKS, FILLED, b"")
        except (MemvaultError, OSError) as error:  # the next start tries again
            logger.warning("the use of memories is not read from the journal: %s", error)

    def _journaled(self) -> Iterator[tuple[str, MemoryActivity]]:
        for entry in self._journal.entries((CHECKPOINT,)):
            memories = entry.data.get("memories")
            for id, fields in memories.items() if isinstance(memories, dict) else ():
                try:
                    version = int(entry.data.get("format", 0))
                    yield id, ACTIVITY_FORMAT.migrated(MemoryActivity, version, fields, id)
                except (SerializationFailed, TypeError, ValueError) as error:
                    logger.warning("journal: the activity of %s is not read: %s", id, error)


def _bytes(record: MemoryActivity) -> bytes:
    return ACTIVITY_FORMAT.write(record, sparse=True)
