"""Keeps the indexes up to date with the vault: the first scan, the watcher and rebuilds."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime

from indexer.doctor import Finding, examine, known_problems
from indexer.entity_cache import EntityCache
from indexer.entity_pass import EntityPass
from indexer.indexer import Indexer
from indexer.progress import Progress, Report, ScanReport, report_nothing
from indexer.replica import IndexerStatus
from indexer.watch import Watcher
from mcp_server.runtime.generations import Generation, OpenGenerations
from mcp_server.runtime.replication import Replication
from mcp_server.runtime.vault_stats import IndexCounters
from mcp_server.runtime.worker import Worker, collect_recent, settle
from memvault.config.settings import Settings
from memvault.model.errors import DiskFull, MemvaultError, StorageError, VaultMissing
from memvault.model.graph import NotesIndexed
from memvault.stores import faults
from memvault.stores.open import EMBEDDED

logger = logging.getLogger(__name__)
LINKS, ENTITIES, UNLOAD, CHECK = (
    "relink notes",
    "find entities",
    "unload the entity pipeline",
    "check the servers",
)
SETTLE_SECONDS = 0.1  # before links are written, so that the answer is sent first
UNLOAD_SECONDS = 30.0  # without a note to read, after which the pipeline is unloaded
CHECK_SECONDS = 5.0
FOLLOW_SECONDS = 0.2  # between two reports of a scan that is followed
PATIENCE_SECONDS = 2.0  # wait for a running change, whose missing notes are no error
START_AGAIN = "correct that, then run `memvault stop`; the next command starts indexing again"


class IndexingService:
    """Indexes the vault, or follows the process that does. Thread-safe.

    Args:
        counters: count the notes that all generations have indexed.
        began: called after the first scan.
        moving: called with the generation that is about to go live.
        moved: called when it is live.
    """

    def __init__(
        self,
        settings: Settings,
        generations: OpenGenerations,
        entity_cache: EntityCache,
        counters: IndexCounters,
        worker: Worker,
        *,
        began: Callable[[], None],
        moving: Callable[[Generation], None],
        moved: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._generations = generations
        self._began = began
        self._moving = moving
        self._moved = moved
        self._counters = counters
        self._worker = worker
        self._entity_pass = EntityPass(lambda: self._live.indexer, entity_cache, settings.index)
        self._replication = self._replicated() if settings.keyvalue != EMBEDDED else None
        self._lost_reported = False
        self._watcher: Watcher | None = None
        self._has_begun = self._has_caught_up = False
        self._filling = threading.Lock()  # held while the first scan fills empty indexes
        self.scanning: Progress | None = None
        self._failure = ""  # why the first scan stopped; empty if it did not
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
            self._worker.run(CHECK, self._check_servers, after=CHECK_SECONDS)
        if self._replication is None or self._replication.start(may_lead=watch):
            try:
                result = self._begin(watch=watch, report=report)
                self._failure = ""
                return result
            except Exception as error:
                if not self._winding_down.is_set():
                    reason = getattr(error, "message", "") or "see engine.log in the state folder"
                    self._failure = f"indexing stopped: {reason}"
                raise
        self._has_caught_up = True
        self._warm_up()
        return ScanReport()

    def scan(self, report: Report = report_nothing) -> ScanReport:
        """Index all notes that differ from the catalogue."""
        with self._shown(report) as shown:
            return self._live.indexer.scan(shown)

    @property
    def last_scan(self) -> tuple[datetime, ScanReport] | None:
        """The time and report of this process's last scan of the whole vault; None before it."""
        return self._live.indexer.last_scan

    @property
    def has_caught_up(self) -> bool:
        """Whether changes made while no engine ran are indexed, here or in the process that
        indexes.

        Models and caches that improve answers may still be loading, except after the first scan of
        empty indexes.
        """
        return self._has_caught_up

    def index_written(self, paths: Collection[str]) -> None:
        """Index notes that were just written; later, if a store is unreachable or full now."""
        if self._live.stores.outdated:  # the running rebuild indexes new notes
            return
        try:
            if self._replication is not None and self._replication.follows:
                self._replication.wait_for(paths)
            elif self._live.indexer.index(paths, finish_later=True).unfinished:
                self._worker.run(LINKS, self._write_links, after=SETTLE_SECONDS)
        except StorageError as error:
            stores = self._live.stores
            if not (isinstance(error, DiskFull) or stores.unreachable() or stores.full()):
                raise
            logger.warning("new notes are indexed when the stores accept writes again")
            self._scan_soon()

    def settle(self, timeout: float = 60.0) -> None:
        """Wait until the current change is indexed and linked, and the entity pass is done."""
        self._live.indexer.wait_until_idle(timeout)
        self._worker.wait(LINKS, timeout)
        self._worker.wait(ENTITIES, timeout)

    def rebuild(self, report: Report = report_nothing) -> ScanReport:
        """Fill a new generation from the vault while the live one answers, then make it live.

        If the first scan is filling an empty generation, wait for that instead.
        """
        if self._filling.locked() and (filled := self._followed(report)) is not None:
            return filled
        if self._replication is not None:
            self._replication.check()
        self._live.indexer.vault.check()
        with self._generations.filling() as fresh:
            if self._winding_down.is_set():
                fresh.indexer.stop()
            result = fresh.indexer.scan(report)
            self._swap(fresh)
            return result

    def _followed(self, report: Report) -> ScanReport | None:
        """The result of the first scan when it has ended; None if it failed."""
        while not self._filling.acquire(timeout=FOLLOW_SECONDS):
            if (progress := self.scanning) is not None:
                report(progress)
        self._filling.release()
        last = self.last_scan
        return last[1] if last is not None else None

    def doctor(self, *, fix: bool = False) -> list[Finding]:
        """Problems and how to repair them; with `fix`, repairs those that can be without loss.

        Notes that a running scan has yet to index are no problem.
        """
        findings = examine(self._live.indexer, indexing=self._is_indexing())
        if fix and any(finding.repaired_by_scan for finding in findings):
            self.scan()
            findings = examine(self._live.indexer)
            if any(finding.repaired_by_scan for finding in findings):
                self.rebuild()
                findings = examine(self._live.indexer)
        if self._failure:
            findings.insert(0, Finding("error", self._failure, START_AGAIN))
        return findings

    def problems(self) -> list[str]:
        """Problems that keep notes from being indexed or changed, one line each."""
        if self.scanning is not None:
            return [f"{path}: {why}" for path, why in self._live.indexer.problems.items()]
        return [*([self._failure] if self._failure else []), *known_problems(self._live.indexer)]

    def _is_indexing(self) -> bool:
        if self._follows:
            return False
        return self.last_scan is None or not self._live.indexer.wait_until_idle(PATIENCE_SECONDS)

    def take_note(self, indexer: Indexer, indexed: NotesIndexed) -> None:
        """Notify following processes, and queue the notes for the entity pass."""
        if self._replication is not None:
            self._replication.report(indexer, indexed.paths)
        if self._has_begun and not self._follows:
            self._find_entities(indexed.paths)

    def status(self) -> IndexerStatus | None:
        """The progress of indexing, here or in the process that indexes; None without one."""
        if self._replication is not None and self._replication.follows:
            return self._replication.elsewhere()
        return self._own_status()

    def watching(self) -> str:
        """The way in which changes are detected: "events", "polling", "elsewhere" or "no"."""
        if self._follows:
            return "elsewhere"
        if self._watcher is None:
            return "no"
        return "polling" if self._watcher.polling else "events"

    def wind_down(self) -> None:
        """Stop scans, rebuilds and the entity pass after the current batch; returns at once.
        The next start indexes the rest."""
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
        if self._watcher is not None:
            self._watcher.stop()

    # -- here, or elsewhere ---------------------------------------------------------------------

    def _begin(self, *, watch: bool = True, report: Report = report_nothing) -> ScanReport:
        if self._live.stores.outdated:
            self._embed_again(report)
        # Every question needs the graph, and would wait for it.
        self._worker.run("read the graph", self._live.graph_view.load)
        if watch:
            self._watcher = Watcher(self._live.indexer, self._settings.index)
            self._watcher.start()
        is_empty = not len(self._live.catalogue)
        try:
            with self._filling if is_empty else nullcontext():
                result = self.scan(report)
        except StorageError as error:
            result = self._mended(error, report)
        unread = () if self._has_begun else sorted(self._live.indexer.catalogue.paths())
        # Before warming up, which takes seconds, so that these notes count as waiting.
        self._entity_pass.add(unread)
        self._has_caught_up |= not is_empty
        self._warm_up()
        self._has_caught_up = True
        if not (self._winding_down.is_set() or self._has_begun):
            self._has_begun = True
            self._read_waiting_entities()
            self._began()
        return result

    def _embed_again(self, report: Report) -> None:
        """Fill new indexes with vectors of the new embedding model.

        Meanwhile the old indexes answer by keywords and links.
        """
        logger.info("another embedding model: embedding all notes again")
        with self._shown(report) as shown:
            self.rebuild(shown)

    @contextmanager
    def _shown(self, report: Report) -> Iterator[Report]:
        """A report that also sets `scanning` while the block runs."""

        def tell(progress: Progress) -> None:
            self.scanning = progress
            report(progress)

        try:
            yield tell
        finally:
            self.scanning = None

    def _end(self) -> None:
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.stop()

    def _warm_up(self) -> None:
        self._live.warm_up(self._worker)
        settle()

    def _find_entities(self, paths: Collection[str]) -> None:
        self._entity_pass.add(paths)
        self._read_waiting_entities()

    def _read_waiting_entities(self) -> None:
        if self._entity_pass.waiting:
            self._worker.run(ENTITIES, self._read_entities)

    def _read_entities(self) -> float | None:
        again = self._entity_pass.step()
        if again is None:
            self._worker.run(UNLOAD, self._unload_pipeline, after=UNLOAD_SECONDS)
        return again

    def _unload_pipeline(self) -> None:
        self._entity_pass.release()
        collect_recent()

    def _write_links(self) -> float | None:
        """Write links of other notes and flush to disk, after the answer.

        After a failure, the next scan does this.
        """
        return 0.0 if self._live.indexer.finish_some() else None

    def _replicated(self) -> Replication:
        return Replication(
            lambda: self._live.indexer,
            self._worker,
            move=self._move,
            begin=self._begin,
            end=self._end,
            own=self._own_status,
        )

    def _own_status(self) -> IndexerStatus:
        watcher, indexed = self._watcher, self._counters
        return IndexerStatus(
            0.0 if watcher is None else watcher.lag_seconds(),
            indexed.notes,
            indexed.seconds,
            self._entity_pass.waiting,
        )

    # -- when something is amiss ----------------------------------------------------------------

    def _check_servers(self) -> float:
        """Check that the servers answer and still have their data, so that `Stores.unreachable`
        is current even while no client calls."""
        try:
            lost = self._live.indexer.comparison.has_lost_an_index()
        except MemvaultError as error:
            logger.info("%s", error.message)
            return CHECK_SECONDS
        if lost and not self._lost_reported:
            self._restore()
        self._lost_reported = lost
        return CHECK_SECONDS

    def _restore(self) -> None:
        """Restore a server that lost its data, possibly including the generation's name."""
        if not self._follows:
            self._generations.name_live()
            self._scan_soon()

    def _mended(self, error: StorageError, report: Report) -> ScanReport:
        """Recover from a first scan that failed."""
        if faults.is_corrupt(error):
            logger.error("the indexes are damaged: filling new ones from the vault")
            return self.rebuild(report)
        passing = isinstance(error, DiskFull | VaultMissing) or self._live.stores.unreachable()
        if self._winding_down.is_set() or not passing:
            raise error
        logger.error("%s Indexing starts after that.", error.message)
        self._scan_soon()
        return ScanReport()

    def _scan_soon(self) -> None:
        if self._watcher is not None:
            self._watcher.ask_for_scan()

    # -- another generation ---------------------------------------------------------------------

    def _swap(self, fresh: Generation) -> None:
        """Make the fresh generation live.

        The watcher moves first, so that new changes reach the fresh generation; a last scan indexes
        the changes that reached the old one.
        """
        watcher = self._watcher
        if watcher is not None:
            watcher.stop()
            self._watcher = Watcher(fresh.indexer, self._settings.index)
            self._watcher.start()
        fresh.indexer.scan()
        fresh.warm_up(self._worker)
        settle()
        self._moving(fresh)
        self._generations.make_live(fresh)
        self._moved()
        fresh.indexer.scan()

    def _move(self) -> None:
        """Switch to the generation that another process has made live."""
        fresh = self._generations.opened_elsewhere()
        if fresh is not None:
            self._moving(fresh)
            self._generations.replace_by(fresh)
            self._moved()
