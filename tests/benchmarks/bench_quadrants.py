"""Shares of the four quadrants and the pulse of whole vaults.

    python -m tests.benchmarks.bench_quadrants VAULT_FOLDER …

Each vault is copied and indexed without the trained pipeline; nothing is written to it.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from mcp_server.runtime.container import Container
from memvault.cognition.pulse import PulseMeter
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from memvault.model.memory import JohariQuadrant


def main() -> None:
    for folder in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as home:
            vault = Path(home, "vault")
            shutil.copytree(folder, vault)
            settings = Settings(index=IndexSettings(ner="off"))
            container = Container(vault, settings, StateFolder(Path(home, "state")))
            container.indexing.scan()
            container.live.similarity_index.load()
            meter = PulseMeter(lambda index=container.live.similarity_index: index)
            states = meter.states(container.live.similarity_index.memory_ids())
            shares = Counter(state.quadrant for state in states.values())
            total = sum(shares.values())
            cells = " | ".join(f"{shares[each] / total:.0%}" for each in JohariQuadrant)
            pulse = meter.of_vault()
            vault_cells = f"{pulse.entropy:.2f} | {pulse.coherence:.2f} | {pulse.suggested_action}"
            print(f"| {folder} | {total:,} | {cells} | {vault_cells} |", flush=True)
            container.close()


if __name__ == "__main__":
    main()
