"""The composition root: everything an engine answers with, opened once for one vault."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memvault.stores.open import Stores, open_stores

from indexer.catalogue import Catalogue
from indexer.doctor import Finding, examine
from indexer.entity_pass import EntityPass
from indexer.found import FoundEntities
from indexer.generation import live_folder, make_live, new_folder, remove_stale
from indexer.indexer import Indexer
from indexer.progress import Progress, Report, ScanReport, silent
from indexer.watch import Watcher
from memvault.config.paths import StateFolder
from memvault.config.settings import Settings
from memvault.model.errors import MemvaultError
from memvault.retrieval.neighbourhood import Neighbourhood
from memvault.retrieval.recall import Recall
from memvault.text.embedding import Embedder, open_embedder
from memvault.vault.files import Vault
from memvault.vault.journal import Journal

logger = logging.getLogger(__name__)
GRACE_SECONDS = 15.0  # questions under way on a replaced generation have this long to end


@dataclass(frozen=True, slots=True)
class Index:
    """One generation of the indexes, and what reads it."""

    folder: Path
    stores: Stores
    indexer: Indexer
    recall: Recall
    neighbourhood: Neighbourhood


class Services:
    """What tools, pages and the command line ask. One instance per engine; thread-safe.

    Raises, when it is made:
        StorageError: an index is damaged and could not be opened.
    """

    def __init__(self, vault: Path, settings: Settings, state: StateFolder) -> None:
        state.create()
        self.settings = settings
        self.state = state
        self.vault = Vault(vault)
        self.journal = Journal(self.vault)
        self.embedder: Embedder = open_embedder(settings.embedding, state.embedding_cache)
        self.found = FoundEntities(state.entity_cache)
        remove_stale(state)
        self._live = self._open_index(live_folder(state))
        self._entity_pass = EntityPass(lambda: self._live.indexer, self.found, settings.index)
        self._watcher: Watcher | None = None
        self._changing = threading.Lock()  # a rebuild and a swap of generations
        self._scanning: Progress | None = None
        self._last_scan: tuple[datetime, ScanReport] | None = None
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
    def neighbourhood(self) -> Neighbourhood:
        return self._live.neighbourhood

    def start(self, *, watch: bool = True, report: Report = silent) -> ScanReport:
        """Watch the vault and index what changed while nobody watched; returns after that scan."""
        if watch:
            self._watcher = Watcher(self._live.indexer, self.settings.index)
            self._watcher.start()
        result = self.scan(report)
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
            fresh = self._open_index(folder)
            try:
                result = fresh.indexer.scan(report)
                self._swap(fresh, result)
            except BaseException:
                fresh.stores.close()
                remove_stale(self.state)
                raise
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

    def close(self) -> None:
        """Stop watching and close everything; the second call does nothing."""
        if self._closed.is_set():
            return
        self._closed.set()
        if self._watcher is not None:
            self._watcher.stop()
        self._entity_pass.stop()
        self._live.stores.close()
        self.embedder.close()
        self.found.close()

    def _open_index(self, folder: Path) -> Index:
        stores = open_stores(self.settings, folder, self.embedder.dimension)
        indexer = Indexer(self.vault, stores, self.embedder, self.found, self.settings.index)
        indexer.on_change.append(self._after_change)
        return Index(
            folder,
            stores,
            indexer,
            Recall(stores.vectors, self.embedder),
            Neighbourhood(stores, self.embedder, indexer.catalogue),
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
        make_live(self.state, fresh.folder)
        self._live = fresh
        fresh.indexer.scan()
        closing = threading.Timer(GRACE_SECONDS, self._close_old, [old])
        closing.daemon = True
        closing.start()

    def _close_old(self, old: Index) -> None:
        try:
            old.stores.close()
        except MemvaultError:
            logger.exception("closing the replaced indexes")
        if not self._closed.is_set():
            remove_stale(self.state)

    def _watching(self) -> str:
        if self._watcher is None:
            return "no"
        return "polling" if self._watcher.polling else "events"


def open_services(vault: Path, settings: Settings, state: StateFolder) -> Services:
    """Open what an engine answers with.

    Damaged embedded indexes are put aside and filled anew from the vault: they are derived.
    """
    return Services(vault, settings, state)
