"""Writing a file so that a crash, a full disk or another writer never leaves half of it."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from memvault.model.errors import DiskFull, StorageError
from memvault.vault.exchange import exchange, rename_if_free

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
    """Say what the system refused in the domain's words; `name` is the path in the vault.

    Raises:
        DiskFull: no space or quota is left.
        StorageError: the file, folder or disk is read-only, or anything else went wrong.
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
def temporary_beside(target: Path, data: bytes) -> Iterator[Path]:
    """A flushed file with this content in the target's folder, gone when the block ends.

    Its mode is the target's, else what the system gives to new files.
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
    """Put the temporary file in the target's place at once, and make that durable."""
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
    """Put the temporary file, which holds `after`, in the target's place if that still holds
    `before`; False, and the target as someone else just left it, if it does not.

    Between a look and a rename another program can save the file. So the two files change names,
    and what came out is looked at: if it is not `before`, it goes back.
    """
    if target.read_bytes() != before:
        return False
    if not exchange(temporary, target):
        replace(temporary, target)
        return True
    displaced = temporary.read_bytes()
    if displaced == before:
        sync_folder(target.parent)
        return True
    placed = after
    while True:
        if not exchange(temporary, target):
            if target.exists():  # else it was deleted, and stays so
                replace(temporary, target)
            return False
        found = temporary.read_bytes()
        if found == placed:
            return False
        placed, displaced = displaced, found  # saved once more meanwhile: the newest goes back


def publish(temporary: Path, target: Path) -> None:
    """Give the temporary file its name, if nobody has it yet.

    Raises:
        FileExistsError: the name is taken, perhaps by another process just now.
    """
    if os.name == "nt":
        temporary.rename(target)  # refuses an existing target there
        return
    try:
        os.link(temporary, target)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        # A file system without hard links: reserve the name, then fill it at once.
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        temporary.replace(target)
    sync_folder(target.parent)


def move(source: Path, target: Path) -> None:
    """Move a file as it is in that moment, durably, to a name that nobody has.

    Raises:
        FileExistsError: the name is taken, perhaps by another process just now.
        FileNotFoundError: there is no such file.
    """

    def rename() -> None:
        if not rename_if_free(source, target):
            # A link and a delete would lose what is saved in between: the name is reserved, empty.
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
    """Make a rename in this folder survive a power cut, where the system lets one ask for it."""
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
