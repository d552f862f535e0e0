"""The time of search in units of b: embedding a question and the two searches, in the same run.

Machines differ fourfold, so only ratios are compared. In one process: b, `Searcher.search`, the
first and the second sight of passages, with questions in plain words and questions that name
relations; then `recall_memory` and `inject_context` over HTTP, less a call of a tool that does
nothing; with ``--new`` also `recall_memory` while so many new notes are indexed. For a larger vault
against a smaller one, run it with both, and ``--library``, which leaves HTTP out. Where others use
the machine, compare processor times.

``python -m tests.benchmarks.bench_relative_times [--notes N] [--texts T] [--new N] [--library] [--keep DIR]``
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import psutil
from fastmcp import Client

from mcp_server.engine.client import EngineClient, connect_to_engine
from mcp_server.engine.launcher import Launcher, engine_command, read_address
from mcp_server.runtime.container import Container
from mcp_server.runtime.curation_tasks import FIND
from mcp_server.server import build_server
from memvault.model.search import Mode
from tests.benchmarks.bench_engine import (
    latencies,
    questions,
    wait_until_indexed,
    wait_until_quiet,
)
from tests.benchmarks.bench_questions import relation_questions
from tests.benchmarks.figures import Figure, median, percentile, show
from tests.benchmarks.generated_vault import generate
from tests.benchmarks.measured_vaults import SETTINGS, made_vault, parser_for

CANDIDATES = 50
SHARED_BY = 3  # ways of asking that take turns with the questions, so that none is asked twice
PULSES_SECONDS = 240.0  # in which the pulse of all notes is measured, at most
INDEXING_SECONDS = 120.0  # in which questions are asked while notes are indexed, at most
NOTHING = "from fastmcp import FastMCP\ns = FastMCP('empty')\n@s.tool\ndef nothing() -> str:\n"
NOTHING += "    return ''\ns.run(transport='http', port={port}, show_banner=False)\n"


def spent(call: Callable[[str], object], questions: Sequence[str]) -> list[float]:
    """Milliseconds of each question."""
    found = []
    for question in questions:
        began = time.perf_counter()
        call(question)
        found.append((time.perf_counter() - began) * 1000)
    return found


async def processor_time(
    client: Client[Any], questions: Sequence[str], clock: Callable[[], float]
) -> float:
    """Mean milliseconds of processor that `recall_memory` takes, by this clock in seconds."""
    async with client:
        await client.call_tool("recall_memory", {"query": questions[0]})
        began = clock()
        for question in questions:
            await client.call_tool("recall_memory", {"query": question})
        return (clock() - began) * 1000 / len(questions)


def ratios(what: str, measured: Sequence[float], b: float, least: str, aim: str) -> list[Figure]:
    both = {"median": median(measured), "p95": percentile(measured, 0.95)}
    limits = zip(least.split(", "), aim.split(", "), strict=True)
    return [
        Figure(f"{what}, {name}", value / b, "b", *limit, f"{value:.1f} ms")
        for (name, value), limit in zip(both.items(), limits, strict=True)
    ]


def in_the_library(
    container: Container, client: Client[Any], questions: list[str], related: list[str]
) -> list[Figure]:
    searcher, embedder = container.live.searcher, container.embedder
    store = container.live.stores.vectors

    def parts(question: str) -> None:
        vector = embedder.embed_query(question)
        store.rank_dense(vector, CANDIDATES)
        store.rank_keywords(question, CANDIDATES)

    search = partial(searcher.search, mode=Mode.DEFAULT, top_k=10)
    spent(search, [*questions[:5], *related[:5]])
    questions, related = questions[5:], related[5:]
    own = spent(parts, questions[::SHARED_BY])
    b = median(own)
    began = time.process_time()
    first = spent(search, questions[1::SHARED_BY])
    processor = (time.process_time() - began) * 1000 / len(first)
    again = spent(search, [f"{question} again" for question in questions[1::SHARED_BY]])
    return [
        Figure("b: embedding a question and two searches, median", b, "ms",
               note=f"p95 {percentile(own, 0.95):.1f} ms"),
        *ratios("Searcher.search, plain", first, b, "2, 4", "1.5, 2.5"),
        *ratios("Searcher.search, with relations", spent(search, related), b, "2, 4", "1.5, 2.5"),
        Figure("first sight of passages against the second, median", median(first) / median(again),
               "", "1.2", "1.0"),
        Figure("processor time of Searcher.search, plain, mean", processor, "ms"),
        Figure("processor time of recall_memory, client in the same process, mean",
               asyncio.run(processor_time(client, questions[2::SHARED_BY],
                                          time.process_time)), "ms"),
    ]  # fmt: skip


async def over_http(url: str, empty: str, pid: int, questions: list[str], b: float) -> list[Figure]:
    def arguments(key: str, some: list[str]) -> list[dict[str, Any]]:
        return [{key: question} for question in some]

    nothing = await latencies(Client(empty), "nothing", [{}] * 60)
    recall = await latencies(Client(url), "recall_memory", arguments("query", questions[::2]))
    inject = await latencies(Client(url), "inject_context", arguments("query", questions[1::2]))
    less = [each - median(nothing) for each in recall]
    process = psutil.Process(pid)
    used = await processor_time(
        Client(url), [f"{question} again" for question in questions[::2]],
        lambda: sum(process.cpu_times()[:2]),
    )  # fmt: skip
    return [
        Figure("a tool that does nothing over HTTP, median", median(nothing), "ms"),
        *ratios("recall_memory over HTTP, less that", less, b, "3, 5", "2, 3"),
        Figure("processor time of the engine for recall_memory over HTTP, mean", used, "ms"),
        Figure("inject_context against recall_memory, p95",
               percentile(inject, 0.95) / percentile(recall, 0.95), "", "2", "1.3",
               f"{percentile(inject, 0.95):.0f} against {percentile(recall, 0.95):.0f} ms"),
    ]  # fmt: skip


async def while_indexing(
    url: str, engine: EngineClient, vault: Path, notes: int, questions: list[str]
) -> list[Figure]:
    """The same questions, each with a number, idle and then while new notes are indexed."""
    new, before = vault / "new notes", len(list(vault.rglob("*.md")))
    shutil.rmtree(new, ignore_errors=True)

    async def spent(client: Client[Any], question: str) -> float:
        began = time.perf_counter()
        await client.call_tool("recall_memory", {"query": question})
        return (time.perf_counter() - began) * 1000

    try:
        async with Client(url) as client:
            idle = [await spent(client, f"{question} once more") for question in questions]
            await asyncio.to_thread(generate, new, notes, time.time_ns())  # with no known vectors
            until, busy = time.monotonic() + INDEXING_SECONDS, []
            while time.monotonic() < until:
                question = f"{questions[len(busy) % len(questions)]} now {len(busy)}"
                busy.append(await spent(client, question))
                await asyncio.sleep(0.05)
                if (await asyncio.to_thread(engine.status)).get("notes", 0) >= before + notes:
                    break
        done = engine.status().get("notes", 0) - before
    finally:
        shutil.rmtree(new)
    summary = f"median {median(busy):.0f} ms, p95 {percentile(busy, 0.95):.0f} ms of {len(busy)}, "
    summary += f"while {done} of {notes} were indexed; idle {median(idle):.0f} and "
    summary += f"{percentile(idle, 0.95):.0f} ms"
    return [Figure("recall_memory while new notes are indexed against idle, p95",
                   percentile(busy, 0.95) / percentile(idle, 0.95), "", "3", "1.5", summary)]  # fmt: skip


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> None:
    parser = parser_for(10_000, __doc__)
    parser.add_argument("--texts", type=int, help="different texts, if not all differ")
    parser.add_argument("--library", action="store_true", help="leave HTTP out")
    parser.add_argument("--new", type=int, help="notes that are indexed amid questions")
    given = parser.parse_args()
    with made_vault(given.notes, given.keep, partial(generate, texts=given.texts)) as made:
        plain, related = questions(made.vault), relation_questions(made.vault)
        container = Container(made.vault, SETTINGS, made.state)
        try:
            container.start(watch=False)
            container.worker.cancel(FIND)  # repeated texts are many tasks, sought for long
            container.live.searcher.warm_up()
            client = Client(build_server(container))
            wait_until_quiet(os.getpid(), PULSES_SECONDS)
            figures = in_the_library(container, client, plain, related)
        finally:
            container.close()
        if given.library:
            show("ratios in the library", figures)
            return
        port = free_port()
        program = [sys.executable, "-c", NOTHING.format(port=port)]
        empty = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with connect_to_engine(
                Launcher(made.state, engine_command(made.vault)), made.state
            ) as engine:
                wait_until_indexed(engine, len(list(made.vault.rglob("*.md"))))
                address = read_address(made.state)
                assert address is not None
                wait_until_quiet(address.pid)
                urls = (f"http://{address.netloc}/mcp", f"http://127.0.0.1:{port}/mcp")
                figures += asyncio.run(over_http(*urls, address.pid, plain, figures[0].value))
                if given.new:
                    figures += asyncio.run(
                        while_indexing(urls[0], engine, made.vault, given.new, plain)
                    )
                engine.shutdown()
        finally:
            empty.terminate()
        show("ratios", figures)


if __name__ == "__main__":
    main()
