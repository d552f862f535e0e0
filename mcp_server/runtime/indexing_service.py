"""Keeps the indexes up to date with the vault: the first scan, the watcher and rebuilds."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime

from indexer.doctor import Problem, examine, known_problems
from indexer.entity_cache import EntityCache
from indexer.indexer import Indexer
from indexer.progress import IndexCounters, Progress, Report, ScanReport, report_nothing
from indexer.replica import IndexerStatus
from mcp_server.runtime.entity_pass import EntityPass
from mcp_server.runtime.generations import Generation, OpenGenerations
from mcp_server.runtime.live_watcher import LiveWatcher
from mcp_server.runtime.replication import Replication
from mcp_server.runtime.server_check import ServerCheck
from mcp_server.runtime.worker import Worker, settle
from memvault.config.settings import EMBEDDED, Settings
from memvault.model.errors import DiskFull, StorageError, StoreUnavailable, VaultMissing
from memvault.model.graph import NotesIndexed
from memvault.stores import faults

logger = logging.getLogger(__name__)
RELINK, BEGIN = "relink notes", "index when the disk has room"
SETTLE_SECONDS = 0.1  # before links are written, so that the answer is sent first
PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 5.0, 600.0  # before indexing on a full disk is tried again
FOLLOW_SECONDS = 0.2  # between two reports of a scan that is followed
PATIENCE_SECONDS = 2.0  # wait for a running change, whose missing notes are no error
START_AGAIN = "correct that, then run `memvault stop`; the next command starts indexing again"
TRIES_AGAIN = "memvault tries again by itself, within ten minutes"


class IndexingService:
    """Indexes the vault, or follows the process that does. Thread-safe.

    Args:
        counters: count the notes that all generations have indexed.
        on_first_scan: called after the first scan.
        before_switch: called with the generation that is about to go live.
        after_switch: called when it is live.
    """

    def __init__(
        self,
        settings: Settings,
        generations: OpenGenerations,
        entity_cache: EntityCache,
        counters: IndexCounters,
        worker: Worker,
        *,
        on_first_scan: Callable[[], None],
        before_switch: Callable[[Generation], None],
        after_switch: Callable[[], None],
    ) -> None:
        self._generations = generations
        self._on_first_scan = on_first_scan
        self._before_switch = before_switch
        self._after_switch = after_switch
        self._counters = counters
        self._worker = worker
        self._entity_pass = EntityPass(
            lambda: self._live.indexer, entity_cache, settings.index, worker
        )
        self._watcher = LiveWatcher(
            settings.index,
            lambda: self._live.indexer,
            lambda: not (self._follows or self._winding_down.is_set()),
        )
        self._replication = self._replicated() if settings.keyvalue != EMBEDDED else None
        self._is_first_scan_done = self._has_caught_up = False
        self._filling = threading.Lock()  # held while the first scan fills empty indexes
        self.scanning: Progress | None = None
        self._pause = PAUSE_SECONDS
        self._failure: Problem | None = None  # why the first scan stopped or waits
        self._winding_down = threading.Event()

    @property
    def _live(self) -> Generation:
        return self._generations.live

    @property
    def _follows(self) -> bool:
        return self._replication is not None and self._replication.follows

    def start(self, *, watch: bool = True, report: Report = report_nothing) -> ScanReport:
        """Watch the vault and index earlier changes; returns after that scan.

        If another process indexes into the same stores, follow it instead.
        """
        if self._live.stores.servers:
            ServerCheck(lambda: self._live.indexer, self._restore).start(self._worker)
        if self._replication is None or self._replication.start(may_lead=watch):
            try:
                return self._begin(watch=watch, report=report)
            except Exception as error:
                if not self._winding_down.is_set():
                    reason = getattr(error, "message", "") or "see engine.log in the state folder"
                    self._failure = Problem("error", f"indexing stopped: {reason}", START_AGAIN)
                raise
        self._has_caught_up = True
        self._warm_up()
        return ScanReport()

    def scan(self, report: Report = report_nothing) -> ScanReport:
        """Index all notes that differ from the catalogue."""
        with self._reporting(report) as report_progress:
            return self._live.indexer.scan(report_progress)

    @property
    def last_scan(self) -> tuple[datetime, ScanReport] | None:
        """The time and report of this process's last scan of the whole vault; None before it."""
        return self._live.indexer.last_scan

    @property
    def has_caught_up(self) -> bool:
        """Whether the process that indexes has indexed the changes made while no engine ran.

        Notes that an earlier memvault indexed may still have to be indexed again.

        Models and caches that improve answers may still be loading, except after the first scan of
        empty indexes.
        """
        return self._has_caught_up or self._live.indexer.updating

    def index_written(self, paths: Collection[str]) -> None:
        """Index notes that were just written; later, if a store is unreachable or full now."""
        if self._live.stores.outdated:  # the running rebuild indexes new notes
            return
        try:
            if self._replication is not None and self._replication.follows:
                self._replication.wait_for(paths)
            elif self._live.indexer.index(paths, finish_later=True).unfinished:
                self._worker.run(RELINK, self._write_links, after=SETTLE_SECONDS)
        except StorageError as error:
            stores = self._live.stores
            if not (isinstance(error, DiskFull) or stores.unreachable() or stores.full()):
                raise
            logger.warning("new notes are indexed when the stores accept writes again")
            self._watcher.ask_for_scan()

    def settle(self, timeout: float = 60.0) -> None:
        """Wait until the current change is indexed and linked, and the entity pass is done."""
        self._live.indexer.wait_until_idle(timeout)
        self._worker.wait(RELINK, timeout)
        self._entity_pass.wait(timeout)

    def rebuild(self, report: Report = report_nothing) -> ScanReport:
        """Fill a new generation from the vault while the live one answers, then make it live.

        If the first scan is filling an empty generation, wait for that instead.
        """
        if self._filling.locked() and (result := self._awaited_first_scan(report)) is not None:
            return result
        if self._replication is not None:
            self._replication.check_leads()
        self._live.indexer.vault.check()
        with self._generations.filling() as fresh:
            if self._winding_down.is_set():
                fresh.indexer.stop()
            result = fresh.indexer.scan(report)
            self._switch_to(fresh)
            return result

    def _awaited_first_scan(self, report: Report) -> ScanReport | None:
        """The result of the first scan when it has ended; None if it failed."""
        while not self._filling.acquire(timeout=FOLLOW_SECONDS):
            if (progress := self.scanning) is not None:
                report(progress)
        self._filling.release()
        last = self.last_scan
        return last[1] if last is not None else None

    def doctor(self, *, fix: bool = False) -> list[Problem]:
        """Problems and how to repair them; with `fix`, repairs those that can be without loss.

        Notes that a running scan has yet to index are no problem.
        """
        problems = examine(self._live.indexer, indexing=self._is_indexing())
        if fix and any(problem.repaired_by_scan for problem in problems):
            self.scan()
            problems = examine(self._live.indexer)
            if any(problem.repaired_by_scan for problem in problems):
                self.rebuild()
                problems = examine(self._live.indexer)
        if self._failure:
            problems.insert(0, self._failure)
        return problems

    def problems(self) -> list[str]:
        """Problems that keep notes from being indexed or changed, one line each."""
        if self.scanning is not None:
            return [f"{path}: {why}" for path, why in self._live.indexer.problems.items()]
        failure = [self._failure.what] if self._failure else []
        return failure + known_problems(self._live.indexer)

    def _is_indexing(self) -> bool:
        if self._follows:
            return False
        return self.last_scan is None or not self._live.indexer.wait_until_idle(PATIENCE_SECONDS)

    def notes_indexed(self, indexer: Indexer, indexed: NotesIndexed) -> None:
        """Notify following processes, and queue the notes for the entity pass."""
        if self._replication is not None:
            self._replication.report(indexer, indexed.paths)
        if self._is_first_scan_done and not self._follows:
            self._entity_pass.add(indexed.paths)
            self._entity_pass.run()

    def status(self) -> IndexerStatus | None:
        """The progress of indexing, here or in the process that indexes; None without one."""
        if self._replication is not None and self._replication.follows:
            return self._replication.elsewhere()
        return self._own_status()

    def watching(self) -> str:
        """The way in which changes are detected: "events", "polling", "elsewhere" or "no"."""
        return "elsewhere" if self._follows else self._watcher.way

    @property
    def is_settled(self) -> bool:
        """Whether this process keeps the indexes, and no scan runs."""
        return self.scanning is None and not self._follows

    def wind_down(self) -> None:
        """Stop scans, rebuilds and the entity pass after the current batch; returns at once.

        The next start indexes the rest.
        """
        self._winding_down.set()
        self._worker.ask_to_stop()
        for generation in self._generations.all():
            generation.indexer.stop()

    def stop(self, timeout: float) -> None:
        """As `wind_down`, but wait for running jobs, at most ``timeout`` seconds."""
        self.wind_down()
        if not self._worker.stop(timeout):
            logger.error("background work did not end in time")
        if self._replication is not None:
            self._replication.stop()
        self._watcher.stop()

    # -- starting and ending --------------------------------------------------------------------

    def _begin(self, *, watch: bool = True, report: Report = report_nothing) -> ScanReport:
        """Start indexing; if the disk has no room for new indexes, try again later.

        Each pause is twice as long as the last, as an attempt may embed many notes in vain.
        """
        try:
            return self._start_indexing(watch=watch, report=report)
        except DiskFull as error:
            servers = self._live.stores.servers  # one of them may be full
            self._live.indexer.lacks_space = not servers
            why = f"indexing waits: {error.message.rstrip('.')}"
            self._failure = Problem("error", why, TRIES_AGAIN) if servers else None
        pause, self._pause = self._pause, min(2 * self._pause, LONGEST_PAUSE_SECONDS)
        self._worker.run(BEGIN, lambda: self._begin_again(watch), after=pause)
        return ScanReport()

    def _begin_again(self, watch: bool) -> None:
        if not self._follows:
            self._begin(watch=watch)

    def _start_indexing(self, *, watch: bool, report: Report) -> ScanReport:
        if self._live.stores.outdated:
            self._embed_again(report)
        # Every question needs the graph, and would wait for it.
        self._worker.run("read the graph", self._live.graph_view.load)
        if watch:
            self._watcher.start()
        is_empty = not len(self._live.catalogue)
        try:
            with self._filling if is_empty else nullcontext():
                result = self.scan(report)
        except StorageError as error:
            result = self._recovered(error, report)
        unread = () if self._is_first_scan_done else sorted(self._live.catalogue.paths())
        # Before warming up, which takes seconds, so that these notes count as waiting.
        self._entity_pass.add(unread)
        self._has_caught_up |= not is_empty
        self._warm_up()
        self._has_caught_up = True
        if not (self._winding_down.is_set() or self._is_first_scan_done):
            self._is_first_scan_done = True
            self._entity_pass.run()
            self._on_first_scan()
        self._failure = None
        return result

    def _embed_again(self, report: Report) -> None:
        """Fill new indexes with vectors of the new embedding model.

        Meanwhile the old indexes answer by keywords and links.
        """
        logger.info("another embedding model: embedding all notes again")
        with self._reporting(report) as report_progress:
            self.rebuild(report_progress)

    @contextmanager
    def _reporting(self, report: Report) -> Iterator[Report]:
        """A report that also sets `scanning` while the block runs."""

        def report_progress(progress: Progress) -> None:
            self.scanning = progress
            report(progress)

        try:
            yield report_progress
        finally:
            self.scanning = None

    def _warm_up(self) -> None:
        self._live.warm_up(self._worker)
        settle()

    def _write_links(self) -> float | None:
        """Write links of other notes and flush to disk, after the answer.

        After a failure, the next scan does this.
        """
        return 0.0 if self._live.indexer.finish_some() else None

    def _replicated(self) -> Replication:
        return Replication(
            lambda: self._live.indexer,
            self._worker,
            switch=self._switch_to_live,
            begin=self._begin,
            end=self._watcher.stop,
            own_status=self._own_status,
        )

    def _own_status(self) -> IndexerStatus:
        return IndexerStatus(
            self._watcher.lag_seconds(),
            self._counters.notes,
            self._counters.seconds,
            self._entity_pass.waiting,
        )

    # -- recovery -------------------------------------------------------------------------------

    def _restore(self) -> None:
        """Restore a server that lost its data, possibly including the generation's name."""
        if not self._follows:
            self._generations.save_live_name()
            self._watcher.ask_for_scan()

    def _recovered(self, error: StorageError, report: Report) -> ScanReport:
        """The result after recovery from a first scan that failed."""
        if faults.is_corrupt(error):
            logger.error("the indexes are damaged: filling new ones from the vault")
            return self.rebuild(report)
        passes = isinstance(error, DiskFull | VaultMissing | StoreUnavailable)
        if self._winding_down.is_set() or not (passes or self._live.stores.unreachable()):
            raise error
        logger.error("%s Indexing starts after that.", error.message)
        self._watcher.ask_for_scan()
        return ScanReport()

    def _switch_to(self, fresh: Generation) -> None:
        """Make the fresh generation live.

        The watcher moves first, so that new changes reach it; a last scan indexes the changes that
        reached the old one.
        """
        with self._watcher.moved_to(fresh.indexer):
            fresh.indexer.scan()
            fresh.warm_up(self._worker)
            settle()
            self._before_switch(fresh)
            self._generations.make_live(fresh)
        self._after_switch()
        fresh.indexer.scan()

    def _switch_to_live(self) -> None:
        """Switch to the generation that another process has made live."""
        fresh = self._generations.opened_elsewhere()
        if fresh is not None:
            self._before_switch(fresh)
            self._generations.replace_by(fresh)
            self._after_switch()
