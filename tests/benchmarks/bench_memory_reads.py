"""How fast memories are read when at hand, and what counting their use costs.

``python -m tests.benchmarks.bench_memory_reads [--notes N]``
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from mcp_server.engine.startup import Startup
from mcp_server.runtime.container import Container
from mcp_server.tools.toolbox import Toolbox
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from memvault.vault.journal import Journal
from tests.benchmarks.figures import Figure, median, percentile, show, timed
from tests.benchmarks.generated_vault import generate

READS = 5_000
SHOWN = 10  # memories in a usual answer
MANY = 10_000  # memories whose use is written down at once


def reading(container: Container) -> list[Figure]:
    box = Toolbox(Startup.of(container))
    nodes, ids = box.memory_nodes, [memory.id for memory in container.live.catalogue.all()]
    box.meter.states(ids)
    cold = [timed(lambda id=each: nodes.get(id), 1, warm_up=0)[0] * 1e3 for each in ids]
    waiting = iter(ids * (READS // len(ids) + 1))
    warm = [spent * 1e3 for spent in timed(lambda: nodes.get(next(waiting)), READS - 3)]
    absent = timed(lambda: nodes.get("6f9a5a86-0000-5d52-9f0b-6d5f0f6b7c11"), READS)
    return [
        Figure("memory at hand, median", median(warm), "µs", "", "100"),
        Figure("memory at hand, p99", percentile(warm, 0.99), "µs", "100", ""),
        Figure("memory read from disk and stores, median", median(cold), "µs"),
        Figure("id that no memory has, median", median(absent) * 1e3, "µs"),
        Figure("share of reads at hand", nodes.reads.hit_rate * 100, "%"),
    ]


def counting(container: Container) -> list[Figure]:
    activity, ids = container.activity, [f"memory {number}" for number in range(MANY)]
    shown = timed(lambda: activity.accessed(ids[:SHOWN]), READS)
    activity.flush()
    activity.accessed(ids)
    began = time.perf_counter()
    activity.flush()
    flushed = time.perf_counter() - began
    began = time.perf_counter()
    activity.checkpoint()
    elapsed = time.perf_counter() - began
    size = sum(file.stat().st_size for file in Journal(container.vault).files())
    return [
        Figure(f"counting an answer of {SHOWN} memories, p95", percentile(shown, 0.95) * 1e3, "µs"),
        Figure(f"writing {MANY:,} counts to the key-value store", flushed * 1e3, "ms"),
        Figure(f"a checkpoint of {MANY:,} counts in the journal", elapsed * 1e3, "ms"),
        Figure("its size for a memory", size / MANY, "bytes"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=300)
    with tempfile.TemporaryDirectory() as scratch:
        vault = Path(scratch) / "vault"
        generate(vault, parser.parse_args().notes)
        settings = Settings(index=IndexSettings(ner="off"))
        container = Container(vault, settings, StateFolder(Path(scratch) / "state"))
        container.indexing.scan()
        container.live.similarity_index.load()
        figures = reading(container) + counting(container)
        container.close()
    show("cognition", figures)


if __name__ == "__main__":
    main()
