"""How soon each page is there, over HTTP, as a browser asks for it.

``python -m tests.benchmarks.bench_pages [--notes N] [--keep DIR]``
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import cycle
from pathlib import Path

import httpx
import psutil

from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from tests.benchmarks.generate import generate
from tests.benchmarks.measure import Figure, median, percentile, show, timed
from tests.pages.served import Served, serving

CALLS = 40
LEAST = "300"
QUESTIONS = ("Who leads the harbour project?", "What was decided about the lantern?")


def pages_of(site: Served) -> dict[str, list[str]]:
    """Addresses by what is measured; those of one kind are asked for in turn."""
    dice = random.Random(3)
    ids = dice.sample([memory.id for memory in site.services.catalogue.all()], 20)
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
    services, process = site.services, psutil.Process()
    services.landscape.warm_up()
    services.edges.warm_up()
    services.indexer.warm_up()
    services.multihop.warm_up()  # as an engine does when it starts
    site.caller.ok("get_memetic_status")
    services.curation.wait(600)
    before = process.memory_info().rss
    figures = []
    with httpx.Client(base_url=site.url, timeout=60) as client:
        for name, addresses in pages_of(site).items():
            ask = partial(_ask, client, cycle(addresses))
            first, spent = timed(ask, 1, warm_up=0), timed(ask, CALLS)
            figures.append(
                Figure(f"{name}, p95", percentile(spent, 0.95), "ms", LEAST,
                       note=f"median {median(spent):.0f}, the first {first[0]:.0f}")
            )  # fmt: skip
    grown = (process.memory_info().rss - before) / 2**20
    return [*figures, Figure("memory that showing them took", grown, "MB")]


def _ask(client: httpx.Client, addresses: Iterator[str]) -> None:
    client.get(next(addresses)).raise_for_status()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--notes", type=int, default=2_000)
    parser.add_argument("--keep", type=Path, help="a folder with vault and state, made if missing")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = asked.keep or Path(folder)
        vault = root / "vault"
        if not vault.exists():
            vault.mkdir(parents=True)
            generate(vault, asked.notes)
        settings = Settings(index=IndexSettings(ner="off"))
        with serving(vault, settings, StateFolder.of_vault(vault, root / "state")) as site:
            figures = measure(site)
            notes = len(site.services.catalogue)
    show("pages", [*figures, Figure("notes", notes, "")])


if __name__ == "__main__":
    main()
