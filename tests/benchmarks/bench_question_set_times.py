"""The time of search for the questions of question sets, in units of b: embedding a question and
the two searches, in the same run (`bench_relative_times` does it for a made vault). Each question is asked
once, after a few of the others.

Sets are folders as `run_question_sets` asks them; each vault is copied first.

usage: python -m tests.benchmarks.bench_question_set_times SET … [--limit N]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
from pathlib import Path

from mcp_server.runtime.curation_tasks import FIND
from memvault.model.search import Mode
from tests.benchmarks.bench_engine import wait_until_quiet
from tests.benchmarks.bench_relative_times import CANDIDATES, spent
from tests.benchmarks.figures import median, percentile
from tests.benchmarks.measured_vaults import opened_set

WARMING = 10  # questions asked before, in other words
QUIET_SECONDS = 120.0


def row(folder: Path, scratch: Path, limit: int) -> str:
    with opened_set(folder, scratch) as container:
        container.worker.cancel(FIND)
        searcher, store = container.live.searcher, container.live.stores.vectors
        wait_until_quiet(os.getpid(), QUIET_SECONDS)
        questions = [
            each["question"]
            for each in json.loads((folder / "queries.json").read_text("utf-8"))
            if each["gold"]
        ]
        questions = random.Random(1).sample(questions, min(limit, len(questions)))

        def search(question: str) -> object:
            return searcher.search(question, mode=Mode.DEFAULT, top_k=10)

        def parts(question: str) -> None:
            vector = container.embedder.embed_query(f"{question} again")
            store.rank_dense(vector, CANDIDATES)
            store.rank_keywords(question, CANDIDATES)

        spent(search, [f"{question} now" for question in questions[:WARMING]])
        both = [(*spent(parts, [question]), *spent(search, [question])) for question in questions]
        b = median([part for part, _ in both])
        whole = [each for _, each in both]
        columns = [f"{value:.1f} ms, {value / b:.2f} b" for value in (
            median(whole), percentile(whole, 0.95)
        )]  # fmt: skip
        return f"| {folder.name} | {len(questions)} | {b:.2f} ms | {' | '.join(columns)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", type=Path, nargs="+", help="folders with queries.json")
    parser.add_argument("--limit", type=int, default=100, help="questions of each set")
    given = parser.parse_args()
    print("| set | questions | b | median (2 b) | p95 (4 b) |")
    print("| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        for folder in given.sets:
            print(row(folder, Path(scratch), given.limit), flush=True)


if __name__ == "__main__":
    main()
