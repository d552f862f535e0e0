"""Planted contradictions: what carries a wrong "verified", and which contradictions are shown.

usage: python -m tests.benchmarks.bench_verification [--set first|held] [--cases N] [--seed N] [--show]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from mcp_server.runtime.container import Container
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from memvault.model.search import Hit
from memvault.model.verification import Status
from tests.benchmarks import contradictions, contradictions_held_out
from tests.benchmarks.client_notes import written_by_client
from tests.benchmarks.contradictions import Case

SETS = {"first": contradictions, "held": contradictions_held_out}
CONTRADICTED = contradictions_held_out.CONTRADICTED
MUST_NOT_BE_VERIFIED = (
    contradictions.MUST_NOT_BE_VERIFIED | contradictions_held_out.MUST_NOT_BE_VERIFIED
)

# A denial and another unit speak against the candidate too, but need not be understood.
MAY_BE_CONTRADICTED = frozenset(("denied", "other unit"))


def judged(container: Container, some: list[Case], *, show: bool) -> Counter[str]:
    """Counts by outcome; "shown: kind" are contradicted candidates that say what contradicts."""
    counts: Counter[str] = Counter()
    seconds = []
    for case in some:
        started = time.perf_counter()
        answered = container.live.searcher.search(case.question, allow_unverified=True)
        seconds.append(time.perf_counter() - started)
        found = next((w for w in answered.hits if w.memory.path == case.candidate), None)
        outcome = "not found" if found is None else found.verification.status.value
        counts[f"{case.kind}: {outcome}"] += 1
        if found is not None:
            counts.update(_counted(case, found))
            wrong = _is_wrong(case, found)
            if show and (wrong or (case.kind in CONTRADICTED and outcome != "contradicted")
                         or (case.kind == "confirmed" and outcome != "verified")):  # fmt: skip
                print(f"\n{case.kind} → {outcome}: {case.question}")
                for path, text in case.notes.items():
                    print(f"    {path}: {text.split('---')[-1].strip()!r}")
    milliseconds = np.percentile(np.array(seconds) * 1e3, [50, 95])
    print(f"p50 {milliseconds[0]:.1f} ms, p95 {milliseconds[1]:.1f} ms")
    return counts


def _is_wrong(case: Case, found: Hit) -> bool:
    return case.kind in MUST_NOT_BE_VERIFIED and found.verification.verified


def _counted(case: Case, found: Hit) -> list[str]:
    check = found.verification
    rows = []
    if _is_wrong(case, found):
        rows.append("wrong verified")
    if case.kind in CONTRADICTED:
        rows.append("planted")
        if check.status is Status.CONTRADICTED and check.contradicted_by:
            rows.append("planted and shown")
    elif check.status is Status.CONTRADICTED and case.kind not in MAY_BE_CONTRADICTED:
        rows.append("wrongly contradicted")
    if case.kind == "confirmed":
        rows.append("confirmed")
        if check.verified:
            rows.append("confirmed and verified")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", choices=SETS, default="first", help="which planted set")
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print what was judged wrong")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        vault = Path(scratch) / "vault"
        planted = SETS[given.set]
        some = planted.cases(given.cases, given.seed)
        contradictions.write(vault, some, planted.PEOPLE)
        written_by_client(vault, {case.candidate for case in some})
        settings = Settings(index=IndexSettings(ner="off"))
        state = StateFolder.of_vault(vault, Path(scratch) / "state")
        container = Container(vault, settings, state)
        try:
            container.start(watch=False)
            counts = judged(container, some, show=given.show)
        finally:
            container.close()
    for name in sorted(n for n in counts if ": " in n):
        print(f"{name:40s} {counts[name]}")
    print(
        f"right candidates that carry a wrong verified: {counts['wrong verified']} of {len(some)}"
    )
    print(f"planted contradictions shown: {counts['planted and shown']} of {counts['planted']}")
    print(f"confirmed and verified: {counts['confirmed and verified']} of {counts['confirmed']}")
    print(f"wrongly called contradicted: {counts['wrongly contradicted']}")


if __name__ == "__main__":
    main()
