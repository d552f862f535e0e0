"""How memories are used: counted in memory, kept in the key-value store, checkpointed to the
journal.

A call only counts. What changed is written to the key-value store a moment later, all at once, so
a killed engine loses the last seconds at most. Several machines may count at once: what each has
counted is added to what the store holds, and taken over from there. At the end, and at most once
an hour, what changed since the last checkpoint goes to the journal, from which a key-value store
that begins empty is filled again: counts are then as old as that checkpoint, never lost.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice

from memvault.model.errors import MemvaultError, SerializationFailed, UnknownFormat
from memvault.model.memory import ACTIVITY_FORMAT, MemoryActivity, UTLState
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
        self._unflushed: dict[str, int] = {}  # accesses that the store has not been told
        self._lock = threading.Lock()  # of the above
        self._writing = threading.Lock()  # of the store: one flush at a time
        self._keyvalue = keyvalue
        self._checkpointed = clock()
        self._is_dirty = False
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
                self._unflushed[id] = self._unflushed.get(id, 0) + 1
        self._is_dirty = True

    def stored(self, id: str, agent_id: str | None, utl_state: UTLState) -> None:
        """Keep which client stored the memory, and how it stood to what was known.

        The first account holds: the same memory stored again, by a retry, is no other's.
        """
        with self._lock:
            if id not in self._foreign:
                given = MemoryActivity(agent_id=agent_id, utl_state=utl_state)
                self._records[id] = self._records.get(id, UNUSED).merged(given)
                self._unflushed.setdefault(id, 0)
        self._is_dirty = True

    def of(self, id: str) -> MemoryActivity:
        """How this memory has been used.

        Raises:
            UnknownFormat: a newer memvault wrote it.
        """
        with self._lock:
            found = self._records.get(id)
            foreign = self._foreign.get(id) if found is None else None
        if foreign is not None:
            return ACTIVITY_FORMAT.read(MemoryActivity, foreign, id)
        return found or UNUSED

    def all(self) -> dict[str, MemoryActivity]:
        """By memory id, those of notes that are gone included."""
        with self._lock:
            return dict(self._records)

    def write(self) -> float:
        """Write down what was counted, to the journal once an hour; the seconds until that is due
        again."""
        if self._is_dirty:
            self._is_dirty = False
            if self._clock() - self._checkpointed < CHECKPOINT_EVERY:
                self.flush()
            else:
                self.checkpoint()
        return FLUSH_SECONDS

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
                records, foreign = list(self._records), dict(self._foreign)
            try:
                waiting = self._unjournaled()
            except MemvaultError:  # the old store is damaged, which is why a fresh one is made
                waiting = records
            keyvalue.put_many(UNJOURNALED, dict.fromkeys(waiting, b""))
            keyvalue.swap(NAMESPACE, {id: (None, value) for id, value in foreign.items()})
            self._add(keyvalue, dict.fromkeys(records, 0))
            keyvalue.put(MARKS, FILLED, b"")
            self._keyvalue = keyvalue

    def close(self) -> None:
        """Write everything down, last of all a checkpoint; never raises."""
        self.checkpoint()

    # -- writing ------------------------------------------------------------------------------

    def _flush(self) -> bool:
        """Whether everything is in the store now."""
        with self._lock:
            taken, self._unflushed = self._unflushed, {}
        if not taken:
            return True
        try:
            # First: a record that is in the store must not be taken for one in the journal.
            self._keyvalue.put_many(UNJOURNALED, dict.fromkeys(taken, b""))
            self._add(self._keyvalue, taken)
        except MemvaultError as error:
            logger.warning("the use of memories is not written yet: %s", error.message)
            with self._lock:
                for id, count in taken.items():
                    self._unflushed[id] = self._unflushed.get(id, 0) + count
            self._is_dirty = True
            return False
        return True

    def _add(self, keyvalue: KeyValueStore, counts: Mapping[str, int]) -> None:
        """Add these accesses to the store's records, and make its sums this process's own. Another
        process may write in between: then what it wrote is added to."""
        waiting = iter(counts)
        while left := set(islice(waiting, MEMORIES_PER_ENTRY)):
            while left:
                left = self._add_some(keyvalue, {id: counts[id] for id in left})

    def _add_some(self, keyvalue: KeyValueStore, counts: dict[str, int]) -> set[str]:
        """Those left to be added, since another process wrote them meanwhile."""
        stored = keyvalue.get_many(NAMESPACE, counts)
        written: dict[str, tuple[bytes | None, bytes]] = {}
        sums: dict[str, MemoryActivity] = {}
        for id, count in counts.items():
            found = self._understood(id, stored.get(id))
            if found is not None:
                sums[id] = self._summed(id, found, count)
                written[id] = (stored.get(id), _bytes(sums[id]))
        left = keyvalue.swap(NAMESPACE, written)
        self._take_over({id: sums[id] for id in sums.keys() - left})
        return left

    def _understood(self, id: str, value: bytes | None) -> MemoryActivity | None:
        """UNUSED for nothing, or nothing that can be read; None for what a newer memvault wrote,
        which stays."""
        if value is None:
            return UNUSED
        try:
            return ACTIVITY_FORMAT.read(MemoryActivity, value, id)
        except UnknownFormat as error:
            logger.error("%s", error.message)
            with self._lock:
                self._foreign[id] = value
            return None
        except SerializationFailed:
            return UNUSED

    def _summed(self, id: str, stored: MemoryActivity, count: int) -> MemoryActivity:
        """What stands in the store, and this many accesses more. A store that lost what it had,
        in whole or in part, is given what is known here."""
        with self._lock:
            own, newer = self._records[id], self._unflushed.get(id, 0)
        more = stored.access_count + count
        known = own.model_copy(update={"access_count": own.access_count - newer})
        return stored.model_copy(update={"access_count": more}).merged(known)

    def _take_over(self, sums: Mapping[str, MemoryActivity]) -> None:
        with self._lock:
            for id, told in sums.items():
                more = told.access_count + self._unflushed.get(id, 0)
                self._records[id] = told.model_copy(update={"access_count": more}).merged(
                    self._records[id]
                )

    def _write_checkpoint(self) -> None:
        self._checkpointed = now = self._clock()
        waiting = iter(sorted(self._unjournaled()))
        while some := list(islice(waiting, MEMORIES_PER_ENTRY)):
            known = self._latest(some)
            self._journal.append(
                JournalEntry(
                    ts=now,
                    kind=CHECKPOINT,
                    actor=Actor(kind="system"),
                    data={
                        "format": ACTIVITY_FORMAT.current,
                        "memories": {
                            id: record.model_dump(mode="json", exclude_defaults=True)
                            for id, record in known.items()
                        },
                    },
                )
            )
            self._keyvalue.delete(UNJOURNALED, some)

    def _latest(self, ids: Sequence[str]) -> dict[str, MemoryActivity]:
        """With what other processes have counted."""
        stored = self._keyvalue.get_many(NAMESPACE, ids)
        with self._lock:
            known = {id: self._records[id] for id in ids if id in self._records}
        for id, value in stored.items():
            told = self._understood(id, value)
            if told is not None and told != UNUSED:
                known[id] = known.get(id, UNUSED).merged(told)
        return known

    def _unjournaled(self) -> list[str]:
        return [id for id, _ in self._keyvalue.items(UNJOURNALED)]

    # -- reading ------------------------------------------------------------------------------

    def _load(self, keyvalue: KeyValueStore) -> None:
        for id, value in keyvalue.items(NAMESPACE):
            try:
                self._records[id] = ACTIVITY_FORMAT.read(MemoryActivity, value, id)
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
                        yield id, ACTIVITY_FORMAT.migrated(MemoryActivity, version, fields, id)
                    except (SerializationFailed, TypeError, ValueError) as error:
                        logger.warning("journal: the activity of %s is not read: %s", id, error)


def _bytes(record: MemoryActivity) -> bytes:
    return ACTIVITY_FORMAT.write(record, sparse=True)
