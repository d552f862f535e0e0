"""The vectors of texts that were embedded before, in a file."""

from __future__ import annotations

import hashlib
import logging
import shutil
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from memvault.model.batched import batched
from memvault.model.errors import DiskFull, StorageError
from memvault.model.note import Vector

logger = logging.getLogger(__name__)
Result = TypeVar("Result")
_FORMAT = 3  # of cached vectors; a new number invalidates old ones
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_MIN_FREE_BYTES = 1_000_000
_BATCH = 500  # SQLite takes at most 999 parameters on old builds


class Embedded(NamedTuple):
    """An embedded text.

    Attributes:
        vector: (dim,) float32, normalised.
        signs: of its content tokens, see `token_signs`; empty for a model that gives none.
    """

    vector: Vector
    signs: bytes = b""


class EmbeddingCache:
    """Cached vectors by model and text, at 8 bits per dimension, and the signs of the tokens.

    A cached vector has a cosine of 0.9999 to the original and a quarter of its size. The file is
    derived data: if it is damaged, it is replaced by an empty one. Thread-safe; several processes
    may share the file.

    Raises:
        DiskFull: no space to store a vector.
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
            self._replace_damaged(error)

    def _replace_damaged(self, error: sqlite3.DatabaseError) -> None:
        """Replace a damaged file by an empty one; raises any other error."""
        if _code_of(error) not in _DAMAGED:
            raise _refused(error, self._file) from error
        logger.warning("The embedding cache is damaged (%s); texts are embedded again.", error)
        for suffix in ("", "-wal", "-shm"):
            self._file.with_name(self._file.name + suffix).unlink(missing_ok=True)
        try:
            self._connection = _open(self._file)
        except sqlite3.DatabaseError as again:
            raise _refused(again, self._file) from again

    def _do(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run work with the file; if that is damaged, run it again with an empty one.

        Raises:
            DiskFull, StorageError: as the class says.
        """
        with self._lock:
            try:
                return work(self._connection)
            except sqlite3.DatabaseError as error:
                damaged = self._connection
                self._replace_damaged(error)
                with suppress(sqlite3.Error):  # its file is damaged, and gone
                    damaged.close()
                return work(self._connection)

    def _key(self, text: str) -> bytes:
        return hashlib.blake2b(text.encode(), digest_size=16, key=self._salt).digest()

    def get(self, texts: Sequence[str]) -> dict[str, Vector]:
        """The cached vectors of these texts."""
        return {text: embedded.vector for text, embedded in self.get_all(texts).items()}

    def get_all(self, texts: Sequence[str]) -> dict[str, Embedded]:
        """The cached vectors of these texts, with the signs of their tokens."""
        by_key = {self._key(text): text for text in texts}
        cached: dict[str, Embedded] = {}
        for keys in batched(by_key, _BATCH):
            rows = self._do(partial(_rows_of, keys))
            if rows:
                vectors = _unpacked([blob for _, blob, _ in rows])
                for (key, _, signs), vector in zip(rows, vectors, strict=True):
                    cached[by_key[key]] = Embedded(vector, signs)
        return cached

    def put(self, items: Mapping[str, Embedded]) -> None:
        if not items:
            return
        packed = _packed(np.stack([embedded.vector for embedded in items.values()]))
        rows = [
            (self._key(text), row.tobytes(), embedded.signs)
            for (text, embedded), row in zip(items.items(), packed, strict=True)
        ]

        def write(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany("INSERT OR REPLACE INTO embedded VALUES (?, ?, ?)", rows)

        self._do(write)

    def trim(self, limit: int) -> int:
        """Delete arbitrary vectors if there are more than ``limit``; returns how many were deleted.
        A vector that is needed again is computed again."""

        def delete(connection: sqlite3.Connection) -> int:
            with connection:
                (count,) = connection.execute("SELECT count(*) FROM embedded").fetchone()
                excess = max(0, min(_BATCH, int(count) - limit))
                if excess:
                    connection.execute(
                        "DELETE FROM embedded WHERE key IN (SELECT key FROM embedded LIMIT ?)",
                        (excess,),
                    )
            if excess:
                connection.execute("PRAGMA incremental_vacuum").fetchall()
            return excess

        return self._do(delete)

    def close(self) -> None:
        with self._lock:
            self._connection.close()


def rounded(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The vectors as the cache would return them, (n, dim) float32, normalised."""
    return _normalised(_packed(vectors))


def _packed(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.int8]:
    """(n, dim); the greatest number of each row is 127 or -127."""
    greatest = np.abs(vectors).max(axis=1, keepdims=True).astype(np.float64)
    scale = (127.0 / np.maximum(greatest, 1e-12)).astype(np.float32)
    packed: npt.NDArray[np.int8] = np.round(vectors * scale).astype(np.int8)
    return packed


def _unpacked(blobs: Sequence[bytes]) -> npt.NDArray[np.float32]:
    """(len(blobs), dim), normalised; there must be at least one blob."""
    return _normalised(np.frombuffer(b"".join(blobs), np.int8).reshape(len(blobs), -1))


def _normalised(packed: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    floats = packed.astype(np.float32)
    lengths = np.linalg.norm(floats, axis=1, keepdims=True)
    return np.asarray(floats / np.maximum(lengths, 1e-12), np.float32)


def _rows_of(
    keys: Sequence[bytes], connection: sqlite3.Connection
) -> list[tuple[bytes, bytes, bytes]]:
    marks = ",".join("?" * len(keys))
    query = f"SELECT key, vector, signs FROM embedded WHERE key IN ({marks})"
    return connection.execute(query, keys).fetchall()


def _code_of(error: sqlite3.DatabaseError) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF  # a closed connection has none


def _refused(error: sqlite3.DatabaseError, file: Path) -> StorageError:
    # On a full disk SQLite may also report an input/output error.
    is_full = _code_of(error) == sqlite3.SQLITE_FULL
    if is_full or shutil.disk_usage(file.parent).free < _MIN_FREE_BYTES:
        return DiskFull("Insufficient disk space: the disk is full. Free some space and try again.")
    return StorageError("The embedding cache cannot be opened or written.")


def _open(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=30.0, check_same_thread=False)
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")  # of a new file, so that it can shrink
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS embedded"
        " (key BLOB PRIMARY KEY, vector BLOB NOT NULL, signs BLOB NOT NULL) WITHOUT ROWID"
    )
    connection.execute("DROP TABLE IF EXISTS embedding")  # of an earlier format
    connection.commit()
    return connection
