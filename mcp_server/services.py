"""The composition root: everything an engine answers with, opened once for one vault."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from indexer.catalogue import Catalogue
from indexer.doctor import Finding, examine
from indexer.entity_pass import EntityPass
from indexer.found import FoundEntities
from indexer.generation import live_folder, make_live, new_folder, put_aside, remove_stale
from indexer.indexer import Indexer
from indexer.progress import Progress, Report, ScanReport, silent
from indexer.watch import Watcher
from mcp_server.opening import EXPORTING
from memvault.config.paths import StateFolder
from memvault.config.settings import Settings
from memvault.model.errors import MemvaultError, StorageError
from memvault.retrieval.multihop import MultiHop
from memvault.retrieval.recall import Recall
from memvault.stores import faults
from memvault.stores.open import Stores, open_stores
from memvault.text.embedding import Embedder, needs_export, open_embedder
from memvault.vault.files import Vault
from memvault.vault.journal import Journal

logger = logging.getLogger(__name__)
GRACE_SECONDS = 15.0  # questions under way on a replaced generation have this long to end
BATCH_SECONDS = 3.0  # that a batch in hand has to end when everything closes
LAST_WORDS_SECONDS = 10.0  # after that, for what cannot be interrupted


@dataclass(frozen=True, slots=True)
class Index:
    """One generation of the indexes, and what reads it."""

    folder: Path
    stores: Stores
    indexer: Indexer
    recall: Recall
    multihop: MultiHop


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
        state.create()
        self.settings = settings
        self.state = state
        self.vault = Vault(vault)
        self.journal = Journal(self.vault)
        with ExitStack() as opened:
            tell(EXPORTING if needs_export(settings.embedding) else "loading the model")
            self.embedder: Embedder = open_embedder(settings.embedding, state.embedding_cache)
            opened.callback(self.embedder.close)
            tell("opening the indexes")
            self.found = _open_found(state.entity_cache)
            opened.callback(self.found.close)
            remove_stale(state)
            self._live = self._open_live()
            opened.pop_all()
        self._filling: Index | None = None  # the generation that a rebuild fills
        self._replaced: list[Index] = []  # still to be closed
        self._entity_pass = EntityPass(lambda: self._live.indexer, self.found, settings.index)
        self._watcher: Watcher | None = None
        self._changing = threading.Lock()  # a rebuild and a swap of generations
        self._scanning: Progress | None = None
        self._last_scan: tuple[datetime, ScanReport] | None = None
        self._winding_down = threading.Event()
        self._closed = threading.Event()

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

    def start(self, *, watch: bool = True, report: Report = silent) -> ScanReport:
        """Watch the vault and index what changed while nobody watched; returns after that scan."""
        if watch:
            self._watcher = Watcher(self._live.indexer, self.settings.index)
            self._watcher.start()
        try:
            result = self.scan(report)
        except StorageError as error:
            if not _is_damage(error):
                raise
            logger.error("the indexes are damaged: filling new ones from the vault")
            result = self.rebuild(report)
        self._live.indexer.warm_up()
        self._live.multihop.warm_up()
        if not self._closed.is_set():
            self._entity_pass.start()
        return result

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
        """Wait until the entity pass has nothing left to do."""
        self._entity_pass.wait(timeout)

    def rebuild(self, report: Report = silent) -> ScanReport:
        """Fill a new generation from the vault while the live one answers, then swap it in."""
        with self._changing:
            folder = new_folder(self.state)
            self._filling = fresh = self._open_index(folder)
            if self._winding_down.is_set():
                fresh.indexer.stop()
            try:
                result = fresh.indexer.scan(report)
                self._swap(fresh, result)
            except BaseException:
                if self._live is not fresh:
                    fresh.stores.close()
                    remove_stale(self.state)
                raise
            finally:
                self._filling = None
            self._last_scan = (datetime.now(UTC), result)
            return result

    def status(self) -> dict[str, Any]:
        """What is indexed, by which stores, how fresh."""
        nodes, edges = self.stores.graph.counts()
        scanning, last = self._scanning, self._last_scan
        return {
            "vault": self.vault.root.name,
            "notes": len(self.catalogue),
            "chunks": self.stores.vectors.count(),
            "nodes": nodes,
            "edges": edges,
            "stores": {
                "vectors": self.settings.vectors,
                "graph": self.settings.graph,
                "keyvalue": self.settings.keyvalue,
            },
            "embedding": self.embedder.model_id,
            "watching": self._watching(),
            "indexing": None
            if scanning is None
            else {"stage": scanning.stage, "done": scanning.done, "total": scanning.total},
            "entities_waiting": self._entity_pass.waiting,
            "last_scan": last[0].isoformat() if last else None,
            "problems": list(self.indexer.problems),
        }

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
        for index in self._indexes():
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
        if self._watcher is not None:
            self._watcher.stop()
        self._entity_pass.stop(LAST_WORDS_SECONDS)
        if not all(index.indexer.wait_until_idle(LAST_WORDS_SECONDS) for index in self._indexes()):
            logger.error("closing while the indexer still runs")
        impatience.cancel()
        # A rebuild closes what it was filling; it ends with its scan.
        if self._changing.acquire(timeout=LAST_WORDS_SECONDS):
            self._changing.release()
        for index in self._indexes():
            index.multihop.close(LAST_WORDS_SECONDS)
            try:
                index.stores.close()
            except StorageError:  # a full disk: what was committed is flushed already
                logger.exception("closing the indexes")
        self.embedder.close()
        self.found.close()

    def _indexes(self) -> list[Index]:
        """All that are open."""
        filling = self._filling
        some = [self._live, *self._replaced]
        return some if filling is None or filling in some else [*some, filling]

    def _open_live(self) -> Index:
        """The live generation; in place of a damaged one a new one, still empty."""
        folder = live_folder(self.state)
        try:
            return self._open_index(folder)
        except StorageError as error:
            if not _is_damage(error):
                raise
            logger.error("%s Filling new indexes from the vault.", error.message)
        put_aside(self.state, folder)
        return self._open_index(live_folder(self.state))

    def _open_index(self, folder: Path) -> Index:
        stores = open_stores(self.settings, folder, self.embedder.dimension)
        try:
            indexer = Indexer(self.vault, stores, self.embedder, self.found, self.settings.index)
        except BaseException as error:
            stores.close()
            if isinstance(error, ValidationError):  # a record that is none
                raise faults.integrity_error() from error
            raise
        multihop = MultiHop(stores, self.embedder, indexer)
        indexer.on_change += [self._after_change, multihop.changed]
        return Index(
            folder,
            stores,
            indexer,
            Recall(stores.vectors, self.embedder),
            multihop,
        )

    def _after_change(self, paths: Collection[str]) -> None:
        self._entity_pass.add(paths)

    def _swap(self, fresh: Index, result: ScanReport) -> None:
        """Make the fresh generation live. The watcher moves over first, so that what is saved
        meanwhile reaches the fresh one; a last scan takes in what the old one was told."""
        old, watcher = self._live, self._watcher
        if watcher is not None:
            watcher.stop()
            self._watcher = Watcher(fresh.indexer, self.settings.index)
            self._watcher.start()
        fresh.indexer.scan()
        fresh.multihop.warm_up()
        make_live(self.state, fresh.folder)
        self._replaced.append(old)
        self._live = fresh
        closing = threading.Timer(GRACE_SECONDS, self._close_old, [old])
        closing.daemon = True
        closing.start()
        fresh.indexer.scan()

    def _close_old(self, old: Index) -> None:
        with self._changing:  # or the folder of a rebuild under way would seem stale
            if self._closed.is_set():
                return
            try:
                old.stores.close()
            except MemvaultError:
                logger.exception("closing the replaced indexes")
            self._replaced.remove(old)
            remove_stale(self.state)

    def _watching(self) -> str:
        if self._watcher is None:
            return "no"
        return "polling" if self._watcher.polling else "events"


def _is_damage(error: StorageError) -> bool:
    """Whether files cannot be trusted, rather than be used by another or lack room: its
    subclasses say those."""
    return type(error) is StorageError


def _open_found(file: Path) -> FoundEntities:
    """What the entity pass found; begun anew where the file is damaged."""
    try:
        return FoundEntities(file)
    except StorageError as error:
        if not _is_damage(error):
            raise
        logger.error("the entity cache is damaged: beginning a new one")
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    return FoundEntities(file)


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
