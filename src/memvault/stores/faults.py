"""What the embedded engines have in common when something goes wrong on disk."""

from __future__ import annotations

import shutil
from pathlib import Path

from memvault.model.errors import DiskFull, StorageError, StoreUnavailable

RESERVE_BYTES = 16 * 1024 * 1024  # kept free, so that an engine can always tidy up and close
_NO_SPACE = ("no space left", "disk is full", "disk quota", "file too large", "os error 28")


def integrity_error() -> StorageError:
    """The store's files cannot be trusted; everything in them can be rebuilt from the vault."""
    return StorageError("Database integrity check failed. Recovery required.")


def is_corrupt(error: StorageError) -> bool:
    """Whether files cannot be trusted, rather than be used by another or lack room: its
    subclasses say those."""
    return type(error) is StorageError


def disk_full() -> DiskFull:
    return DiskFull(
        "Insufficient disk space: the disk with the indexes is full. Free some space; nothing was "
        "half written."
    )


def locked() -> StoreUnavailable:
    return StoreUnavailable(
        "Storage error: Operation timed out due to lock contention. Another process holds the "
        "indexes; try again, and end it if this happens again."
    )


def closed() -> StoreUnavailable:
    return StoreUnavailable("The store is closed.")


def ensure_space(folder: Path, needed: int) -> None:
    """The engines write through memory maps, where a full disk ends the process instead of
    failing the call: so room is made sure of before.

    Raises:
        DiskFull: less than ``needed`` bytes and the reserve are free.
    """
    if shutil.disk_usage(folder).free < needed + RESERVE_BYTES:
        raise disk_full()


def is_disk_full(folder: Path) -> bool:
    """False where there is no such folder any more."""
    try:
        return shutil.disk_usage(folder).free < RESERVE_BYTES
    except FileNotFoundError:
        return False


def reports_full_disk(error: BaseException) -> bool:
    """The engine's own words for a full disk."""
    text = str(error).lower()
    return any(words in text for words in _NO_SPACE)
