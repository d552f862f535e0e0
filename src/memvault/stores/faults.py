"""Errors of the embedded engines, and checks of the free disk space."""

from __future__ import annotations

import shutil
from pathlib import Path

from memvault.model.errors import DiskFull, StorageError, StoreUnavailable

RESERVE_BYTES = 16 * 1024 * 1024  # kept free, so that engines can always flush and close
_NO_SPACE = ("no space left", "disk is full", "disk quota", "file too large", "os error 28")


def integrity_error() -> StorageError:
    """The error for damaged files, which can be rebuilt from the vault."""
    return StorageError("Database integrity check failed. Recovery required.")


def is_corrupt(error: StorageError) -> bool:
    """Whether the error means damaged files. Subclasses mean locked files or a full disk."""
    return type(error) is StorageError


def disk_full() -> DiskFull:
    return DiskFull(
        "Insufficient disk space: the disk with the indexes is full. Free some space; no partial "
        "data was written."
    )


def store_locked() -> StoreUnavailable:
    return StoreUnavailable(
        "Storage error: Operation timed out due to lock contention. Another process has locked the "
        "indexes; try again, or stop that process."
    )


def store_closed() -> StoreUnavailable:
    return StoreUnavailable("The store is closed.")


def ensure_space(folder: Path, needed: int) -> None:
    """Check the free space before a write.

    The engines write through memory maps, where a full disk kills the process instead of failing
    the call.

    Raises:
        DiskFull: less than ``needed`` bytes plus the reserve are free.
    """
    if shutil.disk_usage(folder).free < needed + RESERVE_BYTES:
        raise disk_full()


def is_disk_full(folder: Path) -> bool:
    """Whether less than the reserve is free; False if the folder does not exist."""
    try:
        return shutil.disk_usage(folder).free < RESERVE_BYTES
    except FileNotFoundError:
        return False


def reports_full_disk(error: BaseException) -> bool:
    """Whether an engine's error message means a full disk."""
    text = str(error).lower()
    return any(words in text for words in _NO_SPACE)
