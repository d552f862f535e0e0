"""How memvault grows: one vault of so many notes, on embedded stores or servers.

usage: python -m tests.benchmarks.bench_scale [--notes 1000] [--graph neo4j] [--keyvalue redis]
                                              [--questions 100] [--texts 500] [--keep DIR]

Neo4j and Redis are started for the run, each a process of its own (`tests/servers`); vectors are
kept by Qdrant at ``QDRANT_URL`` if that is set, else by Qdrant Edge within the engine. The notes
repeat ``--texts`` texts, so that what is measured is the stores and not the embedding model: its
share is the cache's misses, which are told. Questions are asked by an MCP client in the engine's
own process. ``docs/operations/scale.md`` says how the figures are used.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil
from fastmcp import Client
from pydantic import SecretStr

from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from tests.benchmarks.bench_engine import questions
from tests.benchmarks.figures import Figure, percentile, show
from tests.benchmarks.generated_vault import generate
from tests.servers import neo4j, redis
from tests.servers.process import ServerProcess

MEGABYTE = 1e6
TOOLS = ("recall_memory", "graph_query", "inject_context")
SAVES = 20


@contextmanager
def running(arguments: argparse.Namespace, root: Path) -> Iterator[dict[str, ServerProcess]]:
    """The servers that were asked for, by name."""
    made: dict[str, Callable[[Path], ServerProcess]] = {}
    if arguments.graph == "neo4j":
        made["Neo4j"] = neo4j.server
    if arguments.keyvalue == "redis":
        made["Redis"] = redis.server
    with ExitStack() as stack:
        servers = {}
        for name, make in made.items():
            folder = root / name.lower()
            folder.mkdir(exist_ok=True)
            servers[name] = make(folder)
            servers[name].start()
            stack.callback(servers[name].kill)
        yield servers


def settings_for(servers: dict[str, ServerProcess]) -> Settings:
    chosen: dict[str, Any] = {"index": IndexSettings(ner="off")}
    if "Neo4j" in servers:
        chosen["graph"] = neo4j.url(servers["Neo4j"])
        chosen["neo4j_password"] = SecretStr(neo4j.PASSWORD)
    if "Redis" in servers:
        chosen["keyvalue"] = redis.url(servers["Redis"])
        chosen["redis_password"] = SecretStr(redis.PASSWORD)
    if url := os.environ.get("QDRANT_URL"):
        chosen["vectors"] = url
    return Settings(**chosen)


def indexing(container: Container) -> list[Figure]:
    began = time.perf_counter()
    container.indexing.scan()
    spent = time.perf_counter() - began
    notes, reads = container.index_counters.notes, container.embedder.reads
    nodes, edges = container.live.stores.graph.counts()
    return [
        Figure("notes indexed a minute, first scan", 60 * notes / spent, "/min"),
        Figure(
            "the same while batches are written",
            60 * notes / container.index_counters.seconds,
            "/min",
        ),
        Figure("texts embedded, share of all", 100 * (1 - reads.hit_rate), "%"),
        Figure("chunks", container.live.stores.vectors.count(), ""),
        Figure("nodes", nodes, ""),
        Figure("edges", edges, ""),
    ]


def saving(container: Container) -> list[Figure]:
    """A note is changed and indexed, as a tool does before it answers."""
    paths = sorted(container.live.catalogue.paths())[
        :: max(1, len(container.live.catalogue) // SAVES)
    ][:SAVES]
    spent = []
    for path in paths:
        file = container.vault.root / path
        text = file.read_text(encoding="utf-8")
        file.write_text(f"{text}\nSeen again.\n", encoding="utf-8")
        began = time.perf_counter()
        container.live.indexer.index([path])
        spent.append((time.perf_counter() - began) * 1000)
    return [Figure("a changed note indexed, p95", percentile(spent, 0.95), "ms")]


def answering(container: Container, count: int) -> list[Figure]:
    server = build_server(container)
    chosen = questions(container.vault.root)[:count]

    async def ask(tool: str) -> list[float]:
        spent = []
        async with Client(server) as client:
            for number, query in enumerate([*chosen[:5], *chosen]):
                began = time.perf_counter()
                await client.call_tool(tool, {"query": query})
                if number >= 5:
                    spent.append((time.perf_counter() - began) * 1000)
        return spent

    figures = []
    for tool in TOOLS:
        spent = asyncio.run(ask(tool))
        figures.append(Figure(f"{tool}, p50", percentile(spent, 0.5), "ms"))
        figures.append(Figure(f"{tool}, p95", percentile(spent, 0.95), "ms"))
    return figures


def taken(container: Container, servers: dict[str, ServerProcess]) -> list[Figure]:
    """Memory of each part, and what lies on disk."""
    figures = [memory("the engine", os.getpid())]
    figures += [memory(name, server.pid) for name, server in servers.items()]
    places = {"the state folder": container.state.root}
    if "Neo4j" in servers:
        places["Neo4j's data"] = servers["Neo4j"].folder / "data"
    for name, folder in places.items():
        size = sum(file.stat().st_blocks * 512 for file in folder.rglob("*") if file.is_file())
        figures.append(Figure(f"disk, {name}", size / MEGABYTE, "MB"))
    return figures


def memory(name: str, pid: int) -> Figure:
    return Figure(f"memory, {name}", psutil.Process(pid).memory_info().rss / MEGABYTE, "MB")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--notes", type=int, default=1_000)
    parser.add_argument("--graph", choices=("embedded", "neo4j"), default="embedded")
    parser.add_argument("--keyvalue", choices=("embedded", "redis"), default="embedded")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--texts", type=int, default=500, help="different texts in the vault")
    parser.add_argument("--keep", type=Path, help="an empty folder for vault, state and servers")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = arguments.keep or Path(folder)
        vault = root / "vault"
        vault.mkdir(parents=True)
        generate(vault, arguments.notes, texts=arguments.texts)
        with running(arguments, root) as servers:
            state = StateFolder.of_vault(vault, root / "state")
            container = Container(vault, settings_for(servers), state)
            figures = [memory("the engine before", os.getpid())]
            figures += indexing(container)
            container.indexing._warm_up()  # as a start does after its first scan
            container.live.similarity_index.load()
            figures += answering(container, arguments.questions)
            figures += saving(container)
            figures += taken(container, servers)
            container.close()
    show(f"scale-{arguments.notes}-{arguments.graph}-{arguments.keyvalue}", figures)


if __name__ == "__main__":
    main()
