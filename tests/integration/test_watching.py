"""The watcher under the work of people, git and sync tools: in the end the indexes are true."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastmcp import Client
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.utils.dirsnapshot import EmptyDirectorySnapshot

from indexer import observers, watch
from indexer.doctor import examine, known_problems
from indexer.indexer import Indexer
from indexer.watch import Watcher
from mcp_server.runtime.container import Container
from mcp_server.server import build_server
from memvault.config.paths import StateFolder
from memvault.config.settings import IndexSettings, Settings
from memvault.curation.operations.draft import Draft
from memvault.model.errors import StorageError, VaultMissing
from tests.snapshot import assert_as_rebuilt, differences, snapshot
from tests.waiting import PATIENCE_SECONDS, until

posix_only = pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
CLAIMED = "They asked me to keep it."
CHECKED_OUT = 150
Write = Callable[..., Path]
Open = Callable[..., Indexer]


@contextmanager
def watched(indexer: Indexer, **changes: object) -> Iterator[Watcher]:
    watcher = Watcher(indexer, IndexSettings(debounce_seconds=0.05, ner="off", **changes))  # type: ignore[arg-type]
    watcher.start()
    indexer.scan()
    try:
        yield watcher
    finally:
        watcher.stop()


def paths(indexer: Indexer) -> set[str]:
    return indexer.catalogue.paths()


def is_true(indexer: Indexer) -> bool:
    differing = indexer.comparison.differing()
    return not differing.changed and not differing.deleted


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_checkout_of_many_notes_under_the_watcher(
    open_indexer: Open, write: Write, vault_folder: Path
) -> None:
    git(vault_folder, "init", "-q", "-b", "calm")
    write("Stays.md", "# Stays\n\nAs it is, see [[Note 7]].\n")
    git(vault_folder, "add", ".")
    git(vault_folder, "commit", "-qm", "calm")
    git(vault_folder, "checkout", "-qb", "storm")
    for number in range(CHECKED_OUT):
        write(f"{number % 20}/Note {number}.md", f"After [[Note {number - 1}]] comes rain.\n")
    git(vault_folder, "add", ".")
    git(vault_folder, "commit", "-qm", "storm")
    git(vault_folder, "checkout", "-q", "calm")
    live = open_indexer()
    with watched(live):
        git(vault_folder, "checkout", "-q", "storm")
        until(lambda: len(live.catalogue) == CHECKED_OUT + 1)
        assert [finding for finding in examine(live) if finding.severity == "error"] == []
        assert_as_rebuilt(live, open_indexer)
        git(vault_folder, "checkout", "-q", "calm")
        until(lambda: len(live.catalogue) == 1)
    assert len(set(live.stores.vectors.note_ids())) == 1


def test_folders_moved_and_renamed_under_the_watcher(
    open_indexer: Open, write: Write, vault_folder: Path, tmp_path: Path
) -> None:
    for name in ("Oak", "Elm", "Ash"):
        write(f"trees/old/{name}.md", f"# {name}\n\nBeside [[Oak]] and the Elm.\n")
    write("Wood.md", "See [[trees/old/Oak]], [[forest/Oak]] and [[Ash]].\n")
    away = tmp_path / "away"
    live = open_indexer()
    with watched(live):
        (vault_folder / "trees/old").rename(vault_folder / "forest")
        until(
            lambda: paths(live) == {"Wood.md", *(f"forest/{n}.md" for n in ("Oak", "Elm", "Ash"))}
        )
        (vault_folder / "forest").rename(vault_folder / "Forest of ours")
        until(lambda: "Forest of ours/Ash.md" in paths(live) and len(live.catalogue) == 4)
        shutil.move(vault_folder / "Forest of ours", away)
        until(lambda: paths(live) == {"Wood.md"})
        shutil.move(away, vault_folder / "forest")
        until(lambda: "forest/Oak.md" in paths(live))
        for folder in ("forest", "Wood", "forest"):
            write(f"{folder}/Elm.md", f"# Elm\n\nNow in {folder}, at {time.monotonic()}.\n")
            until(lambda: is_true(live))
            other = {"forest": "Wood", "Wood": "forest"}[folder]
            (vault_folder / folder).rename(vault_folder / other)
            until(lambda other=other: f"{other}/Oak.md" in paths(live) and is_true(live))
        (vault_folder / "Wood").rename(vault_folder / "forest")
        until(lambda: "forest/Oak.md" in paths(live))
        (vault_folder / "forest/Oak.md").rename(vault_folder / "forest/Beech.md")
        until(lambda: "forest/Beech.md" in paths(live) and "forest/Oak.md" not in paths(live))
        shutil.rmtree(vault_folder / "trees")
        write("new/deep/down/Yew.md", "The yew.\n")  # the folder's event may outrun its watch
        until(lambda: "new/deep/down/Yew.md" in paths(live))
    assert_as_rebuilt(live, open_indexer)


@pytest.mark.skipif(sys.platform != "linux", reason="inotify tells that files are opened")
def test_reading_notes_causes_no_event_of_the_watcher(
    open_indexer: Open, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    event_types: list[str] = []
    gather = watch._Gatherer.on_any_event

    def overheard(self: watch._Gatherer, event: FileSystemEvent) -> None:
        event_types.append(event.event_type)
        gather(self, event)

    monkeypatch.setattr(watch._Gatherer, "on_any_event", overheard)
    note = write("Oak.md", "The oak.\n")
    live = open_indexer()
    with watched(live):
        for _ in range(20):
            note.read_bytes()
        write("Elm.md", "The elm.\n")
        until(lambda: "Elm.md" in paths(live))
    assert not {"opened", "closed_no_write"} & set(event_types)


def test_a_folder_that_holds_no_notes_asks_for_no_scan(
    open_indexer: Open, write: Write, vault_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("Oak.md", "The oak.\n")
    (vault_folder / ".memvault").mkdir()
    live = open_indexer()
    with watched(live):
        scans: list[str] = []
        monkeypatch.setattr(live, "scan", lambda: scans.append("scan"))
        (vault_folder / ".memvault/history/ab").mkdir(parents=True)
        (vault_folder / ".obsidian/themes").mkdir(parents=True)
        write("Elm.md", "The elm.\n")
        until(lambda: "Elm.md" in paths(live))
        assert not scans
        (vault_folder / "wood").mkdir()
        until(lambda: bool(scans))


def test_where_no_events_come_files_are_compared_at_intervals(
    open_indexer: Open, write: Write, vault_folder: Path
) -> None:
    write("a.md", "Tents.\n")
    write("folder/b.md", "Stoves.\n")
    live = open_indexer()
    with watched(live, polling="always", polling_seconds=0.1) as watcher:
        assert watcher.polling
        write("a.md", "Canoes and [[c]].\n")
        write("c.md", "Lanterns.\n")
        until(lambda: "c.md" in paths(live) and is_true(live))
        (vault_folder / "folder").rename(vault_folder / "other")
        until(lambda: paths(live) == {"a.md", "c.md", "other/b.md"})
        (vault_folder / "c.md").unlink()
        until(lambda: paths(live) == {"a.md", "other/b.md"})
    assert_as_rebuilt(live, open_indexer)


@pytest.mark.parametrize("polling", ["never", "always"])
def test_an_ignore_file_written_changed_and_deleted_while_watching(
    open_indexer: Open, write: Write, vault_folder: Path, polling: str
) -> None:
    write("diary/a.md", "Private.\n")
    write("work/b.md", "See [[a]].\n")
    live = open_indexer()
    with watched(live, polling=polling, polling_seconds=0.1):
        write(".memvaultignore", "diary/\n")
        until(lambda: paths(live) == {"work/b.md"})
        write(".memvaultignore", "work/\n")
        until(lambda: paths(live) == {"diary/a.md"})
        (vault_folder / ".memvaultignore").unlink()
        until(lambda: paths(live) == {"diary/a.md", "work/b.md"})
    assert_as_rebuilt(live, open_indexer)


@pytest.mark.parametrize("polling", ["never", "always"])
def test_a_folder_is_named_as_that_of_templates_while_watching(
    open_indexer: Open, write: Write, polling: str
) -> None:
    write("blanks/day.md", "How was {{date}}?\n")
    write("work/b.md", "See [[day]].\n")
    write(".obsidian/app.json", "{}")
    live = open_indexer()
    with watched(live, polling=polling, polling_seconds=0.1):
        write(".obsidian/templates.json", '{"folder": "blanks"}')
        until(lambda: paths(live) == {"work/b.md"})
    assert_as_rebuilt(live, open_indexer)


def test_notes_that_come_and_go_faster_than_they_are_read(
    open_indexer: Open, write: Write, vault_folder: Path
) -> None:
    write("Stays.md", "See [[Flicker 3]].\n")
    live = open_indexer()
    with watched(live):
        deadline = time.monotonic() + 1.5
        number = 0
        while time.monotonic() < deadline:
            note = write(f"Flicker {number % 9}.md", f"Now {number}, then gone.\n")
            if number % 3:
                note.unlink()
            elif number % 2:
                note.replace(vault_folder / f"Moved {number % 5}.md")
            number += 1
        write("Last.md", "The end.\n")
        until(lambda: "Last.md" in paths(live) and is_true(live))
    assert_as_rebuilt(live, open_indexer)


def test_people_and_agents_at_work_at_once_leave_true_indexes(
    vault_folder: Path, state: StateFolder, settings: Settings, write: Write
) -> None:
    dice = random.Random(11)
    for number in range(12):
        write(f"notes/Topic {number}.md", f"# Topic {number}\n\nAfter [[Topic {number - 1}]].\n")
    container = Container(vault_folder, settings, state)
    done = threading.Event()

    def person() -> None:
        while not done.is_set():
            note = vault_folder / f"notes/Topic {dice.randrange(12)}.md"
            match dice.randrange(5):
                case 0:
                    note.unlink(missing_ok=True)
                case 1 if note.exists():
                    note.replace(vault_folder / f"Topic {dice.randrange(12)}.md")
                case _:
                    note.write_text(f"Topic {dice.randrange(12)} and [[Lamp {dice.randrange(5)}]].")
            time.sleep(0.01)

    async def agent() -> None:
        async with Client(build_server(container)) as client:
            for number in range(12):
                memory = {
                    "content": f"Lamp {number % 5} hangs over [[Topic {number % 12}]].",
                    "title": f"Lamp {number % 5}",
                    "rationale": "It was said in passing.",
                }
                await client.call_tool("store_memory", memory)
                key = {"key": f"Light {number % 3}", "value": f"Topic {number}"}
                await client.call_tool("set_preference", {**key, "rationale": "They asked for it."})

    try:
        container.start()
        editor = threading.Thread(target=person)
        editor.start()
        try:
            asyncio.run(agent())
        finally:
            done.set()
            editor.join()
        until(lambda: is_true(container.live.indexer))
        with suppress(AssertionError):  # the last events may still be on their way
            until(lambda: not examine(container.live.indexer), 1.0)
        container.indexing.settle()
        assert [f for f in examine(container.live.indexer) if f.severity == "error"] == []
        kept = snapshot(container.live.indexer)
        container.indexing.rebuild()
        assert differences(kept, snapshot(container.live.indexer)) == []
    finally:
        container.close()


def test_while_the_vault_is_gone_the_index_is_kept_and_all_is_well_when_it_is_back(
    open_indexer: Open, write: Write, vault_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "RETRY_SECONDS", 0.1)
    write("Heron.md", "The Heron leaks.")
    write("boats/Plover.md", "The Plover does not.")
    indexer = open_indexer()
    indexer.vault.had_notes = lambda: bool(len(indexer.catalogue))
    with watched(indexer) as watcher:
        away = vault_folder.with_name("away")
        vault_folder.rename(away)
        (away / "Heron.md").write_text("The Heron is mended.")
        time.sleep(0.5)
        assert paths(indexer) == {"Heron.md", "boats/Plover.md"}
        with pytest.raises(VaultMissing):
            indexer.scan()
        [finding] = examine(indexer)
        assert "is missing" in finding.what and not finding.repaired_by_scan
        vault_folder.mkdir()  # a mount point whose drive is not there
        with pytest.raises(VaultMissing):
            indexer.scan()
        vault_folder.rmdir()
        away.rename(vault_folder)
        until(lambda: is_true(indexer))
        write("boats/Wren.md", "The Wren is new.")
        until(lambda: "boats/Wren.md" in paths(indexer))
        until(lambda: watcher.lag_seconds() == 0.0)
        until(lambda: examine(indexer) == [])  # the file may have been read while still empty


def test_another_folder_that_takes_the_vaults_place_is_watched(
    open_indexer: Open, write: Write, vault_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "RETRY_SECONDS", 0.1)
    write("Heron.md", "The Heron leaks.")
    backup = shutil.copytree(vault_folder, vault_folder.with_name("backup"))
    indexer = open_indexer()
    with watched(indexer):
        monkeypatch.setattr(indexer.vault, "is_missing", lambda: False)  # nobody sees it gone
        vault_folder.rename(vault_folder.with_name("broken"))
        backup.rename(vault_folder)
        write("Wren.md", "The Wren is new.")
        until(lambda: "Wren.md" in paths(indexer))
        write("Wren.md", "The Wren was painted.")
        until(lambda: is_true(indexer))


def test_a_vault_is_compared_again_when_its_drive_was_away_for_a_moment(
    open_indexer: Open, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "RETRY_SECONDS", 0.1)
    indexer = open_indexer()
    with watched(indexer, polling="always", polling_seconds=0.1) as watcher:
        assert watcher._observer is not None
        for emitter in watcher._observer.emitters:
            emitter.stop()  # as watchdog does when it does not find the folder
        write("Heron.md", "The Heron leaks.")
        until(lambda: paths(indexer) == {"Heron.md"})
        write("Wren.md", "The Wren is new.")
        until(lambda: "Wren.md" in paths(indexer))


@pytest.mark.skipif(sys.platform != "linux", reason="inotify says what is unmounted")
def test_a_vault_is_watched_again_when_its_drive_was_unmounted_for_a_moment(
    open_indexer: Open, write: Write
) -> None:
    from watchdog.observers.inotify_c import InotifyConstants, InotifyEvent, inotify_rm_watch

    indexer = open_indexer()
    with watched(indexer) as watcher:
        assert watcher._observer is not None
        queue = watcher._observer._inotify_fd  # type: ignore[attr-defined]
        for descriptor in list(queue._watch_for_wd):
            inotify_rm_watch(queue._inotify_fd, descriptor)
        write("Heron.md", "The Heron leaks.")
        queue.handle_event(InotifyEvent(1, InotifyConstants.IN_UNMOUNT, 0, b""))
        until(lambda: paths(indexer) == {"Heron.md"})
        write("Wren.md", "The Wren is new.")
        until(lambda: "Wren.md" in paths(indexer))


def test_a_drive_that_did_not_answer_for_hours_is_compared_again_within_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, waits, durations = 0.0, list[float](), [0.1, 10.0, 7_200.0, 0.1]

    def wait(seconds: float) -> bool:
        nonlocal now
        waits.append(seconds)
        now += seconds
        return False

    def take_snapshot() -> EmptyDirectorySnapshot:
        nonlocal now
        now += durations.pop(0)
        return EmptyDirectorySnapshot()

    monkeypatch.setattr(observers, "time", SimpleNamespace(monotonic=lambda: now))
    observer = observers.polling_observer(5.0)
    observer.schedule(FileSystemEventHandler(), str(tmp_path))
    (emitter,) = observer.emitters
    monkeypatch.setattr(emitter.stopped_event, "wait", wait)
    monkeypatch.setattr(emitter, "_take_snapshot", take_snapshot)
    while durations:
        emitter.queue_events(5.0)
    assert waits == pytest.approx([5.0, 5.0, 40.0, 300.0])


def test_a_drive_with_a_folder_that_cannot_be_listed_is_compared_and_the_folder_kept(
    open_indexer: Open, write: Write, vault_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "RETRY_SECONDS", 0.1)
    write("boats/Heron.md", "The Heron leaks.")
    indexer, scandir = open_indexer(), os.scandir
    indexer.scan()

    def stale(folder: str | Path) -> object:
        if str(folder).endswith("boats"):
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", stale)
    with watched(indexer, polling="always", polling_seconds=0.1):
        write("Wren.md", "The Wren is new.")
        until(lambda: paths(indexer) == {"boats/Heron.md", "Wren.md"})
        monkeypatch.setattr(os, "scandir", scandir)
        write("boats/Robin.md", "The Robin is new.")
        until(lambda: paths(indexer) == {"boats/Heron.md", "boats/Robin.md", "Wren.md"})


@posix_only
def test_files_are_compared_without_following_links(
    open_indexer: Open, write: Write, vault_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("boats/Heron.md", "The Heron leaks.")
    (vault_folder / "boats/again").symlink_to(vault_folder)
    scandir, listed = os.scandir, list[str]()
    monkeypatch.setattr(os, "scandir", lambda folder: listed.append(str(folder)) or scandir(folder))
    with watched(open_indexer(), polling="always", polling_seconds=0.1):
        write("Wren.md", "The Wren is new.")
        listed.clear()
        until(lambda: listed.count(str(vault_folder / "boats")) > 1)
    assert not [folder for folder in listed if "again" in folder]


@pytest.mark.skipif(sys.platform != "linux", reason="the queue of inotify")
def test_events_that_a_busy_machine_delays_are_still_waited_for(
    open_indexer: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = observers.SystemQueue.handle_event

    def late(self: observers.SystemQueue, event: Any) -> None:
        time.sleep(1.5)
        handle(self, event)

    slow = SimpleNamespace(monotonic=time.monotonic, sleep=lambda seconds: time.sleep(9 * seconds))
    monkeypatch.setattr(watch, "time", slow)
    monkeypatch.setattr(observers.SystemQueue, "handle_event", late)
    with watched(open_indexer("live"), polling="auto") as watcher:
        monkeypatch.setattr(observers.SystemQueue, "handle_event", handle)
        assert not watcher.polling


@pytest.mark.parametrize("kind", ["nfs4", "fuse.sshfs", "9p", "fuseblk", "ext4"])
def test_files_on_a_drive_that_reports_only_changes_made_here_are_compared_at_intervals(
    open_indexer: Open,
    write: Write,
    vault_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    mounts = [("/", "ext4"), (str(vault_folder.parent), kind), ("/elsewhere", "nfs4")]
    monkeypatch.setattr(
        "indexer.observers.psutil.disk_partitions",
        lambda all: [SimpleNamespace(mountpoint=place, fstype=fstype) for place, fstype in mounts],
    )
    with watched(open_indexer(), polling_seconds=0.1) as watcher:
        assert watcher.polling == (kind not in ("fuseblk", "ext4"))


def test_notes_in_a_folder_that_cannot_be_read_stay_indexed(
    indexer: Indexer, write: Write, vault_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("boats/old/Heron.md", "The Heron leaks.")
    write("Oven.md", "The clay oven is dry.")
    indexer.scan()
    scandir = os.scandir

    def refuse(folder: Path) -> object:
        if str(folder).endswith("boats"):
            raise PermissionError(13, "not allowed")
        return scandir(folder)

    monkeypatch.setattr("memvault.vault.files.os.scandir", refuse)
    (vault_folder / "Oven.md").unlink()
    indexer.scan()
    assert paths(indexer) == {"boats/old/Heron.md"}
    assert why_not_read(indexer) == {"boats": "the folder cannot be read"}
    assert known_problems(indexer) == ["boats: the folder cannot be read"]
    monkeypatch.undo()
    indexer.scan()
    assert why_not_read(indexer) == {}


def why_not_read(indexer: Indexer) -> dict[str | None, str]:
    return {each.path: each.what for each in examine(indexer) if each.severity == "note"}


def test_a_file_that_may_not_be_read_is_named_with_the_reason_though_it_is_unchanged(
    indexer: Indexer, write: Write, vault_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("Heron.md", "The Heron leaks.")
    indexer.scan()
    allowed = os.access

    def refuse(path: Any, mode: int) -> bool:
        return not str(path).endswith("Heron.md") and allowed(path, mode)

    monkeypatch.setattr("memvault.vault.files.os.access", refuse)
    assert paths(indexer) == {"Heron.md"}
    assert why_not_read(indexer) == {"Heron.md": "it cannot be read"}
    monkeypatch.undo()
    assert why_not_read(indexer) == {}


def test_a_file_that_could_not_be_read_when_it_changed_is_named_until_it_can(
    indexer: Indexer, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("Heron.md", "The Heron leaks.")
    with monkeypatch.context() as refused:
        refused.setattr(indexer.vault, "read", refuse_reading)
        indexer.index(["Heron.md"])
    assert known_problems(indexer) == ["Heron.md: cannot be read: not allowed"]
    indexer.index(["Heron.md"])
    assert known_problems(indexer) == []


def refuse_reading(path: str) -> bytes:
    raise StorageError("not allowed")


def test_the_watcher_lives_on_after_an_error_of_the_system(
    open_indexer: Open, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "RETRY_SECONDS", 0.1)
    indexer = open_indexer()
    with watched(indexer) as watcher:
        failures = iter([OSError(22, "Invalid argument")])
        take = watcher._gatherer.next_change

        def fail_once(*arguments: Any) -> Any:
            if (error := next(failures, None)) is not None:
                raise error
            return take(*arguments)

        monkeypatch.setattr(watcher._gatherer, "next_change", fail_once)
        write("First.md", "One.")
        write("Second.md", "Two.")
        until(lambda: paths(indexer) == {"First.md", "Second.md"})


@pytest.mark.skipif(sys.platform != "linux", reason="the limits of inotify")
def test_events_that_the_system_dropped_are_made_up_for(
    open_indexer: Open, write: Write, vault_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    indexer, began, resume = open_indexer("live"), threading.Event(), threading.Event()
    handle = observers.SystemQueue.handle_event

    def slow(self: observers.SystemQueue, event: Any) -> None:
        began.set()
        resume.wait(PATIENCE_SECONDS)
        handle(self, event)

    files = [vault_folder / name for name in ("a.png", "b.png")]
    for file in files:
        file.touch()
    with watched(indexer, polling="never"):
        monkeypatch.setattr(observers.SystemQueue, "handle_event", slow)
        files[0].touch()
        assert began.wait(PATIENCE_SECONDS)
        for number in range(
            most + 3_000
        ):  # more than are read at once; like events in a row count once
            os.utime(files[number % 2])
        write("Unseen.md", "Nobody was told of this one.\n")
        resume.set()
        until(lambda: paths(indexer) == {"Unseen.md"})


@pytest.mark.skipif(sys.platform != "linux", reason="the limits of inotify")
def test_folders_beyond_the_systems_limit_are_compared_at_intervals(
    open_indexer: Open, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexer = open_indexer("live")
    write("Here.md", "In the vault.\n")

    def full(*_: object) -> int:
        ctypes.set_errno(errno.ENOSPC)
        return -1

    with watched(indexer, polling_seconds=0.1) as watcher:
        monkeypatch.setattr("watchdog.observers.inotify_c.inotify_add_watch", full)
        write("deep/There.md", "In a folder that is new.\n")
        until(lambda: watcher.polling)
        write("deep/Later.md", "Saved there later.\n")
        until(lambda: paths(indexer) == {"Here.md", "deep/There.md", "deep/Later.md"})


def stored_by_a_client(vault: Path, home: Path) -> Path:
    """A vault in which a client stored the note Ferry; returns the note."""
    write_claim = Draft(title="Ferry", content="The ferry costs 9 euros.", rationale=CLAIMED)
    container = Container(vault, Settings(), StateFolder(home / "other state"))
    try:
        path = container.actions.store(write_claim.model_copy(update={"client": "a client"})).path
    finally:
        container.close()
    return vault / path


def test_a_journal_that_a_sync_tool_brings_after_its_note_says_whose_words_those_are(
    vault_folder: Path, tmp_path: Path, state: StateFolder, settings: Settings, write: Write
) -> None:
    other = tmp_path / "other device"
    other.mkdir()
    note = stored_by_a_client(other, tmp_path)
    path = note.relative_to(other).as_posix()
    write("Oven.md", "The clay oven is dry.")
    container = Container(vault_folder, settings, state)

    def is_persons() -> bool:
        memory = container.live.catalogue.by_path(path)
        return memory is not None and memory.provenance.is_person

    try:
        container.start()
        write(path, note.read_text().replace("source: a client\n", ""))
        until(is_persons)  # nothing says otherwise yet
        journal = other / ".memvault/journal"
        shutil.copytree(journal, vault_folder / ".memvault/journal", dirs_exist_ok=True)
        until(lambda: not is_persons())
        assert container.live.catalogue.by_path("Oven.md").provenance.is_person
    finally:
        container.close()


def test_the_doctor_says_that_the_journal_knows_other_authors(
    vault_folder: Path, tmp_path: Path, state: StateFolder, settings: Settings, write: Write
) -> None:
    other = tmp_path / "other device"
    other.mkdir()
    note = stored_by_a_client(other, tmp_path)
    write("Ferry.md", note.read_text())
    write("Oven.md", "The clay oven is dry.")
    container = Container(vault_folder, settings, state)
    try:
        container.indexing.scan()
        (missing,) = [each.what for each in examine(container.live.indexer)]
        assert missing == "the history is missing of 1 note that AI clients or imports wrote"
        shutil.copytree(other / ".memvault/journal", vault_folder / ".memvault/journal")
        write("Oven.md", "The clay oven is wet and cold.")
        reasons = {each.path: each.what for each in examine(container.live.indexer)}
        assert reasons["Oven.md"] == "changed on disk since it was indexed"
        assert "the journal has new entries on its authors" in reasons["Ferry.md"]
    finally:
        container.close()
