"""Questions of probability and cause over a vault whose notes name causes and disagree on values.

``python -m tests.benchmarks.bench_reasoning [--notes N] [--causes N] [--calls N] [--keep DIR]``

Called through a real MCP client in memory, after pgmpy is loaded; what loading costs stands apart.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

from fastmcp import Client

from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.config.settings import LimitSettings
from memvault.reasoning.bayes.pgmpy_loader import load_pgmpy
from tests.benchmarks.figures import Figure, median, percentile, show
from tests.benchmarks.generated_vault import generate
from tests.benchmarks.measured_vaults import SETTINGS, opened, parser_for

FOLDER = "causes"
RELATIONS = ("causes", "leads to", "caused by", "depends on", "blocked by", "supports")
PLACES = ("Quay", "Mill", "Weir", "Ford", "Lock", "Pier", "Dike", "Ramp")
DEEDS = ("repair", "survey", "closure", "opening", "flooding", "inspection", "sale", "strike")


def write_causes(vault: Path, count: int) -> None:
    """Events that bring each other about, three relations each, and notes that differ on what the
    work on each costs."""
    dice = random.Random(11)
    names = [
        f"{place} {deed} {number}"
        for number in range(count // (len(PLACES) * len(DEEDS)) + 1)
        for place in PLACES
        for deed in DEEDS
    ][:count]
    folder = vault / FOLDER
    folder.mkdir(exist_ok=True)
    for number, name in enumerate(names):
        near = names[max(0, number - 12) : number + 12]
        fields = [f"{dice.choice(RELATIONS)}:: [[{dice.choice(near)}]]" for _ in range(3)]
        text = "---\ntype: event\n---\nIt was talked about in the council.\n\n" + "\n".join(fields)
        (folder / f"{name}.md").write_text(text + "\n", encoding="utf-8")
        if number % 3 == 0:
            cost = dice.randrange(20, 90)
            for year, more in ((2024, 0), (2025, 5)):
                text = f"---\ndate: {year}-05-0{1 + number % 9}\n---\n"
                text += f"The budget of the [[{name}]] is {cost + more},000 euros.\n"
                (folder / f"Accounts {year} {number}.md").write_text(text, encoding="utf-8")


def calls(names: list[str]) -> dict[str, Iterator[tuple[str, dict[str, Any]]]]:
    dice = random.Random(3)

    def each(tool: str, make: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        return ((tool, make(name)) for name in cycle(dice.sample(names, len(names))))

    def other(name: str) -> str:
        return dice.choice([each for each in names if each != name])

    def node(name: str) -> list[dict[str, str]]:
        return [{"node_id": name}]

    asked = "probabilistic_query"
    return {
        "a value": each(asked, lambda n: {"query": f"What is the budget of the {n}?"}),
        "a chance": each(asked, lambda n: {"query": f"How likely is the {n}?"}),
        "given": each(asked, lambda n: {"target": n, "evidence": {dice.choice(names): True}}),
        "what-if": each(asked, lambda n: {"query": f"What if the {n} is cancelled?"}),
        "query_causal": each("query_causal", lambda n: {"action": n}),
        "expand_causal_path": each("expand_causal_path", lambda n: {"node": n}),
        "omni_infer forward": each(
            "omni_infer", lambda n: {"query_type": "forward", "clamped_nodes": node(n)}
        ),
        "omni_infer abduction": each(
            "omni_infer", lambda n: {"query_type": "abduction", "clamped_nodes": node(n)}
        ),
        "omni_infer bridge": each(
            "omni_infer",
            lambda n: {"query_type": "bridge", "clamped_nodes": node(n) + node(other(n))},
        ),
    }


async def measure(container: Container, count: int) -> list[Figure]:
    memories = [m for m in container.live.catalogue.all() if m.path.startswith(FOLDER + "/")]
    names = [m.title for m in memories if not m.title.startswith("Accounts")]
    figures: list[Figure] = []
    spent_on: dict[str, list[float]] = {}
    async with Client(build_server(container, tools="full")) as client:
        for what, call in calls(names).items():
            for number in range(count + 5):
                tool, arguments = next(call)
                began = time.perf_counter()
                result = await client.call_tool_mcp(tool, arguments)
                spent = (time.perf_counter() - began) * 1e3
                clash = result.is_error and result.structured_content["error"]["code"] == -32003
                assert not result.is_error or clash, result.content
                if number >= 5:
                    spent_on.setdefault(what, []).append(spent)
    for what, times in spent_on.items():
        figures.append(Figure(f"{what}, median", median(times), "ms"))
        figures.append(Figure(f"{what}, p95", percentile(times, 0.95), "ms"))
    every = [t for what in ("a value", "a chance", "given", "what-if") for t in spent_on[what]]
    figures.append(
        Figure("probabilistic_query, p95 of all", percentile(every, 0.95), "ms", "500", "150")
    )
    return figures


def main() -> None:
    parser = parser_for(2_000, __doc__)
    parser.add_argument("--causes", type=int, default=300, help="events that bear on each other")
    parser.add_argument("--calls", type=int, default=100, help="of each kind")
    arguments = parser.parse_args()

    def write(vault: Path, notes: int) -> None:
        generate(vault, notes)
        write_causes(vault, arguments.causes)

    settings = SETTINGS.model_copy(update={"limits": LimitSettings(calls_per_second=0)})
    with opened(arguments.notes, arguments.keep, write, settings) as container:
        container.indexing.scan()
        container.live.warm_up(container.worker)
        container.live.graph_view.load()
        container.live.similarity_index.load()
        began = time.perf_counter()
        load_pgmpy()
        loading = Figure("pgmpy loaded, once, in the background", time.perf_counter() - began, "s")
        figures = asyncio.run(measure(container, arguments.calls))
        torch = Figure("torch loaded", float("torch" in sys.modules), "", "0")
        notes = Figure("notes", len(container.live.catalogue), "")
        show("reasoning", [*figures, loading, torch, notes])


if __name__ == "__main__":
    main()
