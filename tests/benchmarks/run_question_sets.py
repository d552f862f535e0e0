"""Ask every question set beside the repository, through MCP, and print the tables: each set as a
client sees it, then the constants of search with each set left out (`search_constants`).

A set is a folder with ``vault/`` (a link to one serves as well) and ``queries.json``: a list of
``{"id": …, "question": …, "gold": [paths]}``, where no gold means that the vault has no answer; with
``hops``, figures are given by their number. The last table tells how many questions get nothing:
answerable ones, those without gold, and those of other vaults. Each vault is copied first, so
nothing is written to it, and every set is asked with the default configuration.

usage: python -m tests.benchmarks.run_question_sets [--sets DIR …] [--limit N]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from mcp_server.engine.client import connect_to_engine
from mcp_server.engine.launcher import Launcher, engine_command
from memvault.config.paths import StateFolder
from tests.benchmarks.measured_vaults import vault_of
from tests.benchmarks.search_constants import Measured, measured, table

STOP_SECONDS = 60  # for an engine to stop
FOREIGN = 12  # questions of each other vault
SETS = Path(__file__).resolve().parents[3] / "shared" / "eval"


def ask(folder: Path, harness: Path, scratch: Path, limit: int) -> None:
    vault, queries = scratch / folder.name, folder / "queries.json"
    shutil.copytree(vault_of(folder), vault)
    state = StateFolder.of_vault(vault)
    with connect_to_engine(Launcher(state, engine_command(vault)), state) as engine:
        while True:
            status = engine.status()
            busy = any(map(status.get, ("indexing", "entities_waiting", "loading")))
            if status.get("last_scan") and not busy:
                break
            time.sleep(0.5)
        for tool in ("recall_memory", "graph_query"):
            print(f"\n## {folder.name}, {tool}", flush=True)
            command = [sys.executable, str(harness), "--vault", str(vault), "--tool", tool]
            command += ["--queries", str(queries), "--limit", str(limit)]
            # not over stdio: that client does not hand the state folder on to the bridge
            command += ["--url", f"http://{engine.address.netloc}/mcp"]
            subprocess.run(command, check=True)
        engine.shutdown()
        with suppress(psutil.NoSuchProcess):  # until it has stopped, it writes to its state
            psutil.Process(engine.address.pid).wait(STOP_SECONDS)


def left_out(sets: Sequence[Path], scratch: Path) -> dict[str, Measured]:
    """Every set at every point of the grid, with a dozen questions of each other vault."""
    asked = {
        queries: [each["question"] for each in json.loads(queries.read_text("utf-8"))]
        for queries in sets
    }
    found = {}
    for queries in sets:
        vault = scratch / queries.parent.name
        others = (each for each in sets if vault_of(each.parent) != vault_of(queries.parent))
        foreign = [question for other in others for question in asked[other][:FOREIGN]]
        found[vault.name] = measured(vault, queries, StateFolder.of_vault(vault), foreign)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=Path, nargs="+", default=[SETS], help="folders of sets")
    parser.add_argument("--limit", type=int, default=0, help="questions of each set; 0: all")
    given = parser.parse_args()
    folders = (*given.sets, SETS)
    harness = next(filter(Path.is_file, (folder / "run_eval.py" for folder in folders)), None)
    if harness is None:
        print(f"No run_eval.py in {', '.join(map(str, folders))}: nothing is measured.")
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        os.environ["MEMVAULT_STATE"] = str(Path(scratch) / "state")
        sets = sorted(found for folder in given.sets for found in folder.glob("*/queries.json"))
        for queries in sets:
            ask(queries.parent, harness, Path(scratch), given.limit)
        print("\n## Each set left out\n")
        print(table(left_out(sets, Path(scratch))))


if __name__ == "__main__":
    main()
