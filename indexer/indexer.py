"""Keeps the indexes of one vault up to date: scans, indexes single notes, follows and repairs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime

from indexer.catalogue import Catalogue
from indexer.change_set import ChangeSetReader
from indexer.change_writer import FEW, ChangeWriter
from indexer.comparison import Comparison
from indexer.due_notes import DueNotes
from indexer.entity_cache import EntityCache
from indexer.graph_writer import GraphWriter
from indexer.name_registry import NameRegistry
from indexer.note_reading import read_note
from indexer.progress import Progress, Report, ScanReport, report_nothing
from indexer.repairs import Repairs
from indexer.stale_edges import StaleEdges
from indexer.stored_notes import notes_of_others
from indexer.suppressed_nodes import SuppressedNodes
from memvault.config.settings import IndexSettings
from memvault.model.errors import DiskFull, StorageError, StoreUnavailable
from memvault.model.graph import GraphNode, NotesIndexed
from memvault.model.memory import Memory
from memvault.model.priority import AwaitedLock, make_way, making_way
from memvault.stores.open import Stores
from memvault.text.encoders.embedding import Embedder
from memvault.text.name_matcher import NameMatcher
from memvault.vault.files import Vault
from memvault.vault.links import LinkIndex

QUICK_BYTES = 16_000  # of notes; embedding more takes seconds, too long to hold the lock
Listener = Callable[[NotesIndexed], None]
OPTIMIZE_AFTER = 500  # notes written in one scan before the vector store is optimised


class Indexer:
    """Indexes one vault into one set of stores. Thread-safe.

    Args:
        forgotten: returns the ids of forgotten concepts, which the graph omits.
        merged: maps the ids of merged concepts to the nodes that replace them.
    """

    def __init__(
        self,
        vault: Vault,
        stores: Stores,
        embedder: Embedder,
        entities: EntityCache,
        settings: IndexSettings,
        *,
        forgotten: Callable[[], frozenset[str]] = frozenset,
        merged: Callable[[], Mapping[str, GraphNode]] = dict,
    ) -> None:
        self.vault = vault
        self.stores = stores
        self.catalogue = Catalogue(stores.keyvalue)
        self.comparison = Comparison(vault, self.catalogue, stores)
        self.version = 0  # counts changes; caches of computed values compare it
        self.on_change: list[Listener] = []  # called after every write
        # Called between two steps of background work, so that questions go first.
        self.let_pass: Callable[[], None] = lambda: None
        self.lacks_space = False  # a change is not indexed, because the disk is full
        self.updating = False  # only notes that an earlier memvault indexed are left to index
        self.awaited: set[str] = set()  # paths of notes that another process was to index
        self._unread: dict[str, str] = {}  # by path: why a changed note could not be read
        self.last_scan: tuple[datetime, ScanReport] | None = None
        self.max_note_bytes = settings.max_note_bytes
        self._lock = AwaitedLock()
        self._due = DueNotes(self._lock)
        self._scanning = False
        self._stopped = threading.Event()
        self._names = NameRegistry(self.catalogue.records())
        self._reader = ChangeSetReader(vault, self.catalogue, self._names, settings.max_note_bytes)
        self._graphs = GraphWriter(
            vault,
            stores.graph,
            self.catalogue,
            names=self._names,
            entities=entities,
            suppressed=SuppressedNodes(stores.keyvalue, forgotten, merged),
            embed=embedder.embed,
            max_note_bytes=settings.max_note_bytes,
            notify=self._notify,
        )
        self._stale_edges = StaleEdges(self.catalogue, stores, self._graphs)
        self._repairs = Repairs(self.comparison, self._names, self._stale_edges, self._notify)
        self._writer = ChangeWriter(
            stores,
            self.catalogue,
            embedder,
            self._lock,
            self._due,
            reader=self._reader,
            names=self._names,
            graphs=self._graphs,
            stale_edges=self._stale_edges,
            notify=self._notify,
        )
        self.on_batch = self._writer.on_batch

    def scan(self, report: Report = report_nothing) -> ScanReport:
        """Compare the whole vault with the catalogue and index the difference.

        While another scan runs, only index changes that it does not know.
        """
        with making_way(self.let_pass):
            with self._lock:
                is_first, self._scanning = not self._scanning, True
            try:
                with self._noting_full_disk():
                    result = self._scan(self._until_stopped(report), is_first=is_first)
                self.last_scan = (datetime.now(UTC), result)
                self.lacks_space = False
                return result
            finally:
                if is_first:
                    self._scanning = False

    def _scan(self, report: Report, *, is_first: bool) -> ScanReport:
        with self._lock:
            forced, relink = set[str](), set[str]()
            if is_first:
                self._repairs.forget_lost_indexes()
                repaired = self._repairs.remove_strays()
                forced = self.catalogue.unflushed() | repaired.missing
                forced |= self._repairs.with_wrong_ids()
                relink = repaired.linking | self.catalogue.to_relink.all()
            differing = self.comparison.differing(self._due.paths())
            changed = {
                path
                for path, stat in differing.changed.items()
                if is_first or path not in self._due or self._due.stat(path, stat) != stat
            }
        outdated = differing.outdated.intersection(changed) - forced
        result = self._writer.apply(
            (changed - outdated) | (forced - differing.deleted),
            differing.deleted,
            report,
            forced=forced,
            relink=relink,
        )
        if outdated and is_first:  # meanwhile they are found as the earlier memvault indexed them
            # Questions pass from here on, and their notice counts these notes.
            report(Progress("reading", 0, len(outdated)))
            self.updating = True
            try:
                result.add(self._writer.apply(outdated, (), report))
            finally:
                self.updating = False
        with self._lock:
            self._graphs.recheck_suppressed()
            self._graphs.update_suppressed()
            result.unchanged = differing.on_disk - result.indexed
            self._unread = result.problems
            if result.indexed >= OPTIMIZE_AFTER:
                self.stores.vectors.optimize()
        return result

    def index(self, paths: Collection[str], *, finish_later: bool = False) -> ScanReport:
        """Index these notes as they are on disk now; deleted ones are removed.

        Args:
            finish_later: leave three steps to `finish_some`: relinking many other notes, finding
                notes whose text has a changed name, and flushing.
        """
        is_small = len(paths) <= FEW  # a tool finds what it wrote, even while the engine stops
        with self._lock if is_small and self._are_quick(paths) else nullcontext():
            present = set(filter(self._reader.exists, paths))
            were_there = {p for p in paths if self._names.memory(p) or p in self._due}
            deleted = were_there - present
            if deleted:
                self.vault.check()  # if the vault is unmounted, nothing was deleted
            report = report_nothing if is_small else self._until_stopped(report_nothing)
            is_urgent = is_small or finish_later
            with self._noting_full_disk(), making_way(None if is_urgent else self.let_pass):
                result = self._writer.apply(present, deleted, report, finish_later=finish_later)
                with self._lock:
                    self._graphs.update_suppressed()
                    other_problems = {p: why for p, why in self._unread.items() if p not in paths}
                    self._unread = {**other_problems, **result.problems}
            return result

    def _are_quick(self, paths: Collection[str]) -> bool:
        stats = map(self.vault.stat, paths)
        return sum(stat.size for stat in stats if stat is not None) <= QUICK_BYTES

    @contextmanager
    def _noting_full_disk(self) -> Iterator[None]:
        try:
            yield
        except DiskFull:
            self.lacks_space = not self.stores.full()  # it may be a server that is full
            raise

    @property
    def progress(self) -> Progress | None:
        """How far a change is indexed; None while only small ones are."""
        return self._writer.progress

    @property
    def problems(self) -> dict[str, str]:
        """By path, why a file or folder is not indexed as it is on disk."""
        return {**self.vault.problems, **self._unread}

    def stop(self) -> None:
        """End scans after the current batch, with StoreUnavailable; the next scan continues.

        Changes of a few notes are still indexed.
        """
        self._stopped.set()

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()

    def wait_until_idle(self, timeout: float) -> bool:
        """Wait for the running changes; False after ``timeout`` seconds."""
        return self._due.wait_until_none_runs(timeout)

    @property
    def links(self) -> LinkIndex:
        """Resolves links to notes."""
        return self._names.links

    @property
    def names(self) -> NameMatcher:
        """Finds names of the vault in texts."""
        return self._names.names

    def follow(self, paths: Collection[str] | None) -> None:
        """Update names and listeners after another process indexed these notes (any, if None).

        Raises:
            StoreUnavailable: a store does not answer; follow the same paths again.
        """
        with self._lock:
            for stored in notes_of_others(self.stores, self.catalogue, self._names, paths):
                self._notify(stored)

    def awaits_others(self) -> bool:
        """Whether the process that indexes has yet to index a note that was written here."""
        with suppress(StorageError):  # the journal cannot be read for a moment
            for path in list(self.awaited):
                if not self.comparison.is_current(path):
                    break  # one is enough: without a process that indexes, there may be thousands
                self.awaited.discard(path)
        return bool(self.awaited)

    def as_on_disk(self, path: str) -> Memory | None:
        """The note on disk, which may not be indexed yet, with the id that it probably gets."""
        reading = read_note(self.vault, path, self.max_note_bytes)
        return None if reading is None else reading.memory(reading.claimed_id or reading.own_id)

    def relink(self, paths: Collection[str]) -> None:
        """Write the edges of unchanged notes again, after the pipeline found more names in them."""
        with self._lock, making_way(self.let_pass):
            self._stale_edges.rewrite_edges(paths)

    def finish_some(self) -> bool:
        """Do one step of the work that `index` left for later; False when nothing is left."""
        with self._lock, making_way(self.let_pass):
            if self._due.is_any_running:  # the last of them finishes the work
                return False
            self.flush()
            _, goes_on = self._stale_edges.step()
            return goes_on

    def flush(self) -> None:
        """Flush indexed chunks to disk, so that a power cut loses none."""
        self._writer.flush()

    def remove_orphans(self) -> int:
        """Remove nodes and chunks without a record; returns the number of their notes.

        Removes nothing while notes are being indexed.

        Raises:
            StoreUnavailable, GraphQueryError: a store does not answer.
        """
        if not self._lock.acquire(timeout=0.0):
            return 0
        try:
            if self._due.is_any_running:
                return 0
            repaired = self._repairs.remove_strays()
            self.relink(repaired.linking)
            return len(repaired.removed)
        finally:
            self._lock.release()

    def _until_stopped(self, report: Report) -> Report:
        def report_or_stop(progress: Progress) -> None:
            make_way()
            report(progress)
            if self._stopped.is_set():
                raise StoreUnavailable("The engine is stopping; the next one indexes what is left.")

        return report_or_stop

    def _notify(self, indexed: NotesIndexed) -> None:
        """Notify the listeners of written and removed notes."""
        if indexed:
            self.version += 1
            for listener in self.on_change:
                listener(indexed)
