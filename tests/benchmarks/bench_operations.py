"""How long setting something right takes, as a client sees it: the note written, the history and
the indexes too.

``python -m tests.benchmarks.bench_operations [--notes N] [--keep DIR]``
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from mcp_server.services import Services, open_services
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from tests.benchmarks.generate import generate
from tests.benchmarks.measure import Figure, median, percentile, show
from tests.integration.caller import Caller

TIMES = 20
LEAST = "100"
WHY = "The person asked for it just now."
FEW_LINKS = 3  # notes that link to a note that is merged, at most


def measure(services: Services) -> list[Figure]:
    caller, dice = Caller(services), random.Random(4)
    spent: dict[str, list[float]] = defaultdict(list)

    def call(tool: str, **arguments: object) -> dict[str, object]:
        began = time.perf_counter()
        answer = caller.ok(tool, rationale=WHY, **arguments)
        spent[tool].append((time.perf_counter() - began) * 1000)
        return answer

    linked = services.edges
    ids = [
        memory.id
        for memory in services.catalogue.all()
        if len({edge.source for edge in linked.of(memory.id) if edge.target == memory.id})
        <= FEW_LINKS
    ]
    drawn = iter(dice.sample(ids, 2 * TIMES + 2))
    for number, (one, other) in enumerate(zip(drawn, drawn, strict=True)):
        if number == 1:
            spent.clear()  # the first round warms up
        call("annotate_node", target=one, note="It was looked at.")
        call("boost_importance", target=one, delta=0.1)
        call("set_lifecycle", target=one, lifecycle="temporary")
        call("verify_memory", target=one)
        done = call("merge_concepts", sources=[one, other], target=one)
        call("undo_change", change=done["reversal_hash"])
        done = call("forget_concept", target=other)
        call("restore_concept", reversal_hash=done["reversal_hash"])
    for _ in range(TIMES):
        for tool, arguments in (("get_node_lineage", {"node_id": one}), ("get_system_logs", {})):
            began = time.perf_counter()
            caller.ok(tool, **arguments)
            spent[tool].append((time.perf_counter() - began) * 1000)
    return [
        Figure(f"{tool}, p95", percentile(times, 0.95), "ms", LEAST,
               note=f"median {median(times):.0f}")
        for tool, times in spent.items()
    ]  # fmt: skip


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
        services = open_services(vault, settings, StateFolder.of_vault(vault, root / "state"))
        try:
            services.scan()
            figures = measure(services)
            notes = len(services.catalogue)
        finally:
            services.close()
    show("operations", [*figures, Figure("notes", notes, "")])


if __name__ == "__main__":
    main()
