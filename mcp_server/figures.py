"""How an engine stands at the moment: its indexes, stores, caches, memory and disks.

Everything is at hand already: asking for it waits for no server, whatever state that is in.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from memvault.cognition.nodes import MemoryNodes
from memvault.model.errors import MemvaultError
from memvault.model.reads import Reads
from memvault.stores.calls import BOUNDS, CallFigures

if TYPE_CHECKING:
    from mcp_server.opening import Opening
    from mcp_server.services import Services

ROLES = ("vectors", "graph", "keyvalue")


class EngineFigures(Collector):
    """Tells of one engine; until its indexes are open, of its process only."""

    def __init__(self, opening: Opening, nodes: MemoryNodes) -> None:
        self._opening = opening
        self._nodes = nodes
        self._process = psutil.Process()

    def collect(self) -> Iterator[Metric]:
        services: Services | None = None
        with suppress(MemvaultError):
            services = self._opening.now()
        yield _gauge("ready", "1 when the indexes are open.", float(services is not None))
        yield _gauge(
            "memory_bytes", "Resident memory of the engine.", self._process.memory_info().rss
        )
        if services is not None:
            yield from _indexing(services)
            yield from _stores(services)
            yield from _disks(services)
            yield from self._caches(services)

    def _caches(self, services: Services) -> Iterator[Metric]:
        reads = {
            "embeddings": services.embedder.reads,
            "memories": self._nodes.reads,
            "answers": services.answers.reads,
        }
        yield _by_cache("hits", "Reads that a cache had at hand.", reads)
        yield _by_cache("misses", "Reads that it had not.", reads)
        rates = GaugeMetricFamily(
            "memvault_cache_hit_rate", "Share of reads at hand.", labels=["cache"]
        )
        for cache, each in reads.items():
            rates.add_metric([cache], each.hit_rate)
        yield rates
        evicted = {"memories": reads["memories"]}
        yield _by_cache("evictions", "Entries that made room for others.", evicted)
        size = GaugeMetricFamily("memvault_cache_entries", "What it holds.", labels=["cache"])
        size.add_metric(["memories"], len(self._nodes))
        yield size


def _indexing(services: Services) -> Iterator[Metric]:
    yield _gauge("notes", "Notes that are indexed.", len(services.catalogue))
    standing = services.indexing.standing()
    yield _gauge(
        "indexer_present",
        "1 if a process, this or another, indexes what changes.",
        float(standing is not None),
    )
    if standing is not None:
        yield _counter("indexed_notes", "Notes written to the indexes.", standing.notes)
        yield _counter("indexing_seconds", "Time that this took.", standing.seconds)
        yield _gauge(
            "index_lag_seconds",
            "How long the oldest change that is not indexed yet has waited.",
            standing.lag_seconds,
        )
        yield _gauge(
            "entities_waiting",
            "Notes that the trained entity pipeline has not read yet.",
            standing.entities_waiting,
        )
    yield _gauge("problem_notes", "Files that cannot be indexed.", len(services.indexer.problems))


def _stores(services: Services) -> Iterator[Metric]:
    labels = ["store", "engine"]
    up = GaugeMetricFamily("memvault_store_up", "1 if it answered when last asked.", labels=labels)
    full = GaugeMetricFamily(
        "memvault_store_full", "1 if it had no room for the last write.", labels=labels
    )
    failures = CounterMetricFamily(
        "memvault_store_failures", "Calls without an answer.", labels=labels
    )
    seconds = HistogramMetricFamily(
        "memvault_store_seconds", "Time a call took that was answered.", labels=labels
    )
    stores = services.stores
    for role in ROLES:
        store = getattr(stores, role)
        server = getattr(store, "server", None)
        figures = store.calls.figures()
        own = [role, "embedded" if server is None else server.name.lower()]
        up.add_metric(own, float(not (figures.failing if server is None else server.silent)))
        full.add_metric(own, float(server is not None and server.full))
        failures.add_metric(own, figures.failures)
        seconds.add_metric(own, _buckets(figures), figures.seconds)
    yield from (up, full, failures, seconds)


def _buckets(figures: CallFigures) -> Sequence[tuple[str, float]]:
    bounds = [*map(floatToGoString, BOUNDS), "+Inf"]
    return list(zip(bounds, map(float, accumulate(figures.answered)), strict=True))


def _disks(services: Services) -> Iterator[Metric]:
    free = GaugeMetricFamily(
        "memvault_disk_free_bytes", "Room on the disk with this.", labels=["place"]
    )
    places: Iterable[tuple[str, Path]] = (
        ("vault", services.vault.root),
        ("indexes", services.state.root),
    )
    for name, folder in places:
        with suppress(OSError):  # an unplugged vault has no figure
            free.add_metric([name], shutil.disk_usage(folder).free)
    yield free


def _by_cache(what: str, words: str, reads: dict[str, Reads]) -> Metric:
    metric = CounterMetricFamily(f"memvault_cache_{what}", words, labels=["cache"])
    for cache, each in reads.items():
        metric.add_metric([cache], getattr(each, what))
    return metric


def _gauge(name: str, words: str, value: float) -> Metric:
    return GaugeMetricFamily(f"memvault_{name}", words, value)


def _counter(name: str, words: str, value: float) -> Metric:
    return CounterMetricFamily(f"memvault_{name}", words, value)
