"""Dreams: whether they propose links that were taken away, how long they take, and what a question
waits meanwhile.

``python -m tests.benchmarks.bench_dreams VAULT [--seeds N] [--state DIR]`` (links)
``python -m tests.benchmarks.bench_dreams VAULT --time [--state DIR]`` (a whole dream)

Of the pairs of notes in a vault that are linked, a tenth loses its links, in the graph only. Then
the best 50 proposals are compared with them. *unlinked*: a sentence that names the other note still
does, as when the brackets are taken away; *gone*: it does not either. In a vault without links
between notes, each name is made a link first.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import mean

from mcp_server.runtime.container import Container
from memvault.config.paths import StateFolder
from memvault.consolidation.dreams.links import NAMED, LinkedNodes, missing_links
from memvault.consolidation.dreams.record import DreamPhase
from memvault.model.graph import EdgeOrigin, GraphEdge, NoteGraph, NotesIndexed
from memvault.stores.graph_view import GraphView
from memvault.text.words import name_key
from tests.benchmarks.figures import percentile
from tests.benchmarks.measured_vaults import SETTINGS

PROPOSED = 50
TURN = 10
QUESTIONS, GAP = 60, 0.6  # seconds between two, so that a dream goes on in between
Pair = tuple[str, str]


def pair_of(edge: GraphEdge) -> Pair:
    return min(edge.source, edge.target), max(edge.source, edge.target)


def still_named(edge: GraphEdge, container: Container) -> bool:
    memory = container.live.catalogue.by_id(edge.target)
    if memory is None:
        return False
    words = f" {name_key(edge.sentence)} "
    return any(f" {name_key(name)} " in words for name in (memory.title, *memory.aliases) if name)


@contextmanager
def without(container: Container, gone: Collection[Pair], named: bool) -> Iterator[None]:
    """The graph in memory without these pairs' edges; with ``named``, a link whose sentence names
    the other note becomes a mention."""
    view, before = container.live.graph_view, {}
    for key in {key for pair in gone for key in pair}:
        node, edges = view.node(key), view.stated_by(key)
        assert node is not None
        before[key] = NoteGraph(node, edges)
        left = [edge for edge in edges if pair_of(edge) not in gone]
        if named:
            cut = [edge for edge in edges if pair_of(edge) in gone]
            left += [
                replace(edge, origin=EdgeOrigin.MENTION)
                for edge in cut
                if still_named(edge, container)
            ]
        view.apply(NotesIndexed(graphs=(NoteGraph(node, tuple(left)),)))
    try:
        yield
    finally:
        view.apply(NotesIndexed(graphs=tuple(before.values())))


def link_names(view: GraphView, sources: Collection[str]) -> None:
    for key in sources:
        node = view.node(key)
        assert node is not None
        edges = [replace(edge, origin=EdgeOrigin.LINK) for edge in view.stated_by(key)]
        view.apply(NotesIndexed(graphs=(NoteGraph(node, tuple(edges)),)))


def measure(container: Container, seeds: int) -> None:
    live = container.live
    live.similarity_index.load()
    rows = live.similarity_index.rows(live.similarity_index.memory_ids())
    ids = set(rows.ids)
    between = [edge for edge in live.graph_view.all() if {edge.source, edge.target} <= ids]
    linking = [edge for edge in between if edge.source != edge.target]
    links = {pair_of(edge) for edge in linking if edge.origin not in NAMED}
    if len(links) < len(ids) / 10:
        link_names(live.graph_view, {edge.source for edge in linking})
        links = {pair_of(edge) for edge in linking}
    for name, named in (("unlinked", True), ("gone", False)):
        scores = []
        for seed in range(seeds):
            gone = set(random.Random(seed).sample(sorted(links), max(1, len(links) // 10)))
            with without(container, gone, named):
                found = missing_links(LinkedNodes.from_view(live.graph_view, ids), rows, PROPOSED)
            hits = sum((min(e.source, e.target), max(e.source, e.target)) in gone for e in found)
            scores.append((hits / max(1, len(found)), hits / len(gone)))
        precision, recall = (mean(each) for each in zip(*scores, strict=True))
        print(
            f"{name:<9} {len(links)} pairs, {len(gone)} removed: "
            f"precision {precision:.2f}, recall {recall:.2f} in the first {PROPOSED}"
        )


def asked(container: Container, questions: Sequence[str], gap: float) -> list[float]:
    """Milliseconds of each question, asked as a tool does, so many seconds apart."""
    spent = []
    for question in questions:
        time.sleep(gap)
        with container.requests.running():
            began = time.perf_counter()
            container.live.searcher.search(question)
            spent.append((time.perf_counter() - began) * 1_000)
    return spent


def measure_time(container: Container) -> None:
    live, dreaming = container.live, container.dreaming
    live.similarity_index.load()
    live.graph_view.load()
    dice = random.Random(3)
    titles = sorted(memory.title for memory in live.catalogue.all())
    questions = [
        f"What about {title}?" for title in dice.sample(titles, min(QUESTIONS, len(titles)))
    ]
    asked(container, questions[:20], 0.0)
    began = time.perf_counter()
    dreaming.trigger(tuple(DreamPhase))
    dreaming.wait(600.0)
    print(f"a whole dream over {len(titles):,} notes: {time.perf_counter() - began:.1f} s")
    for report in dreaming.record.reports()[-2:]:
        print(
            f"  {report.phase}: {report.seconds:.1f} s of work, complete: {report.complete}, "
            f"{report.discoveries} discoveries, {report.consolidated} of {report.replayed} "
            f"replayed got stronger, {report.queries} questions"
        )

    def tidy() -> float:
        container.upkeep.run()
        return 0.0

    spent: dict[str, list[float]] = {"idle": [], "dreaming": [], "upkeep": []}
    for first in range(0, len(questions), TURN):  # in turns, so that the machine is the same
        some = questions[first : first + TURN]
        spent["idle"] += asked(container, some, GAP)
        for question in some:
            dreaming.trigger(tuple(DreamPhase))
            spent["dreaming"] += asked(container, [question], GAP)
        dreaming.wait(600.0)
        container.worker.run("benchmark", tidy)
        spent["upkeep"] += asked(container, some, GAP)
        container.worker.cancel("benchmark")
        container.worker.wait("benchmark", 60.0)
    for name, each in spent.items():
        print(
            f"recall, {name}: p50 {percentile(each, 0.5):.1f}, p95 {percentile(each, 0.95):.1f} ms"
        )
    (waking,) = dreaming.wake_seconds.collect()
    within = {sample.labels["le"]: sample.value for sample in waking.samples if sample.labels}
    print(
        f"woken {within['+Inf']:.0f} times, within 100 ms {within['0.1']:.0f}, within 50 ms "
        f"{within['0.05']:.0f}; upkeep ran {container.upkeep.runs} times, last {container.upkeep.last}"
    )


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--time", action="store_true", help="time a whole dream")
    parser.add_argument("--state", type=Path, help="kept for the next run")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        container = Container(given.vault, SETTINGS, StateFolder(given.state or Path(scratch)))
        try:
            container.start(watch=False)
            if given.time:
                measure_time(container)
            else:
                measure(container, given.seeds)
        finally:
            container.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
