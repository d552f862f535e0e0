"""The composition root: everything an engine answers with, opened once for one vault."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from indexer.catalogue import Catalogue
from indexer.doctor import Finding, examine
from indexer.entity_pass import EntityPass
from indexer.finishing import Finishing
from indexer.found import open_found
from indexer.generation import FilePointer, Generations
from indexer.heartbeat import Heartbeat
from indexer.indexer import Indexer
from indexer.progress import Progress, Report, ScanReport, silent
from indexer.standing import Standing
from indexer.watch import Watcher
from mcp_server import heap
from mcp_server.curating import Curation
from mcp_server.index import Index, open_index
from mcp_server.indexes import OpenIndexes
from mcp_server.opening import EXPORTING
from mcp_server.sharing import Sharing
from mcp_server.tally import Tally
from mcp_server.threads import share_the_processor
from memvault.cognition.activity import Activity
from memvault.cognition.landscape import Landscape
from memvault.cognition.sessions import Sessions
from memvault.config.identity import user_id
from memvault.config.paths import StateFolder
from memvault.config.settings import Settings
from memvault.curation.curator import Curator
from memvault.curation.forget import Forgetter
from memvault.curation.forgotten import Forgotten
from memvault.curation.tasks.left import LeftTasks
from memvault.model.errors import (
    DiskFull,
    GraphQueryError,
    MemvaultError,
    StorageError,
    StoreUnavailable,
)
from memvault.model.tombstone import Tombstone
from memvault.reasoning.bayes.reasoner import Reasoner
from memvault.reasoning.edges import EdgeIndex
from memvault.reasoning.verification.critique import Critic
from memvault.reasoning.verified_recall import VerifiedRecall
from memvault.retrieval.degraded import AnswerCache, SteadyRecall
from memvault.retrieval.multihop import MultiHop
from memvault.retrieval.recall import Recall
from memvault.stores import faults
from memvault.stores.open import (
    EMBEDDED,
    Stores,
    drop_from_servers,
    shared_pointer,
    without_password,
)
from memvault.text.embedding import Embedder, needs_export, open_embedder
from memvault.vault.files import Vault
from memvault.vault.journal import Journal

logger = logging.getLogger(__name__)
Counted = TypeVar("Counted")
BATCH_SECONDS = 3.0  # that a batch in hand has to end when everything closes
LAST_WORDS_SECONDS = 10.0  # after that, for what cannot be interrupted


class Services:
    """What tools, pages and the command line ask. One instance per engine; thread-safe.

    Raises, when it is made:
        ModelUnavailable: the embedding model is not installed or cannot be exported.
        StoreUnavailable: another process has the indexes open.
        DiskFull: there is no room to open them.
    """

    def __init__(
        self,
        vault: Path,
        settings: Settings,
        state: StateFolder,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        share_the_processor()
        state.create()
        self.settings = settings
        self.state = state
        self.vault = Vault(vault)
        self.journal = Journal(self.vault)
        self.forgetter = Forgetter(
            self.vault, self.journal, Forgotten.read(self.journal), deleted=self._deleted
        )
        self.forgetter.mend()
        self.curator = Curator(self.vault, self.journal, self.forgetter.forgotten)
        self.curator.mend()
        self.answers = AnswerCache()  # outlives a generation
        self.indexed = Tally()
        self.sessions = Sessions(user_id(settings), timedelta(hours=settings.sessions.expiry_hours))
        with ExitStack() as opened:
            tell(EXPORTING if needs_export(settings.embedding) else "loading the model")
            self.embedder: Embedder = open_embedder(settings.embedding, state.embedding_cache)
            opened.callback(self.embedder.close)
            tell("opening the indexes")
            self.found = open_found(state.entity_cache)
            opened.callback(self.found.close)
            generations = Generations(
                state,
                shared_pointer(settings, state.root.name) or FilePointer(state.indexes),
                lambda folder: drop_from_servers(settings, folder),
            )
            self._indexes = OpenIndexes(generations, self._open_index)
            opened.callback(self._live.stores.close)
            self.activity = Activity(self._live.stores.keyvalue, self.journal)
            opened.pop_all()
        self._entity_pass = EntityPass(lambda: self._live.indexer, self.found, settings.index)
        self._finishing = Finishing(lambda: self._live.indexer)
        self.curation = Curation(lambda: self._live, self.forgetter, LeftTasks(self.journal))
        self._watcher: Watcher | None = None
        self._heartbeat = Heartbeat(lambda: self._live.indexer, self._restore)
        self._sharing = self._shared() if settings.keyvalue != EMBEDDED else None
        self._began_indexing = False
        self._scanning: Progress | None = None
        self._last_scan: tuple[datetime, ScanReport] | None = None
        self._winding_down = threading.Event()
        self._closed = threading.Event()

    @property
    def _live(self) -> Index:
        return self._indexes.live

    @property
    def stores(self) -> Stores:
        return self._live.stores

    @property
    def indexer(self) -> Indexer:
        return self._live.indexer

    @property
    def catalogue(self) -> Catalogue:
        return self._live.indexer.catalogue

    @property
    def recall(self) -> Recall:
        return self._live.recall

    @property
    def multihop(self) -> MultiHop:
        return self._live.multihop

    @property
    def critic(self) -> Critic:
        return self._live.critic

    @property
    def verified_recall(self) -> VerifiedRecall:
        return self._live.verified_recall

    @property
    def reasoner(self) -> Reasoner:
        return self._live.reasoner

    @property
    def steady(self) -> SteadyRecall:
        return self._live.steady

    @property
    def edges(self) -> EdgeIndex:
        return self._live.edges

    @property
    def landscape(self) -> Landscape:
        return self._live.landscape

    def start(self, *, watch: bool = True, report: Report = silent) -> ScanReport:
        """Watch the vault and index what changed while nobody watched; returns after that scan.
        Where another process indexes into the same stores, follow it instead."""
        if self._live.stores.servers:
            self._heartbeat.start()
        if self._sharing is None or self._sharing.start(wants_duty=watch):
            return self._begin_indexing(watch=watch, report=report)
        self._warm_up()
        return ScanReport()

    def _begin_indexing(self, *, watch: bool = True, report: Report = silent) -> ScanReport:
        if watch:
            self._watcher = Watcher(self._live.indexer, self.settings.index)
            self._watcher.start()
        try:
            result = self.scan(report)
        except StorageError as error:
            result = self._mended(error, report)
        self._warm_up()
        if not self._closed.is_set() and not self._began_indexing:
            self._began_indexing = True
            self._entity_pass.start()
            self.curation.start()
        return result

    def _end_indexing(self) -> None:
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.stop()

    def _warm_up(self) -> None:
        self._live.indexer.warm_up()
        self._live.warm_up()
        heap.settle()

    def _shared(self) -> Sharing:
        return Sharing(
            lambda: self._live.indexer,
            move=self._move,
            begin=self._begin_indexing,
            end=self._end_indexing,
            own=self._own_standing,
        )

    def _restore(self) -> None:
        """A server came back without what it had: the name of the generation may be among it."""
        if self._sharing is None or not self._sharing.follows:
            self._indexes.name_live()
            self._scan_soon()

    def _mended(self, error: StorageError, report: Report) -> ScanReport:
        """What to do when the first scan could not be done."""
        if faults.is_damage(error):
            logger.error("the indexes are damaged: filling new ones from the vault")
            return self.rebuild(report)
        passing = isinstance(error, DiskFull) or self._live.stores.silent()
        if self._winding_down.is_set() or not passing:
            raise error
        logger.error("%s Indexing begins when that is over.", error.message)
        self._scan_soon()
        return ScanReport()

    def _scan_soon(self) -> None:
        if self._watcher is not None:
            self._watcher.ask_for_scan()

    def index_written(self, paths: Collection[str]) -> None:
        """Index notes that were just written; later, if a server does not answer now."""
        try:
            if self._sharing is not None and self._sharing.follows:
                self._sharing.wait_for(paths)
            elif self._live.indexer.index(paths, finish_later=True).unfinished:
                self._finishing.soon()
        except StorageError:
            if not (self._live.stores.silent() or self._live.stores.full()):
                raise
            logger.warning("what was written is indexed when the servers can take it again")
            self._scan_soon()

    def scan(self, report: Report = silent) -> ScanReport:
        """Index what differs from the catalogue."""

        def tell(progress: Progress) -> None:
            self._scanning = progress
            report(progress)

        try:
            result = self._live.indexer.scan(tell)
        finally:
            self._scanning = None
        self._last_scan = (datetime.now(UTC), result)
        return result

    def settle(self, timeout: float = 60.0) -> None:
        """Wait for the change in hand, and until nothing is left to be linked, nor for the entity
        pass to do."""
        self._live.indexer.wait_until_idle(timeout)
        self._finishing.wait(timeout)
        self._entity_pass.wait(timeout)

    def rebuild(self, report: Report = silent) -> ScanReport:
        """Fill a new generation from the vault while the live one answers, then swap it in."""
        if self._sharing is not None:
            self._sharing.check()
        with self._indexes.filling() as fresh:
            if self._winding_down.is_set():
                fresh.indexer.stop()
            result = fresh.indexer.scan(report)
            self._swap(fresh)
            self._last_scan = (datetime.now(UTC), result)
            return result

    def standing(self) -> Standing | None:
        """How far indexing is, here or where it is done; None if no process seems to do it."""
        if self._sharing is not None and self._sharing.follows:
            return self._sharing.elsewhere()
        return self._own_standing()

    def _own_standing(self) -> Standing:
        watcher, indexed = self._watcher, self.indexed
        return Standing(
            0.0 if watcher is None else watcher.lag_seconds(),
            indexed.notes,
            indexed.seconds,
            self._entity_pass.waiting,
        )

    def status(self) -> dict[str, Any]:
        """What is indexed, by which stores, how fresh."""
        vectors, graph = self.stores.vectors, self.stores.graph
        nodes, edges = _unless_silent(graph.counts) or (None, None)
        scanning, last = self._scanning, self._last_scan
        standing = self.standing()
        return {
            "vault": self.vault.root.name,
            "notes": len(self.catalogue),
            "chunks": _unless_silent(vectors.count),
            "nodes": nodes,
            "edges": edges,
            "stores": {
                "vectors": without_password(self.settings.vectors),
                "graph": without_password(self.settings.graph),
                "keyvalue": without_password(self.settings.keyvalue),
            },
            "not_answering": self.stores.silent(),
            "without_room": self.without_room(),
            "embedding": self.embedder.model_id,
            "watching": self._watching(),
            "indexing": None
            if scanning is None
            else {"stage": scanning.stage, "done": scanning.done, "total": scanning.total},
            "entities_waiting": standing.entities_waiting if standing else None,
            "behind_seconds": round(standing.lag_seconds, 1) if standing else None,
            "last_scan": last[0].isoformat() if last else None,
            "problems": list(self.indexer.problems),
        }

    def without_room(self) -> list[str]:
        """What is full: servers by name, and the disk with the state folder."""
        disk = ["the disk with the indexes"] if faults.is_full(self.state.root) else []
        return [*self.stores.full(), *disk]

    def doctor(self, *, fix: bool = False) -> list[Finding]:
        """What is wrong, and how to mend it; with `fix`, mended where that loses nothing."""
        findings = examine(self.indexer)
        if fix and any(finding.mended_by_scan for finding in findings):
            self.scan()
            findings = examine(self.indexer)
            if any(finding.mended_by_scan for finding in findings):
                self.rebuild()
                findings = examine(self.indexer)
        return findings

    def wind_down(self) -> None:
        """Make scans, rebuilds and the entity pass end after the batch in hand; returns at once.
        What a scan had not reached is indexed at the next start."""
        self._winding_down.set()
        self._entity_pass.ask_to_stop()
        self._finishing.ask_to_stop()
        self.curation.ask_to_stop()
        for index in self._indexes.all():
            index.indexer.stop()

    def close(self) -> None:
        """End what runs, then close everything; the second call does nothing."""
        if self._closed.is_set():
            return
        self._closed.set()
        self.wind_down()
        # A batch may hold a note of many megabytes: what of it is embedded is cached.
        impatience = threading.Timer(BATCH_SECONDS, self.embedder.interrupt)
        impatience.daemon = True
        impatience.start()
        self._heartbeat.stop(LAST_WORDS_SECONDS)
        if self._sharing is not None:
            self._sharing.stop()
        if self._watcher is not None:
            self._watcher.stop()
        self._entity_pass.stop(LAST_WORDS_SECONDS)
        self._finishing.stop(LAST_WORDS_SECONDS)
        self.curation.stop(LAST_WORDS_SECONDS)
        indexers = [index.indexer for index in self._indexes.all()]
        if all(indexer.wait_until_idle(LAST_WORDS_SECONDS) for indexer in indexers):
            with suppress(MemvaultError):  # the next start indexes it again
                self._live.indexer.flush()
        else:
            logger.error("closing while the indexer still runs")
        impatience.cancel()
        # A rebuild closes what it was filling; it ends with its scan.
        self._indexes.wait_until_filled(LAST_WORDS_SECONDS)
        self.activity.close()
        self._indexes.close(LAST_WORDS_SECONDS)
        self.embedder.close()
        self.found.close()

    def _open_index(self, folder: Path) -> Index:
        index = open_index(
            folder,
            vault=self.vault,
            settings=self.settings,
            embedder=self.embedder,
            found=self.found,
            answers=self.answers,
            forgotten=lambda: self.forgetter.forgotten.hidden,
            joined=lambda: self.curator.joined,
        )
        index.indexer.on_change.append(partial(self._after_change, index.indexer))
        index.indexer.on_batch.append(self.indexed.add)
        return index

    def _deleted(self, tombstone: Tombstone) -> None:
        """What the entity pass found in a note that is gone for good holds its sentences."""
        content = tombstone.content_hash
        others = (m for m in self.catalogue.all() if m.path != tombstone.path)
        if content is not None and all(memory.content_hash != content for memory in others):
            self.found.remove(content)
        self.curator.expunge(tombstone)

    def _after_change(self, indexer: Indexer, paths: Collection[str]) -> None:
        if self._sharing is not None:
            self._sharing.tell(indexer, paths)
        if self._sharing is None or not self._sharing.follows:
            self._entity_pass.add(paths)
        self.curation.changed(paths)

    def _swap(self, fresh: Index) -> None:
        """Make the fresh generation live. The watcher moves over first, so that what is saved
        meanwhile reaches the fresh one; a last scan takes in what the old one was told."""
        watcher = self._watcher
        if watcher is not None:
            watcher.stop()
            self._watcher = Watcher(fresh.indexer, self.settings.index)
            self._watcher.start()
        fresh.indexer.scan()
        fresh.warm_up()
        heap.settle()
        self.activity.move_to(fresh.stores.keyvalue)
        self._indexes.make_live(fresh)
        self.curation.changed(())
        fresh.indexer.scan()

    def _move(self) -> None:
        """Go over to the generation that another process has made live."""
        fresh = self._indexes.opened_elsewhere()
        if fresh is not None:
            self.activity.move_to(fresh.stores.keyvalue)
            self._indexes.replace_by(fresh)
            self.curation.changed(())

    def _watching(self) -> str:
        if self._sharing is not None and self._sharing.follows:
            return "elsewhere"
        if self._watcher is None:
            return "no"
        return "polling" if self._watcher.polling else "events"


def _unless_silent(ask: Callable[[], Counted]) -> Counted | None:
    try:
        return ask()
    except (StoreUnavailable, GraphQueryError):
        return None


def open_services(
    vault: Path,
    settings: Settings,
    state: StateFolder,
    tell: Callable[[str], None] = lambda _: None,
) -> Services:
    """Open what an engine answers with; `tell` hears what takes long.

    Damaged embedded indexes are put aside and filled anew from the vault: they are derived.
    """
    return Services(vault, settings, state, tell)
