"""Prometheus metrics of an engine: calls, indexes, stores, caches, memory and disks.

Serving them reads only what is already known, so it never waits for a store.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter as Counts
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from math import nan
from pathlib import Path
from statistics import fmean, pvariance
from typing import TYPE_CHECKING, Any

import mcp_types as mt
import psutil
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from mcp_server.runtime.activity_tracker import ActivityTracker
from memvault.cognition.memory_loader import MemoryNodes
from memvault.cognition.pulse import PulseMeter
from memvault.cognition.sessions import session_state
from memvault.consolidation.dreams.record import DreamPhase
from memvault.consolidation.faded_text import Stage
from memvault.model.errors import MemvaultError
from memvault.model.memory import balanced_importance
from memvault.model.state import CacheStats

if TYPE_CHECKING:
    from mcp_server.engine.startup import Startup
    from mcp_server.runtime.container import Container

MOST_COMPRESSIONS = 1_000  # contexts, the latest
MOST_SESSIONS = 20  # whose learning score is told, the latest first
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """The metrics of one engine."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.calls = Counter(
            "memvault_tool_calls",
            "Tool calls answered, errors included.",
            ["tool"],
            registry=self.registry,
        )
        self.errors = Counter(
            "memvault_tool_errors",
            "Tool calls that failed, by the code of the error.",
            ["tool", "code"],
            registry=self.registry,
        )
        self.notices = Counter(
            "memvault_tool_notices",
            "Answers with a notice, which mostly says what is missing.",
            ["tool"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "memvault_tool_seconds",
            "Duration of tool calls.",
            ["tool"],
            buckets=_BUCKETS,
            registry=self.registry,
        )

        self.questions = Counter(
            "epistemic_questions_generated",
            "Questions that epistemic_action gave.",
            registry=self.registry,
        )
        self.entropy_reduction = Gauge(
            "epistemic_entropy_reduction_avg",
            "Mean share of a question's entropy that its answer removed.",
            registry=self.registry,
        )
        self.entropy_reduction.set(nan)  # until a first question is answered
        self._reductions: list[float] = []
        self.compression = Gauge(
            "predictive_compression_ratio",
            "Mean share of tokens that contexts save against the memories they are made from.",
            registry=self.registry,
        )
        self.compression.set(nan)  # until a first context
        self._compressions: deque[float] = deque(maxlen=MOST_COMPRESSIONS)

    def asked(self, question: str | None, last: dict[str, Any] | None) -> None:
        """Count a question, and how much the answer to the last one settled."""
        if question:
            self.questions.inc()
        if last and last["entropy_before"]:
            self._reductions.append(1 - last["entropy_after"] / last["entropy_before"])
            self.entropy_reduction.set(fmean(self._reductions))

    def gave_context(self, saved: float) -> None:
        """Count the share of tokens that a context saved."""
        self._compressions.append(saved)
        self.compression.set(fmean(self._compressions))

    def watch(self, collector: Collector) -> None:
        """Add what this collects on each request."""
        self.registry.register(collector)

    def watch_clients(self, tracker: ActivityTracker) -> None:
        """Add how many clients are connected."""
        connections = Gauge(
            "memvault_connections",
            "Open bridges and running requests.",
            registry=self.registry,
        )
        connections.set_function(lambda: tracker.visits)

    def text(self) -> bytes:
        """All metrics in Prometheus's text format."""
        return generate_latest(self.registry)


class ToolMetrics(Middleware):
    """Counts every call of a tool that exists."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    async def on_call_tool(
        self,
        context: MiddlewareContext[mt.CallToolRequestParams],
        call_next: CallNext[mt.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        began = time.perf_counter()
        result = await call_next(context)
        spent = time.perf_counter() - began
        tool, content = context.message.name, result.structured_content or {}
        self._metrics.calls.labels(tool).inc()
        self._metrics.seconds.labels(tool).observe(spent)
        if result.is_error:
            self._metrics.errors.labels(tool, str(_code(content))).inc()
        elif content.get("notice"):
            self._metrics.notices.labels(tool).inc()
        if tool == "epistemic_action" and not result.is_error:
            self._metrics.asked(content.get("question"), content.get("last"))
        if (saved := content.get("compression_ratio")) is not None:
            self._metrics.gave_context(saved)
        return result


def _code(content: dict[str, Any]) -> int:
    return int(content.get("error", {}).get("code", 0))


ROLES = ("vectors", "graph", "keyvalue")


class EngineCollector(Collector):
    """Collects the state of one engine; of its process only until its indexes are open."""

    def __init__(self, startup: Startup, nodes: MemoryNodes, meter: PulseMeter) -> None:
        self._startup = startup
        self._nodes = nodes
        self._meter = meter
        self._process = psutil.Process()

    def collect(self) -> Iterator[Metric]:
        container: Container | None = None
        with suppress(MemvaultError):
            container = self._startup.now()
        yield _gauge("ready", "1 when the indexes are open.", float(container is not None))
        yield _gauge(
            "memory_bytes", "Resident memory of the engine.", self._process.memory_info().rss
        )
        if container is not None:
            yield from _indexing(container)
            yield from _stores(container)
            yield from _disks(container)
            yield from self._caches(container)
            yield from self._cognition(container)
            yield from _immunity(container)
            yield from _learning(container)
            with suppress(MemvaultError):  # the journal cannot be read now
                yield from _dreams(container)
            yield from _upkeep(container)
            yield _faded(container)

    def _cognition(self, container: Container) -> Iterator[Metric]:
        """By the names of graph-tools 4.1."""
        measured = self._meter.measured_vault()
        if measured is None or not container.live.similarity_index.is_loaded:
            return
        state, quadrants = measured
        yield GaugeMetricFamily("utl_entropy_current", "Entropy of the vault.", state.entropy)
        yield GaugeMetricFamily("utl_coherence_current", "Coherence of the vault.", state.coherence)
        shares = GaugeMetricFamily(
            "utl_johari_quadrant", "Share of the memories in a quadrant.", labels=["quadrant"]
        )
        for quadrant, share in quadrants.items():
            shares.add_metric([quadrant], share)
        yield shares
        scores = GaugeMetricFamily(
            "utl_learning_score", "What a session learnt from its memories.", labels=["session"]
        )
        for session in container.sessions.recent(MOST_SESSIONS):
            learnt = session_state(self._meter, session.working_set)
            # A session that saw most of a small vault cannot learn more than the vault holds.
            if 1 < len(learnt.memories) <= len(container.live.catalogue) / 2:
                scores.add_metric([session.id], learnt.utl_state.learning_score)
        yield scores

    def _caches(self, container: Container) -> Iterator[Metric]:
        reads = {
            "embeddings": container.embedder.reads,
            "memories": self._nodes.reads,
            "answers": container.answer_cache.reads,
        }
        yield _by_cache("hits", "Reads answered by the cache.", reads)
        yield _by_cache("misses", "Cache misses.", reads)
        rates = GaugeMetricFamily(
            "memvault_cache_hit_rate", "Share of reads answered by the cache.", labels=["cache"]
        )
        for cache, each in reads.items():
            rates.add_metric([cache], each.hit_rate)
        yield rates
        evicted = {"memories": reads["memories"]}
        yield _by_cache("evictions", "Entries dropped to make room.", evicted)
        size = GaugeMetricFamily(
            "memvault_cache_entries", "Entries in the cache.", labels=["cache"]
        )
        size.add_metric(["memories"], len(self._nodes))
        yield size


def _immunity(container: Container) -> Iterator[Metric]:
    """By the names of graph-tools 4.1."""
    caught, released = container.quarantine.caught()
    held = container.guarded.held()
    families = (
        ("detected", "Texts that gave orders to models, by kind.", caught),
        ("blocked", "Of these, those that are in quarantine.", held),
    )
    for name, words, texts in families:
        family = CounterMetricFamily(f"immune_attacks_{name}", words, labels=["type"])
        for kind, count in Counts(kind for each in texts for kind in each.kinds).items():
            family.add_metric([kind], count)
        yield family
    yield CounterMetricFamily("immune_false_positives", "Texts that were released.", released)
    whole = sum(each.whole for each in held)
    yield GaugeMetricFamily("immune_nodes_quarantined", "Notes in quarantine.", whole)
    now = datetime.now(UTC)
    weights = [balanced_importance(memory, now) for memory in container.live.catalogue.all()]
    if weights:
        health = len(weights) / (len(weights) + whole)
        yield GaugeMetricFamily("immune_health_score", "Share of notes not quarantined.", health)
        mean = fmean(weights)
        yield GaugeMetricFamily("immune_importance_mean", "Mean importance of notes.", mean)
        variance = pvariance(weights, mean)
        yield GaugeMetricFamily("immune_importance_variance", "Its variance.", variance)


def _dreams(container: Container) -> Iterator[Metric]:
    """By the names of graph-tools 4.1."""
    dreaming = container.dreaming
    active = GaugeMetricFamily(
        "dream_phase_active", "1 for the phase that runs now, or for none.", labels=["phase"]
    )
    for phase in (*DreamPhase, None):
        active.add_metric([phase or "none"], float(dreaming.phase is phase))
    yield active
    reports = dreaming.record.reports()
    yield CounterMetricFamily("dream_phases", "Phases of dreams.", len(reports))
    found = sum(each.is_link for report in reports for each in report.found)
    yield CounterMetricFamily("dream_blind_spots_discovered", "Links that dreams proposed.", found)
    yield CounterMetricFamily(
        "dream_edges_created", "Proposals of dreams that were accepted.", dreaming.record.kept()
    )
    strength = GaugeMetricFamily(
        "dream_consolidation_strength",
        "What the last replay added to a relation, by the age of the note.",
        labels=["node_age"],
    )
    for age, value in dreaming.strength_by_age().items():
        strength.add_metric([age], value)
    yield strength
    yield from dreaming.wake_seconds.collect()
    distilled = dreaming.distilled.of_all(container.live.catalogue.all())
    yield _gauge("distilled_memories", "Memories that have a distillate.", len(distilled))
    saved = fmean(each.ratio for each in distilled) if distilled else nan
    yield _gauge("distillation_ratio", "Mean share of words that distillates save.", saved)


def _faded(container: Container) -> Metric:
    found = GaugeMetricFamily(
        "memvault_faded_memories", "Memories whose full text is archived.", labels=["stage"]
    )
    stages = Counts(memory.faded for memory in container.live.catalogue.all())
    for stage in Stage:
        found.add_metric([stage], stages[stage])
    return found


def _upkeep(container: Container) -> Iterator[Metric]:
    upkeep = container.upkeep
    yield _counter("upkeep_runs", "Runs of upkeep since the engine started.", upkeep.runs)
    removed = CounterMetricFamily(
        "memvault_upkeep_removed", "What upkeep removed, by kind.", labels=["what"]
    )
    for what, count in list(upkeep.removed.items()):
        removed.add_metric([what], count)
    yield removed


def _learning(container: Container) -> Iterator[Metric]:
    """By the names of graph-tools 4.1, and what was learnt."""
    modulation, learnt = container.learning.modulation, container.learning.learnt
    for transmitter, level in modulation.levels().items():
        words = f"Level of {transmitter}, in [0, 1]."
        yield GaugeMetricFamily(f"neuromod_{transmitter}_level", words, level)
    sharpness, seeds, temperature = modulation.in_the_specification()
    yield GaugeMetricFamily("neuromod_hopfield_beta", "Sharpness of search, 1 to 5.", sharpness)
    yield GaugeMetricFamily("neuromod_fuse_moe_top_k", "Best notes that are followed.", seeds)
    yield GaugeMetricFamily("neuromod_attention_temp", "Breadth of search, 0.5 to 2.", temperature)
    yield _gauge("learnt_memories", "Memories with rewards.", len(learnt.state.memories))
    yield _counter("learning_signals", "Rewards and penalties counted.", learnt.state.signals)


def _indexing(container: Container) -> Iterator[Metric]:
    yield _gauge("notes", "Notes that are indexed.", len(container.live.catalogue))
    standing = container.indexing.standing()
    yield _gauge(
        "indexer_present",
        "1 if this process or another one indexes changes.",
        float(standing is not None),
    )
    if standing is not None:
        yield _counter("indexed_notes", "Notes written to the indexes.", standing.notes)
        yield _counter("indexing_seconds", "Time spent indexing.", standing.seconds)
        yield _gauge(
            "index_lag_seconds",
            "Age of the oldest change that is not indexed yet.",
            standing.lag_seconds,
        )
        yield _gauge(
            "entities_waiting",
            "Notes that the trained entity pipeline has not read yet.",
            standing.entities_waiting,
        )
    yield _gauge(
        "problem_notes", "Files that cannot be indexed.", len(container.live.indexer.problems)
    )


def _stores(container: Container) -> Iterator[Metric]:
    labels = ["store", "engine"]
    up = GaugeMetricFamily("memvault_store_up", "1 if it answered when last asked.", labels=labels)
    full = GaugeMetricFamily(
        "memvault_store_full", "1 if it was full at the last write.", labels=labels
    )
    failures = CounterMetricFamily("memvault_store_failures", "Calls that failed.", labels=labels)
    seconds = HistogramMetricFamily(
        "memvault_store_seconds", "Duration of answered calls.", labels=labels
    )
    stores = container.live.stores
    for role in ROLES:
        store = getattr(stores, role)
        server = getattr(store, "server", None)
        own = [role, "embedded" if server is None else server.name.lower()]
        up.add_metric(
            own, float(not (store.calls.failing if server is None else server.unreachable))
        )
        full.add_metric(own, float(server is not None and server.full))
        failures.add_metric(own, store.calls.failures)
        for metric in store.calls.seconds.collect():
            for sample in metric.samples:
                if not sample.name.endswith("_created"):
                    of_store = dict(zip(labels, own, strict=True))
                    seconds.add_sample(sample.name, {**of_store, **sample.labels}, sample.value)
    yield from (up, full, failures, seconds)


def _disks(container: Container) -> Iterator[Metric]:
    free = GaugeMetricFamily(
        "memvault_disk_free_bytes", "Free space on the disk of this folder.", labels=["place"]
    )
    places: Iterable[tuple[str, Path]] = (
        ("vault", container.vault.root),
        ("indexes", container.state.root),
    )
    for name, folder in places:
        with suppress(OSError):  # an unplugged vault has no figure
            free.add_metric([name], shutil.disk_usage(folder).free)
    yield free


def _by_cache(what: str, words: str, reads: dict[str, CacheStats]) -> Metric:
    metric = CounterMetricFamily(f"memvault_cache_{what}", words, labels=["cache"])
    for cache, each in reads.items():
        metric.add_metric([cache], getattr(each, what))
    return metric


def _gauge(name: str, words: str, value: float) -> Metric:
    return GaugeMetricFamily(f"memvault_{name}", words, value)


def _counter(name: str, words: str, value: float) -> Metric:
    return CounterMetricFamily(f"memvault_{name}", words, value)
