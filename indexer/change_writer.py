"""Indexes changes of notes: vectors, graph and preferences follow the vault.

The order of every change lets the next scan repair a crash at any step:

1. Names are registered. Notes whose edges depend on changed names are queued for relinking.
2. In batches: chunks and graph are written, and last the notes' records, in one transaction with
   their texts and preferences and with marks until the chunks are flushed. From then on the
   notes are found.
3. The chunks are flushed, and the queued notes are relinked.

A change of a few notes is indexed at once. A change of many, such as a first scan, is indexed in
batches, and other changes are indexed between them: the newest reading of each note is written.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor

from indexer.batches import BATCHES_AHEAD, BatchWriter, EmbeddingAhead
from indexer.catalogue import Catalogue
from indexer.change_set import ChangeSet, ChangeSetReader
from indexer.due_notes import DueNotes
from indexer.graph_writer import GraphWriter
from indexer.name_registry import NameRegistry
from indexer.progress import Progress, Report, ScanReport
from indexer.stale_edges import StaleEdges
from memvault.model.graph import NotesIndexed
from memvault.model.priority import AwaitedLock
from memvault.stores.open import Stores
from memvault.text.encoders.embedding import Embedder

FEW = 64  # notes for which a tool may wait
FEW_LINKED = 4  # notes that are relinked while a tool waits, if the rest can be left for later
FLUSH_AFTER = 2_000  # notes; a flush holds the interpreter for up to 0.2 s on a busy disk
BatchListener = Callable[[int, float], object]  # takes how many notes, and the seconds they took


class ChangeWriter:
    """Indexes changes of one vault's notes. Thread-safe.

    Attributes:
        on_batch: called after each batch.
        progress: how far a change is indexed; None while only small ones are.

    Args:
        lock: held while names and stores change, and while ``due`` does.
        notify: called with written and removed notes.
    """

    def __init__(
        self,
        stores: Stores,
        catalogue: Catalogue,
        embedder: Embedder,
        lock: AwaitedLock,
        due: DueNotes,
        *,
        reader: ChangeSetReader,
        names: NameRegistry,
        graphs: GraphWriter,
        stale_edges: StaleEdges,
        notify: Callable[[NotesIndexed], None],
    ) -> None:
        self.on_batch: list[BatchListener] = []
        self.progress: Progress | None = None
        self._stores = stores
        self._catalogue = catalogue
        self._embedder = embedder
        self._lock = lock
        self._due = due
        self._reader = reader
        self._names = names
        self._stale_edges = stale_edges
        self._notify = notify
        self._batches = BatchWriter(stores, catalogue, graphs, embedder, lock)

    def apply(
        self,
        paths: Collection[str],
        deleted: Collection[str],
        report: Report,
        *,
        forced: Collection[str] = (),
        relink: Collection[str] = (),
        finish_later: bool = False,
    ) -> ScanReport:
        """Index these notes as they are on disk now, and remove the deleted ones.

        Args:
            forced: notes to index even if they are unchanged.
            relink: further notes whose edges are written again.
            finish_later: leave three steps for later: relinking many other notes, finding notes
                whose text has a changed name, and flushing.
        """
        result = ScanReport()
        changes = ChangeSet(deleted=set(deleted), stats=dict.fromkeys(deleted))
        with self._due.taken_over(changes, {*paths, *deleted}) as taken:
            with ThreadPoolExecutor(BATCHES_AHEAD, "memvault-embed") as executor:
                ahead = EmbeddingAhead(self._embedder, executor)
                forced_paths = {*forced, *taken}
                self._reader.read(
                    paths, changes, report, result, forced=forced_paths, on_reading=ahead.add
                )
                with self._lock:
                    changes.drop({*paths, *deleted} - self._due.paths_of(changes))
                    changes.drop(set(filter(self._reader.exists, deleted)))  # written meanwhile
                    self._reader.recognise_renames(changes)
                    self._reader.settle_ids(changes)
                    fresh = set(changes.memories) | changes.deleted
                    self._due.assign(fresh, changes)
                    self._catalogue.commit(changes.resaved)
                    affected, stale = self._reader.register_names(changes)
                    version = self._names.version
                    to_relink = self._stale_edges.queue(affected, relink, fresh)
                    self._notify(self._batches.remove(changes.deleted, stale))
                self._write(changes, executor, ahead, report, result)
            result.removed = len(changes.deleted)
            if finish_later:
                relinks_many = len(to_relink) > FEW_LINKED
                result.unfinished = bool(result.indexed or affected.names.phrases or relinks_many)
                if not relinks_many:
                    with self._lock:
                        self._stale_edges.rewrite_edges(to_relink)
                    result.relinked = len(to_relink)
            elif self._due.release(changes):
                result.relinked = self._finish(fresh, version)
        return result

    def _write(
        self,
        changes: ChangeSet,
        executor: ThreadPoolExecutor,
        ahead: EmbeddingAhead,
        report: Report,
        result: ScanReport,
    ) -> None:
        """Write the notes that are still due to this change, batch by batch."""
        total = len(changes.memories)
        shows_progress = total > FEW and self.progress is None
        try:
            began = time.perf_counter()
            if shows_progress:
                self.progress = changes.progress(0)
            for batch in self._batches.prepared(changes, executor, ahead):
                with self._lock.after_others():
                    written = self._batches.write(batch, self._due.paths_of(changes))
                    self._notify(written)
                    if self._catalogue.waiting_for_flush >= FLUSH_AFTER:
                        self.flush()
                result.indexed += len(written.paths)
                if shows_progress:
                    self.progress = changes.progress(result.indexed)
                began, before = time.perf_counter(), began
                for listener in self.on_batch:
                    listener(len(written.paths), began - before)
                report(changes.progress(result.indexed))
        finally:
            if shows_progress:
                self.progress = None

    def _finish(self, fresh: Collection[str], version: int) -> int:
        """Flush, and relink all queued notes; returns their number.

        Args:
            fresh: notes that were just written with the names of ``version``.
        """
        relinked, goes_on = 0, True
        self.flush()
        while goes_on:
            with self._lock.after_others():
                is_latest = version == self._names.version
                count, goes_on = self._stale_edges.step(fresh if is_latest else ())
            relinked += count
        return relinked

    def flush(self) -> None:
        """Flush indexed chunks to disk, so that a power cut loses none."""
        with self._lock:
            unflushed = self._catalogue.unflushed()
            if unflushed:
                self._stores.vectors.flush()
                self._catalogue.mark_flushed(unflushed)
