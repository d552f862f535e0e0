"""How long a question takes in an engine that has been up for a while: each tool as a client in the
same process sees it, for questions asked for the first time and again; then the candidates alone.

``python -m tests.benchmarks.bench_questions [--notes N] [--texts T] [--keep DIR]
                                             [--candidates-only]``

With ``--texts`` the notes repeat so many texts, so that 100,000 are indexed in a quarter of an
hour; the stores hold as much as without.
"""

from __future__ import annotations

import asyncio
import random
import time
from functools import partial
from pathlib import Path

from fastmcp import Client

from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from tests.benchmarks.bench_engine import questions
from tests.benchmarks.figures import Figure, median, percentile, show
from tests.benchmarks.generated_vault import generate
from tests.benchmarks.measured_vaults import opened, parser_for

WARMING_SECONDS = 15.0  # in which the states of all memories are measured
ASKED = 90
WARM_UP = 10
ROADS = (
    "Who leads {project}?",
    "Which projects does {person} work on?",
    "Which decisions were proposed by the lead of {project}?",
    "Who talked with the team of {project}?",
    "What did {person} propose for {project}?",
)


def relation_questions(vault: Path) -> list[str]:
    dice = random.Random(4)
    people = sorted(file.stem for file in (vault / "permanent" / "people").glob("*.md"))
    projects = sorted(each.name for each in (vault / "projects").iterdir() if each.is_dir())
    return [
        ROADS[number % len(ROADS)].format(person=dice.choice(people), project=dice.choice(projects))
        for number in range(ASKED)
    ]


def candidates(container: Container, questions: list[str]) -> list[Figure]:
    """The embedder keeps a question's vector, so searching does not embed it again."""
    embedding, searching = [], []
    for question in questions:
        began = time.perf_counter()
        container.embedder.embed_query(question)
        embedded = time.perf_counter()
        container.live.searcher.find(question, 10)
        searching.append((time.perf_counter() - embedded) * 1000)
        embedding.append((embedded - began) * 1000)
    return [
        Figure("embedding a question, median", median(embedding), "ms"),
        Figure("candidates, fused and read, p95", percentile(searching, 0.95), "ms", "10; 25 at 100,000",
               note=f"median {median(searching):.1f}"),
    ]  # fmt: skip


async def by_tools(container: Container, questions_by_tool: dict[str, list[str]]) -> list[Figure]:
    figures = []
    least = {"recall_memory": ("25", "12"), "graph_query": ("100", "40")}
    async with Client(build_server(container)) as client:
        await asyncio.sleep(WARMING_SECONDS)
        for tool, some in questions_by_tool.items():
            for when in ("for the first time", "again"):
                spent = []
                for question in some:
                    began = time.perf_counter()
                    await client.call_tool_mcp(tool, {"query": question})
                    spent.append((time.perf_counter() - began) * 1000)
                figures.append(
                    Figure(f"{tool}, asked {when}, p95", percentile(spent[WARM_UP:], 0.95), "ms",
                           *least[tool], f"median {median(spent[WARM_UP:]):.0f}")
                )  # fmt: skip
    return figures


def main() -> None:
    parser = parser_for(10_000, __doc__)
    parser.add_argument("--texts", type=int, help="different texts, if not all differ")
    parser.add_argument("--candidates-only", action="store_true", help="ask no tool")
    arguments = parser.parse_args()
    with opened(
        arguments.notes, arguments.keep, partial(generate, texts=arguments.texts)
    ) as container:
        vault = container.vault.root
        plain = questions(vault)[: ASKED + WARM_UP]
        tools = {"recall_memory": plain, "graph_query": relation_questions(vault)}
        if arguments.candidates_only:
            container.indexing.scan()
            container.live.stores.vectors.warm_up()
            figures = []
        else:
            container.start(watch=False)
            container.live.similarity_index.load()
            container.live.graph_view.load()
            container.curation.wait(600)
            figures = asyncio.run(by_tools(container, tools))
        figures += candidates(container, plain)
        show("questions", [*figures, Figure("notes", len(container.live.catalogue), "")])


if __name__ == "__main__":
    main()
