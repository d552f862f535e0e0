"""The lock under which one file of a vault is written at a time; a change holds it file by file."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from memvault.model.errors import StorageError
from memvault.vault.write import storage_errors

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
