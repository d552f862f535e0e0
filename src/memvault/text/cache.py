"""Embeddings already computed, on disk, so that unchanged text is never embedded twice."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from memvault.model.chunk import Vector
from memvault.model.errors import DiskFull, StorageError

_FORMAT = 1  # of the kept vectors; a new one makes old ones unused
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_LITTLE_BYTES = 1_000_000
_BATCH = 500  # SQLite takes at most 999 parameters on old builds


class EmbeddingCache:
    """Vectors by model and text, kept as 8 bits a dimension; their length, being 1, is not.

    What is kept has a cosine of 0.9999 to what was given and takes a quarter of its room. Derived
    data: a file that cannot be read is replaced by an empty one. Methods may be called from any
    thread, and several processes may share the file.

    Raises:
        DiskFull: no space to keep an embedding.
        StorageError: the file cannot be opened or written.
    """

    def __init__(self, file: Path, model_id: str) -> None:
        self._salt = hashlib.blake2b(f"{_FORMAT} {model_id}".encode(), digest_size=16).digest()
        self._lock = threading.Lock()
        self._file = file
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = _open(file)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF not in _DAMAGED:
                raise _refused(error, file) from error
            for suffix in ("", "-wal", "-shm"):
                file.with_name(file.name + suffix).unlink(missing_ok=True)
            try:
                self._connection = _open(file)
            except sqlite3.DatabaseError as again:
                raise _refused(again, file) from again

    def _key(self, text: str) -> bytes:
        return hashlib.blake2b(text.encode(), digest_size=16, key=self._salt).digest()

    def get(self, texts: Sequence[str]) -> dict[str, Vector]:
        """The vectors of those texts that are kept."""
        by_key = {self._key(text): text for text in texts}
        keys = list(by_key)
        found: dict[str, Vector] = {}
        for start in range(0, len(keys), _BATCH):
            part = keys[start : start + _BATCH]
            marks = ",".join("?" * len(part))
            query = f"SELECT key, vector FROM embedding WHERE key IN ({marks})"
            with self._lock:
                rows = self._connection.execute(query, part).fetchall()
            for key, blob in rows:
                found[by_key[key]] = _unpacked(blob)
        return found

    def put(self, items: Iterable[tuple[str, Vector]]) -> None:
        rows = [(self._key(text), _packed(vector)) for text, vector in items]
        try:
            with self._lock, self._connection:
                self._connection.executemany("INSERT OR REPLACE INTO embedding VALUES (?, ?)", rows)
        except sqlite3.OperationalError as error:
            raise _refused(error, self._file) from error

    def close(self) -> None:
        with self._lock:
            self._connection.close()


def rounded(vector: Vector) -> Vector:
    """The vector as it would come back from the cache, (dim,) float32, normalised."""
    return _unpacked(_packed(vector))


def _packed(vector: Vector) -> bytes:
    greatest = max(float(np.abs(vector).max()), 1e-12)
    return np.round(vector * (127.0 / greatest)).astype(np.int8).tobytes()


def _unpacked(blob: bytes) -> Vector:
    whole = np.frombuffer(blob, np.int8).astype(np.float32)
    return np.asarray(whole / max(float(np.linalg.norm(whole)), 1e-12), np.float32)


def _refused(error: sqlite3.DatabaseError, file: Path) -> StorageError:
    # On a full disk SQLite also speaks of an input or output error.
    is_full = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_FULL
    if is_full or shutil.disk_usage(file.parent).free < _LITTLE_BYTES:
        return DiskFull("Insufficient disk space: the disk is full. Free some space and try again.")
    return StorageError("The embedding cache cannot be opened or written.")


def _open(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=30.0, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS embedding (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"
        " WITHOUT ROWID"
    )
    connection.commit()
    return connection
