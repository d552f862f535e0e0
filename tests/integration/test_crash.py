"""kill -9 at any moment loses nothing that was acknowledged and leaves nothing half-written."""

from __future__ import annotations

import multiprocessing
import random
import time
from pathlib import Path

import pytest

from indexer.doctor import examine
from mcp_server.services import Services
from memvault.config.paths import StateFolder
from memvault.config.settings import Settings
from tests.integration.crash_child import live

KILLS = 50
LONGEST_DELAY = 0.3  # seconds


@pytest.mark.timeout(600)
def test_fifty_kills_lose_no_acknowledged_memory(
    vault_folder: Path, state: StateFolder, settings: Settings
) -> None:
    dice = random.Random(7)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.integration.crash_child"])
    acknowledged: dict[str, str] = {}
    for run in range(KILLS):
        theirs, ours = context.Pipe(duplex=False)
        child = context.Process(target=live, args=(vault_folder, state.root, run, ours))
        child.start()
        ours.close()
        assert theirs.recv() == ("started", "")
        for _ in range(dice.choice([0, 0, 1, 3])):
            path, marker = theirs.recv()
            acknowledged[path] = marker
        time.sleep(dice.uniform(0.0, LONGEST_DELAY))
        child.kill()
        child.join()
        while True:
            try:
                path, marker = theirs.recv()
            except EOFError:
                break
            acknowledged[path] = marker
    assert len(acknowledged) > KILLS / 2
    services = Services(vault_folder, settings, state)
    try:
        services.scan()
        assert [f for f in examine(services.indexer) if f.severity == "error"] == []
        for path, marker in acknowledged.items():
            assert (vault_folder / path).read_text().endswith(f"{marker} ends here.\n")
            assert services.catalogue.by_path(path) is not None
        for note in vault_folder.rglob("Memory *.md"):
            assert note.read_text().rstrip().endswith("ends here.")
        some = list(acknowledged.items())[:: max(1, len(acknowledged) // 10)]
        for path, marker in some:
            hits = services.stores.vectors.search_keywords(f"{marker} ends", 5)
            memory = services.catalogue.by_path(path)
            assert memory is not None and memory.id in {hit.note_id for hit in hits}
    finally:
        services.close()
