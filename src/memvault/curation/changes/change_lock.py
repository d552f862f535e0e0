"""The lock under which one change, of any number of files, is made at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from memvault.model.errors import StorageError
from memvault.vault.files import Vault
from memvault.vault.own_folders import own_folder
from memvault.vault.version_store import FOLDER
from memvault.vault.write import storage_errors

LOCK_SECONDS = 60.0  # that a change waits for another process


class ChangeLock:
    """Lets one thread of one process at a time make a change. A thread may take it again.

    Attributes:
        threads: the lock among the threads of this process only.
    """

    def __init__(self, vault: Vault) -> None:
        self.threads = threading.RLock()
        self._vault = vault
        self._processes = FileLock(
            vault.root / FOLDER.parent / ".lock", timeout=LOCK_SECONDS, poll_interval=0.005
        )

    @contextmanager
    def alone(self, seconds: float = LOCK_SECONDS) -> Iterator[None]:
        """Keep other threads and processes from changing the vault within the block.

        Raises:
            StorageError: another process takes too long, or the vault cannot be written.
        """
        with self.threads:
            with storage_errors(FOLDER.parent.as_posix()):
                own_folder(self._vault, FOLDER.parent)
                try:
                    self._processes.acquire(timeout=seconds)
                except Timeout as error:
                    raise StorageError(
                        "Another memvault process has been changing this vault for "
                        f"{seconds:.0f} s; wait for it or end it, then try again"
                    ) from error
            try:
                yield
            finally:
                self._processes.release()
