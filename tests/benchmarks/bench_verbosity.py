"""How many of the model's tokens an answer costs at each level of verbosity, and how often the
sentence that is nearest to the question is among those shown at the usual one.

``python -m tests.benchmarks.bench_verbosity [--notes N]``, or with a vault and questions of one's
own ``--vault DIR --questions FILE.json`` (a list of objects with ``question``).

The usual answer is one to a question that one memory answers: recall_memory and graph_query with
top_k 1, and inject_context as it is. A memory's id, title, path, score and the fields that the
interface lists cost about 200 tokens with any of the levels that show text, so answers of more
memories cost in proportion.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from fastmcp import Client

from mcp_server.answers.memory_presenter import ANSWERING_BYTES
from mcp_server.runtime.container import Services
from mcp_server.server import build_server
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from memvault.model.search import Scope
from memvault.search.excerpt import excerpts
from memvault.vault.markdown.labelled_sentences import sentence_starts
from tests.benchmarks.generate import generate
from tests.benchmarks.measure import Figure, median, show, timed

AIMS = {0: "100", 1: "200", 2: "800"}  # core REQ-CORE-005
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("recall_memory", {"top_k": 1}),
    ("recall_memory", {"top_k": 3}),
    ("recall_memory", {"top_k": 10}),
    ("graph_query", {"top_k": 1}),
    ("inject_context", {}),
]
QUESTIONS = 40


def tokens(services: Services, questions: list[str]) -> list[Figure]:
    count = services.embedder.tokens.count

    async def cost(client: Client[Any], tool: str, arguments: dict[str, Any]) -> list[float]:
        answers = [
            await client.call_tool_mcp(tool, {"query": question, **arguments})
            for question in questions
        ]
        return [float(count(answer.content[0].text)) for answer in answers]

    async def measure() -> list[Figure]:
        async with Client(build_server(services)) as client:
            figures = []
            for tool, arguments in CALLS:
                for level, aim in AIMS.items():
                    spent = await cost(client, tool, {**arguments, "verbosity_level": level})
                    what = (
                        f"{tool}, {arguments.get('top_k', 'a budget of')} memories, level {level}"
                    )
                    usual = arguments.get("top_k", 1) == 1
                    figures.append(Figure(what, median(spent), "tokens", "", aim if usual else ""))
            return figures

    return asyncio.run(measure())


def shown(services: Services, questions: list[str]) -> list[Figure]:
    """Of passages that are too long to be shown whole, by the model's own similarity."""
    recalled = [services.multihop.recall(question, 10, Scope()) for question in questions]
    chosen, first, asked = 0, 0, 0
    spent: list[float] = []
    for question, found in zip(questions, recalled, strict=True):
        passages = [each.text for each in found]
        spent += timed(lambda q=question, p=passages: excerpts(q, p, ANSWERING_BYTES), 1, 0)
        if not passages or len(passages[0].encode()) <= ANSWERING_BYTES:
            continue
        sentences = _sentences(passages[0])
        vectors = services.embedder.embed([question, *sentences])
        nearest = sentences[int(np.argmax(np.array(vectors[1:]) @ vectors[0]))]
        asked += 1
        chosen += nearest in excerpts(question, passages, ANSWERING_BYTES)[0]
        first += nearest in passages[0].encode()[:ANSWERING_BYTES].decode(errors="ignore")
    if not asked:
        return []
    return [
        Figure("passages longer than an excerpt", asked, f"of {len(questions)}"),
        Figure("the nearest sentence is shown", 100 * chosen / asked, "%"),
        Figure("it would be, were the first shown", 100 * first / asked, "%"),
        Figure("choosing the sentences of 10 passages, median", median(spent), "ms"),
    ]


def _sentences(passage: str) -> list[str]:
    found = []
    for line in filter(str.strip, passage.splitlines()):
        starts = [*sentence_starts(line), len(line)]
        found += [line[start:end].strip() for start, end in pairwise(starts)]
    return found


def _questions(services: Services, file: Path | None) -> list[str]:
    if file is not None:
        asked = [each["question"] for each in json.loads(file.read_text(encoding="utf-8"))]
        return asked[:: max(1, len(asked) // QUESTIONS)]
    memories = sorted(services.catalogue.all(), key=lambda memory: memory.id)[:QUESTIONS]
    return [f"What is there to know about {memory.title}?" for memory in memories]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=300)
    parser.add_argument("--vault", type=Path)
    parser.add_argument("--questions", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        vault = options.vault or Path(scratch) / "vault"
        if options.vault is None:
            generate(vault, options.notes)
        settings = Settings(index=IndexSettings(ner="off"))
        services = Services(vault, settings, StateFolder(Path(scratch) / "state"))
        services.start(watch=False)
        questions = _questions(services, options.questions)
        figures = tokens(services, questions) + shown(services, questions)
        services.close()
    show("verbosity", figures)


if __name__ == "__main__":
    main()
