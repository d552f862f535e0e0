"""kill -9 at any moment loses nothing that was acknowledged and leaves nothing half-written."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from pathlib import Path

import pytest
from fastmcp import Client

from indexer.doctor import examine
from indexer.indexer import Indexer
from mcp_server.engine.launcher import EngineAddress, read_address
from mcp_server.runtime.container import Container
from memvault.config.paths import StateFolder
from memvault.config.settings import Settings
from memvault.model.errors import StoreUnavailable
from tests.integration.caller import Caller
from tests.integration.crash_child import BODY, live, serve
from tests.integration.forked_engine import engine_forks

LANES = 2  # vaults beside each other, one for each core
KILLS = 4  # in each
ENGINE_KILLS = 3
OPENING_KILLS = 4
EARLIEST, LATEST = 0.02, 0.4  # seconds after which an opening engine is killed
LONGEST_DELAY = 0.3  # seconds
PATIENCE = 60.0  # seconds in which a process that does not hang says something
CLIENTS = 3  # that store at once


@pytest.fixture(scope="module")
def forks() -> BaseContext:
    return engine_forks()


def assert_nothing_is_lost(
    vault: Path, state: StateFolder, settings: Settings, acknowledged: dict[str, str]
) -> None:
    container = Container(vault, settings, state)
    try:
        container.indexing.scan()
        assert [f for f in examine(container.live.indexer) if f.severity == "error"] == []
        for path, marker in acknowledged.items():
            assert f"{marker} ends here.\n" in (vault / path).read_text()
            assert container.live.catalogue.by_path(path) is not None
        for note in vault.rglob("Memory *.md"):
            assert note.read_text().rstrip().endswith("ends here.")
        some = list(acknowledged.items())[:: max(1, len(acknowledged) // 10)]
        for path, marker in some:
            found = container.live.stores.vectors.rank_keywords(f"{marker} ends", 5)
            memory = container.live.catalogue.by_path(path)
            assert memory is not None and memory.id in found.note_ids
    finally:
        container.close()


def received(pipe: Connection) -> tuple[str, str]:
    assert pipe.poll(PATIENCE), "the process says nothing"
    return pipe.recv()


def kill_again_and_again(context: BaseContext, home: Path, seed: int) -> dict[str, str]:
    """The memories that were stored and indexed before their process died, by path."""
    dice = random.Random(seed)
    acknowledged: dict[str, str] = {}
    for run in range(KILLS):
        theirs, ours = context.Pipe(duplex=False)
        child = context.Process(target=live, args=(home / "vault", home / "state", run, ours))
        child.start()
        ours.close()
        assert received(theirs) == ("started", "")
        for _ in range(dice.choice([0, 0, 1, 3])):
            path, marker = received(theirs)
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
    return acknowledged


@pytest.mark.timeout(600)
def test_kills_while_indexing_lose_no_acknowledged_memory(
    forks: BaseContext, tmp_path: Path, settings: Settings
) -> None:
    homes = [tmp_path / f"lane{number}" for number in range(LANES)]
    for home in homes:
        (home / "vault").mkdir(parents=True)
    with ThreadPoolExecutor(LANES) as lanes:
        runs = [
            lanes.submit(kill_again_and_again, forks, home, 7 + n) for n, home in enumerate(homes)
        ]
        acknowledged = [run.result() for run in runs]
    assert sum(map(len, acknowledged)) > LANES * KILLS / 2
    for home, stored in zip(homes, acknowledged, strict=True):
        assert_nothing_is_lost(home / "vault", StateFolder(home / "state"), settings, stored)


async def store_until_killed(
    address: EngineAddress, name: str, stored: dict[str, str], first: asyncio.Event
) -> None:
    """One client that stores memory after memory; those whose answer came are remembered."""
    number = 0
    try:
        async with Client(f"http://{address.netloc}/mcp") as client:
            while True:
                marker, number = f"{name}n{number}", number + 1
                memory = {
                    "title": f"Memory {marker}",
                    "content": f"{BODY * 20}\n{marker} ends here.",
                    "rationale": "Kept to see whether it survives.",
                }
                answer = await client.call_tool("store_memory", memory)
                stored[answer.structured_content["path"]] = marker
                first.set()
    except Exception:  # whatever a client sees of an engine that is gone
        first.set()


@pytest.mark.timeout(600)
def test_killing_the_engine_loses_no_memory_that_it_reported_as_stored(
    forks: BaseContext, tmp_path: Path, settings: Settings
) -> None:
    dice = random.Random(3)
    vault, state = tmp_path / "vault", StateFolder(tmp_path / "state")
    vault.mkdir()
    stored: dict[str, str] = {}

    async def kill_one(run: int) -> None:
        engine = forks.Process(target=serve, args=(vault, state.root, run))
        engine.start()
        while (address := read_address(state)) is None or address.pid != engine.pid:
            await asyncio.sleep(0.01)
        first = asyncio.Event()
        clients = [
            asyncio.create_task(store_until_killed(address, f"r{run}c{n}", stored, first))
            for n in range(CLIENTS)
        ]
        if run:  # else it may die before the first answer
            await first.wait()
        await asyncio.sleep(dice.uniform(0.0, LONGEST_DELAY))
        engine.kill()
        engine.join()
        await asyncio.wait(clients, timeout=30)
        for client in clients:
            client.cancel()

    for run in range(ENGINE_KILLS):
        asyncio.run(kill_one(run))
    assert len(stored) > ENGINE_KILLS / 2
    assert_nothing_is_lost(vault, state, settings, stored)


def test_ec_core_014_an_engine_killed_while_it_recovers_recovers_at_the_next_start(
    forks: BaseContext, tmp_path: Path, settings: Settings
) -> None:
    """Killed amid its writing, then again and again while it opens what that left behind."""
    vault, state = tmp_path / "vault", tmp_path / "state"
    vault.mkdir()
    acknowledged: dict[str, str] = {}
    for run in range(OPENING_KILLS):
        theirs, ours = forks.Pipe(duplex=False)
        child = forks.Process(target=live, args=(vault, state, run, ours))
        child.start()
        ours.close()
        if run == 0:
            assert received(theirs) == ("started", "")
            acknowledged.update([received(theirs) for _ in range(3)])
        else:
            time.sleep(EARLIEST + (LATEST - EARLIEST) * run / OPENING_KILLS)
        child.kill()
        child.join()
    container = Container(vault, settings, StateFolder(state))
    try:
        container.indexing.scan()
        caller = Caller(container)
        for path, marker in acknowledged.items():
            assert f"{marker} ends here." in caller.ok("get_memory", path=path)["content"]
            found = caller.ok("recall_memory", query=f"memory {marker}", top_k=100)["nodes"]
            assert path in [node["path"] for node in found]
        assert [f for f in examine(container.live.indexer) if f.severity == "error"] == []
    finally:
        container.close()


def test_names_found_by_an_engine_that_dies_are_in_the_graph_after_the_next_start(
    vault_folder: Path, state: StateFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("spacy")
    (vault_folder / "Ferry.md").write_text("Rui Castro sold the night ferry to Ada Berg in 2012.\n")

    def named_after_a_start() -> set[str]:
        container = Container(vault_folder, Settings(), state)
        try:
            container.start(watch=False)
            container.indexing.settle()
            return {node.name for node in container.live.stores.graph.all_nodes() if not node.path}
        finally:
            container.close()

    def dies(_indexer: Indexer, _paths: Collection[str]) -> None:
        raise StoreUnavailable("The engine is killed here.")

    with monkeypatch.context() as patch:
        patch.setattr(Indexer, "relink", dies)
        assert "2012" not in named_after_a_start()
    assert "2012" in named_after_a_start()
