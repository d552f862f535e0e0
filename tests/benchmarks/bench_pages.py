"""How soon each page is there, over HTTP, as a browser asks for it.

``python -m tests.benchmarks.bench_pages [--notes N] [--keep DIR]``
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from itertools import cycle

import httpx
import psutil

from tests.benchmarks.figures import Figure, median, percentile, show, timed
from tests.benchmarks.measured_vaults import SETTINGS, made_vault, parser_for
from tests.pages.served import Served, serving

CALLS = 40
AT_LEAST = "300"
QUESTIONS = ("Who leads the harbour project?", "What was decided about the lantern?")


def pages_of(site: Served) -> dict[str, list[str]]:
    """Addresses by what is measured; those of one kind are asked for in turn."""
    dice = random.Random(3)
    ids = dice.sample([memory.id for memory in site.container.live.catalogue.all()], 20)
    return {
        "today": ["/"],
        "ask": [f"/ask?q={question}" for question in QUESTIONS],
        "curate": [f"/curate?skip={number}" for number in range(20)],
        "memory, the list": ["/memories", "/memories?page=9", "/memories?find=harbour"],
        "memory, one note": [f"/memory/{key}" for key in ids],
        "activity": ["/activity"],
        "concepts": ["/concepts", "/concepts?page=5", "/concepts?find=lantern"],
        "compress": ["/compress"],
    }


def measure(site: Served) -> list[Figure]:
    container, process = site.container, psutil.Process()
    container.live.similarity_index.load()
    container.live.graph_view.load()
    container.live.warm_up(container.worker)  # as an engine does when it starts
    site.caller.ok("get_memetic_status")
    container.curation.wait(600)
    before = process.memory_info().rss
    figures = []
    with httpx.Client(base_url=site.url, timeout=60) as client:
        for name, addresses in pages_of(site).items():
            ask = partial(_ask, client, cycle(addresses))
            first, spent = timed(ask, 1, warm_up=0), timed(ask, CALLS)
            figures.append(
                Figure(f"{name}, p95", percentile(spent, 0.95), "ms", AT_LEAST,
                       note=f"median {median(spent):.0f}, the first {first[0]:.0f}")
            )  # fmt: skip
    grown = (process.memory_info().rss - before) / 2**20
    return [*figures, Figure("memory that showing them took", grown, "MB")]


def _ask(client: httpx.Client, addresses: Iterator[str]) -> None:
    client.get(next(addresses)).raise_for_status()


def main() -> None:
    arguments = parser_for(2_000, __doc__).parse_args()
    with (
        made_vault(arguments.notes, arguments.keep) as made,
        serving(made.vault, SETTINGS, made.state) as site,
    ):
        figures = measure(site)
        show("pages", [*figures, Figure("notes", len(site.container.live.catalogue), "")])


if __name__ == "__main__":
    main()
