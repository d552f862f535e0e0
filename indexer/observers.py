"""Observers of a folder's files: by the system's events, or by comparing files at intervals."""

from __future__ import annotations

import errno
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from watchdog.events import DirCreatedEvent
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingEmitter
from watchdog.utils.dirsnapshot import DirectorySnapshot

logger = logging.getLogger(__name__)

# watchdog prints its table of watches for every folder that is created and deleted quickly.
warnings.filterwarnings("ignore", message="Callback with id", category=RuntimeWarning)
POLLING_SHARE = 0.2  # of the time, at most; to list all files of a network drive may take seconds
LONGEST_PAUSE = 300.0  # seconds; a list may take hours because the drive does not answer
NETWORK_FILE_SYSTEMS = {
    "9p", "afpfs", "afs", "ceph", "cifs", "davfs", "drvfs", "lustre", "macfuse", "nfs", "nfs4",
    "osxfuse", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs", "webdav",
}  # fmt: skip


class LossCallbacks(NamedTuple):
    """The functions to call when file events were or will be lost.

    Attributes:
        lost: the system dropped events.
        unmounted: a drive was unmounted; the system watches its folders no more.
        limited: the system's limit of watched folders is reached.
    """

    lost: Callable[[], None]
    unmounted: Callable[[], None]
    limited: Callable[[], None]


if sys.platform == "linux":
    from watchdog.observers.inotify import InotifyEmitter, InotifyObserver
    from watchdog.observers.inotify_c import (
        CallbackId,
        InotifyConstants,
        InotifyEvent,
        InotifyFD,
        Mask,
        WatchCallback,
        WatchDescriptor,
    )

    class SystemQueue(InotifyFD):
        """Reports lost events, unmounted drives and unwatched folders; watchdog does not."""

        def __init__(self, callbacks: LossCallbacks) -> None:
            super().__init__()
            self._callbacks = callbacks

        def handle_event(self, event: InotifyEvent) -> None:
            super().handle_event(event)
            if event.is_queue_overflow:
                self._callbacks.lost()
            if event.mask & InotifyConstants.IN_UNMOUNT:
                self._callbacks.unmounted()

        def add_callback(
            self, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId
        ) -> WatchDescriptor:
            try:
                return super().add_callback(path, mask, callback, id_)
            except OSError as error:
                if error.errno == errno.ENOSPC:
                    self._callbacks.limited()
                raise

    class _LinuxObserver(InotifyObserver):
        def __init__(self, callbacks: LossCallbacks) -> None:
            self._inotify_fd = SystemQueue(callbacks)
            self._inotify_fd.start()
            BaseObserver.__init__(self, InotifyEmitter, inotify_fd=self._inotify_fd)


def event_observer(callbacks: LossCallbacks) -> BaseObserver:
    """An observer by the events of this system."""
    return _LinuxObserver(callbacks) if sys.platform == "linux" else Observer()


class _PatientEmitter(PollingEmitter):
    """Waits longer between two comparisons if one takes long, and does not follow links.

    If a folder cannot be listed, this requests a scan, which keeps the notes in it.
    """

    _pause = 0.0  # seconds
    _has_failed = False  # the last time

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options, stat=os.lstat, listdir=os.scandir)
        self._list_files = self._take_snapshot
        self._take_snapshot = self._list_or_scan

    def _list_or_scan(self) -> DirectorySnapshot:
        try:
            snapshot = self._list_files()
        except (FileNotFoundError, NotADirectoryError):  # the vault itself is gone
            raise
        except OSError as error:
            if not self._has_failed:
                logger.warning("Files cannot be compared, so all are scanned: %s", error)
            self._has_failed = True
            self.queue_event(DirCreatedEvent(self.watch.path))
            return self._snapshot
        self._has_failed = False
        return snapshot

    def queue_events(self, timeout: float) -> None:
        pause = max(timeout, self._pause)
        start = time.monotonic()
        super().queue_events(pause)
        spent = time.monotonic() - start - pause
        self._pause = min(spent * (1 / POLLING_SHARE - 1), LONGEST_PAUSE)


def polling_observer(seconds: float) -> BaseObserver:
    """An observer that compares files at intervals of at least so many seconds."""
    return BaseObserver(_PatientEmitter, timeout=seconds)


def is_network_drive(folder: Path) -> bool:
    """Whether files in this folder may be changed without an event on this computer.

    Linux and macOS report only what programs of this computer change through this file system: on
    a network drive not what other computers change, in a virtual machine or WSL not what the host
    changes, and in FUSE file systems not what changes below them. Windows asks the server to
    report changes.
    """
    if sys.platform == "win32":
        return False
    kinds = {Path(each.mountpoint): each.fstype for each in psutil.disk_partitions(all=True)}
    kind = next((kinds[place] for place in (folder, *folder.parents) if place in kinds), "")
    return kind in NETWORK_FILE_SYSTEMS or kind == "fuse" or kind.startswith("fuse.")
