"""Disks that are full or read-only: it is said, the rest is indexed, nothing is lost, and when
there is room again all is well by itself."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastmcp import Client

from indexer.doctor import examine
from indexer.indexer import Indexer
from indexer.watch import Watcher
from mcp_server.engine.startup import Startup
from mcp_server.resources.state import Resources
from mcp_server.runtime.container import Container
from mcp_server.runtime.generations import Generation
from mcp_server.server import build_server
from mcp_server.tools.toolbox import Toolbox
from memvault.config.paths import StateFolder
from memvault.config.settings import Settings, UpkeepSettings
from memvault.consolidation.rewards import Signal, SignalKind
from memvault.model.errors import DiskFull, StoreUnavailable
from memvault.stores import faults
from memvault.stores.open import MODEL_FILE
from memvault.text.encoders.embedding_cache import Embedded, EmbeddingCache
from memvault.vault.version_store import VersionStore
from tests.integration.caller import the_person
from tests.integration.test_fading import ME, SESSION, TEXT, World
from tests.integration.tiny_engine import environment
from tests.snapshot import differences, snapshot
from tests.waiting import until

Mount = Callable[..., Path]
STATE_BYTES = 220 * 1024 * 1024  # what the empty stores reserve, and some


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Mount]:
    """A small disk of its own, which only root of a Linux machine can have."""
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small disk here")
    mounted: list[Path] = []

    def mount_one(name: str, *options: str) -> Path:
        place = tmp_path / name
        place.mkdir()
        done = subprocess.run(["mount", *options, str(place)], capture_output=True, check=False)
        if done.returncode:
            pytest.skip(f"mounting is not allowed here: {done.stderr.decode()}")
        mounted.append(place)
        return place

    yield mount_one
    for place in reversed(mounted):
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(folder: Path) -> Path:
    """Take all the room there is."""
    filler = folder / ".filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            while True:
                try:
                    file.write(bytes(size))
                except OSError:
                    break
    return filler


def tree(folder: Path) -> dict[str, bytes]:
    found = (entry for entry in folder.rglob("*") if entry.is_file() and entry.name != ".filler")
    return {entry.relative_to(folder).as_posix(): entry.read_bytes() for entry in found}


def ask(container: Container, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    async def run() -> list[Any]:
        async with Client(build_server(container), client_info=the_person()) as client:
            return [await client.call_tool_mcp(name, arguments) for name, arguments in calls]

    return asyncio.run(run())


REASON = "They asked for it."
SAID = "Tent number {} leaks at the seams."
STORE = ("store_memory", {"content": "A thought. " * 900, "rationale": "Not to be lost."})
PREFER = ("set_preference", {"key": "Tone", "value": "dry", "rationale": "They asked for it."})
EDIT = (
    "edit_memory",
    {"target": "Camp 1", "operation": "append", "content": "The seams leak.", "rationale": REASON},
)
RECALL = ("recall_memory", {"query": "tents"})


def test_a_vault_on_a_full_disk_answers_and_takes_memories_when_there_is_room_again(
    mount: Mount, tmp_path: Path, settings: Settings
) -> None:
    vault = mount("vault", "-t", "tmpfs", "-o", "size=300k", "tmpfs")
    (vault / "a.md").write_text("# Camp\n\nAbout tents.\n")
    (vault / "permanent").mkdir()
    (vault / "permanent/preferences.md").write_text("- Tone: warm\n")
    container = Container(vault, settings, StateFolder(tmp_path / "state"))
    try:
        container.start()
        filler = fill(vault)
        before = tree(vault)
        stored, preferred, recalled = ask(container, STORE, PREFER, RECALL)
        for refused in (stored, preferred):
            assert refused.structured_content["error"]["code"] == -32002
            message = refused.structured_content["error"]["message"]
            assert message.startswith("Insufficient disk space: the disk is full")  # EC-CORE-009
        assert recalled.structured_content["nodes"][0]["path"] == "a.md"
        assert {path: data for path, data in tree(vault).items() if data} == before
        filler.unlink()
        stored, preferred = ask(container, STORE, PREFER)
        assert not stored.is_error and not preferred.is_error
        assert (vault / "permanent/preferences.md").read_text() == "- Tone: dry\n"
        assert [f for f in examine(container.live.indexer) if f.severity == "error"] == []
    finally:
        container.close()


def test_a_sessions_words_are_captured_when_the_vaults_disk_has_room_again(
    mount: Mount, tmp_path: Path, settings: Settings
) -> None:
    vault = mount("vault", "-t", "tmpfs", "-o", "size=300k", "tmpfs")
    container = Container(vault, settings, StateFolder(tmp_path / "state"))
    try:
        container.start()
        filler = fill(vault)
        for n in range(3):
            assert container.hooks.answer("claude-code", "Stop", stop(tmp_path, n)) == b""
        log = Path(container.hooks.files.log_file)
        until(lambda: "waits: " in log.read_text())
        waiting = Path(container.hooks.files.pending)
        assert len(list(waiting.glob("*.hook"))) == 3
        filler.unlink()
        container.hooks.answer("claude-code", "Stop", stop(tmp_path, 3))  # any event tries again
        until(lambda: not list(waiting.glob("*.hook")))
        notes = [path.read_text() for path in (vault / "sessions").rglob("*.md")]
        assert [n for n in range(4) if sum(note.count(SAID.format(n)) for note in notes) != 1] == []
    finally:
        container.close()


def test_a_hook_whose_state_folder_is_on_a_full_disk_does_not_hold_its_client(
    mount: Mount, tmp_path: Path
) -> None:
    """Without an engine. What could not be kept is in the transcript, and captured from there."""
    disk = mount("disk", "-t", "tmpfs", "-o", "size=64k", "tmpfs")
    fill(disk)
    command = [sys.executable, "-m", "memvault.cli", "hook", "Stop", f"--state={disk / 'state'}"]
    ran = subprocess.run(
        [*command, f"--vault={tmp_path / 'no vault'}"],
        input=stop(tmp_path, 1),
        capture_output=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, b"")
    assert list(disk.rglob("*.tmp")) == []


def stop(folder: Path, number: int) -> bytes:
    """What a client sends at the end of a turn."""
    transcript = folder / f"{number}.jsonl"
    message = {"role": "user", "content": SAID.format(number)}
    transcript.write_text(json.dumps({"type": "user", "message": message}) + "\n")
    return json.dumps({"session_id": f"s-{number}", "transcript_path": str(transcript)}).encode()


def test_a_state_folder_on_a_full_disk_is_filled_when_there_is_room_again(
    mount: Mount, write: Callable[..., Path], vault_folder: Path, settings: Settings
) -> None:
    disk = mount("disk", "-t", "tmpfs", "-o", f"size={STATE_BYTES}", "tmpfs")
    for number in range(30):
        write(f"Camp {number}.md", f"About tents, number {number}. See [[Camp {number - 1}]].\n")
    state = StateFolder(disk / "state")
    container = Container(vault_folder, settings, state)
    try:
        container.start()
        filler = fill(disk)
        write("Later.md", "About stoves and [[Camp 3]].\n")
        stored, edited, preferred, recalled = ask(container, STORE, EDIT, PREFER, RECALL)
        for made in (stored, edited, preferred):
            assert not made.is_error and made.structured_content["reversal_hash"]
            assert "recent changes are saved" in made.structured_content["notice"]
        assert (vault_folder / "Camp 1.md").read_text().count("The seams leak.") == 1
        assert recalled.structured_content["nodes"]
        assert "not searchable yet" in recalled.structured_content["notice"]
        with pytest.raises(DiskFull):
            container.indexing.scan()
        causes = [f for f in examine(container.live.indexer) if f.severity == "error"]
        assert [cause.advice.partition(";")[0] for cause in causes] == ["free some space"]
        written = [path for path in tree(vault_folder) if path.startswith("sessions/")]
        filler.unlink()
        until(
            lambda: not container.live.indexer.comparison.differing().changed
        )  # by itself: nobody asks
        assert container.live.catalogue.by_path("Later.md") is not None
        (recalled,) = ask(container, RECALL)
        assert "not searchable yet" not in str(recalled.structured_content.get("notice"))
        assert all(container.live.catalogue.by_path(path) for path in written)
        assert [f for f in examine(container.live.indexer) if f.severity == "error"] == []
        kept = snapshot(container.live.indexer)
        container.indexing.rebuild()
        assert differences(kept, snapshot(container.live.indexer)) == []
    finally:
        container.close()
    again = Container(vault_folder, settings, state)
    try:
        again.indexing.scan()
        assert [f for f in examine(again.live.indexer) if f.severity == "error"] == []
    finally:
        again.close()


def test_another_model_embeds_the_notes_when_the_full_disk_has_room_again(
    mount: Mount, write: Callable[..., Path], vault_folder: Path, settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("mcp_server.runtime.indexing_service.PAUSE_SECONDS", 0.3)
    disk = mount("disk", "-t", "tmpfs", "-o", f"size={2 * STATE_BYTES}", "tmpfs")
    state = StateFolder(disk / "state")
    write("Camp.md", "About tents.\n")
    first = Container(vault_folder, settings, state)
    first.indexing.scan()
    (first.live.folder / MODEL_FILE).write_text('["another model", 384]')
    first.close()
    container = Container(vault_folder, settings, state)
    live = container.live.folder
    try:
        assert container.live.stores.outdated
        filler = fill(disk)
        container.start()
        write("Later.md", "About stoves.\n")
        (recalled,) = ask(container, RECALL)
        assert "not searchable yet. Free some space" in recalled.structured_content["notice"]
        assert container.indexing.problems()[0].startswith("Insufficient disk space")
        until(lambda: container.indexing._pause > 1.0)  # after three attempts
        assert {each.name for each in state.indexes.iterdir()} == {live.name, "current"}
        filler.unlink()
        until(lambda: not container.live.stores.outdated and not container.indexing.problems())
        until(lambda: not container.live.indexer.comparison.differing().changed)
        write("Latest.md", "About ropes.\n")
        until(lambda: container.live.catalogue.by_path("Latest.md") is not None)
        (recalled,) = ask(container, RECALL)
        assert "not searchable yet" not in str(recalled.structured_content.get("notice"))
    finally:
        container.close()


def test_after_a_rebuild_whose_indexes_found_no_room_at_last_saved_notes_are_still_indexed(
    mount: Mount, write: Callable[..., Path], vault_folder: Path, settings: Settings
) -> None:
    disk = mount("disk", "-t", "tmpfs", "-o", f"size={2 * STATE_BYTES}", "tmpfs")
    write("Camp.md", "About tents.\n")
    container = Container(vault_folder, settings, StateFolder(disk / "state"))
    try:
        container.start()
        live, move = container.live, container.indexing._before_switch

        def fill_first(fresh: Generation) -> None:
            fill(disk)
            move(fresh)

        container.indexing._before_switch = fill_first
        with pytest.raises(DiskFull):
            container.indexing.rebuild()
        (disk / ".filler").unlink()
        assert container.live is live
        write("Later.md", "About stoves.\n")
        until(lambda: live.catalogue.by_path("Later.md") is not None)
    finally:
        container.close()


def test_a_rebuild_that_fails_as_the_engine_stops_leaves_nothing_watching(
    write: Callable[..., Path], vault_folder: Path, settings: Settings, tmp_path: Path
) -> None:
    write("Camp.md", "About tents.\n")
    container = Container(vault_folder, settings, StateFolder(tmp_path / "state"))
    try:
        container.start()

        def stop_first(_: Generation) -> None:
            container.indexing.stop(1.0)
            raise faults.store_closed()

        container.indexing._before_switch = stop_first
        with pytest.raises(StoreUnavailable):
            container.indexing.rebuild()
        assert container.indexing.watching() == "no"
    finally:
        container.close()


def test_while_the_indexes_disk_is_full_what_was_learnt_counts_and_is_not_computed_again(
    mount: Mount, write: Callable[..., Path], vault_folder: Path, settings: Settings
) -> None:
    disk = mount("disk", "-t", "tmpfs", "-o", f"size={STATE_BYTES}", "tmpfs")
    write("Camp.md", "About tents.\n")
    container = Container(vault_folder, settings, StateFolder(disk / "state"))
    try:
        container.start()
        memory = container.live.catalogue.by_path("Camp.md")
        assert memory is not None
        asked = [f"Who pitched the tent of day {day}?" for day in range(120)]
        container.learning.learnt.observe(
            Signal(
                at=container.now(), kind=SignalKind.OPENED, thousandths=500, memory=memory.id,
                question=question,
            )
            for question in asked
        )  # fmt: skip
        fill(disk)
        container.learning._write()
        assert len(container.learning.cases.like(asked[7], 1_000)) > 100
        reads = container.embedder.reads
        container.learning._write()
        assert container.embedder.reads == reads
    finally:
        container.close()


def test_a_disk_too_full_to_open_the_indexes_on_is_said(
    mount: Mount, write: Callable[..., Path], vault_folder: Path, settings: Settings
) -> None:
    disk = mount("disk", "-t", "tmpfs", "-o", f"size={STATE_BYTES}", "tmpfs")
    state = StateFolder(disk / "state")
    write("a.md", "About tents.\n")
    first = Container(vault_folder, settings, state)
    first.indexing.scan()
    first.close()
    filler = fill(disk)
    with pytest.raises(DiskFull, match="full"):
        Container(vault_folder, settings, state)
    filler.unlink()
    again = Container(vault_folder, settings, state)
    try:
        assert again.indexing.scan().unchanged == 1
        assert [f for f in examine(again.live.indexer) if f.severity == "error"] == []
    finally:
        again.close()
    assert tree(vault_folder) == {"a.md": b"About tents.\n"}


def test_an_engine_without_room_for_its_address_says_so_and_so_does_its_client(
    mount: Mount, vault_folder: Path, forked_engines: None
) -> None:
    disk = mount("disk", "-t", "tmpfs", "-o", "size=64k", "tmpfs")
    state = StateFolder.of_vault(vault_folder, disk)
    state.create()
    for lock in (state.engine_lock, state.start_lock, state.log):
        lock.touch()
    fill(disk)
    for command in ("serve", "search words"):
        ran = subprocess.run(
            [sys.executable, "-m", "memvault.cli", f"--vault={vault_folder}", *command.split()],
            env={**environment(), "MEMVAULT_STATE": str(disk)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 1 and "disk" in ran.stderr and "ree some space" in ran.stderr
        assert "Traceback" not in ran.stderr + ran.stdout and "internal" not in ran.stderr
    assert list(state.root.glob("*.tmp")) == []


def test_a_full_disk_costs_no_embedding_that_was_kept(mount: Mount) -> None:
    disk = mount("disk", "-t", "tmpfs", "-o", "size=1m", "tmpfs")
    cache = EmbeddingCache(disk / "cache.sqlite", "model")
    cache.put({"tents": Embedded(np.ones(8, np.float32))})
    cache.close()
    filler = fill(disk)
    with contextlib.suppress(DiskFull):
        EmbeddingCache(disk / "cache.sqlite", "model").close()
    filler.unlink()
    cache = EmbeddingCache(disk / "cache.sqlite", "model")
    assert set(cache.get(["tents"])) == {"tents"}
    cache.close()


def test_a_read_only_vault_is_indexed_and_refuses_what_would_write(
    mount: Mount, write: Callable[..., Path], vault_folder: Path, tmp_path: Path, settings: Settings
) -> None:
    write("a.md", "About tents.\n")
    write("permanent/preferences.md", "- Tone: warm\n")
    vault = mount("read-only", "--bind", "-o", "ro", str(vault_folder))
    container = Container(vault, settings, StateFolder(tmp_path / "state"))
    try:
        container.start()
        recalled, stored, preferred = ask(container, RECALL, STORE, PREFER)
        assert recalled.structured_content["nodes"][0]["path"] == "a.md"
        for refused in (stored, preferred):
            assert refused.structured_content["error"]["code"] == -32002
            assert "read-only" in refused.structured_content["error"]["message"]
            assert str(tmp_path) not in str(refused)
        write("b.md", "About stoves.\n")
        until(lambda: container.live.catalogue.by_path("b.md") is not None)
        assert set(tree(vault_folder)) == {"a.md", "b.md", "permanent/preferences.md"}
    finally:
        container.close()


def test_a_full_disk_under_the_watcher_is_tried_again(
    open_indexer: Callable[..., Indexer],
    write: Callable[..., Path],
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where no disk can be mounted: the engine's own look at the room there is says no."""
    live = open_indexer()
    monkeypatch.setattr("indexer.watch.RETRY_SECONDS", 0.2)
    watcher = Watcher(live, settings.index)
    watcher.start()
    try:
        usage = shutil.disk_usage(live.vault.root)
        with monkeypatch.context() as patch:
            patch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
            write("a.md", "About tents.\n")
            time.sleep(0.5)
            assert len(live.catalogue) == 0
        until(lambda: live.catalogue.by_path("a.md") is not None)
    finally:
        watcher.stop()


def test_forgetting_on_a_full_or_read_only_disk_leaves_the_note_where_it_is(
    mount: Mount, tmp_path: Path, settings: Settings
) -> None:
    vault = mount("vault", "-t", "tmpfs", "-o", "size=300k", "tmpfs")
    (vault / "a.md").write_text("# Camp\n\nAbout tents.\n")
    container = Container(vault, settings, StateFolder(tmp_path / "state"))
    forget = ("forget_concept", {"target": "a.md", "rationale": "They asked me to."})
    try:
        container.indexing.scan()
        filler = fill(vault)
        (refused,) = ask(container, forget)
        assert refused.structured_content["error"]["code"] == -32002
        assert "disk is full" in refused.structured_content["error"]["message"]
        assert (vault / "a.md").exists() and not (vault / ".trash").exists()
        assert list(container.journal.entries()) == []
        filler.unlink()
        subprocess.run(["mount", "-o", "remount,ro", str(vault)], check=True)
        (refused,) = ask(container, forget)
        assert "read-only" in refused.structured_content["error"]["message"]
        subprocess.run(["mount", "-o", "remount,rw", str(vault)], check=True)
        (forgotten,) = ask(container, forget)
        assert not forgotten.is_error and (vault / ".trash/a.md").exists()
    finally:
        container.close()


def test_on_a_nearly_full_disk_sessions_fade_sooner_and_upkeep_clears_more(
    mount: Mount, tmp_path: Path, settings: Settings
) -> None:
    """E-03: the person is told, and nothing of theirs is lost."""
    vault = mount("vault", "-t", "tmpfs", "-o", "size=40m", "tmpfs")
    small = settings.model_copy(update={"upkeep": UpkeepSettings(history_megabytes=0.01)})
    world = World(vault, small, StateFolder(tmp_path / "state"))
    container = world.container
    try:
        world.save(SESSION, TEXT)
        world.save("Plan.md", "The plan.\n")
        noise = random.Random(1).randbytes(600).hex()  # packs to about a kilobyte
        container.actions.annotate("Plan", noise, ME)
        container.actions.annotate("Plan", noise, ME)
        noted = container.actions.annotate("Plan", "Later.", ME).change
        world.days(91)
        assert noted is not None and world.read() != TEXT
        container.actions.reconstruct(SESSION, ME)
        world.touch(SESSION)
        world.days(17)
        container.upkeep.run()
        assert world.read() == TEXT and container.upkeep.low_disk() == ""
        packs = VersionStore(container.vault)
        assert noted.reversal_hash in packs.packs()
        with fill(vault).open("r+b") as file:
            file.truncate(39 * 1024 * 1024)
        low = container.upkeep.low_disk()
        assert low.startswith("The disk with the vault is nearly full (0.0 GB free)")
        assert low in [found.what for found in Startup.of(container).doctor(fix=False)]
        pulse = Resources(Toolbox(Startup.of(container))).seen_by("new")
        assert json.loads(pulse)["notice"] == low
        ((coming, at),) = container.fading.upcoming()
        assert coming.memory.path == SESSION and at == world.clock.at + timedelta(days=1)
        world.days(1)
        assert world.read() == TEXT, "there is a day's notice"
        world.days(1)
        assert world.stage() == "summary"
        assert container.upkeep.run().removed["old versions"]
        assert noted.reversal_hash not in packs.packs()
        container.actions.reconstruct(SESSION, ME)
        assert world.read() == TEXT
    finally:
        container.close()
