"""Prometheus metrics of an engine's state: indexes, stores, caches, learning, memory and disks.

Serving them reads only what is in memory, so it never waits for a store.
"""

from __future__ import annotations

import shutil
from collections import Counter as Counts
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from math import nan
from statistics import fmean, pvariance
from typing import TYPE_CHECKING

import psutil
from prometheus_client.metrics_core import CounterMetricFamily as CounterFamily
from prometheus_client.metrics_core import GaugeMetricFamily as GaugeFamily
from prometheus_client.metrics_core import HistogramMetricFamily as HistogramFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from memvault.cognition.memory_loader import MemoryLoader
from memvault.cognition.pulse import PulseMeter
from memvault.cognition.sessions import session_state
from memvault.consolidation.dreams.record import DreamPhase
from memvault.consolidation.faded_text import FadingStage
from memvault.model.errors import MemvaultError
from memvault.model.memory import balanced_importance

if TYPE_CHECKING:
    from mcp_server.engine.startup import Startup
    from mcp_server.runtime.container import Container

MAX_SESSIONS = 20  # the latest sessions, whose learning scores are reported
ROLES = ("vectors", "graph", "keyvalue")


class EngineCollector(Collector):
    """Collects the state of one engine; only of its process until its indexes are open."""

    def __init__(self, startup: Startup, nodes: MemoryLoader, meter: PulseMeter) -> None:
        self._startup = startup
        self._nodes = nodes
        self._meter = meter
        self._process = psutil.Process()

    def collect(self) -> Iterator[Metric]:
        container: Container | None = None
        with suppress(MemvaultError):  # not open yet, or it could not be opened
            container = self._startup.now()
        yield GaugeFamily(
            "memvault_ready", "1 when the indexes are open.", float(container is not None)
        )
        yield GaugeFamily(
            "memvault_memory_bytes",
            "Resident memory of the engine.",
            self._process.memory_info().rss,
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
        """Entropy, coherence and learning, with the metric names of graph-tools 4.1."""
        measured = self._meter.measured_vault()
        if measured is None or not container.live.similarity_index.is_loaded:
            return
        state, quadrants = measured
        yield GaugeFamily("utl_entropy_current", "Entropy of the vault.", state.entropy)
        yield GaugeFamily("utl_coherence_current", "Coherence of the vault.", state.coherence)
        shares = {quadrant.value: share for quadrant, share in quadrants.items()}
        doc = "Share of the memories in a quadrant."
        yield _gauges("utl_johari_quadrant", doc, "quadrant", shares)
        scores = {}
        for session in container.sessions.recent(MAX_SESSIONS):
            learnt = session_state(self._meter, session.working_set)
            # A session that saw most of a small vault cannot learn more than the vault holds.
            if 1 < len(learnt.memories) <= len(container.live.catalogue) / 2:
                scores[session.id] = learnt.utl_state.learning_score
        doc = "What a session learnt from its memories."
        yield _gauges("utl_learning_score", doc, "session", scores)

    def _caches(self, container: Container) -> Iterator[Metric]:
        reads = {
            "embeddings": container.embedder.reads,
            "memories": self._nodes.reads,
            "answers": container.answer_cache.reads,
        }
        hits = {cache: stats.hits for cache, stats in reads.items()}
        misses = {cache: stats.misses for cache, stats in reads.items()}
        rates = {cache: stats.hit_rate for cache, stats in reads.items()}
        evicted = {"memories": reads["memories"].evictions}
        entries = {"memories": len(self._nodes)}
        prefix, label = "memvault_cache", "cache"
        yield _counters(f"{prefix}_hits", "Reads answered by the cache.", label, hits)
        yield _counters(f"{prefix}_misses", "Cache misses.", label, misses)
        yield _gauges(f"{prefix}_hit_rate", "Share of reads answered by the cache.", label, rates)
        yield _counters(f"{prefix}_evictions", "Entries dropped to make room.", label, evicted)
        yield _gauges(f"{prefix}_entries", "Entries in the cache.", label, entries)


def _immunity(container: Container) -> Iterator[Metric]:
    """Quarantine and importance, with the metric names of graph-tools 4.1."""
    caught, released = container.quarantine.ever_held()
    held_texts = container.guarded.held_texts()
    families = (
        ("detected", "Texts that gave orders to models, by kind.", caught),
        ("blocked", "Of these, those that are in quarantine.", held_texts),
    )
    for name, doc, texts in families:
        kinds = Counts(kind for text in texts for kind in text.kinds)
        yield _counters(f"immune_attacks_{name}", doc, "type", kinds)
    yield CounterFamily("immune_false_positives", "Texts that were released.", released)
    whole_notes = sum(text.whole for text in held_texts)
    yield GaugeFamily("immune_nodes_quarantined", "Notes in quarantine.", whole_notes)
    now = datetime.now(UTC)
    weights = [balanced_importance(memory, now) for memory in container.live.catalogue.all()]
    if weights:
        health = len(weights) / (len(weights) + whole_notes)
        yield GaugeFamily("immune_health_score", "Share of notes not quarantined.", health)
        mean = fmean(weights)
        yield GaugeFamily("immune_importance_mean", "Mean importance of notes.", mean)
        variance = pvariance(weights, mean)
        yield GaugeFamily("immune_importance_variance", "Its variance.", variance)


def _dreams(container: Container) -> Iterator[Metric]:
    """Dreams and distillates; dream metrics have the names of graph-tools 4.1."""
    dreaming = container.dreaming
    active = {phase or "none": float(dreaming.phase is phase) for phase in (*DreamPhase, None)}
    doc = "1 for the phase that runs now, or for none."
    yield _gauges("dream_phase_active", doc, "phase", active)
    reports = dreaming.record.reports()
    yield CounterFamily("dream_phases", "Phases of dreams.", len(reports))
    links = sum(proposal.is_link for report in reports for proposal in report.found)
    yield CounterFamily("dream_blind_spots_discovered", "Links that dreams proposed.", links)
    doc = "Proposals of dreams that were accepted."
    yield CounterFamily("dream_edges_created", doc, dreaming.record.kept())
    doc = "What the last replay added to a relation, by the age of the note."
    strength = dreaming.strength_by_age()
    yield _gauges("dream_consolidation_strength", doc, "node_age", strength)
    yield from dreaming.wake_seconds.collect()
    distilled = dreaming.distilled.of_all(container.live.catalogue.all())
    yield GaugeFamily(
        "memvault_distilled_memories", "Memories that have a distillate.", len(distilled)
    )
    saved = fmean(distillate.ratio for distillate in distilled) if distilled else nan
    yield GaugeFamily(
        "memvault_distillation_ratio", "Mean share of words that distillates save.", saved
    )


def _faded(container: Container) -> Metric:
    stages = Counts(memory.faded for memory in container.live.catalogue.all())
    counts = {stage.value: stages[stage] for stage in FadingStage}
    doc = "Memories whose full text is archived."
    return _gauges("memvault_faded_memories", doc, "stage", counts)


def _upkeep(container: Container) -> Iterator[Metric]:
    upkeep = container.upkeep
    yield CounterFamily(
        "memvault_upkeep_runs", "Runs of upkeep since the engine started.", upkeep.runs
    )
    doc = "What upkeep removed, by kind."
    yield _counters("memvault_upkeep_removed", doc, "what", upkeep.removed.copy())


def _learning(container: Container) -> Iterator[Metric]:
    """Neuromodulation, with the metric names of graph-tools 4.1, and learning."""
    modulation, learnt = container.learning.modulation, container.learning.learnt
    for transmitter, level in modulation.levels().items():
        doc = f"Level of {transmitter}, in [0, 1]."
        yield GaugeFamily(f"neuromod_{transmitter}_level", doc, level)
    sharpness, seeds, temperature = modulation.on_scales_of_specification()
    yield GaugeFamily("neuromod_hopfield_beta", "Sharpness of search, 1 to 5.", sharpness)
    yield GaugeFamily("neuromod_fuse_moe_top_k", "Best notes that are followed.", seeds)
    yield GaugeFamily("neuromod_attention_temp", "Breadth of search, 0.5 to 2.", temperature)
    yield GaugeFamily(
        "memvault_learnt_memories", "Memories with rewards.", len(learnt.state.memories)
    )
    yield CounterFamily(
        "memvault_learning_signals", "Rewards and penalties counted.", learnt.state.signals
    )


def _indexing(container: Container) -> Iterator[Metric]:
    yield GaugeFamily("memvault_notes", "Notes that are indexed.", len(container.live.catalogue))
    status = container.indexing.status()
    doc = "1 if this process or another one indexes changes."
    yield GaugeFamily("memvault_indexer_present", doc, float(status is not None))
    if status is not None:
        yield CounterFamily("memvault_indexed_notes", "Notes written to the indexes.", status.notes)
        yield CounterFamily("memvault_indexing_seconds", "Time spent indexing.", status.seconds)
        doc = "Age of the oldest change that is not indexed yet."
        yield GaugeFamily("memvault_index_lag_seconds", doc, status.lag_seconds)
        doc = "Notes that the trained entity pipeline has not read yet."
        yield GaugeFamily("memvault_entities_waiting", doc, status.entities_waiting)
    problems = container.live.indexer.problems
    yield GaugeFamily("memvault_problem_notes", "Files that cannot be indexed.", len(problems))


def _stores(container: Container) -> Iterator[Metric]:
    labels = ["store", "engine"]
    reachable = GaugeFamily("memvault_store_up", "1 if it answered when last asked.", labels=labels)
    full = GaugeFamily("memvault_store_full", "1 if it was full at the last write.", labels=labels)
    failures = CounterFamily("memvault_store_failures", "Calls that failed.", labels=labels)
    seconds = HistogramFamily(
        "memvault_store_seconds", "Duration of answered calls.", labels=labels
    )
    stores = container.live.stores
    for role in ROLES:
        store = getattr(stores, role)
        server = getattr(store, "server", None)
        values = [role, "embedded" if server is None else server.name.lower()]
        reachable.add_metric(
            values, float(not (store.calls.failing if server is None else server.unreachable))
        )
        full.add_metric(values, float(server is not None and server.full))
        failures.add_metric(values, store.calls.failures)
        for metric in store.calls.seconds.collect():
            for sample in metric.samples:
                if not sample.name.endswith("_created"):
                    of_store = dict(zip(labels, values, strict=True))
                    seconds.add_sample(sample.name, {**of_store, **sample.labels}, sample.value)
    yield from (reachable, full, failures, seconds)


def _disks(container: Container) -> Iterator[Metric]:
    free = {}
    for name, folder in (("vault", container.vault.root), ("indexes", container.state.root)):
        with suppress(OSError):  # an unplugged vault has no figure
            free[name] = shutil.disk_usage(folder).free
    doc = "Free space on the disk of this folder."
    yield _gauges("memvault_disk_free_bytes", doc, "place", free)


def _gauges(name: str, doc: str, label: str, values: Mapping[str, float]) -> Metric:
    """One gauge for each value of a label."""
    return _labelled(GaugeFamily(name, doc, labels=[label]), values)


def _counters(name: str, doc: str, label: str, values: Mapping[str, float]) -> Metric:
    """One counter for each value of a label."""
    return _labelled(CounterFamily(name, doc, labels=[label]), values)


def _labelled(family: GaugeFamily | CounterFamily, values: Mapping[str, float]) -> Metric:
    for value, number in values.items():
        family.add_metric([value], number)
    return family
