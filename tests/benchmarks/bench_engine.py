"""A running engine at 10,000 notes: rebuild, memory, disk, latencies through HTTP and the bridge.

usage: python -m tests.benchmarks.bench_engine [--notes 10000] [--keep DIR]
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from mcp_server.engine.client import EngineClient, connect_to_engine
from mcp_server.engine.launcher import Launcher, engine_command
from memvault.config.paths import StateFolder
from tests.benchmarks.figures import Figure, median, percentile, show
from tests.benchmarks.measured_vaults import made_vault, parser_for

CALLS = 200
QUIET_PERCENT, QUIET_SECONDS = 5.0, 5  # of one core


def questions(vault: Path) -> list[str]:
    """A name and a few words of notes, as a person would ask."""
    dice = random.Random(3)
    notes = sorted(vault.rglob("*.md"))
    seconds = []
    for note in dice.sample(notes, min(CALLS, len(notes))):
        words = note.read_text(encoding="utf-8").split()
        start = dice.randrange(max(1, len(words) - 6))
        seconds.append(f"{note.stem} {' '.join(words[start : start + 6])}")
    return seconds


async def latencies(client: Client[Any], tool: str, arguments: list[dict[str, Any]]) -> list[float]:
    spent = []
    async with client:
        for one in arguments[:10]:
            await client.call_tool(tool, one)
        for one in arguments:
            start = time.perf_counter()
            await client.call_tool(tool, one)
            spent.append((time.perf_counter() - start) * 1000)
    return spent


def wait_until_indexed(engine: EngineClient, notes: int) -> float:
    start = time.perf_counter()
    while True:
        status = engine.status()
        if status.get("notes") == notes and not status.get("indexing"):
            return time.perf_counter() - start
        time.sleep(0.5)


def wait_until_read(engine: EngineClient) -> None:
    """Wait for the entity pass."""
    while engine.status().get("entities_waiting"):
        time.sleep(1)


def wait_until_quiet(pid: int, longest: float = 900.0) -> None:
    """Wait until a process has done nothing for some seconds: entities, tasks and the pulse of all
    notes are read behind the first answers."""
    process = psutil.Process(pid)
    process.cpu_percent()
    until = time.monotonic() + longest
    quiet = 0
    while quiet < QUIET_SECONDS and time.monotonic() < until:
        time.sleep(1.0)
        quiet = quiet + 1 if process.cpu_percent() < QUIET_PERCENT else 0


def save_to_found(engine: EngineClient, vault: Path, times: int = 60) -> list[float]:
    """Milliseconds from saving a note in an editor until a question finds it."""
    spent = []
    for number in range(times):
        word = f"zyx{number}qua"
        start = time.perf_counter()
        (vault / f"Saved {number}.md").write_text(f"# Saved {number}\n\nThe word is {word}.\n")
        while True:
            answer = engine.call_tool("recall_memory", {"query": word, "top_k": 3})
            if any(word in (node.get("content") or "") for node in answer["nodes"]):
                break
            time.sleep(0.005)
        spent.append((time.perf_counter() - start) * 1000)
    return spent


def first_list(command: list[str]) -> float:
    """Seconds from starting a bridge to its answer to tools/list."""
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    }
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    start = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as bridge:
        assert bridge.stdin is not None and bridge.stdout is not None
        bridge.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
        bridge.stdin.flush()
        for line in bridge.stdout:
            if json.loads(line).get("id") == 2:
                break
        spent = time.perf_counter() - start
        bridge.stdin.close()
    return spent


def disk_use(folder: Path) -> tuple[float, float]:
    """Megabytes written, and megabytes that write-ahead logs reserve in advance."""
    used = reserved = 0.0
    for file in folder.rglob("*"):
        if file.is_file():
            size = (
                file.stat().st_blocks * 512
                if hasattr(file.stat(), "st_blocks")
                else file.stat().st_size
            )
            if "wal" in file.relative_to(folder).parts:
                reserved += size
            else:
                used += size
    return used / 1e6, reserved / 1e6


def measure(vault: Path, state: StateFolder, notes: int) -> list[Figure]:
    command = engine_command(vault)
    bridge = [sys.executable, "-m", "memvault.cli", "--vault", str(vault), "mcp"]
    recall = [{"query": one, "top_k": 10} for one in questions(vault)]
    with connect_to_engine(Launcher(state, command), state) as engine:
        first = wait_until_indexed(engine, notes)
        wait_until_read(engine)
        start = time.perf_counter()
        for _ in engine.rebuild():
            pass
        rebuilt = time.perf_counter() - start
        wait_until_read(engine)
        time.sleep(20)  # the replaced generation is closed and deleted
        url = f"http://{engine.address.netloc}/mcp"
        through_http = asyncio.run(latencies(Client(url), "recall_memory", recall))
        over_stdio = StdioTransport(bridge[0], bridge[1:], env=dict(os.environ))
        through_bridge = asyncio.run(latencies(Client(over_stdio), "recall_memory", recall))
        plain = [{"key": "writing style"}] * CALLS
        http_plain = asyncio.run(latencies(Client(url), "get_preference", plain))
        over_stdio = StdioTransport(bridge[0], bridge[1:], env=dict(os.environ))
        bridge_plain = asyncio.run(latencies(Client(over_stdio), "get_preference", plain))
        listed = [first_list(bridge) for _ in range(7)]
        found = save_to_found(engine, vault)
        memory = psutil.Process(engine.address.pid).memory_info().rss / 1e9
        used, reserved = disk_use(state.root)
        engine.shutdown()
    return [
        Figure("first index, embeddings computed", first, "s", note=f"{notes} notes"),
        Figure("rebuild with a warm cache", rebuilt, "s", "60", "20", f"{notes} notes"),
        Figure("saved until found, p95", percentile(found, 0.95), "ms", "1000", "300"),
        Figure(
            "recall_memory through the bridge, p95",
            percentile(through_bridge, 0.95),
            "ms",
            "40",
            "15",
            f"p50 {median(through_bridge):.1f}; direct HTTP p95 {percentile(through_http, 0.95):.1f}",
        ),
        Figure(
            "bridge less direct HTTP, p95",
            percentile(bridge_plain, 0.95) - percentile(http_plain, 0.95),
            "ms",
            "5",
            "2",
            "get_preference; below 0: the bridge is the faster way",
        ),
        Figure("first tools/list of a bridge, median", median(listed), "s", "1.5", "0.5"),
        Figure(
            "get_preference through the bridge, p95",
            percentile(bridge_plain, 0.95),
            "ms",
            "10",
            "5",
        ),
        Figure("engine memory", memory, "GB", "1.2", "0.8", f"{notes} notes"),
        Figure(
            "state folder per 1,000 notes",
            used / notes * 1000,
            "MB",
            "10",
            "6",
            f"embedding cache among it; reserved in advance: {reserved:.0f} MB in all",
        ),
    ]


def main() -> None:
    given = parser_for(10_000, __doc__).parse_args()
    with made_vault(given.notes, given.keep) as made:
        for saved in made.vault.glob("Saved *.md"):
            saved.unlink()
        show("engine", measure(made.vault, made.state, given.notes))


if __name__ == "__main__":
    main()
