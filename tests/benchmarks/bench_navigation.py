"""Looking around without a question: neighbourhoods, insights, manifest, plans.

``python -m tests.benchmarks.bench_navigation [--notes N] [--hub N] [--keep DIR]``

The hub is a note that many others mention, to see that it costs no more than it shows. Everything is
called as a tool calls it, without the protocol.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from mcp_server.engine.startup import Startup
from mcp_server.runtime.container import Container
from mcp_server.tools.navigation import NavigationTools
from mcp_server.tools.planning import PlanningTools
from mcp_server.tools.toolbox import Toolbox
from memvault.cognition.sessions import Session
from memvault.reasoning.insights import insights
from memvault.reasoning.vault_overview import vault_overview
from tests.benchmarks.figures import Figure, median, percentile, show, timed
from tests.benchmarks.generated_vault import generate
from tests.benchmarks.measured_vaults import opened, parser_for

CALLS = 500
SHOWN = 10  # memories in a usual answer
HUB = "Meeting point"


class Alone(Toolbox):
    """A toolbox whose caller has no connection."""

    def touch(self, session_id: str | None = None) -> Session:
        return self.container.sessions.touch(session_id or "bench")


def write_hub(vault: Path, mentions: int) -> None:
    (vault / f"{HUB}.md").write_text("Where everybody meets.\n", encoding="utf-8")
    (vault / "visits").mkdir(exist_ok=True)
    for number in range(mentions):
        text = f"We met at the [[{HUB}]] on day {number}.\n"
        (vault / "visits" / f"Visit {number}.md").write_text(text, encoding="utf-8")


def drawn(ids: list[str], count: int) -> Iterator[list[str]]:
    dice = random.Random(5)
    while True:
        yield dice.sample(ids, count)


def measure(container: Container, hub: bool) -> list[Figure]:
    box = Alone(Startup.of(container))
    tools = NavigationTools(box)
    container.live.similarity_index.load()
    loading = timed(container.live.graph_view.load, 1, warm_up=0)[0]
    ids = [memory.id for memory in container.live.catalogue.all()]
    one, ten = drawn(ids, 1), drawn(ids, SHOWN)
    by_id = container.live.catalogue.by_id
    figures = [Figure("edges read for the first time", loading, "ms")]

    def around(hops: int) -> object:
        return tools.get_neighborhood(next(one)[0], hops=hops)

    for hops in (1, 2, 3):
        spent = timed(partial(around, hops), CALLS, CALLS)
        figures.append(Figure(f"neighbourhood, {hops} hops, 20 nodes, median", median(spent), "ms"))
        least = "5" if hops == 2 else ""
        figures.append(
            Figure(f"neighbourhood, {hops} hops, p95", percentile(spent, 0.95), "ms", least)
        )
    if hub:
        spent = timed(lambda: tools.get_neighborhood(HUB, hops=2), CALLS)
        figures.append(Figure("neighbourhood of the hub, p95", percentile(spent, 0.95), "ms", "5"))
    spent = timed(lambda: insights(next(ten), container.live.graph_view, by_id), CALLS, CALLS)
    figures.append(Figure(f"insights of {SHOWN} memories, p95", percentile(spent, 0.95), "ms", "5"))
    spent = timed(tools.get_recent_context, 50)
    figures.append(Figure("recent context, p95", percentile(spent, 0.95), "ms", "50"))
    planning = PlanningTools(box)
    titles = [memory.title for memory in container.live.catalogue.all()]
    names = iter(random.Random(7).choices(titles, k=300))
    spent = timed(lambda: planning.reflect_on_memory(f"Understand why {next(names)} matters"), 100)
    figures.append(Figure("reflect_on_memory, p95", percentile(spent, 0.95), "ms", "50"))
    spent = timed(lambda: planning.generate_search_plan(f"what about {next(names)}"), 100)
    figures.append(Figure("generate_search_plan, p95", percentile(spent, 0.95), "ms", "50"))
    live = container.live
    first = timed(lambda: vault_overview(live.catalogue.all(), live.graph_view), 3, warm_up=0)
    later = timed(lambda: tools.get_graph_manifest(1), 100)
    figures.append(Figure("manifest worked out", median(first), "ms"))
    figures.append(Figure("manifest kept, p95", percentile(later, 0.95), "ms", "50"))
    return figures


def main() -> None:
    parser = parser_for(2_000, __doc__)
    parser.add_argument("--hub", type=int, default=500, help="notes that mention one other")
    arguments = parser.parse_args()

    def write(vault: Path, notes: int) -> None:
        generate(vault, notes)
        write_hub(vault, arguments.hub)

    with opened(arguments.notes, arguments.keep, write) as container:
        container.indexing.scan()
        figures = measure(container, hub=container.live.catalogue.by_path(f"{HUB}.md") is not None)
        show("navigation", [*figures, Figure("notes", len(container.live.catalogue), "")])


if __name__ == "__main__":
    main()
