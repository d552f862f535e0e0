"""Indexes notes: vectors, graph and preferences follow the vault.

The order of every change lets the next scan repair a crash at any step:

1. Names are registered. Notes whose edges depend on changed names are queued for relinking.
2. In batches: chunks, graph and preferences are written and queued for a flush, and last the notes'
   records are committed. From then on the notes are found.
3. The chunks are flushed, and the queued notes are relinked.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from indexer.catalogue import FORMAT, Catalogue, NoteRecord
from indexer.change_set import ChangeSet, ChangeSetReader, NoteReading, read_note
from indexer.generation import Progress, Report, ScanReport, report_nothing
from indexer.graph_writer import (
    EntityCache,
    GraphWriter,
    SuppressedNodes,
    sentences_between_notes,
)
from indexer.name_registry import AffectedLinks, NameRegistry
from memvault.config.settings import IndexSettings
from memvault.curation.operations.preferences import preference_rows
from memvault.model.errors import StoreUnavailable
from memvault.model.graph import GraphEdge, GraphNode, NoteGraph, NotesIndexed
from memvault.model.memory import Memory, id_of_path
from memvault.model.note import ChunkSize, EmbeddedChunk, ParsedNote, Vector, mean_vector
from memvault.model.priority import AwaitedLock, make_way, making_way
from memvault.search.context.note_text import NAMESPACE as OUTLINES
from memvault.search.context.note_text import note_texts
from memvault.stores.open import Stores
from memvault.text.chunking import chunk_notes
from memvault.text.embedding import Embedder
from memvault.text.entities import NameMatcher
from memvault.vault.files import NoteStat, Vault
from memvault.vault.links import LinkIndex, link_key

logger = logging.getLogger(__name__)
FEW = 64  # notes that a tool may wait for
FEW_LINKED = 4  # notes that are relinked while a tool waits, if the rest can be left for later
LINKED_AT_ONCE = 32  # notes of that rest in one step
BATCH = 128  # notes written and committed together, at most
Listener = Callable[[NotesIndexed], None]
AHEAD = 2  # batches embedded while one is written: one prepares its texts beside the encoder
FLUSH_AFTER = 2_000  # notes; a flush holds the interpreter for up to 0.2 s on a busy disk
OPTIMIZE_AFTER = 500  # notes written in one scan before the vector store is optimised


@dataclass(frozen=True, slots=True)
class ScanDifference:
    """Paths of notes that differ from their records, and of deleted ones; the number on disk."""

    changed: set[str]
    gone: set[str]
    on_disk: int


@dataclass(frozen=True, slots=True)
class _Batch:
    """Notes that are written together, with what is written of each."""

    readings: list[NoteReading]
    notes: list[tuple[ParsedNote, Memory]]
    graphs: tuple[NoteGraph, ...]
    chunks: Sequence[Sequence[EmbeddedChunk]] = ()


class Indexer:
    """Indexes one vault into one set of stores. Thread-safe; one change at a time.

    Args:
        forgotten: returns the ids of forgotten concepts, which the graph omits.
        joined: maps the ids of merged concepts to the nodes that replace them.
    """

    def __init__(
        self,
        vault: Vault,
        stores: Stores,
        embedder: Embedder,
        found: EntityCache,
        settings: IndexSettings,
        *,
        forgotten: Callable[[], frozenset[str]] = frozenset,
        joined: Callable[[], Mapping[str, GraphNode]] = dict,
    ) -> None:
        self.vault = vault
        self.stores = stores
        self.catalogue = Catalogue(stores.keyvalue)
        self.version = 0  # counts changes; caches of computed values compare it
        self.on_change: list[Listener] = []  # called after every write
        self.on_batch: list[
            Callable[[int, float], object]
        ] = []  # called with the number of notes and the seconds they took
        # Called between two steps of what nobody waits for: questions go first.
        self.let_pass: Callable[[], None] = lambda: None
        self.problems: list[str] = []
        self.progress: Progress | None = None  # while more than a few notes are indexed
        self._embedder = embedder
        self._lock = AwaitedLock()
        self._stopped = threading.Event()
        self._reader = ChangeSetReader(vault, self.catalogue, settings.max_note_bytes)
        self.max_note_bytes = settings.max_note_bytes
        self._name_registry = NameRegistry((r.memory, r.names) for r in self.catalogue.records())
        self._graphs = GraphWriter(
            vault,
            stores.graph,
            self.catalogue,
            names=lambda: self._name_registry,
            found=found,
            hidden=SuppressedNodes(stores.keyvalue, forgotten, joined),
            embed=embedder.embed,
            max_note_bytes=settings.max_note_bytes,
            report=self._report,
        )

    def scan(self, report: Report = report_nothing) -> ScanReport:
        """Compare the whole vault with the catalogue and index the difference."""
        with self._lock, making_way(self.let_pass):
            self._forget_lost_indexes()
            differing = self.differing()
            unflushed = self.catalogue.unflushed()
            result = self._apply(
                differing.changed | (unflushed - differing.gone),
                differing.gone,
                self._until_stopped(report),
                anew=unflushed,
                also=self._remove_strays()[1] | self.catalogue.notes_to_relink(),
            )
            self._graphs.forget_what_is_left_out()
            self._graphs.leave_out_forgotten()
            result.unchanged = differing.on_disk - result.indexed
            self.problems = [*self.vault.problems, *result.problems]
            if result.indexed >= OPTIMIZE_AFTER:
                self.stores.vectors.optimize()
            return result

    def index(self, paths: Collection[str], *, finish_later: bool = False) -> ScanReport:
        """Index these notes as they are on disk now; deleted ones are removed.

        Args:
            finish_later: leave three things to `finish_some`: to relink many other notes, to find
                notes whose text has a changed name, and to flush.
        """
        with self._lock:
            present = {p for p in paths if self.vault.is_note(p) and self.vault.stat(p)}
            gone = {p for p in paths if p not in present and self.catalogue.record(p)}
            if gone:
                self.vault.check()  # if the vault is unmounted, nothing was deleted
            few = len(present) <= FEW  # a tool finds what it wrote, even while the engine stops
            report = report_nothing if few else self._until_stopped(report_nothing)
            with making_way(None if few or finish_later else self.let_pass):
                result = self._apply(present, gone, report, finish_later=finish_later)
                self._graphs.leave_out_forgotten()
            return result

    def stop(self) -> None:
        """End scans after the current batch, with StoreUnavailable; the next scan continues. A few
        notes are still indexed."""
        self._stopped.set()

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()

    def wait_until_idle(self, timeout: float) -> bool:
        """Wait for the running change; False after so many seconds."""
        if not self._lock.acquire(timeout=timeout):
            return False
        self._lock.release()
        return True

    @property
    def links(self) -> LinkIndex:
        """Resolves links to notes."""
        return self._name_registry.links

    @property
    def names(self) -> NameMatcher:
        """Finds names of the vault in texts."""
        return self._name_registry.names

    def differing(self) -> ScanDifference:
        """The notes that a scan would index; reads only file names, sizes and times.

        Raises:
            VaultMissing: the vault's folder does not exist.
        """
        on_disk, changed = set[str](), set[str]()
        for stat in self.vault.walk():
            make_way()
            on_disk.add(stat.path)
            if self._differs(stat):
                changed.add(stat.path)
        gone = {
            path for path in self.catalogue.paths() - on_disk if not self._may_be_unreadable(path)
        }
        return ScanDifference(changed, gone, len(on_disk))

    def follow(self, paths: Collection[str] | None) -> None:
        """Update names and listeners after another process indexed these notes (any, if None).

        Raises:
            StoreUnavailable: a store does not answer; follow the same paths again.
        """
        with self._lock:
            known = {m.id for m in self.catalogue.all()}
            changed = self.catalogue.reload(paths)
            for path in changed:
                record = self.catalogue.record(path)
                if record is None:
                    self._name_registry.update(path, None)
                else:
                    self._name_registry.update(path, record.memory, record.names)
            gone = frozenset(key for key in known if self.catalogue.by_id(key) is None)
            self._report(NotesIndexed(frozenset(changed), removed=gone))
            rest = iter(self.catalogue.paths() if paths is None else {*changed, *paths})
            while batch := list(islice(rest, BATCH)):
                self._report(self._as_stored(batch))

    def is_current(self, path: str) -> bool:
        """Whether the note's record agrees with the disk, also if neither exists."""
        stat = self.vault.stat(path) if self.vault.is_note(path) else None
        if stat is None:
            return self.catalogue.record(path) is None
        return not self._differs(stat)

    def as_on_disk(self, path: str) -> Memory | None:
        """The note on disk, perhaps not yet indexed, with the id that it probably gets."""
        reading = read_note(self.vault, path, self.max_note_bytes)
        return None if reading is None else reading.memory(reading.claimed_id or id_of_path(path))

    def link_again(self, paths: Collection[str]) -> None:
        """Write the edges of unchanged notes again, after more of their names became known."""
        with self._lock, making_way(self.let_pass):
            self._graphs.write_again(paths)

    def finish_some(self) -> bool:
        """Do one step of what `index` left for later; False when nothing is left."""
        with self._lock, making_way(self.let_pass):
            self.flush()
            names = self.catalogue.queued_names()
            if names:
                self.catalogue.queue_relinking(self._with_phrase(names))
                self.catalogue.mark_names_resolved(names)
                return True
            waiting = sorted(self.catalogue.notes_to_relink())
            some = waiting[:LINKED_AT_ONCE]
            self._graphs.write_again(some)
            self.catalogue.mark_relinked(some)
            return len(waiting) > len(some)

    def flush(self) -> None:
        """Flush indexed chunks to disk, so that a power cut loses none."""
        with self._lock:
            unflushed = self.catalogue.unflushed()
            if unflushed:
                self.stores.vectors.flush()
                self.catalogue.mark_flushed(unflushed)

    # -- finding differences ------------------------------------------------------------------

    def _differs(self, stat: NoteStat) -> bool:
        record = self.catalogue.record(stat.path)
        now = (stat.size, stat.mtime_ns, FORMAT)
        if record is None or (record.size, record.mtime_ns, record.format) != now:
            return True
        stamp = record.memory.provenance.stamp
        return self.vault.stamp(stat.path, record.claimed_id or "") != stamp

    def _may_be_unreadable(self, path: str) -> bool:
        """Whether the note is in a folder that the last walk could not read."""
        unreadable = self.vault.unreadable
        above = ["", *("/".join(path.split("/")[:end]) for end in range(1, path.count("/") + 1))]
        return bool(unreadable) and any(folder in unreadable for folder in above)

    def _forget_lost_indexes(self) -> None:
        """Drop all records if an index lost its data, so that every note is indexed again."""
        if not len(self.catalogue):
            return
        if self.has_lost_an_index():
            logger.warning("An index has lost its data; indexing all notes again.")
            known = frozenset(memory.id for memory in self.catalogue.all())
            paths = frozenset(self.catalogue.paths())
            self.catalogue.commit([], paths)
            self._name_registry = NameRegistry(())
            self._report(NotesIndexed(paths, removed=known))

    def has_lost_an_index(self) -> bool:
        """Whether a store is empty although notes were indexed (a server lost its data)."""
        return bool(len(self.catalogue)) and (
            self.stores.vectors.count() == 0
            or self.stores.graph.counts()[0] == 0
            or self.catalogue.is_lost()
        )

    def remove_orphans(self) -> int:
        """Remove nodes and chunks without a record; how many notes these were of. Removes nothing
        while notes are being indexed.

        Raises:
            StoreUnavailable, GraphQueryError: a store does not answer.
        """
        if not self._lock.acquire(timeout=0.0):
            return 0
        try:
            removed, linking = self._remove_strays()
            self.link_again(linking)
            return len(removed)
        finally:
            self._lock.release()

    def _remove_strays(self) -> tuple[set[str], set[str]]:
        """Remove nodes and chunks without a record; returns their ids, and the paths of notes
        linking to them."""
        known = {memory.id for memory in self.catalogue.all()}
        nodes = {n.id for n in self.stores.graph.all_nodes() if n.path and n.id not in known}
        linking: set[str] = set()
        if nodes:
            sources = {edge.source for edge in self.stores.graph.neighbours(nodes)} - nodes
            linking = {m.path for m in map(self.catalogue.by_id, sources) if m is not None}
            self.stores.graph.remove(nodes)
        chunks = set(self.stores.vectors.note_ids()) - known
        if chunks:
            self.stores.vectors.remove(chunks)
        self._report(NotesIndexed(frozenset(linking), removed=frozenset(nodes | chunks)))
        return nodes | chunks, linking

    def _depending_on(self, affected: AffectedLinks) -> set[str]:
        """Paths of the notes whose edges change, except those that `_with_phrase` finds."""
        if not len(self.catalogue):
            return set()
        names = affected.names
        paths = self.catalogue.linking(affected.link_keys) | self.catalogue.naming(names.keys)
        for project in affected.projects:
            paths |= self.catalogue.in_project(project)
        if names.entities:
            edges = self.stores.graph.neighbours(names.entities)
            paths |= self._paths({edge.source for edge in edges})
        return paths

    def _with_phrase(self, phrases: Collection[str]) -> set[str]:
        """Paths of the notes whose text contains one of these phrases."""
        if not phrases or not len(self.catalogue):
            return set()
        return self._paths(self.stores.vectors.containing(phrases))

    def _paths(self, note_ids: Collection[str]) -> set[str]:
        return {m.path for m in map(self.catalogue.by_id, note_ids) if m is not None}

    def _until_stopped(self, report: Report) -> Report:
        def tell(progress: Progress) -> None:
            make_way()
            report(progress)
            if self._stopped.is_set():
                raise StoreUnavailable("The engine is stopping; the next one indexes what is left.")

        return tell

    # -- indexing -----------------------------------------------------------------------------

    def _apply(
        self,
        paths: Collection[str],
        gone: Collection[str],
        report: Report,
        *,
        anew: Collection[str] = (),
        also: Collection[str] = (),
        finish_later: bool = False,
    ) -> ScanReport:
        result = ScanReport()
        pending = self._reader.read(paths, gone, report, result, anew)
        self.catalogue.commit(pending.restamped)
        affected = self._learn_names(pending)
        phrases = affected.names.phrases
        again = self._depending_on(affected) | set(also)
        fresh = set(pending.memories) | pending.gone
        again -= fresh
        if len(self.catalogue):
            self.catalogue.queue_names(phrases)
        self.catalogue.queue_relinking(again)
        self._remove(pending)
        total = len(pending.memories)
        try:
            began = time.perf_counter()
            self.progress = Progress("indexing", 0, total) if total > FEW else None
            for batch in self._prepared(pending):
                self._index_batch(batch, pending)
                result.indexed += len(batch.notes)
                self.progress = self.progress and Progress("indexing", result.indexed, total)
                if self.catalogue.waiting_for_flush >= FLUSH_AFTER:
                    self.flush()
                began, before = time.perf_counter(), began
                for listener in self.on_batch:
                    listener(len(batch.notes), began - before)
                report(Progress("indexing", result.indexed, total))
            if not finish_later:
                self.flush()
        finally:
            self.progress = None
        result.removed = len(pending.gone)
        many = len(again) > FEW_LINKED
        result.unfinished = finish_later and bool(result.indexed or phrases or many)
        if finish_later and many:
            return result
        names = set() if finish_later else self.catalogue.queued_names()
        again |= self._with_phrase(names) - fresh
        self._graphs.write_again(again)
        self.catalogue.mark_relinked(again)
        self.catalogue.mark_names_resolved(names)
        result.relinked = len(again)
        return result

    def _report(self, indexed: NotesIndexed) -> None:
        """Notify the listeners of written and removed notes."""
        if indexed:
            self.version += 1
            for listener in self.on_change:
                listener(indexed)

    def _as_stored(self, paths: Collection[str]) -> NotesIndexed:
        """These notes as the stores have them."""
        memories = [m for m in map(self.catalogue.by_path, paths) if m is not None]
        ids = [memory.id for memory in memories]
        edges: dict[str, list[GraphEdge]] = {key: [] for key in ids}
        for edge in self.stores.graph.stated_by(ids) if ids else ():
            edges[edge.source].append(edge)
        ends = {edge.target for stated in edges.values() for edge in stated}
        nodes = self.stores.graph.nodes({*ids, *ends})
        graphs = tuple(
            NoteGraph(
                nodes[key],
                tuple(stated),
                tuple(nodes[end] for end in {e.target for e in stated} if end in nodes),
            )
            for key, stated in edges.items()
            if key in nodes
        )
        read = self.stores.vectors.vectors(ids, ChunkSize.NOTE) if ids else {}
        vectors = {key: mean_vector(read.get(key, ())) for key in ids}
        return NotesIndexed(frozenset(paths), graphs, vectors)

    def _learn_names(self, pending: ChangeSet) -> AffectedLinks:
        affected = AffectedLinks()
        for path in (*pending.gone, *pending.memories):
            old, new = self.catalogue.by_path(path), pending.memories.get(path)
            if old is not None and (new is None or new.id != old.id):
                affected |= self._name_registry.update(path, None)
        for path, memory in pending.memories.items():
            affected |= self._name_registry.update(path, memory, pending.names[path])
        return affected

    def _remove(self, pending: ChangeSet) -> None:
        """Remove deleted notes, and the data under ids that notes no longer have."""
        stale = set()
        for path in (*pending.gone, *pending.memories):
            old, new = self.catalogue.by_path(path), pending.memories.get(path)
            if old is not None and (new is None or new.id != old.id):
                stale.add(old.id)
        stale -= {memory.id for memory in pending.memories.values()}
        if stale:
            self.stores.vectors.remove(stale)
            self.stores.graph.remove(stale)
        delete, _ = preference_rows(self.stores.keyvalue, dict.fromkeys(pending.gone))
        self.catalogue.commit([], pending.gone, delete={**delete, OUTLINES: pending.gone})
        self._report(NotesIndexed(frozenset(pending.gone), removed=frozenset(stale)))

    def _prepared(self, pending: ChangeSet) -> Iterator[_Batch]:
        """The batches, ready to be written; the next ones are embedded meanwhile."""

        def begun(readings: list[NoteReading]) -> tuple[_Batch, Future[list[list[EmbeddedChunk]]]]:
            notes = [(each.note, pending.memories[each.note.path]) for each in readings]
            batch = _Batch(readings, notes, self._graphs.graphs_of(notes))
            also = sentences_between_notes(batch.graphs)
            work = partial(chunk_notes, notes, self._embedder, also=also)
            return batch, ahead.submit(copy_context().run, work)

        waiting: deque[tuple[_Batch, Future[list[list[EmbeddedChunk]]]]] = deque()
        with ThreadPoolExecutor(AHEAD, "memvault-embed") as ahead:
            for readings in pending.batches(BATCH):
                waiting.append(begun(readings))
                if len(waiting) > AHEAD:
                    batch, chunks = waiting.popleft()
                    yield replace(batch, chunks=chunks.result())
            for batch, chunks in waiting:
                yield replace(batch, chunks=chunks.result())

    def _index_batch(self, batch: _Batch, pending: ChangeSet) -> None:
        notes, chunks = batch.notes, batch.chunks
        paths = [note.path for note, _ in notes]
        self.stores.vectors.replace(
            [(memory, list(rows)) for (_, memory), rows in zip(notes, chunks, strict=True)]
        )
        self._graphs.write(batch.graphs)
        texts = note_texts(
            [(each.note, each.data) for each in batch.readings], self._embedder.tokens
        )
        outlines = {path: text.packed() for path, text in texts.items()}
        delete, write = preference_rows(self.stores.keyvalue, {n.path: n for n, _ in notes})
        self.catalogue.commit(
            [self._record(reading, pending) for reading in batch.readings],
            unflushed=True,
            delete=delete,
            write={**write, OUTLINES: outlines},
        )
        vectors = {
            memory.id: _vector_of(rows) for (_, memory), rows in zip(notes, chunks, strict=True)
        }
        self._report(NotesIndexed(frozenset(paths), batch.graphs, vectors))

    def _too_many_links(self, path: str) -> list[str]:
        more = self._graphs.unindexed_edges(path)
        text = f"too many links: {more:,} are not in the graph; split the note"
        return [text] if more else []

    def _record(self, reading: NoteReading, pending: ChangeSet) -> NoteRecord:
        note, path = reading.note, reading.note.path
        targets = {link.target for link in note.links if link.target}
        problem = note.frontmatter_problem
        return NoteRecord(
            memory=pending.memories[path],
            size=reading.stat.size,
            mtime_ns=reading.stat.mtime_ns,
            claimed_id=reading.claimed_id,
            link_keys=tuple(sorted({link_key(target) for target in targets})),
            names=pending.names[path],
            frontmatter_problem=f"line {problem.line}: {problem.message}" if problem else None,
            warnings=(*note.warnings, *self._too_many_links(path)),
        )


def _vector_of(chunks: Sequence[EmbeddedChunk]) -> Vector | None:
    """The vector of a note's whole text."""
    return mean_vector([row.vector for row in chunks if ChunkSize.NOTE in row.chunk.sizes])
