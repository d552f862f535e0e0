"""The key-value store in one SQLite file."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memvault.model.batched import batched
from memvault.model.errors import StorageError, StoreUnavailable
from memvault.stores import faults
from memvault.stores.connection_pool import ConnectionPool
from memvault.stores.keyvalue import Rows
from memvault.stores.server import CallRecorder

KEYS_PER_QUERY = 500
PURGE_SECONDS = 60.0  # interval of deleting expired values, which are invisible at once
LEASES = "leases"
_BUSY_SECONDS = 10.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    namespace TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, expires REAL,
    PRIMARY KEY (namespace, key)
);
CREATE INDEX IF NOT EXISTS entries_by_expiry ON entries (expires) WHERE expires IS NOT NULL;
"""
_LIVE = "(expires IS NULL OR expires > ?)"
_GET = f"SELECT value, expires FROM entries WHERE namespace = ? AND key = ? AND {_LIVE}"
_PUT = (
    "INSERT INTO entries VALUES (?, ?, ?, ?) ON CONFLICT (namespace, key)"
    " DO UPDATE SET value = excluded.value, expires = excluded.expires"
)
_DELETE = "DELETE FROM entries WHERE namespace = ? AND key = ?"


class SqliteKeyValueStore:
    """Uses write-ahead logging: readers never wait for the writer, and a completed call survives a
    killed process. One connection writes; readers use pooled connections.

    Raises:
        StorageError: on opening, if the file is damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.calls = CallRecorder()
        self._write_lock = threading.Lock()
        self._pool = ConnectionPool(self._connect)
        self._purged = 0.0
        with self._faults():
            self._writer = self._connect()
            try:
                self._prepare()
            except BaseException:
                self._writer.close()
                raise

    def _prepare(self) -> None:
        if self._writer.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise faults.integrity_error()
        self._writer.execute("PRAGMA journal_mode = WAL")
        self._writer.executescript(_SCHEMA)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    def get(self, namespace: str, key: str) -> bytes | None:
        rows = self._read(_GET, (namespace, key, time.time()))
        return bytes(rows[0][0]) if rows else None

    def get_many(self, namespace: str, keys: Collection[str]) -> dict[str, bytes]:
        values: dict[str, bytes] = {}
        for batch in batched(keys, KEYS_PER_QUERY):
            marks = ", ".join("?" * len(batch))
            rows = self._read(
                f"SELECT key, value FROM entries WHERE namespace = ? AND key IN ({marks})"
                f" AND {_LIVE}",
                (namespace, *batch, time.time()),
            )
            values.update(rows)
        return values

    def put(
        self, namespace: str, key: str, value: bytes, *, ttl_seconds: float | None = None
    ) -> None:
        expires = None if ttl_seconds is None else time.time() + ttl_seconds
        with self._transaction() as connection:
            connection.execute(_PUT, (namespace, key, value, expires))
            self._purge(connection)

    def put_many(self, namespace: str, items: Mapping[str, bytes]) -> None:
        self.change({}, {namespace: items})

    def delete(self, namespace: str, keys: Iterable[str]) -> None:
        self.change({namespace: keys}, {})

    def change(self, deleted: Mapping[str, Iterable[str]], written: Rows) -> None:
        with self._transaction() as connection:
            connection.executemany(
                _DELETE, ((space, key) for space, keys in deleted.items() for key in keys)
            )
            connection.executemany(
                _PUT,
                (
                    (space, key, value, None)
                    for space, items in written.items()
                    for key, value in items.items()
                ),
            )
            self._purge(connection)

    def items(self, namespace: str, prefix: str = "") -> Iterator[tuple[str, bytes]]:
        until = _after(prefix)
        bound = "" if until is None else "AND key < ?"
        rows = self._read(
            f"SELECT key, value FROM entries WHERE namespace = ? AND key >= ? {bound}"
            f" AND {_LIVE} ORDER BY key",
            (namespace, prefix, *(() if until is None else (until,)), time.time()),
        )
        yield from rows

    def swap(self, namespace: str, items: Mapping[str, tuple[bytes | None, bytes]]) -> set[str]:
        refused = set[str]()
        with self._transaction() as connection:
            for key, (old, new) in items.items():
                row = connection.execute(_GET, (namespace, key, time.time())).fetchone()
                if (None if row is None else bytes(row[0])) == old:
                    connection.execute(_PUT, (namespace, key, new, None))
                else:
                    refused.add(key)
        return refused

    def increment(self, namespace: str, key: str) -> int:
        """See `KeyValueStore.increment`; keeps the counter's expiry.

        Raises:
            StorageError: the value is not a whole number.
        """
        with self._transaction() as connection:
            row = connection.execute(_GET, (namespace, key, time.time())).fetchone()
            value, expires = row or (b"0", None)
            try:
                total = int(value) + 1
            except ValueError:
                raise StorageError(f"{key} is not a counter.") from None
            connection.execute(_PUT, (namespace, key, b"%d" % total, expires))
        return total

    def lease(self, name: str, holder: str, seconds: float) -> bool:
        """See `KeyValueStore.lease`. The file belongs to one generation, but only one process opens
        it."""
        now = time.time()
        with self._transaction() as connection:
            row = connection.execute(_GET, (LEASES, name, now)).fetchone()
            if row is not None and bytes(row[0]) != holder.encode():
                return False
            connection.execute(_PUT, (LEASES, name, holder.encode(), now + seconds))
        return True

    def count(self, namespace: str) -> int:
        rows = self._read(
            f"SELECT count(*) FROM entries WHERE namespace = ? AND {_LIVE}",
            (namespace, time.time()),
        )
        return int(rows[0][0])

    def close(self) -> None:
        with self._write_lock:
            if self._pool.closed:
                return
            self._pool.close()
            self._writer.close()

    def _purge(self, connection: sqlite3.Connection) -> None:
        """Delete expired values, at most once in `PURGE_SECONDS`."""
        now = time.time()
        if now - self._purged > PURGE_SECONDS:
            self._purged = now
            connection.execute("DELETE FROM entries WHERE expires <= ?", (now,))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._write_lock, self.calls.timed(), self._faults():
            if self._pool.closed:
                raise faults.store_closed()
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def _read(self, query: str, values: Sequence[object]) -> list[Any]:
        with self.calls.timed(), self._faults(), self._pool.borrowed() as connection:
            return connection.execute(query, values).fetchall()

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self._translated(error) from error

    def _translated(self, error: sqlite3.DatabaseError) -> StorageError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return faults.integrity_error()
        if code == sqlite3.SQLITE_FULL or faults.is_disk_full(self._path.parent):
            return faults.disk_full()
        if self._pool.closed:
            return faults.store_closed()
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return faults.store_locked()
        return StoreUnavailable(f"The key-value store does not answer: {error}")


def _after(prefix: str) -> str | None:
    """The smallest string above all strings with this prefix; None if there is none."""
    stem = prefix.rstrip("\U0010ffff")
    if not stem:
        return None
    following = ord(stem[-1]) + 1
    return stem[:-1] + chr(0xE000 if following == 0xD800 else following)
