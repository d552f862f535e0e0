"""Writes files so that a crash, a full disk or another writer never leaves half a file."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from memvault.model.errors import DiskFull, StorageError

_AT_FDCWD = -100
_RENAME_NOREPLACE, _RENAME_EXCHANGE = 1, 2  # Linux, renameat2(2)
_RENAME_SWAP, _RENAME_EXCL = 2, 4  # macOS, renamex_np(2)
_CANNOT = {
    errno.EINVAL, errno.ENOSYS, errno.EPERM,
    getattr(errno, "ENOTSUP", errno.ENOSYS), getattr(errno, "EOPNOTSUPP", errno.ENOSYS),
}  # fmt: skip


def atomic_swap(one: Path, other: Path) -> bool:
    """Swap the names of two existing files of one folder in one step.

    Returns False, without any effect, if the system does not support it.
    """
    if sys.platform == "linux" and (rename := _function("renameat2")) is not None:
        names = (_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other))
        return bool(rename(*names, ctypes.c_uint(_RENAME_EXCHANGE)) == 0)
    if sys.platform == "darwin" and (rename := _function("renamex_np")) is not None:
        names_only = (os.fsencode(one), os.fsencode(other))
        return bool(rename(*names_only, ctypes.c_uint(_RENAME_SWAP)) == 0)
    return False


def rename_if_free(source: Path, target: Path) -> bool:
    """Rename a file in one step, never over another file.

    Returns False, without any effect, if the system does not support it.

    Raises:
        FileExistsError: the target exists.
        OSError: the file does not exist or cannot be moved.
    """
    if sys.platform == "win32":
        source.rename(target)  # on Windows, this refuses an existing target
        return True
    if sys.platform == "linux" and (rename := _function("renameat2")) is not None:
        names = (_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target))
        done = rename(*names, ctypes.c_uint(_RENAME_NOREPLACE)) == 0
    elif sys.platform == "darwin" and (rename := _function("renamex_np")) is not None:
        names_only = (os.fsencode(source), os.fsencode(target))
        done = rename(*names_only, ctypes.c_uint(_RENAME_EXCL)) == 0
    else:
        return False
    if not done:
        number = ctypes.get_errno()
        if number in _CANNOT:
            return False
        raise OSError(number, os.strerror(number), str(source), None, str(target))
    return True


@cache
def _function(name: str) -> Any:
    return getattr(ctypes.CDLL(None, use_errno=True), name, None)


TEMPORARY_PREFIX = ".memvault-"
TEMPORARY_SUFFIX = ".tmp"

_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS}
_WINDOWS_FULL = {39, 112}
_NO_HARD_LINKS = {
    errno.EPERM, errno.ENOSYS, errno.EMLINK, errno.EXDEV,
    getattr(errno, "ENOTSUP", errno.ENOSYS), getattr(errno, "EOPNOTSUPP", errno.ENOSYS),
}  # fmt: skip
_SHARING_RETRIES = 20
_SHARING_PAUSE_SECONDS = 0.05


@contextlib.contextmanager
def storage_errors(name: str) -> Iterator[None]:
    """Translate the system's errors; `name` is the path in the vault, for messages.

    Raises:
        DiskFull: no space or quota is left.
        StorageError: the file, folder or disk is read-only, or another error occurred.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _FULL or getattr(error, "winerror", None) in _WINDOWS_FULL:
            raise DiskFull(
                f"Insufficient disk space: the disk is full and {name} was not written; free some "
                "space and try again"
            ) from error
        if error.errno in _REFUSED:
            raise StorageError(
                f"{name} cannot be accessed: it is read-only or belongs to someone else; "
                "allow it in the file's or folder's permissions"
            ) from error
        reason = os.strerror(error.errno) if error.errno else "the system refused"
        raise StorageError(f"{name} cannot be read or written: {reason}") from error


@contextlib.contextmanager
def temporary_path_for(target: Path, data: bytes) -> Iterator[Path]:
    """A flushed temporary file with this content in the target's folder, deleted on exit.

    It has the target's mode, or the system's default if there is no target.
    """
    handle, name = tempfile.mkstemp(TEMPORARY_SUFFIX, TEMPORARY_PREFIX, target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(_mode_for(target))
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def replace(temporary: Path, target: Path) -> None:
    """Replace the target by the temporary file, atomically and durably."""
    _patiently(lambda: temporary.replace(target))
    sync_folder(target.parent)


def _patiently(rename: Callable[[], object]) -> None:
    for attempt in range(_SHARING_RETRIES):
        try:
            rename()
            return
        except PermissionError:
            # Windows refuses while an indexer or a virus scanner has the file open.
            if os.name != "nt" or attempt == _SHARING_RETRIES - 1:
                raise
            time.sleep(_SHARING_PAUSE_SECONDS)


def replace_unchanged(temporary: Path, target: Path, before: bytes, after: bytes) -> bool:
    """Replace the target by the temporary file with `after`, if the target still has `before`.

    Otherwise returns False, and the target stays as another program saved it. As that can happen
    between a check and a rename, the two files swap names and the displaced content is checked
    afterwards: if it is not `before`, it is swapped back.
    """
    if target.read_bytes() != before:
        return False
    if not atomic_swap(temporary, target):
        replace(temporary, target)
        return True
    displaced = temporary.read_bytes()
    if displaced == before:
        sync_folder(target.parent)
        return True
    placed = after
    while True:
        if not atomic_swap(temporary, target):
            if target.exists():  # a deleted file stays deleted
                replace(temporary, target)
            return False
        found = temporary.read_bytes()
        if found == placed:
            return False
        placed, displaced = displaced, found  # saved again meanwhile: restore the newest


def publish(temporary: Path, target: Path) -> None:
    """Rename the temporary file to its final name, if no other file has it.

    Raises:
        FileExistsError: the name is taken, perhaps by another process just now.
    """
    if os.name == "nt":
        temporary.rename(target)  # on Windows, this refuses an existing target
        return
    try:
        os.link(temporary, target)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        # A file system without hard links: reserve the name, then replace it.
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        temporary.replace(target)
    sync_folder(target.parent)


def move(source: Path, target: Path) -> None:
    """Move a file to a free name, durably, with whatever content it has at that moment.

    Raises:
        FileExistsError: the name is taken, perhaps by another process just now.
        FileNotFoundError: there is no such file.
    """

    def rename() -> None:
        if not rename_if_free(source, target):
            # Link and delete would lose a save in between, so an empty file reserves the name.
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            try:
                source.replace(target)
            except OSError:
                target.unlink()
                raise

    _patiently(rename)
    for folder in {source.parent, target.parent}:
        sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Make renames in this folder survive a power failure, where the system supports it."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOSYS, errno.EBADF}:
            raise
    finally:
        os.close(handle)


def _mode_for(target: Path) -> int:
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0o077)
        os.umask(mask)
        return 0o666 & ~mask


TIMEOUT_SECONDS = 10.0
POLL_SECONDS = 0.002

_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EINVAL, getattr(errno, "ENOTSUP", errno.ENOSYS)}


class WriterLock:
    """Lock that memvault holds while it changes a file of the folder.

    Editors take no lock; `replace_unchanged` detects their saves. But while it swaps a version
    back, another memvault writer could mistake the displaced version for the person's.

    The lock is flock(2) on the folder itself, so it ends with its process and needs no file. On
    Windows, and on file systems without locks, it only excludes threads of this process.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._in_process = threading.RLock()
        self._depth = 0

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock within the block; reentrant.

        Raises:
            StorageError: another process holds it for longer than `TIMEOUT_SECONDS`, or the
                folder cannot be opened.
        """
        with self._in_process:
            self._depth += 1
            try:
                with _locked(self._folder) if self._depth == 1 else contextlib.nullcontext():
                    yield
            finally:
                self._depth -= 1


if sys.platform == "win32":

    def _locked(folder: Path) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

else:
    import fcntl

    @contextlib.contextmanager
    def _locked(folder: Path) -> Iterator[None]:
        with storage_errors("the vault's folder"):
            handle = os.open(folder, os.O_RDONLY)
        try:
            deadline = time.monotonic() + TIMEOUT_SECONDS
            while not _take(handle):
                if time.monotonic() > deadline:
                    raise StorageError(
                        "another memvault process has been writing to this vault for "
                        f"{TIMEOUT_SECONDS:.0f} s; end it and try again"
                    )
                time.sleep(POLL_SECONDS)
            yield
        finally:
            os.close(handle)  # releases the lock

    def _take(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
        return True
