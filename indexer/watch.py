"""Watches the vault and indexes changes: file events are collected until they pause.

If the file system sends no events, or not all (network drives, some containers), files are compared
at intervals instead. If the vault's folder is replaced or its drive was away, it is watched again.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers.api import BaseObserver

from indexer.indexer import Indexer
from indexer.observers import LossCallbacks, event_observer, is_network_drive, polling_observer
from memvault.config.settings import IndexSettings
from memvault.model.errors import StoreUnavailable, VaultMissing
from memvault.vault.files import Vault, vault_missing
from memvault.vault.ignore import IGNORE_FILE, OBSIDIAN_SETTINGS
from memvault.vault.journal import FOLDER as JOURNAL

logger = logging.getLogger(__name__)
LONGEST_WAIT = 1.0  # seconds; a stream of events without a pause is indexed at least this often
RETRY_SECONDS = 5.0  # after a failure, and between two checks whether the vault is back
# Looks for the event of the test file. Not seconds: a busy machine delays the looks, as the event.
PROBES, PROBE_SECONDS = 100, 0.01
# Without events of opened files: a scan opens every note, which would fill the system's event
# queue, and handling the events would take as long as the scan.
CHANGES: list[type[FileSystemEvent]] = [
    FileCreatedEvent, FileModifiedEvent, FileAttribEvent, FileClosedEvent, FileMovedEvent,
    FileDeletedEvent, DirCreatedEvent, DirMovedEvent, DirDeletedEvent,
]  # fmt: skip


class _Gathered(NamedTuple):
    """What the events until a pause concern; falsy for nothing."""

    paths: set[str]
    journal: bool  # it grew, here or by a sync tool
    scan: bool  # the whole vault must be compared

    def __bool__(self) -> bool:
        return bool(self.paths or self.journal or self.scan)


class _Gatherer(FileSystemEventHandler):
    """Collects the paths that events name.

    The event of a folder requests a scan; that of a journal file, a check of the notes it names.
    """

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._condition = threading.Condition()
        self._paths: set[str] = set()
        self._scan = False
        self._journal = False
        self._first = self._last = 0.0
        self.last_began = 0.0  # time of the first event that `next_change` last returned
        self.probes: set[str] = set()

    def on_any_event(self, event: FileSystemEvent) -> None:
        paths = [Path(str(path)) for path in (event.src_path, event.dest_path) if path]
        with self._condition:
            self.probes.update(path.name for path in paths if path.suffix == ".probe")
            if event.is_directory:
                is_relevant = any(map(self._vault.may_hold_notes, paths))
                self._scan = self._scan or is_relevant
            else:
                gathered = [self._gather(path) for path in paths]  # both, so no short-circuit
                is_relevant = any(gathered)
            if is_relevant:
                self._record_time()
            self._condition.notify_all()

    def ask_for_scan(self) -> None:
        with self._condition:
            self._scan = True
            self._record_time()
            self._condition.notify_all()

    def _record_time(self) -> None:
        self._last = time.monotonic()
        self._first = self._first or self._last

    @property
    def waiting_since(self) -> float:
        """Time of the first waiting event; 0 without one."""
        return self._first

    def wake(self) -> None:
        with self._condition:
            self._condition.notify_all()

    def next_change(self, debounce: float, stopped: Callable[[], bool]) -> _Gathered | None:
        """Wait for events and then for a pause between them; None when stopped.

        Returns nothing gathered after `RETRY_SECONDS` without events, so that the caller can check
        whether the vault still exists.
        """
        with self._condition:
            while not stopped():
                if not (self._paths or self._scan or self._journal):
                    if not self._condition.wait(RETRY_SECONDS):
                        return _Gathered(set(), journal=False, scan=False)
                    continue
                now = time.monotonic()
                ready = min(self._last + debounce, self._first + LONGEST_WAIT)
                if now < ready:
                    self._condition.wait(ready - now)
                    continue
                gathered = _Gathered(self._paths, self._journal, self._scan)
                self._paths, self._journal, self._scan = set(), False, False
                self.last_began, self._first = self._first, 0.0
                return gathered
        return None

    def _gather(self, path: Path) -> bool:
        relative = self._vault.relative(path)
        if relative is None:
            return False
        if Path(relative).name == IGNORE_FILE or relative in OBSIDIAN_SETTINGS:
            self._scan = True
            return True
        if Path(relative).parent == JOURNAL and ".jsonl" in Path(relative).name:
            self._journal = True
            return True
        if not self._vault.is_note(relative):
            return False
        self._paths.add(relative)
        return True


class Watcher:
    """Runs an indexer from file events until it is stopped."""

    def __init__(self, indexer: Indexer, settings: IndexSettings) -> None:
        self._indexer = indexer
        self._settings = settings
        self._gatherer = _Gatherer(indexer.vault)
        self._observer: BaseObserver | None = None
        self._stopped = threading.Event()
        # Not a job of the worker: it waits for file events, so it would occupy a thread for good.
        self._thread = threading.Thread(target=self._run, name="memvault-watch", daemon=True)
        self._behind_since = 0.0  # 0 while every change that was read is indexed
        self._is_limited = False  # some folders are not watched
        self._is_unmounted = False  # a drive was, and its folders are not watched any more
        self._watched_folder: tuple[int, int] | None = None  # device and inode
        self.polling = False

    def start(self) -> None:
        """Start watching; a scan after this call misses no change."""
        if self._indexer.vault.is_missing():
            self.polling = self._settings.polling == "always"
            self._thread.start()  # it waits for the vault
            return
        self._observe_vault()
        self._thread.start()

    def ask_for_scan(self) -> None:
        """Have the whole vault compared soon, and again until that succeeds."""
        self._gatherer.ask_for_scan()

    def lag_seconds(self) -> float:
        """Age of the oldest change that is not yet indexed; 0 without one."""
        waiting = (self._behind_since, self._gatherer.waiting_since)
        since = min((moment for moment in waiting if moment), default=0.0)
        return time.monotonic() - since if since else 0.0

    def stop(self) -> None:
        """Stop after the running change."""
        self._stopped.set()
        self._gatherer.wake()
        self._stop_observer()
        if self._thread.is_alive():
            self._thread.join()

    def _observe_vault(self) -> None:
        """Watch the vault in the way that its file system needs."""
        wanted = self._settings.polling
        on_network = wanted == "auto" and is_network_drive(self._indexer.vault.root)
        self._observe(polling=wanted == "always" or on_network)
        if wanted == "auto" and not self._events_arrive():
            logger.warning("The file system sends no events; comparing files at intervals.")
            self._stop_observer()
            self._observe(polling=True)

    def _observe(self, *, polling: bool) -> None:
        self.polling = polling
        self._is_limited = self._is_unmounted = False
        self._watched_folder = _identity(self._indexer.vault.root)
        try:
            observer: BaseObserver = (
                polling_observer(self._settings.polling_seconds)
                if polling
                else event_observer(
                    LossCallbacks(self._gatherer.ask_for_scan, self._unmounted, self._reached_limit)
                )
            )
            root = str(self._indexer.vault.root)
            observer.schedule(self._gatherer, root, recursive=True, event_filter=CHANGES)
            observer.start()
        except OSError as error:  # no more inotify watches, or none at all
            if polling:
                raise
            logger.warning("The vault cannot be watched (%s); comparing files at intervals.", error)
            self._observe(polling=True)
            return
        self._observer = observer

    def _unmounted(self) -> None:
        self._is_unmounted = True
        self._gatherer.ask_for_scan()

    def _reached_limit(self) -> None:
        self._is_limited = True
        self._gatherer.ask_for_scan()

    def _stop_observer(self) -> None:
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
            observer.join()

    def _events_arrive(self) -> bool:
        """Whether the event of a test file in ``.memvault`` arrives."""
        if self.polling or self._settings.polling == "never":
            return True
        folder = self._indexer.vault.root / ".memvault"
        probe = folder / f"{uuid.uuid4().hex}.probe"
        try:
            folder.mkdir(exist_ok=True)
            probe.touch()
        except OSError:
            return True  # a read-only vault: assume that events come
        try:
            for _ in range(PROBES):
                if probe.name in self._gatherer.probes:
                    return True
                time.sleep(PROBE_SECONDS)
            return False
        finally:
            probe.unlink(missing_ok=True)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._take_next()
            except Exception:  # an error must not end watching
                logger.exception("Watching failed; continuing.")
                with suppress(OSError):
                    self._stopped.wait(RETRY_SECONDS)
        self._stop_observer()  # one that was begun while `stop` ended the other

    def _take_next(self) -> None:
        gathered = self._gatherer.next_change(self._settings.debounce_seconds, self._stopped.is_set)
        if gathered is None:
            return
        if self._indexer.vault.is_missing():
            self._wait_for_vault()
            return
        if self._has_lost_vault():
            self._watch_again()
            return
        if not gathered:
            return
        if self._is_limited and self._settings.polling != "never":
            logger.warning("The system watches no more folders; comparing files at intervals.")
            self._stop_observer()
            self._observe(polling=True)
        self._behind_since = self._behind_since or self._gatherer.last_began
        try:
            self._index(gathered)
            self._behind_since = 0.0
        except Exception as error:
            if self._stopped.is_set() or self._indexer.stopped:
                return  # the next start indexes it
            expected = isinstance(error, StoreUnavailable | VaultMissing)
            logger.error("Indexing failed; a scan will try again: %s", error, exc_info=not expected)
            self._stopped.wait(RETRY_SECONDS)
            self._gatherer.ask_for_scan()

    def _index(self, gathered: _Gathered) -> None:
        paths = gathered.paths
        if gathered.scan:
            self._indexer.scan()
            return
        if gathered.journal:  # it may have come after the notes whose authors it names
            paths |= self._indexer.comparison.with_new_provenance()
        if paths:
            self._indexer.index(paths)

    def _wait_for_vault(self) -> None:
        """Wait until the vault's folder exists again, then watch the new folder."""
        logger.error("%s", vault_missing(self._indexer.vault.root).message)
        self._stop_observer()
        while self._indexer.vault.is_missing():
            if self._stopped.wait(RETRY_SECONDS):
                return
        logger.info("The vault folder is back.")
        self._watch_again()

    def _has_lost_vault(self) -> bool:
        """Whether another folder is in the vault's place, or nothing watches it any more."""
        return (
            self._is_unmounted
            or self._observer is None
            or not all(emitter.is_alive() for emitter in self._observer.emitters)
            or self._watched_folder != _identity(self._indexer.vault.root)
        )

    def _watch_again(self) -> None:
        self._stop_observer()
        self._observe_vault()
        self._gatherer.ask_for_scan()


def _identity(folder: Path) -> tuple[int, int] | None:
    """A folder's device and inode; None if it cannot be examined."""
    try:
        stat = folder.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino
