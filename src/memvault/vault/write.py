"""Writes files so that a crash, a full disk or another writer never leaves half a file."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

from memvault.model.errors import DiskFull, StorageError
from memvault.vault.atomic_rename import UNSUPPORTED, atomic_swap, rename_if_free

TEMPORARY_PREFIX = ".memvault-"
TEMPORARY_SUFFIX = ".tmp"

_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_REFUSED = {errno.EACCES, errno.EPERM}
_WINDOWS_FULL = {39, 112}
# Of a drive that was unplugged, or whose server does not answer.
NO_DRIVE = {
    getattr(errno, name)
    for name in (
        "EIO", "ENODEV", "ENXIO", "ENOTCONN", "ESTALE", "ETIMEDOUT", "EHOSTDOWN", "EHOSTUNREACH",
    )
    if hasattr(errno, name)
}  # fmt: skip
_NO_HARD_LINKS = UNSUPPORTED | {errno.EMLINK, errno.EXDEV}
_NO_FOLDER_SYNC = UNSUPPORTED | {errno.EACCES, errno.EBADF, errno.EISDIR}
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
        if error.errno == errno.EROFS:
            raise StorageError(
                f"{name} cannot be written: its drive is read-only; make the drive writable"
            ) from error
        if error.errno == errno.ENOLCK:
            raise StorageError(
                f"{name} cannot be locked: its drive has no locks. Mount a network drive with "
                "locks (NFS: start the lock service, or use the option nolock if no other computer "
                "changes these files)"
            ) from error
        reason = os.strerror(error.errno) if error.errno else "the system refused"
        if error.errno in NO_DRIVE:
            raise StorageError(
                f"{name} cannot be read or written: its drive does not answer ({reason}); connect "
                "the drive again, or check it"
            ) from error
        raise StorageError(f"{name} cannot be read or written: {reason}") from error


@contextlib.contextmanager
def temporary_path_for(
    target: Path, data: bytes, mode: int | None = None, *, saved_ns: int | None = None
) -> Iterator[Path]:
    """A flushed temporary file with this content in the target's folder, deleted on exit.

    Args:
        mode: by default the target's, or the system's default if there is no target.
        saved_ns: when it counts as saved, in ns, if the system allows it; None for now.
    """
    handle, name = tempfile.mkstemp(TEMPORARY_SUFFIX, TEMPORARY_PREFIX, target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with _ignoring(UNSUPPORTED):  # a file system without permissions
            temporary.chmod(_mode_for(target) if mode is None else mode)
        if saved_ns is not None:
            with contextlib.suppress(OSError):
                os.utime(temporary, ns=(saved_ns, saved_ns))
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(target: Path, data: bytes, mode: int | None = None) -> None:
    """Create or replace a file, atomically and durably; ``mode`` as in `temporary_path_for`."""
    with temporary_path_for(target, data, mode) as temporary:
        replace(temporary, target)


def replace(temporary: Path, target: Path) -> None:
    """Replace the target by the temporary file, atomically and durably."""
    _with_retries(lambda: temporary.replace(target))
    sync_folder(target.parent)


def _with_retries(call: Callable[[], object]) -> None:
    for attempt in range(_SHARING_RETRIES):
        try:
            call()
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
        return _replace_linked(temporary, target, before, after)
    displaced = temporary.read_bytes()
    if displaced == before:
        sync_folder(target.parent)
        return True
    content_placed = after
    while True:
        if not atomic_swap(temporary, target):
            if target.exists():  # a deleted file stays deleted
                replace(temporary, target)
            return False
        displaced_next = temporary.read_bytes()
        if displaced_next == content_placed:
            return False
        content_placed, displaced = (
            displaced,
            displaced_next,
        )  # saved again meanwhile: restore the newest


def _replace_linked(temporary: Path, target: Path, before: bytes, after: bytes) -> bool:
    """As `replace_unchanged` where two files cannot swap names.

    A second link to the target keeps what is displaced, if the file system has links. Under that
    new name it is read as it is on disk, while a network drive may show for seconds what the target
    was before another computer saved it. Lost is only a save by renaming between link and rename.
    """
    kept = _temporary_name(target)
    if os.name != "nt":
        try:
            os.link(target, kept)
        except FileNotFoundError:
            return False  # a deleted file stays deleted
        except OSError:
            pass  # links are not supported, or not allowed
    is_kept = kept.exists()
    try:
        _with_retries(lambda: temporary.replace(target))
    except OSError:
        with contextlib.suppress(OSError):
            if kept.samefile(target):  # else the file was replaced, and only this link is left
                kept.unlink()
        raise
    is_unchanged = not is_kept or kept.read_bytes() == before
    if not is_unchanged and target.read_bytes() == after:
        _with_retries(lambda: kept.replace(target))
    kept.unlink(missing_ok=True)
    sync_folder(target.parent)
    return is_unchanged


def delete_unchanged(target: Path, before: bytes) -> bool:
    """Delete the target, if it still has `before`.

    Otherwise returns False, and the target stays as another program saved it. As that can happen
    between a check and a deletion, the file is first moved to a temporary name, and its content is
    checked there: a later save creates a new file. If that has happened when other content is moved
    back, both files stay.

    Raises:
        FileNotFoundError: there is no such file.
    """
    temporary = _temporary_name(target)
    move(target, temporary)
    try:
        is_unchanged = temporary.read_bytes() == before
        if is_unchanged:
            _with_retries(temporary.unlink)
            sync_folder(target.parent)
    finally:
        if temporary.exists():
            with contextlib.suppress(FileExistsError):
                move(temporary, target)
    return is_unchanged


def _temporary_name(target: Path) -> Path:
    return target.with_name(f"{TEMPORARY_PREFIX}{uuid4().hex}{TEMPORARY_SUFFIX}")


def publish(temporary: Path, target: Path) -> None:
    """Rename the temporary file to its final name, if no other file has it.

    Raises:
        FileExistsError: the name is taken, perhaps by another process just now.
    """
    if os.name != "nt":
        with _ignoring(_NO_HARD_LINKS):
            os.link(temporary, target)
            sync_folder(target.parent)
            return
    move(temporary, target)


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

    _with_retries(rename)
    for folder in {source.parent, target.parent}:
        sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Make renames in this folder survive a power failure, where the system supports it."""
    if os.name == "nt":
        return
    with _ignoring(_NO_FOLDER_SYNC):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def _ignoring(numbers: set[int]) -> Iterator[None]:
    """Ignore these errors of the system."""
    try:
        yield
    except OSError as error:
        if error.errno not in numbers:
            raise


def _mode_for(target: Path) -> int:
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0o077)
        os.umask(mask)
        return 0o666 & ~mask
