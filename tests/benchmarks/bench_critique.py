"""How many wrong claims `critique_context` finds, and how often it calls a right one wrong; the
same for contradictions that `store_memory` names.

``python -m tests.benchmarks.bench_critique [--list]``: the claims and the small vault are those of
`critique_claims`, what is stored is in `stored_facts`. A wrong claim counts as found if the note
that says otherwise comes first; what was stored is taken back before the next is.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from fastmcp import Client

from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from tests.benchmarks.critique_claims import NOTES, RIGHT, WRONG
from tests.benchmarks.figures import Figure, median, show
from tests.benchmarks.stored_facts import (
    CONTRADICTING_OWN,
    CONTRADICTING_TEMPLATE,
    DIFFERENT_OWN,
    DIFFERENT_TEMPLATE,
    OWN,
)

TEMPLATE = Path(__file__).resolve().parents[2] / "vault_template"


async def against(client: Client[Any], claim: str, threshold: float) -> list[str]:
    """The paths of the notes that speak against a claim, the surest first."""
    answer = await client.call_tool(
        "critique_context",
        {"reasoning_summary": claim, "contradiction_threshold": threshold},
    )
    content = answer.structured_content or {}
    return [each["path"] for each in content["contradicting_nodes"]]


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


async def stored(client: Client[Any], facts: Sequence[tuple[str, str]], *, listed: bool) -> int:
    """Of how many facts exactly this note ("" for none) is named as contradicted."""
    count = 0
    for fact, path in facts:
        why = {"rationale": "The person said so."}
        answer = await client.call_tool("store_memory", {"content": fact, **why})
        content = answer.structured_content or {}
        paths = [each["path"] for each in content.get("contradicts", [])]
        is_right = path in paths if path else not paths
        count += is_right
        if listed and not is_right:
            print("stored", fact, paths)
        await client.call_tool("undo_change", {"change": content["reversal_hash"], **why})
    return count


async def measure_storing(client: Client[Any], vault: str, *, listed: bool) -> list[Figure]:
    facts, others = {
        "own": (CONTRADICTING_OWN, DIFFERENT_OWN),
        "template": (CONTRADICTING_TEMPLATE, DIFFERENT_TEMPLATE),
    }[vault]
    found = await stored(client, facts, listed=listed)
    alone = await stored(client, [(fact, "") for fact in others], listed=listed)
    return [
        Figure(f"{vault}: of {len(facts)} stored contradictions, named", found, ""),
        Figure(f"{vault}: of {len(others)} other facts, false alarms", len(others) - alone, ""),
    ]


def measured(
    vault: Path, state: Path, run: Callable[[Client[Any]], Awaitable[list[Figure]]]
) -> list[Figure]:
    settings = Settings(index=IndexSettings(ner="off"))
    services = Container(vault, settings, StateFolder.of_vault(vault, state))

    async def asked() -> list[Figure]:
        async with Client(build_server(services, tools="full")) as client:
            return await run(client)

    try:
        services.indexing.scan()
        return asyncio.run(asked())
    finally:
        services.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="show what is missed")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        for name, notes in (("club", NOTES), ("own", OWN)):
            (base / name).mkdir()
            for path, text in notes.items():
                (base / name / path).write_text(text, encoding="utf-8")
        shutil.copytree(TEMPLATE, base / "template")
        figures = measured(base / "club", base / "s", partial(measure, listed=given.list))
        for name in ("own", "template"):
            run = partial(measure_storing, vault=name, listed=given.list)
            figures += measured(base / name, base / "s", run)
        show("critique", figures)


if __name__ == "__main__":
    main()
