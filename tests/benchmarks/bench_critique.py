"""How many wrong claims `critique_context` finds, and how often it calls a right one wrong.

``python -m tests.benchmarks.bench_critique [--list]``: the claims and the small vault are those of
`critique_claims`. A wrong claim counts as found if the note that says otherwise comes first.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

from fastmcp import Client

from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from tests.benchmarks.critique_claims import NOTES, RIGHT, WRONG
from tests.benchmarks.measure import Figure, median, show


async def against(client: Client[Any], claim: str, threshold: float) -> list[str]:
    """The paths of the notes that speak against a claim, the surest first."""
    answer = await client.call_tool(
        "critique_context",
        {"reasoning_summary": claim, "contradiction_threshold": threshold},
    )
    told = answer.structured_content or {}
    return [each["path"] for each in told["contradicting_nodes"]]


async def measure(client: Client[Any], *, listed: bool) -> list[Figure]:
    figures = []
    for threshold in (0.3, 0.5):
        spent, found, false = [], 0, 0
        for claim, path in [*WRONG, *((claim, "") for claim in RIGHT)]:
            began = time.perf_counter()
            paths = await against(client, claim, threshold)
            spent.append(1000 * (time.perf_counter() - began))
            found += bool(path) and paths[:1] == [path]
            false += not path and bool(paths)
            if listed and (paths[:1] != [path] if path else paths):
                print(threshold, "missed" if path else "false", claim, paths)
        at = f"at {threshold}"
        figures += [
            Figure(f"{at}: of {len(WRONG)} wrong claims, found", found, ""),
            Figure(f"{at}: of {len(RIGHT)} right claims, called wrong", false, ""),
            Figure(f"{at}: a claim", median(spent), "ms"),
        ]
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="show what is missed")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "vault"
        vault.mkdir()
        for path, text in NOTES.items():
            (vault / path).write_text(text, encoding="utf-8")
        settings = Settings(index=IndexSettings(ner="off"))
        services = Container(vault, settings, StateFolder.of_vault(vault, Path(folder) / "s"))

        async def run() -> list[Figure]:
            async with Client(build_server(services, tools="full")) as client:
                return await measure(client, listed=given.list)

        try:
            services.indexing.scan()
            show("critique", asyncio.run(run()))
        finally:
            services.close()


if __name__ == "__main__":
    main()
