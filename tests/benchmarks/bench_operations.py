"""How long setting something right takes, as a client sees it: the note written, the history and
the indexes too, in container that watch the vault and look for tasks as an engine does.

``python -m tests.benchmarks.bench_operations [--notes N] [--keep DIR]``
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import defaultdict
from typing import Any

from fastmcp import Client

from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from tests.benchmarks.figures import Figure, median, percentile, show
from tests.benchmarks.measured_vaults import opened, parser_for
from tests.integration.caller import the_person

TIMES = 20
AT_LEAST = "100"
WHY = "The person asked for it just now."
FEW_LINKS = 3  # notes that link to a note that is merged, at most
PAUSE_SECONDS = 1.0  # between two calls, since a person asks for them


async def measure(container: Container) -> list[Figure]:
    """Over one connection: closing it waits for what is measured in the background."""
    dice, spent = random.Random(4), defaultdict[str, list[float]](list)
    drawn = iter(dice.sample(_hardly_linked(container), 2 * TIMES + 2))
    server = build_server(container, tools="full")
    async with Client(server, client_info=the_person()) as client:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            await asyncio.sleep(PAUSE_SECONDS)
            began = time.perf_counter()
            answer = await client.call_tool(tool, arguments)
            spent[tool].append((time.perf_counter() - began) * 1000)
            return answer.structured_content or {}

        for number, (one, other) in enumerate(zip(drawn, drawn, strict=True)):
            if number == 1:
                spent.clear()  # the first round warms up
            await call("annotate_node", target=one, note="It was looked at.", rationale=WHY)
            memory = container.live.catalogue.by_id(one)
            assert memory is not None
            delta = 0.1 if memory.importance <= 0.5 else -0.1
            await call("boost_importance", target=one, delta=delta, rationale=WHY)
            other_lifecycle = "permanent" if memory.lifecycle == "temporary" else "temporary"
            await call("set_lifecycle", target=one, lifecycle=other_lifecycle, rationale=WHY)
            await call("verify_memory", target=one, verified=not memory.verified, rationale=WHY)
            done = await call("merge_concepts", sources=[one, other], target=one, rationale=WHY)
            await call("undo_change", change=done["reversal_hash"], rationale=WHY)
            done = await call("forget_concept", target=other, rationale=WHY)
            await call("restore_concept", reversal_hash=done["reversal_hash"], rationale=WHY)
            await call("get_node_lineage", node_id=one)
            await call("get_system_logs")
    return [
        Figure(f"{tool}, p95", percentile(times, 0.95), "ms", AT_LEAST,
               note=f"median {median(times):.0f}")
        for tool, times in spent.items()
    ]  # fmt: skip


def _hardly_linked(container: Container) -> list[str]:
    edges = container.live.graph_view
    return [
        memory.id
        for memory in container.live.catalogue.all()
        if len({edge.source for edge in edges.of(memory.id) if edge.target == memory.id})
        <= FEW_LINKS
    ]


def main() -> None:
    arguments = parser_for(2_000, __doc__).parse_args()
    with opened(arguments.notes, arguments.keep) as container:
        container.start()
        container.live.similarity_index.load()
        container.live.graph_view.load()
        container.curation.wait(600)
        figures = asyncio.run(measure(container))
        show("operations", [*figures, Figure("notes", len(container.live.catalogue), "")])


if __name__ == "__main__":
    main()
