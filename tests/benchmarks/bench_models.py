"""Recall with an embedding model of your own: by its vectors alone, by hybrid search and by the
whole search, as R@5 / R@10 / MRR; and how many questions get nothing.

Sets are folders as `run_question_sets` asks them; each vault is copied first.

usage: python -m tests.benchmarks.bench_models SET … [--model NAME_OR_FOLDER] [--limit N]
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean

from mcp_server.runtime.container import Container
from memvault.config.settings import EmbeddingSettings
from memvault.model.search import Mode
from tests.benchmarks.measured_vaults import SETTINGS, opened_set

SHOWN = 10
NEAREST = 200  # chunks


def figures(found: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> str:
    """R@5 / R@10 / MRR of the paths found for each question."""
    recalls: dict[int, list[float]] = {5: [], SHOWN: []}
    ranks = []
    for paths, own in zip(found, gold, strict=True):
        for most, recall in recalls.items():
            recall.append(len(set(own) & set(paths[:most])) / len(own))
        rank = next((place for place, path in enumerate(paths, 1) if path in own), 0)
        ranks.append(1 / rank if rank else 0.0)
    return " / ".join(f"{mean(values):.2f}" for values in (*recalls.values(), ranks))


def by_vectors(container: Container, question: str) -> list[str]:
    """The paths of the notes whose best chunk is nearest in meaning."""
    vector = container.embedder.embed_query(question)
    near = container.live.stores.vectors.rank_dense(vector, NEAREST)
    notes = [container.live.catalogue.by_id(each) for each in dict.fromkeys(near.note_ids)]
    return [memory.path for memory in notes[:SHOWN] if memory is not None]


def row(folder: Path, model: str, scratch: Path, limit: int) -> str:
    settings = SETTINGS.model_copy(update={"embedding": EmbeddingSettings(model=model)})
    with opened_set(folder, scratch, settings) as container:
        searcher = container.live.searcher
        questions = json.loads((folder / "queries.json").read_text("utf-8"))
        answerable = [each for each in questions if each["gold"]]
        if limit:
            answerable = random.Random(1).sample(answerable, min(limit, len(answerable)))
        open_ = [each["question"] for each in questions if not each["gold"]]

        def whole(question: str) -> list[str]:
            result = searcher.search(question, mode=Mode.DEFAULT)
            return [hit.memory.path for hit in result.hits]

        def hybrid(question: str) -> list[str]:
            return [hit.memory.path for hit in searcher.hybrid.search(question, SHOWN)]

        ways: tuple[Callable[[str], list[str]], ...] = (
            lambda question: by_vectors(container, question), hybrid, whole,
        )  # fmt: skip
        found = [[way(each["question"]) for each in answerable] for way in ways]
        gold = [each["gold"] for each in answerable]
        lost = sum(not paths for paths in found[-1])
        silent = sum(not whole(question) for question in open_)
        cells = [folder.name, *(figures(each, gold) for each in found)]
        cells += [f"{lost} of {len(answerable)}", f"{silent} of {len(open_)}"]
        return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", type=Path, nargs="+", help="folders with queries.json")
    parser.add_argument("--model", default=EmbeddingSettings().model)
    parser.add_argument("--limit", type=int, default=0, help="questions of each set; 0: all")
    given = parser.parse_args()
    print("| set | vectors alone | hybrid | whole | answerable, nothing | unanswerable, nothing |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        for folder in given.sets:
            print(row(folder, given.model, Path(scratch), given.limit), flush=True)


if __name__ == "__main__":
    main()
