"""Opens key-value stores that hold only what can be computed again."""

from __future__ import annotations

import logging
from pathlib import Path

from memvault.model.errors import StorageError
from memvault.stores.faults import is_corrupt
from memvault.stores.keyvalue.sqlite import SqliteKeyValueStore

logger = logging.getLogger(__name__)


def open_cache_file(file: Path) -> SqliteKeyValueStore:
    """The store in this file; a damaged file is replaced by an empty one.

    Raises:
        StoreUnavailable: another process has the file open.
        DiskFull: the file cannot be created.
    """
    try:
        return SqliteKeyValueStore(file)
    except StorageError as error:
        if not is_corrupt(error):
            raise
        logger.error("The cache %s is damaged; starting with an empty one.", file.name)
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    return SqliteKeyValueStore(file)
