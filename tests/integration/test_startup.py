"""How an engine begins and ends: it lists its tools at once, survives damaged indexes, and loses
nothing when it is told to stop in the middle of its work."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from starlette.testclient import TestClient

from indexer import batches, catalogue, change_set, comparison
from indexer.catalogue import FORMAT
from indexer.progress import Progress, Report, ScanReport
from mcp_server.app import engine_app
from mcp_server.engine.client import EngineClient, connect_to_engine
from mcp_server.engine.launcher import Launcher, ask, read_address
from mcp_server.engine.startup import Startup
from mcp_server.runtime import generations as indexes
from mcp_server.runtime import models
from mcp_server.runtime.activity_tracker import ActivityTracker
from mcp_server.runtime.container import Container
from mcp_server.runtime.worker import Worker
from mcp_server.security.access_policy import AccessPolicy
from mcp_server.server import build_server
from memvault.cli.health import how_far
from memvault.config.paths import StateFolder
from memvault.config.settings import Settings
from memvault.model.errors import EngineUnavailable, MemvaultError, StoreUnavailable
from memvault.text.question_parser import question_parser
from tests.integration.forked_engine import exit_code, start_engine
from tests.waiting import PATIENCE_SECONDS, until

Write = Callable[..., Path]
LINE = "The lighthouse at Cape {n} is painted in the colour number {n}, and its keeper likes tea.\n"


def fill(write: Write, notes: int, lines: int = 6) -> None:
    for number in range(notes):
        text = "".join(LINE.format(n=number * 100 + line) for line in range(lines))
        write(
            f"notes/Cape {number}.md", f"# Cape {number}\n\n{text}\nSee [[Cape {number // 2}]].\n"
        )


@contextmanager
def opened(vault: Path, settings: Settings, state: StateFolder) -> Iterator[Container]:
    container = Container(vault, settings, state)
    try:
        yield container
    finally:
        container.close()


def serve(vault: Path, state: StateFolder) -> BaseProcess:
    return start_engine(vault, state, {"MEMVAULT_INDEX__NER": "off"})


@contextmanager
def client_of(state: StateFolder) -> Iterator[EngineClient]:
    until(lambda: read_address(state))
    with connect_to_engine(Launcher(state, []), state) as client:
        yield client


def call(server: Any, name: str, **arguments: Any) -> Any:
    async def run() -> Any:
        async with Client(server) as client:
            return await client.call_tool_mcp(name, arguments)

    return asyncio.run(run())


# -- beginning --------------------------------------------------------------------------------


def test_tools_are_listed_while_the_indexes_open_and_calls_wait_for_them(
    vault_folder: Path, settings: Settings, state: StateFolder, write: Write
) -> None:
    write("Lamp.md", "# Lamp\n\nThe lamp is lit at dusk.\n")
    let_go = threading.Event()

    def slow(tell: Callable[[str], None]) -> Container:
        tell("fetching the key")
        let_go.wait()
        return Container(vault_folder, settings, state, tell)

    startup = Startup(slow)
    server = build_server(startup)
    startup.start(lambda _: None)
    try:
        until(lambda: startup.status()["indexing"]["stage"] == "fetching the key")
        assert how_far(startup.status()) == {"notes": "loading", "indexing": "fetching the key"}

        async def use() -> tuple[int, dict[str, str], str]:
            async with Client(server) as client:
                tools = len(await client.list_tools())
                health = startup.health()
                asking = asyncio.create_task(client.call_tool_mcp("get_memetic_status", {}))
                await asyncio.sleep(0.2)
                assert not asking.done()
                let_go.set()
                return tools, health, (await asking).structured_content["stores"]["vectors"]

        tools, health, answered = asyncio.run(use())
        assert tools > 5
        assert health == {"status": "starting", "doing": "fetching the key"}
        assert answered == "ok"
        assert startup.health() == {"status": "ok"}
        until(lambda: startup.status()["notes"] == 1)
    finally:
        startup.close()


def test_only_calls_after_the_first_scan_wait_for_what_makes_answers_better(
    vault_folder: Path,
    settings: Settings,
    state: StateFolder,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write("Lamp.md", "# Lamp\n\nThe lamp is lit at dusk.\n")
    loading, let_go = threading.Event(), threading.Event()

    def slow(generation: indexes.Generation, worker: Worker) -> None:
        loading.set()
        let_go.wait(PATIENCE_SECONDS)

    monkeypatch.setattr(indexes.Generation, "warm_up", slow)
    for is_first in (True, False):
        loading.clear()
        let_go.clear()
        startup = Startup(lambda tell: Container(vault_folder, settings, state, tell))
        startup.start(lambda _: None)
        try:
            assert loading.wait(PATIENCE_SECONDS)
            assert startup.indexing == is_first
            if is_first:
                let_go.set()
                until(lambda startup=startup: not startup.indexing)
            server = build_server(startup)
            answer = call(server, "recall_memory", query="When is the lamp lit?")
            assert let_go.is_set() == is_first
            assert [each["title"] for each in answer.structured_content["nodes"]] == ["Lamp"]
            assert not answer.structured_content.get("notice")
            assert startup.status()["indexing"] is None
        finally:
            let_go.set()
            startup.close()


@pytest.fixture
def held_scan(
    vault_folder: Path,
    settings: Settings,
    state: StateFolder,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[tuple[Startup, threading.Event]]:
    """A startup whose first scan does not end before the event is set."""
    write("Lamp.md", "# Lamp\n\nThe lamp is lit at dusk.\n")
    loading, let_go = threading.Event(), threading.Event()

    def slow(generation: indexes.Generation, worker: Worker) -> None:
        loading.set()
        let_go.wait(PATIENCE_SECONDS)

    monkeypatch.setattr(indexes.Generation, "warm_up", slow)
    startup = Startup(lambda tell: Container(vault_folder, settings, state, tell))
    startup.start(lambda _: None)
    try:
        assert loading.wait(PATIENCE_SECONDS)
        yield startup, let_go
    finally:
        let_go.set()
        startup.close()


def test_the_list_of_concepts_is_not_written_before_the_first_scan_is_over(
    held_scan: tuple[Startup, threading.Event], vault_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    startup, let_go = held_scan
    monkeypatch.setattr(startup, "_patience", 0.1)
    with pytest.raises(StoreUnavailable, match="still being indexed"):
        startup.write_manifest()
    assert not (vault_folder / "manifest.md").exists()
    monkeypatch.setattr(startup, "_patience", PATIENCE_SECONDS)
    threading.Timer(0.2, let_go.set).start()
    assert startup.write_manifest().concepts == 1


def test_an_engine_that_stops_before_its_first_scan_is_over_writes_no_list_of_concepts(
    held_scan: tuple[Startup, threading.Event], vault_folder: Path
) -> None:
    startup, _ = held_scan
    threading.Timer(0.2, startup.wind_down).start()
    with pytest.raises(EngineUnavailable, match="stopping"):
        startup.write_manifest()
    assert not (vault_folder / "manifest.md").exists()


def test_nothing_counts_as_indexed_before_the_container_is_open() -> None:
    assert Startup(lambda _: pytest.fail("nobody opens it")).indexing


def test_the_question_parser_is_loaded_while_clients_are_connected(
    vault_folder: Path, settings: Settings, state: StateFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    parser, tracker = question_parser(), ActivityTracker()
    if parser is None:
        pytest.skip("needs the trained pipeline")
    parser.release()
    monkeypatch.setattr(models, "IDLE_SECONDS", 0.05)
    with opened(vault_folder, settings, state) as container:
        Startup.of(container).watch_clients(tracker)
        time.sleep(0.2)
        assert not parser.is_loaded
        with tracker.visit():
            until(lambda: parser.is_loaded)
        time.sleep(0.2)
        assert parser.is_loaded  # they may come back
        monkeypatch.setattr(models, "CLIENTS_AWAY_SECONDS", 0.0)
        until(lambda: not parser.is_loaded)


def test_the_page_says_that_the_engine_starts() -> None:
    let_go = threading.Event()

    def never(tell: Callable[[str], None]) -> Container:
        tell("loading the model")
        let_go.wait()
        raise StoreUnavailable("no more")

    startup = Startup(never)
    policy, tracker = AccessPolicy("127.0.0.1", "token"), ActivityTracker()
    app = engine_app(
        build_server(startup), startup, policy=policy, tracker=tracker, stop=lambda: None
    )
    startup.start(lambda _: None)
    try:
        until(lambda: startup.health()["doing"] == "loading the model")
        answer = TestClient(app, "http://127.0.0.1").get("/")
        assert answer.status_code == 503 and "loading the model" in answer.text
    finally:
        let_go.set()
        startup.close()


def test_a_call_that_waited_too_long_gets_the_running_step_as_its_error() -> None:
    let_go = threading.Event()

    def never(tell: Callable[[str], None]) -> Container:
        tell("exporting the model")
        let_go.wait()
        raise StoreUnavailable("too late")

    startup = Startup(never, patience=0.1)
    startup.start(lambda _: None)
    until(lambda: startup.health()["doing"] == "exporting the model")
    result = call(build_server(startup), "recall_memory", query="lamp")
    error = result.structured_content["error"]
    assert result.is_error
    assert error["code"] == -32002
    assert "exporting the model" in error["message"]
    assert "memvault status" in error["message"]
    assert startup.status()["indexing"]["stage"] == "exporting the model"
    let_go.set()
    startup.close()


def test_an_engine_that_cannot_open_its_indexes_says_why_and_ends(
    vault_folder: Path, state: StateFolder
) -> None:
    state.create()
    state.indexes.write_text("a file where the folder should be")
    process = serve(vault_folder, state)
    with client_of(state) as client:
        with pytest.raises(MemvaultError, match="could not open its indexes"):
            client.call_tool("recall_memory", {"query": "lamp"})
        address = read_address(state)
        assert address is not None
        health = json.loads(ask(address, "GET", "/healthz"))
        assert health["status"] == "failed"
        assert str(state.root) not in health["error"]
    assert exit_code(process) == 1
    assert "could not open its indexes" in state.log.read_text()


# -- damage -----------------------------------------------------------------------------------


def damage(folder: Path) -> int:
    """Overwrite every file of any size; gives their number."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.stat().st_size]
    for file in files:
        file.write_bytes(b"\xa5damaged" * (file.stat().st_size // 8 + 1))
    return len(files)


@pytest.mark.parametrize("store", ["vectors", "graph.lbug", "keyvalue.sqlite"])
def test_damaged_indexes_are_put_aside_and_filled_again(
    vault_folder: Path, settings: Settings, state: StateFolder, write: Write, store: str
) -> None:
    write("Lamp.md", "# Lamp\n\nThe lamp is lit at dusk by [[Ida]].\n")
    for _ in range(2):
        with opened(vault_folder, settings, state) as container:
            container.indexing.scan()
            folder = container.live.folder
        if (folder / store).is_dir():
            assert damage(folder / store)
        else:
            (folder / store).write_bytes(b"\xa5damaged" * 4096)

        with opened(vault_folder, settings, state) as container:
            container.start(watch=False)
            assert container.live.folder != folder
            found = container.live.searcher.find("when is the lamp lit?", 3)
            assert [hit.memory.path for hit in found] == ["Lamp.md"]
            assert container.indexing.doctor() == []
            kept = container.live.folder.name
        left = {entry.name for entry in state.indexes.iterdir()}
        assert left == {"current", "damaged", kept}


def test_a_damaged_entity_cache_is_replaced_by_an_empty_one(
    vault_folder: Path, settings: Settings, state: StateFolder
) -> None:
    state.create()
    state.entity_cache.write_bytes(b"no database" * 500)
    with opened(vault_folder, settings, state) as container:
        assert container.entity_cache.get("anything") is None


# -- ending -----------------------------------------------------------------------------------


def test_closing_in_the_first_scan_keeps_what_was_done_and_the_next_start_does_the_rest(
    vault_folder: Path,
    settings: Settings,
    state: StateFolder,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A slow machine needs longer to end the notes that are under way.
    monkeypatch.setattr("mcp_server.runtime.container.LAST_WAIT_SECONDS", PATIENCE_SECONDS)
    fill(write, 100, lines=2)
    began = threading.Event()

    def report(progress: Progress) -> None:
        if progress.stage == "indexing":
            began.set()
            until(lambda: container.live.indexer.stopped)

    stopped: list[Exception] = []

    def start() -> None:
        try:
            container.start(report=report)
        except MemvaultError as error:
            stopped.append(error)

    container = Container(vault_folder, settings, state)
    thread = threading.Thread(target=start)
    thread.start()
    assert began.wait(120)
    container.close()
    thread.join(PATIENCE_SECONDS)
    assert [str(each) for each in stopped] == [
        "The engine is stopping; the next one indexes what is left."
    ]
    with opened(vault_folder, settings, state) as container:
        kept = len(container.live.catalogue)
        assert 16 <= kept < 100
        assert container.indexing.scan().indexed == 100 - kept
        assert container.indexing.doctor() == []


def test_what_changes_in_a_long_scan_is_answered_as_it_is_before_the_scan_is_done(
    vault_folder: Path, settings: Settings, state: StateFolder, write: Write
) -> None:
    fill(write, 70, lines=1)
    reached, not_reached = write("a/Reached.md", "Figs.\n"), write("z/Not reached.md", "Plums.\n")
    under_way, goes_on = threading.Event(), threading.Event()

    def report(progress: Progress) -> None:
        if progress.stage == "indexing":
            under_way.set()
            assert goes_on.wait(PATIENCE_SECONDS)

    with opened(vault_folder, settings, state) as container:
        server = build_server(container)

        def paths(query: str) -> list[str]:
            answer = call(server, "recall_memory", query=query).structured_content
            return [node["path"] for node in answer["nodes"]]

        scan = threading.Thread(target=container.start, kwargs={"report": report})
        scan.start()
        assert under_way.wait(PATIENCE_SECONDS)
        try:
            text, why = "The shed key hangs by the door.", "the person said so"
            stored = call(server, "store_memory", content=text, rationale=why).structured_content
            assert stored.get("notice") is None
            assert paths("Where does the shed key hang?")[0] == stored["path"]
            reached.unlink()
            write("z/Not reached.md", "Quinces ripen in October.\n")
            until(lambda: paths("When do quinces ripen?")[:1] == ["z/Not reached.md"])
            not_reached.rename(not_reached.with_name("Moved.md"))
            until(lambda: paths("When do quinces ripen?")[:1] == ["z/Moved.md"])
            until(lambda: container.live.catalogue.by_path("a/Reached.md") is None)
        finally:
            goes_on.set()
        scan.join(PATIENCE_SECONDS)
        container.indexing.settle()
        assert "z/Not reached.md" not in container.live.catalogue.paths()
        assert container.indexing.doctor() == []


def test_notes_that_the_first_scan_has_not_reached_are_no_error(
    vault_folder: Path, settings: Settings, state: StateFolder, write: Write
) -> None:
    fill(write, 3)
    under_way, goes_on = threading.Event(), threading.Event()

    def report(progress: Progress) -> None:
        under_way.set()
        assert goes_on.wait(PATIENCE_SECONDS)

    with opened(vault_folder, settings, state) as container:
        scan = threading.Thread(target=container.start, kwargs={"watch": False, "report": report})
        scan.start()
        assert under_way.wait(PATIENCE_SECONDS)
        try:
            (finding,) = container.indexing.doctor(fix=True)
        finally:
            goes_on.set()
        assert (finding.severity, finding.what) == ("note", "3 notes are not indexed yet")
        scan.join(PATIENCE_SECONDS)
        assert container.indexing.doctor() == []


def test_a_first_scan_that_stopped_is_named_with_its_reason(
    vault_folder: Path, settings: Settings, state: StateFolder, write: Write
) -> None:
    fill(write, 3)

    def report(progress: Progress) -> None:
        raise MemvaultError("The index cannot be read.")

    with opened(vault_folder, settings, state) as container:
        with pytest.raises(MemvaultError):
            container.start(watch=False, report=report)
        stopped = "indexing stopped: The index cannot be read."
        assert container.status()["problems"] == [stopped]
        finding, *_ = container.indexing.doctor()
        assert (finding.severity, finding.what) == ("error", stopped)
        assert "memvault stop" in finding.advice

        container.start(watch=False)
        assert container.status()["problems"] == []
        assert container.indexing.doctor() == []


def test_a_rebuild_amid_the_first_scan_of_empty_indexes_is_that_scan(
    vault_folder: Path, settings: Settings, state: StateFolder, write: Write
) -> None:
    fill(write, 200, lines=1)
    reports: list[Progress] = []

    def wait_for_the_rebuild(progress: Progress) -> None:
        if progress.stage == "indexing":
            until(lambda: reports)

    with opened(vault_folder, settings, state) as container:
        scan = threading.Thread(target=container.start, kwargs={"report": wait_for_the_rebuild})
        scan.start()
        until(lambda: container.indexing.scanning)
        live = container.live
        assert container.indexing.rebuild(reports.append).indexed == 200
        scan.join(PATIENCE_SECONDS)
        assert container.live is live
        assert container.indexing.rebuild().indexed == 200
        assert container.live is not live


def test_closing_amid_a_rebuild_and_questions_harms_nothing(
    vault_folder: Path, settings: Settings, state: StateFolder, write: Write
) -> None:
    fill(write, 100, lines=2)
    container = Container(vault_folder, settings, state)
    container.start()
    surprises: list[BaseException] = []
    under_way = threading.Barrier(4)

    def run(work: Callable[[], object]) -> None:
        under_way.wait()
        try:
            while True:
                work()
        except MemvaultError:
            pass  # closed, in our own words
        except BaseException as error:
            surprises.append(error)

    def question() -> None:
        container.live.searcher.find("who likes tea?", 5)
        container.live.searcher.search("keeper of Cape 7", max_hops=2)

    threads = [
        threading.Thread(target=run, args=[work], daemon=True)
        for work in (container.indexing.rebuild, question, question)
    ]
    for thread in threads:
        thread.start()
    under_way.wait()
    time.sleep(0.4)
    container.close()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()
    assert surprises == []
    with opened(vault_folder, settings, state) as container:
        assert len(container.live.catalogue) == 100
        assert container.indexing.doctor() == []


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_signal_in_the_first_scan_ends_the_engine_soon_and_the_next_one_goes_on(
    vault_folder: Path, state: StateFolder, write: Write
) -> None:
    fill(write, 60, lines=2)
    process = serve(vault_folder, state)
    with client_of(state) as client:

        def has_begun() -> bool:
            status = client.status()
            stage = (status["indexing"] or {}).get("stage")
            return stage == "indexing" or bool(status["last_scan"])

        until(has_begun)
    process.terminate()
    assert exit_code(process) == 0  # a few seconds where nothing else runs
    assert "Traceback" not in state.log.read_text()

    process = serve(vault_folder, state)
    with client_of(state) as client:
        until(lambda: client.status()["last_scan"])
        status = client.status()
        assert status["notes"] == 60
        assert client.doctor(fix=False) == []
    process.terminate()
    assert exit_code(process) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_signal_while_the_indexes_open_ends_the_engine_too(
    vault_folder: Path, state: StateFolder
) -> None:
    process = serve(vault_folder, state)
    until(lambda: read_address(state))
    process.terminate()
    assert exit_code(process) == 0
    assert "Traceback" not in state.log.read_text()


def test_a_replaced_index_keeps_its_files_until_its_questions_are_answered(
    vault_folder: Path,
    settings: Settings,
    state: StateFolder,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(write, 4, lines=1)
    with opened(vault_folder, settings, state) as container:
        monkeypatch.setattr(indexes, "GRACE_SECONDS", 0.5)
        first = container.live.folder
        container.indexing.rebuild()
        monkeypatch.setattr(indexes, "GRACE_SECONDS", 60.0)
        second = container.live
        container.indexing.rebuild()
        until(lambda: not first.exists())
        assert second.folder.is_dir()
        assert len(second.searcher.find("Cape 3", 3)) == 3


# -- after an update --------------------------------------------------------------------------


def index_in_format(number: int, vault: Path, settings: Settings, state: StateFolder) -> None:
    """Index a vault as a memvault with this format does."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (batches, catalogue, change_set, comparison):
            patch.setattr(module, "FORMAT", number)
        with opened(vault, settings, state) as container:
            container.start(watch=False)
            container.indexing.settle()


def test_an_update_delays_no_question_and_what_the_person_changed_comes_first(
    vault_folder: Path, settings: Settings, state: StateFolder, write: Write
) -> None:
    fill(write, 70, lines=1)
    write("Lamp.md", "# Lamp\n\nThe lamp is lit at dusk.\n")
    index_in_format(FORMAT - 1, vault_folder, settings, state)
    write("Plums.md", "The plums ripen in August.\n")
    write("Lamp.md", "# Lamp\n\nThe lamp is lit at dawn.\n")
    goes_on = threading.Event()

    def slow(progress: Progress) -> None:
        if progress.stage == "indexing" and progress.total > 10:
            assert goes_on.wait(PATIENCE_SECONDS)

    class Slow(Container):
        def start(self, *, watch: bool = True, report: Report = slow) -> ScanReport:
            return super().start(watch=watch, report=report)

    startup = Startup(lambda tell: Slow(vault_folder, settings, state, tell))
    startup.start(lambda _: None)
    server = build_server(startup)

    def asked(query: str) -> dict[str, Any]:
        return call(server, "recall_memory", query=query).structured_content

    try:
        answer = asked("When do the plums ripen?")
        assert answer["nodes"][0]["path"] == "Plums.md"
        assert "memvault was updated" in answer["notice"] and "of 70" in answer["notice"]
        assert "dawn" in asked("When is the lamp lit?")["nodes"][0]["content"]
        lighthouse = asked("What number has the colour of Cape 6900?")
        assert any(node["path"].startswith("notes/Cape") for node in lighthouse["nodes"])
        text, why = "The shed key hangs by the door.", "the person said so"
        stored = call(server, "store_memory", content=text, rationale=why).structured_content
        assert asked("Where does the shed key hang?")["nodes"][0]["path"] == stored["path"]
        assert startup.status()["indexing"]["total"] == 70
        goes_on.set()
        container = startup.now()
        until(lambda: not container.live.indexer.updating and container.indexing.is_settled)
        container.indexing.settle()
        assert {record.format for record in container.live.catalogue.records()} == {FORMAT}
        assert asked("When do the plums ripen?").get("notice") is None
        assert container.indexing.doctor() == []
    finally:
        goes_on.set()
        startup.close()


def test_a_scan_amid_the_first_one_after_an_update_leaves_it_the_notes_to_index_again(
    vault_folder: Path, settings: Settings, state: StateFolder, write: Write
) -> None:
    fill(write, 20, lines=1)
    index_in_format(FORMAT - 1, vault_folder, settings, state)
    write("Plums.md", "The plums ripen in August.\n")
    with opened(vault_folder, settings, state) as container:
        indexer = container.live.indexer
        amid: list[ScanReport] = []

        def scan_again(progress: Progress) -> None:
            if not amid and progress.stage == "reading":
                write("Lamp.md", "# Lamp\n\nThe lamp is lit at dusk.\n")
                amid.append(indexer.scan())

        report = indexer.scan(scan_again)
        assert (amid[0].indexed, report.indexed) == (1, 21)
        assert {record.format for record in container.live.catalogue.records()} == {FORMAT}


def test_indexes_of_a_newer_memvault_are_put_aside_and_filled_again(
    vault_folder: Path,
    settings: Settings,
    state: StateFolder,
    write: Write,
    caplog: pytest.LogCaptureFixture,
) -> None:
    write("Lamp.md", "# Lamp\n\nThe lamp is lit at dusk.\n")
    index_in_format(FORMAT + 1, vault_folder, settings, state)
    newer = (state.indexes / "current").read_text()
    with opened(vault_folder, settings, state) as container:
        assert container.live.folder.name != newer
        assert "made by a newer memvault. Filling new indexes from the vault." in caplog.text
        container.start(watch=False)
        answer = call(build_server(container), "recall_memory", query="When is the lamp lit?")
        assert answer.structured_content["nodes"][0]["path"] == "Lamp.md"
        assert container.indexing.doctor() == []
    kept, now = state.indexes / "damaged", time.time()
    for days in (29, 31):
        assert (kept / "vectors").is_dir()
        os.utime(kept, (now, now - days * 24 * 3600))
        with opened(vault_folder, settings, state):
            pass
    assert not kept.exists()
