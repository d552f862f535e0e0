"""Shares of the four quadrants, the pulse of whole vaults, and how often each action is suggested.

    python -m tests.benchmarks.bench_quadrants VAULT_FOLDER …

Each vault is copied and indexed without the trained pipeline; nothing is written to it. Actions are
those of recalls by the titles of up to 100 notes, by a client with the core set and one with all
tools.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from fastmcp import Client

from mcp_server.middleware.client_identity import ToolSet
from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.cognition.pulse import PulseMeter
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from memvault.model.memory import JohariQuadrant

QUESTIONS = 100
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
        told = ", ".join(f"{action} {count}" for action, count in actions.most_common())
        print(f"  suggested in {actions.total()} recalls, {tools} tools: {told}", flush=True)


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
