"""What entropy, coherence and the pulse add to an answer, at 10,000 notes.

usage: python -m tests.benchmarks.bench_pulse [--notes 10000] [--keep DIR]
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from mcp_server.runtime.container import Container
from memvault.cognition.pulse import PulseMeter
from memvault.cognition.similarity_index import SimilarityIndex
from memvault.stores.graph_view import GraphView
from tests.benchmarks.bench_engine import questions
from tests.benchmarks.figures import Figure, median, percentile, show, timed
from tests.benchmarks.measured_vaults import opened, parser_for

CHANGES = 30
PAUSE = 0.3  # seconds between them
WARMING_SECONDS = 8.0  # in which the states of all memories are measured


@dataclass(frozen=True)
class Answer:
    query: str
    ids: list[str]
    weights: list[float]


def added(meter: PulseMeter, ids: Sequence[str], weights: Sequence[float]) -> None:
    """What the tools ask for each answer."""
    meter.states(ids)
    meter.similarity_index.around(ids)
    meter.of(ids, weights)


def milliseconds(meter: PulseMeter, answers: Sequence[Answer]) -> list[float]:
    spent = []
    for answer in answers:
        start = time.perf_counter()
        added(meter, answer.ids, answer.weights)
        spent.append((time.perf_counter() - start) * 1000)
    return spent


def after_a_change(
    container: Container, meter: PulseMeter, answers: Sequence[Answer]
) -> tuple[list[float], list[float]]:
    """Of answers one of whose notes was saved just now: what reading that note again took when it
    was indexed, and what the pulse took once the answer was found."""
    read, spent = [], []
    for answer in random.Random(5).sample(answers, CHANGES):
        memory = container.live.catalogue.by_id(answer.ids[0])
        assert memory is not None
        start = time.perf_counter()
        container.live.indexer.relink([memory.path])
        read.append((time.perf_counter() - start) * 1000)
        container.live.searcher.find(answer.query, 10)
        spent += milliseconds(meter, [answer])
        time.sleep(PAUSE)
    return read, spent


def measure(container: Container, vault: Path) -> list[Figure]:
    process = psutil.Process()
    answers = []
    for query in questions(vault):
        hits = container.live.searcher.find(query, 10)
        answers.append(
            Answer(query, [hit.memory.id for hit in hits], [hit.relevance for hit in hits])
        )
    before = process.memory_info().rss
    start = time.perf_counter()
    view = GraphView(container.live.stores.graph, container.live.catalogue.by_id)
    similarity_index = SimilarityIndex(
        view, container.live.stores.vectors, container.live.catalogue
    )
    container.live.indexer.on_change.append(view.apply)
    similarity_index.load()
    warm = time.perf_counter() - start
    grown = (process.memory_info().rss - before) / 1e6
    meter = PulseMeter(lambda: similarity_index)
    first = milliseconds(meter, answers)
    again = milliseconds(meter, answers)
    meter.warm_up_soon()
    time.sleep(WARMING_SECONDS)
    read, changed = after_a_change(container, meter, answers)
    ids = similarity_index.memory_ids()
    whole = timed(lambda: PulseMeter(lambda: similarity_index).states(ids), 3, warm_up=0)
    of_vault = timed(lambda: PulseMeter(lambda: similarity_index).of_vault(), 5, warm_up=1)
    return [
        Figure(
            "state and pulse of 10 memories never asked of, p95",
            percentile(first, 0.95),
            "ms",
            "1",
            note=f"p50 {median(first):.2f}",
        ),
        Figure(
            "the same again, p95",
            percentile(again, 0.95),
            "ms",
            "1",
            note=f"p50 {median(again):.2f}",
        ),
        Figure(
            "one of the 10 just saved, p95",
            percentile(changed, 0.95),
            "ms",
            "1",
            note=f"p50 {median(changed):.2f}",
        ),
        Figure(
            "reading a saved note's edges and vectors again, p95",
            percentile(read, 0.95),
            "ms",
            note=f"p50 {median(read):.2f}; when it is indexed",
        ),
        Figure("states of all memories", median(whole), "ms", note=f"{len(ids)} notes"),
        Figure("pulse of the vault", median(of_vault), "ms", note="in the background"),
        Figure("reading everything", warm, "s", note="in the background"),
        Figure("memory for it", grown, "MB", "60"),
    ]


def main() -> None:
    given = parser_for(10_000, __doc__).parse_args()
    with opened(given.notes, given.keep) as container:
        container.indexing.scan()
        show("pulse", measure(container, container.vault.root))


if __name__ == "__main__":
    main()
