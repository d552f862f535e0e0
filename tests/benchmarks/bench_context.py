"""Distilling a context: how long it takes, what it saves, what it loses, what answers take.

``python -m tests.benchmarks.bench_context [--notes N] [--keep DIR]``
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fastmcp import Client

from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.model.search import Hit
from memvault.search.context.distil import Distiller
from memvault.search.context.forms import Context, ContextBudget, ContextForm
from memvault.vault.parse import parse_note
from tests.benchmarks.figures import Figure, median, percentile, show
from tests.benchmarks.measured_vaults import opened, parser_for

ASKED = 150
MEMORIES = 20
TEXT = 400  # tokens of the contexts measured
SHARE = 0.4  # of the memories' text that may be kept when losses are counted
MIN_WORDS = 8  # of a sentence that is asked for


@dataclass(frozen=True)
class Question:
    """Words of one sentence of one note, which a context for it should still have."""

    text: str
    path: str
    sentence: str


def questions(vault: Path) -> list[Question]:
    """A note's name and half of the words of one of its sentences, in another order."""
    dice = random.Random(5)
    notes = sorted(vault.rglob("*.md"))
    found = []
    for file in dice.sample(notes, min(2 * ASKED, len(notes))):
        note = parse_note(file.relative_to(vault).as_posix(), file.read_bytes())
        sentences = [each.text for block in note.blocks for each in block.sentences]
        sentences = [each for each in sentences if len(each.split()) >= MIN_WORDS]
        if sentences:
            sentence = dice.choice(sentences)
            words = sentence.rstrip(".").split()
            chosen_words = dice.sample(words, len(words) // 2)
            found.append(Question(f"{note.title} {' '.join(chosen_words)}", note.path, sentence))
    return found[:ASKED]


def milliseconds(since: float) -> float:
    return (time.perf_counter() - since) * 1000


def distilling(container: Container, sampled: list[Question]) -> list[Figure]:
    """Recalled beforehand: what is measured is distillation alone."""
    distiller = Distiller(
        container.outlines, container.embedder, container.live.catalogue.ids_starting
    )
    recalled = {each.text: found_for(container, each) for each in sampled}
    first, again, saved = [], [], []
    for each in sampled:
        for spent in (first, again):
            start = time.perf_counter()
            context = distiller.distil(each.text, recalled[each.text], ContextBudget(TEXT))
            spent.append(milliseconds(start))
        saved.append(context.compression)
    kept = [
        each.sentence in shortened(distiller, each, recalled[each.text]).text
        for each in sampled
        if each.path in {hit.memory.path for hit in recalled[each.text]}
    ]
    note = f"{MEMORIES} memories into {TEXT} tokens"
    return [
        Figure("distillation, p95", percentile(again, 0.95), "ms", "50", "", note),
        Figure("distillation, median", median(again), "ms", "50", "", note),
        Figure("the same of notes read for the first time, p95", percentile(first, 0.95), "ms"),
        Figure("tokens saved, mean", 100 * sum(saved) / len(saved), "%", "60", "", note),
        Figure(
            "sentences asked for that are lost",
            100 * (1 - sum(kept) / len(kept)),
            "%",
            "15",
            "",
            f"{100 * (1 - SHARE):.0f}% of the tokens saved; {len(kept)} questions",
        ),
    ]


def found_for(container: Container, question: Question) -> list[Hit]:
    return container.live.searcher.find(question.text, MEMORIES)


def shortened(distiller: Distiller, question: Question, found: Sequence[Hit]) -> Context:
    whole = distiller.distil(
        question.text, found, ContextBudget(TEXT), ContextForm.NARRATIVE
    ).source_tokens
    room = ContextBudget(max(100, round(SHARE * whole)))
    return distiller.distil(question.text, found, room, ContextForm.NARRATIVE)


async def calling(container: Container, sampled: list[Question]) -> list[Figure]:
    """Through a client in the same process, each question once."""
    spent, plain = [], []
    sizes: dict[int, list[float]] = {0: [], 1: [], 2: []}
    async with Client(build_server(container)) as client:
        await client.call_tool("inject_context", {"query": "warm up"})
        for each in sampled:
            start = time.perf_counter()
            await client.call_tool("inject_context", {"query": each.text})
            spent.append(milliseconds(start))
        for each in sampled:
            start = time.perf_counter()
            await client.call_tool("vector_search", {"query": each.text})
            plain.append(milliseconds(start))
        for level, counted in sizes.items():
            for each in sampled[:40]:
                given = {"query": each.text, "verbosity_level": level}
                result = await client.call_tool_mcp("inject_context", given)
                counted.append(container.embedder.tokens.count(result.content[0].text))
    levels = [
        Figure(f"tokens of an answer at verbosity {level}, median", median(counted), "", about)
        for (level, counted), about in zip(sizes.items(), ("100", "200", "800"), strict=True)
    ]
    return [
        Figure(
            "inject_context, p95",
            percentile(spent, 0.95),
            "ms",
            "25",
            "",
            f"p50 {median(spent):.1f}; vector_search p95 {percentile(plain, 0.95):.1f}",
        ),
        *levels,
    ]


def main() -> None:
    given = parser_for(1_000, __doc__).parse_args()
    with opened(given.notes, given.keep) as container:
        container.start(watch=False)
        container.live.similarity_index.load()
        sampled = questions(container.vault.root)
        figures = asyncio.run(calling(container, sampled))
        show("context", distilling(container, sampled) + figures)


if __name__ == "__main__":
    main()
