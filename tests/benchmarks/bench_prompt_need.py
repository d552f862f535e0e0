"""Which prompts need a memory: the map of `memvault.search.prompt_need`, fitted and judged.

Every vault is asked its own questions, as they are and worded as an instruction and as a statement,
and prompts about code that need nothing of it. The map is fitted to ``work_prompts.txt`` and judged
on ``unrelated_prompts.txt``, which it has not seen. Sets are folders of ``../shared/eval``.

usage: python -m tests.benchmarks.bench_prompt_need [--sets DIR] [--limit N]
"""

from __future__ import annotations

import argparse
import json
import math
import random
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mcp_server.runtime.container import Container
from memvault.capture.extract import says_little
from memvault.search.prompt_need import NEEDED, PromptNeed
from tests.benchmarks.bench_calibration import fitted
from tests.benchmarks.measured_vaults import opened_set
from tests.benchmarks.run_question_sets import SETS

HERE = Path(__file__).parent
REWORDED = 40  # questions of each set that are asked in other forms, too
Array = npt.NDArray[np.float64]


def rows(container: Container, need: PromptNeed, prompts: Sequence[str]) -> tuple[Array, Array]:
    """(n, 3) relevance, kind and form of each prompt's best memory, and the map's chances."""
    seen, chances = [], []
    for prompt in prompts:
        hits = [] if says_little(prompt) else container.live.searcher.find(prompt, 10)
        best = max((hit.relevance for hit in hits), default=0.0)
        asks = float(prompt.endswith("?"))
        seen.append([best, need.work_share(prompt), asks])
        chances.append(max((need.chance(prompt, hit) for hit in hits), default=0.0))
    return np.array(seen), np.array(chances)


def measured(folder: Path, scratch: Path, limit: int) -> Mapping[str, tuple[Array, Array]]:
    with opened_set(folder, scratch) as container:
        need = PromptNeed(container.embedder.embed_query)
        sets = json.loads((folder / "queries.json").read_text("utf-8"))
        questions = [str(each["question"]) for each in sets if each["gold"]]
        random.Random(3).shuffle(questions)
        questions = questions[:limit]
        bare = [each[0].lower() + each[1:].rstrip(" ?") for each in questions[:REWORDED]]
        prompts = {
            "work": (HERE / "work_prompts.txt").read_text("utf-8").splitlines(),
            "unrelated": (HERE / "unrelated_prompts.txt").read_text("utf-8").splitlines(),
            "asked": questions,
            "instructed": [f"Write a few lines about {each}" for each in bare],
            "stated": [f"I wonder {each}." for each in bare],
        }
        return {kind: rows(container, need, some) for kind, some in prompts.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=Path, default=SETS)
    parser.add_argument("--limit", type=int, default=130, help="questions of each set")
    given = parser.parse_args()
    folders = sorted(queries.parent for queries in given.sets.glob("*/queries.json"))
    groups = []
    print(f"share given at {NEEDED}, of unrelated prompts the share that gets nothing\n")
    print("| vault | unrelated | asked | instructed | stated |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as scratch:
        for folder in folders:
            found = measured(folder, Path(scratch), given.limit)
            share = {kind: float((chance >= NEEDED).mean()) for kind, (_, chance) in found.items()}
            print(f"| {folder.name} | {1 - share['unrelated']:.3f} | {share['asked']:.3f} | "
                  f"{share['instructed']:.3f} | {share['stated']:.3f} |", flush=True)  # fmt: skip
            known = np.concatenate([found[kind][0] for kind in ("asked", "instructed", "stated")])
            work = found["work"][0]
            groups += [(known, np.ones(len(known)), 1.0), (work, np.zeros(len(work)), 1.0)]
    if groups:
        map_ = fitted(groups, (0, 1, 2))
        weights = (map_.intercept, map_.relevance, map_.gap, map_.words)
        print("\nfitted: intercept, relevance, work, question:", *(f"{w:.2f}" for w in weights))
        print(f"log-odds of {NEEDED}: {math.log(NEEDED / (1 - NEEDED)):.2f}")


if __name__ == "__main__":
    main()
