"""How many of the model's tokens an answer costs at each level of verbosity, and how long choosing
its sentences takes.

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
from pathlib import Path
from typing import Any

from fastmcp import Client

from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from mcp_server.tools.memory_presenter import excerpt_limits
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from memvault.model.search import VerbosityLevel
from tests.benchmarks.figures import Figure, median, show, timed
from tests.benchmarks.generated_vault import generate

AIMS = {0: "100", 1: "200", 2: "800"}  # core REQ-CORE-005
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("recall_memory", {"top_k": 1}),
    ("recall_memory", {"top_k": 3}),
    ("recall_memory", {"top_k": 10}),
    ("graph_query", {"top_k": 1}),
    ("inject_context", {}),
]
QUESTIONS = 40


def tokens(container: Container, questions: list[str]) -> list[Figure]:
    count = container.embedder.tokens.count

    async def cost(client: Client[Any], tool: str, arguments: dict[str, Any]) -> list[float]:
        answers = [
            await client.call_tool_mcp(tool, {"query": question, **arguments})
            for question in questions
        ]
        return [float(count(answer.content[0].text)) for answer in answers]

    async def measure() -> list[Figure]:
        async with Client(build_server(container)) as client:
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


def choosing(container: Container, questions: list[str]) -> list[Figure]:
    """The time that choosing the sentences of ten memories takes."""
    limits = excerpt_limits(10, VerbosityLevel.TEXT_AND_IDS)
    spent: dict[str, list[float]] = {"first": [], "again": []}
    for question in questions:
        hits = container.live.searcher.find(question, 10)
        excerpts = container.excerpts
        for which in spent:
            spent[which] += timed(lambda e=excerpts, q=question, p=hits: e.of(q, p, limits), 1, 0)
    return [
        Figure("excerpts of 10 memories, none read before, median", median(spent["first"]), "ms"),
        Figure("excerpts of 10 memories, all read before, median", median(spent["again"]), "ms"),
    ]


def _questions(container: Container, file: Path | None) -> list[str]:
    if file is not None:
        questions = [each["question"] for each in json.loads(file.read_text(encoding="utf-8"))]
        return questions[:: max(1, len(questions) // QUESTIONS)]
    memories = sorted(container.live.catalogue.all(), key=lambda memory: memory.id)[:QUESTIONS]
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
        container = Container(vault, settings, StateFolder(Path(scratch) / "state"))
        container.start(watch=False)
        questions = _questions(container, options.questions)
        figures = tokens(container, questions) + choosing(container, questions)
        container.close()
    show("verbosity", figures)


if __name__ == "__main__":
    main()
