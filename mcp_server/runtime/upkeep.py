"""Upkeep of an engine: in the background, in small steps, while no request runs."""

from __future__ import annotations

import logging
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from mcp_server.runtime.running_requests import Breaks, Interrupted
from memvault.consolidation.upkeep import (
    MIN_VECTORS,
    VECTORS_PER_CHUNK,
    VECTORS_PER_EDGE,
    UpkeepReport,
    is_nearly_full,
    packs_to_drop,
)
from memvault.model.errors import MemvaultError
from memvault.text.encoders.model_files import remove_old_exports
from memvault.vault.version_store import VersionStore

if TYPE_CHECKING:
    from mcp_server.runtime.container import Container

logger = logging.getLogger(__name__)
UPKEEP, EMPTY_TRASH = "upkeep", "empty the old trash"
CHECK_SECONDS = 60.0
INTERVAL = timedelta(hours=24)
INTERVAL_WHEN_FULL = timedelta(hours=1)
MEGABYTE = 1024 * 1024
JOURNAL_DAYS, JOURNAL_DAYS_WHEN_FULL = 60, 7
LOW_DISK = (
    "The disk with the {place} is nearly full ({free:.1f} GB free). Until there is more room, "
    "sessions fade in half the time, and fewer old versions and caches are kept"
)

Step = Callable[[], Iterator[int]]
"""Removes something and yields the number removed, in steps of some milliseconds."""


class Upkeep:
    """Removes old data and optimises the indexes. Thread-safe.

    Attributes:
        last: the report of the last run; None before the first.
        removed: counts of removed items since the engine started, by kind.
    """

    def __init__(self, container: Container) -> None:
        self._container = container
        self._settings = container.settings.upkeep
        self._versions = VersionStore(container.vault)
        self.last: UpkeepReport | None = None
        self.removed: Counter[str] = Counter()
        self.runs = 0

    def start(self) -> None:
        """Empty the old trash now and every day; do the rest whenever the engine is idle, if the
        person has not switched that off."""
        self._container.worker.run(EMPTY_TRASH, self._empty_trash)
        if self._settings.enabled:
            self._container.worker.run(UPKEEP, self._run_if_due, after=CHECK_SECONDS)

    def _empty_trash(self) -> float:
        """Delete the notes that were forgotten thirty days ago."""
        for tombstone in self._container.curator.purge():
            logger.info("deleted for good after 30 days: %s", tombstone.path)
            self.removed["expired notes in the trash"] += 1
        return INTERVAL.total_seconds()

    def _run_if_due(self) -> float:
        container = self._container
        interval = INTERVAL_WHEN_FULL if self.low_disk() else INTERVAL
        is_due = self.last is None or container.now() - self.last.at > interval
        idle = container.requests.idle_seconds()
        if container.indexing.is_settled and is_due and idle >= self._settings.idle_minutes * 60:
            with suppress(Interrupted):  # the next run does the rest
                self.run()
        return CHECK_SECONDS

    def low_disk(self) -> str:
        """A sentence about a nearly full disk and its consequences; empty if there is none."""
        container = self._container
        places = {"vault": container.vault.root, "indexes": container.state.root}
        for place, folder in places.items():
            with suppress(OSError):  # an unplugged vault
                usage = shutil.disk_usage(folder)
                if is_nearly_full(usage.free, usage.total):
                    return LOW_DISK.format(place=place, free=usage.free / 1024**3)
        return ""

    def run(self) -> UpkeepReport:
        """Run all steps now, making way for requests.

        Raises Interrupted: the engine closes, or its indexes were replaced.
        """
        container = self._container
        live = container.live
        breaks = Breaks(
            container.requests, lambda: container.worker.stopped or container.live is not live
        )
        steps: dict[str, Step] = {
            "orphans in the indexes": self._orphans,
            "old versions": self._old_versions,
            "cached embeddings": self._cached_embeddings,
            "old log files": self._old_logs,
            "search models prepared by earlier versions": self._old_exports,
            "kilobytes by compressing the journals": self._journals,
        }
        removed: Counter[str] = Counter()
        for kind, step in steps.items():
            try:
                for count in step():
                    removed[kind] += count
                    self.removed[kind] += count
                    breaks.take()
            except MemvaultError as error:  # a store or file cannot be changed now
                logger.warning("upkeep skipped %s: %s", kind, error.message)
        breaks.take()
        self._optimise()
        self.runs += 1
        self.last = UpkeepReport(container.now(), breaks.worked, dict(removed))
        logger.info("%s", self.last)
        return self.last

    # -- steps ----------------------------------------------------------------------------------

    def _orphans(self) -> Iterator[int]:
        """Remove orphans; first checks note by note, since removing reads both stores at once."""
        live = self._container.live
        by_id = live.catalogue.by_id
        has_orphans = any(node.path and by_id(node.id) is None for node in live.graph_view.nodes())
        for key in live.stores.vectors.note_ids():
            has_orphans = has_orphans or by_id(key) is None
            yield 0
        if has_orphans:
            yield live.indexer.remove_orphans()

    def _old_versions(self) -> Iterator[int]:
        container, settings = self._container, self._settings
        megabytes = settings.history_megabytes
        if self.low_disk():
            megabytes /= 4
        sizes = self._versions.packs()
        if sum(sizes.values()) <= megabytes * MEGABYTE:
            return
        changes = container.curator.history.all()
        yield 0
        chosen = packs_to_drop(
            sizes,
            {change.reversal_hash: change.order for change in changes},
            container.now(),
            int(megabytes * MEGABYTE),
            settings.history_days,
        )
        for pack in chosen:
            self._versions.drop_pack(pack)
            yield 1

    def _cached_embeddings(self) -> Iterator[int]:
        container = self._container
        chunks = container.live.stores.vectors.count()
        _, edges = container.live.stores.graph.counts()
        max_vectors = max(MIN_VECTORS, VECTORS_PER_CHUNK * chunks + VECTORS_PER_EDGE * edges)
        if self.low_disk():
            max_vectors = chunks + edges
        while deleted := container.embedder.trim_cache(max_vectors):
            yield deleted

    def _old_logs(self) -> Iterator[int]:
        """Delete the previous log if the disk is nearly full."""
        previous = self._container.state.earlier_log
        if self.low_disk() and previous.is_file():
            with suppress(OSError):  # tried again at the next upkeep
                previous.unlink()
                yield 1

    def _old_exports(self) -> Iterator[int]:
        yield remove_old_exports()

    def _journals(self) -> Iterator[int]:
        """Compress journals without loss, once they are so old that other devices have them."""
        container = self._container
        days = JOURNAL_DAYS_WHEN_FULL if self.low_disk() else JOURNAL_DAYS
        before = container.now() - timedelta(days=days)
        for journal in (container.journal, container.learning.learnt):
            for saved in journal.compress(before):
                yield saved // 1024

    def _optimise(self) -> None:
        began = time.monotonic()
        try:
            self._container.live.stores.vectors.optimize()
        except MemvaultError as error:
            logger.warning("the vector index is not optimised now: %s", error.message)
        logger.info("optimised the vector index in %.2f s", time.monotonic() - began)
