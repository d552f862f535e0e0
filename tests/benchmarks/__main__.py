"""Every benchmark, one after the other: `make bench`."""

from __future__ import annotations

import subprocess
import sys

ALL = (
    "bench_storage",
    "bench_indexing",
    "bench_engine",
    "bench_questions",
    "bench_memory_reads",
    "bench_pulse",
    "bench_navigation",
    "bench_manifest",
    "bench_operations",
    "bench_context",
    "bench_reasoning",
    "bench_verbosity",
    "bench_verification",
    "bench_calibration",
    "bench_load",
    "bench_pages",
    "bench_fading",
)

if __name__ == "__main__":
    for name in ALL:
        subprocess.run([sys.executable, "-m", f"tests.benchmarks.{name}"], check=True)
