"""Shares of the four quadrants, the pulse of whole vaults, how often each action is suggested, and
the time of an entailment check between two notes (under 1 ms, graph-tools 3.7).

    python -m tests.benchmarks.bench_quadrants VAULT_FOLDER …

Each vault is copied and indexed without the trained pipeline; nothing is written to it. Actions are
those of recalls by the titles of up to 100 notes, by a client with the core set and one with all
tools.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from fastmcp import Client

from mcp_server.engine import ToolSet
from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.cognition.pulse import PulseMeter
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from memvault.model.memory import JohariQuadrant
from memvault.reasoning.entailment import Hierarchy
from tests.benchmarks.figures import percentile

QUESTIONS = 100
CHECKS = 2_000
PATIENCE_SECONDS = 120.0


def main() -> None:
    for folder in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as home:
            vault = Path(home, "vault")
            shutil.copytree(folder, vault)
            settings = Settings(index=IndexSettings(ner="off"))
            container = Container(vault, settings, StateFolder(Path(home, "state")))
            container.indexing.scan()
            container.live.similarity_index.load()
            container.curation.wait(PATIENCE_SECONDS)
            report(folder, container)
            container.close()


def report(folder: str, container: Container) -> None:
    meter = PulseMeter(lambda: container.live.similarity_index)
    states = meter.states(container.live.similarity_index.memory_ids())
    counts = Counter(state.quadrant for state in states.values())
    cells = " | ".join(f"{counts[each] / len(states):.0%}" for each in JohariQuadrant)
    pulse = meter.of_vault()
    print(f"| {folder} | {len(states):,} | {cells} | {pulse.entropy:.2f}, {pulse.coherence:.2f} |")
    for tools in ("core", "full"):
        actions = asyncio.run(suggested(container, tools))
        summary = ", ".join(f"{action} {count}" for action, count in actions.most_common())
        print(f"  suggested in {actions.total()} recalls, {tools} tools: {summary}", flush=True)
    spent = entailment_checks(container)
    times = ", ".join(f"{percentile(spent, share):.3f}" for share in (0.5, 0.95, 0.99))
    print(f"  entailment, ms: p50, p95, p99 of {len(spent)} checks {times}", flush=True)


def entailment_checks(container: Container) -> list[float]:
    """Milliseconds of checks between any two notes, the first after a change included."""
    live, chance = container.live, random.Random(3)
    hierarchy = Hierarchy(live.graph_view, live.catalogue.by_id)
    ids = sorted(memory.id for memory in live.catalogue.all())
    spent = []
    for _ in range(CHECKS):
        specific, general = chance.choice(ids), chance.choice(ids)
        began = time.perf_counter()
        hierarchy.chain(specific, general)
        spent.append((time.perf_counter() - began) * 1000)
    return spent


async def suggested(container: Container, tools: ToolSet) -> Counter[str]:
    titles = sorted(memory.title for memory in container.live.catalogue.all())
    async with Client(build_server(container, tools=tools)) as client:
        answers = [
            await client.call_tool("recall_memory", {"query": title})
            for title in titles[:: max(1, len(titles) // QUESTIONS)][:QUESTIONS]
        ]
    pulses = [(answer.structured_content or {})["pulse"] for answer in answers]
    return Counter(pulse["suggested_action"] for pulse in pulses)


if __name__ == "__main__":
    main()
