"""memsearch and memvault side by side: the same vault, questions, model and machine, in turn.

usage: python -m tests.benchmarks.bench_against_memsearch --python MEMSEARCH/bin/python
                                                  [--vault DIR] [--questions FILE] [--limit 150]

memsearch (``pip install memsearch``) runs in a process of its own interpreter, which finds
sentence-transformers there or in this one's packages; it is given the model that memvault bundles.
Timed are the calls of both libraries: from a question to the ten best results.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sysconfig
import tempfile
import time
from functools import partial
from pathlib import Path

from mcp_server.runtime.container import Container
from memvault.config.paths import StateFolder
from memvault.model.search import Mode
from memvault.text.encoders.model_files import BUNDLED, model_source
from tests.benchmarks.bench_indexing import EVAL
from tests.benchmarks.bench_relative_times import spent
from tests.benchmarks.figures import Figure, median, percentile, show
from tests.benchmarks.measured_vaults import SETTINGS

THEIRS = """
import asyncio, json, sys, time
vault, state, model, packages, asked = json.load(sys.stdin)
sys.path.append(packages)
from memsearch import MemSearch

async def run():
    found = MemSearch([vault], embedding_provider="local", embedding_model=model,
                      milvus_uri=state + "/milvus.db")
    began = time.perf_counter()
    await found.index()
    indexed, spent = time.perf_counter() - began, []
    for question in asked:
        began = time.perf_counter()
        await found.search(question, top_k=10)
        spent.append((time.perf_counter() - began) * 1000)
    print("\\n" + json.dumps([indexed, spent]))

asyncio.run(run())
"""
WARM_UP = 5


def theirs(
    python: Path, vault: Path, state: Path, questions: list[str]
) -> tuple[float, list[float]]:
    """Seconds to index the vault, and milliseconds of each question."""
    packages = sysconfig.get_path("purelib")
    given = json.dumps([str(vault), str(state), model_source(BUNDLED), packages, questions])
    command = [str(python), "-c", THEIRS]
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, text=True, check=True)
    indexed, each = json.loads(done.stdout.strip().splitlines()[-1])
    return float(indexed), [float(one) for one in each[WARM_UP:]]


def ours(vault: Path, state: Path, questions: list[str]) -> tuple[float, list[float]]:
    container = Container(vault, SETTINGS, StateFolder(state))
    try:
        container.embedder.embed(["one text, so that the model is ready"])
        began = time.perf_counter()
        container.indexing.scan()
        indexed = time.perf_counter() - began
        search = partial(container.live.searcher.search, mode=Mode.DEFAULT, top_k=10)
        container.live.searcher.warm_up()
        return indexed, spent(search, questions)[WARM_UP:]
    finally:
        container.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, required=True, help="memsearch's interpreter")
    parser.add_argument("--vault", type=Path, default=EVAL)
    parser.add_argument("--questions", type=Path, default=EVAL.parent / "queries.json")
    parser.add_argument("--limit", type=int, default=150)
    given = parser.parse_args()
    questions = [each["question"] for each in json.loads(given.questions.read_text("utf-8"))]
    with tempfile.TemporaryDirectory() as scratch:
        vault = Path(scratch) / "vault"
        shutil.copytree(given.vault, vault)
        notes = len(list(vault.rglob("*.md")))
        their_index, their = theirs(given.python, vault, Path(scratch), questions[: given.limit])
        our_index, our = ours(vault, Path(scratch) / "state", questions[: given.limit])
    pairs = [("median", median(our), median(their))]
    pairs.append(("p95", percentile(our, 0.95), percentile(their, 0.95)))
    figures = [
        Figure(f"memsearch's time against memvault's, {name}", slower / quicker, "times", "10",
               note=f"{slower:.1f} against {quicker:.1f} ms")
        for name, quicker, slower in pairs
    ]  # fmt: skip
    rates = f"{notes / our_index * 60:.0f} against {notes / their_index * 60:.0f} notes/min"
    figures.append(
        Figure("memvault's rate of indexing against memsearch's", their_index / our_index, "times",
               "2", note=rates)
    )  # fmt: skip
    show("memsearch", figures)


if __name__ == "__main__":
    main()
