"""The edge cases (EC-CORE) and errors (ERR-CORE) of **core**, adapted to these stores, as a real
client meets them and in the document's words.

Here, by the test's id or name: EC-CORE-001 to -008, -011 to -013 and -015 to -017, ERR-CORE-001 to -007, -009 and
-010. Elsewhere:

- EC-CORE-009, a full disk: test_full_disk.py, on a real one that is full.
- EC-CORE-010, the bounded cache of memories: test_memory_nodes.py.
- EC-CORE-011, no tool and no resource shows it: test_forgetting.py.
- EC-CORE-014, kills while an engine recovers: test_crash.py.
- EC-CORE-015, by the clock: test_client_sessions.py.
- EC-CORE-018 and ERR-CORE-008, old, future and broken formats: test_memory_nodes.py.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from fastmcp import Client
from filelock import FileLock

from indexer.doctor import examine
from mcp_server.runtime.container import Container
from memvault.vault.journal import FOLDER
from tests.integration.caller import Caller
from tests.integration.small_vault import KELP as NOTES
from tests.integration.small_vault import opened
from tests.integration.tiny_engine import environment
from tests.waiting import PATIENCE_SECONDS

REASON = "Long enough to be a reason."
LONG = {"content": "x" * 65_537, "rationale": REASON}
WRITERS = 50


# -- arguments ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        pytest.param(
            "store_memory",
            LONG,
            "Content exceeds maximum length of 65536 characters",
            id="EC-CORE-001",
        ),
        pytest.param(
            "store_memory",
            {"content": "x"},
            "Rationale is required (10-500 characters)",
            id="EC-CORE-002",
        ),
        pytest.param(
            "store_memory",
            {"content": "x", "rationale": "short"},
            "Rationale must be at least 10 characters",
            id="EC-CORE-003",
        ),
        pytest.param(
            "recall_memory",
            {"query": "kelp", "top_k": 0},
            "top_k must be between 1 and 100",
            id="EC-CORE-005",
        ),
        pytest.param(
            "inject_context",
            {"query": "kelp", "max_tokens": 99},
            "max_tokens must be between 100 and 8192",
            id="EC-CORE-006",
        ),
        pytest.param(
            "forget_concept",
            {"target": "Clay oven", "rationale": REASON, "soft_delete": False},
            "Permanent deletion requires reason='user_requested'",
            id="EC-CORE-012, ERR-CORE-007",
        ),
        pytest.param(
            "set_verbosity",
            {"level": 3},
            "Verbosity level must be 0, 1, or 2",
            id="EC-CORE-016",
        ),
        pytest.param(
            "store_memory",
            {"content": "x", "content_base64": "eA==", "rationale": REASON},
            "Provide either content or content_base64, not both",
            id="EC-CORE-017",
        ),
        pytest.param(
            "recall_memory",
            {"query": "kelp", "filters": "new ones"},
            "Invalid params: filters - ",
            id="ERR-CORE-004",
        ),
        pytest.param(
            "get_memory",
            {"id": ["a", "b"]},
            "Invalid params: id - ",
            id="ERR-CORE-004, a wrong type",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_in_the_documents_words(reader, tool, arguments, message):
    error = reader.error(tool, **arguments)
    assert error["code"] == -32602
    assert error["message"] == message or (
        message.endswith(" - ") and error["message"].startswith(message)
    )


def test_err_core_005_and_006_tell_what_is_wanted_and_what_was_received(reader):
    """The document words each of them twice; the edge cases' words are the ones used."""
    error = reader.error("store_memory", **LONG)
    assert error["data"] == {"received": 65_537}
    error = reader.error("store_memory", content="x", rationale="y" * 501)
    assert error["message"] == "Rationale must be at most 500 characters"
    error = reader.error("store_memory", content="x", rationale=None)
    assert error["message"].lower() == "rationale is required (10-500 characters)"


def test_ec_core_004_finding_nothing_is_no_error_and_suggests_to_explore(reader):
    answer = reader.ok("recall_memory", query="kelp", filters={"tags": ["no such tag"]})
    assert answer["nodes"] == []
    assert answer["pulse"]["suggested_action"] == "explore"


def test_ec_core_011_a_forgotten_memory_is_as_if_it_did_not_exist(writer):
    memory_id = writer.id_of("Clay oven")
    writer.person.ok("forget_concept", target=memory_id, rationale=REASON)
    never = writer.error("get_memory", id="00000000-0000-4000-8000-000000000000")
    forgotten = writer.error("get_memory", id=memory_id)
    assert forgotten["code"] == never["code"] == -32602
    assert forgotten["message"].replace(memory_id, "") == never["message"].replace(
        never["data"]["id"], ""
    )
    nodes = writer.ok("recall_memory", query="clay oven", top_k=100)["nodes"]
    assert memory_id not in [node["id"] for node in nodes]


# -- storage ------------------------------------------------------------------------------------


def damage(file: Path) -> None:
    file.write_bytes(b"\xa5damaged" * (file.stat().st_size // 8 + 1))


def test_ec_core_007_a_damaged_database_is_said_and_mended_by_the_next_start(tmp_path, caplog):
    container = opened(tmp_path)
    caller = Caller(container)
    settings, state, vault = container.settings, container.state, container.vault.root
    for file in (
        container.live.stores.keyvalue._path,
        *container.live.folder.glob("keyvalue*-wal"),
    ):
        damage(file)
    try:
        error = caller.error("get_preference", key="Reply language")
        assert error == {
            "code": -32002,
            "message": "Database integrity check failed. Recovery required.",
        }
        assert "DatabaseError" in caplog.text  # what it was is for the log, not for the client
        assert caller.ok("get_memetic_status")["stores"]["keyvalue"] == error["message"]
        assert caller.ok("recall_memory", query="kelp")["nodes"]
    finally:
        container.close()
    again = Container(vault, settings, state)
    try:
        again.start(watch=False)
        answer = Caller(again).ok("get_preference", key="Reply language")
        assert answer["value"] == "Portuguese"
    finally:
        again.close()


def test_ec_core_008_an_engine_that_may_not_write_its_indexes_says_where_and_what_it_needs(
    tmp_path, vault_folder, forked_engines
):
    taken = tmp_path / "taken"
    taken.write_text("a file where a folder should be")
    done = subprocess.run(
        [sys.executable, "-m", "memvault.cli", "--vault", str(vault_folder), "serve"],
        env=environment() | {"MEMVAULT_STATE": str(taken)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 1
    stderr = " ".join(done.stderr.split())
    assert str(taken).replace(" ", "") in stderr.replace(" ", "")
    assert (
        "read, write and execute permission for that folder" in stderr and "Traceback" not in stderr
    )


def test_ec_core_013_fifty_clients_that_write_at_once_all_succeed(writer):
    """How fast the stores take writes from many threads is measured by bench_storage.py."""
    before = len(writer.container.live.catalogue)

    async def store(number: int) -> str:
        async with Client(writer.server) as client:
            answer = await client.call_tool(
                "store_memory",
                {"content": f"Tide mark {number} was read at noon.", "rationale": REASON},
            )
            return str(answer.structured_content["path"])

    async def run() -> list[str]:
        return await asyncio.gather(*(store(number) for number in range(WRITERS)))

    paths = asyncio.run(run())
    assert len(set(paths)) == WRITERS
    assert len(writer.container.live.catalogue) == before + WRITERS
    for number, path in enumerate(paths):
        text = (writer.container.vault.root / path).read_text(encoding="utf-8")
        assert f"Tide mark {number} was read at noon." in text
    assert [f for f in examine(writer.container.live.indexer) if f.severity == "error"] == []


def test_err_core_001_a_write_that_fails_says_what_failed_and_why(writer):
    journal = writer.container.vault.root / FOLDER
    journal.parent.mkdir(exist_ok=True)
    journal.write_text("a file where the folder of the journal should be")
    error = writer.error("store_memory", content="x", rationale=REASON)
    assert error["code"] == -32002
    assert error["message"].startswith("Storage error: store_memory failed - ")
    assert str(writer.container.vault.root) not in str(error)
    journal.unlink()


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="a file that cannot be opened")
def test_err_core_002_a_note_that_cannot_be_read_is_named(writer, monkeypatch):
    memory_id = writer.id_of("Clay oven")
    note = writer.container.vault.root / "projects/oven/Clay oven.md"
    note.unlink()
    monkeypatch.chdir(note.parent)  # addresses of sockets are short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(note.name)
        for tool in ("get_memory", "fetch"):
            error = writer.error(tool, id=memory_id)
            assert error["code"] == -32002 and error["data"] == {"id": memory_id}
            assert error["message"].startswith(f"Storage error: Read failed for node {memory_id}")
            assert os.fspath(note.parent) not in str(error)


def test_ec_core_015_and_err_core_003_are_said_of_a_session_that_has_expired(writer):
    writer.ok("recall_memory", query="kelp", session_id="old")
    sessions = writer.container.sessions
    sessions.get("old").last_activity -= sessions._expiry * 2
    error = writer.error("recall_memory", query="kelp", session_id="old")
    assert error["code"] == -32000
    assert error["message"].startswith("Session expired or not found: old")
    assert writer.ok("recall_memory", query="kelp", session_id="new")["nodes"]


@pytest.mark.parametrize("held", ["the journal", "the key-value store"])
def test_err_core_009_a_lock_that_another_process_holds_too_long_is_said(
    tmp_path, monkeypatch, held
):
    monkeypatch.setattr("memvault.vault.journal.LOCK_TIMEOUT_SECONDS", 0.1)
    monkeypatch.setattr("memvault.stores.keyvalue.sqlite._BUSY_SECONDS", 0.1)
    container = opened(tmp_path)
    try:
        caller = Caller(container)
        lock = FileLock(container.vault.root / FOLDER / ".lock")
        Path(lock.lock_file).parent.mkdir(parents=True, exist_ok=True)
        other = sqlite3.connect(container.live.stores.keyvalue._path, isolation_level=None)
        if held == "the journal":
            lock.acquire()
        else:
            other.execute("BEGIN IMMEDIATE")
        error = caller.error("store_memory", content="x", rationale=REASON)
        assert error["code"] == -32002
        assert error["message"].startswith(
            "Storage error: Operation timed out due to lock contention"
        )
        lock.release()
        other.close()
        container.indexing.scan()
        assert caller.ok("store_memory", content="x", rationale=REASON)["path"]
    finally:
        container.close()


def test_err_core_010_a_damaged_write_ahead_log_costs_nothing_but_a_rebuild(tmp_path, caplog):
    """The indexes are derived: what the log held is read from the vault again."""
    container = opened(tmp_path)
    settings, state, vault = container.settings, container.state, container.vault.root
    logs = {
        file: file.read_bytes() for file in container.live.folder.rglob("*wal*") if file.is_file()
    }
    container.close()
    assert logs
    for file, content in logs.items():
        file.write_bytes(content[: len(content) // 2] + b"\xa5damaged" * 512)
    again = Container(vault, settings, state)
    try:
        again.start(watch=False)
        caller = Caller(again)
        for path, text in NOTES.items():
            assert caller.ok("get_memory", path=path)["content"] == text
        answer = caller.ok("recall_memory", query="Who counts the kelp?")
        assert answer["nodes"][0]["path"].startswith("projects/kelp/")
        assert [f for f in examine(again.live.indexer) if f.severity == "error"] == []
    finally:
        again.close()
