"""The vault's folder is renamed, or its drive unmounted, while the engine runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mcp_server.runtime.container import Container
from mcp_server.runtime.engine_log import trim_log
from memvault.model.errors import StorageError, VaultMissing
from tests.integration.caller import Caller
from tests.integration.small_vault import opened
from tests.waiting import until

WHY = "The person asked to keep this."


def test_answers_say_that_the_vault_is_missing_and_nothing_is_written(
    writer: Caller, tmp_path: Path
) -> None:
    vault = writer.container.vault.root
    vault.rename(tmp_path / "away")
    answer = writer.ok("recall_memory", query="Who leads the kelp census?")
    assert answer["nodes"] and '"My vault" is missing' in answer["notice"]
    refused = writer.error("store_memory", content="Low tide is at six.", rationale=WHY)
    assert "is missing" in refused["message"] and refused["code"] == -32002
    writer.error("forget_concept", target="Clay oven", rationale=WHY)
    writer.container.activity.checkpoint()
    assert not vault.exists()
    assert any("is missing" in problem for problem in writer.container.status()["problems"])
    findings = writer.container.indexing.doctor(fix=True)
    assert len(findings) == 1 and not findings[0].repaired_by_scan
    (tmp_path / "away").rename(vault)
    stored = writer.ok("store_memory", content="Low tide is at six.", rationale=WHY)
    assert (vault / stored["path"]).exists()
    assert "notice" not in writer.ok("recall_memory", query="kelp")
    assert not [p for p in writer.container.status()["problems"] if "is missing" in p]


def test_an_empty_folder_in_the_vaults_place_is_a_mount_point_without_its_drive(
    writer: Caller, tmp_path: Path
) -> None:
    vault = writer.container.vault.root
    vault.rename(tmp_path / "away")
    vault.mkdir()
    notes = writer.container.live.catalogue.paths()
    assert "is missing" in writer.error("store_memory", content="Tide.", rationale=WHY)["message"]
    with pytest.raises(VaultMissing):
        writer.container.indexing.scan()
    assert not list(vault.iterdir())
    assert writer.container.live.catalogue.paths() == notes


@pytest.mark.parametrize("is_mount_point", [False, True])
def test_no_note_is_called_missing_where_the_whole_vault_is(
    writer: Caller, tmp_path: Path, is_mount_point: bool
) -> None:
    oven, root = "projects/oven/Clay oven.md", writer.container.vault.root
    root.rename(tmp_path / "away")
    if is_mount_point:
        root.mkdir()
    both = ["Clay oven", "Kelp census"]
    for tool, arguments in (
        ("edit_memory", {"target": oven, "operation": "append", "content": "x", "rationale": WHY}),
        ("forget_concept", {"target": "Clay oven", "rationale": WHY}),
        ("merge_concepts", {"sources": both, "target": "Clay oven", "rationale": WHY}),
        ("annotate_node", {"target": "Clay oven", "note": "x", "rationale": WHY}),
        ("get_memory", {"path": oven}),
    ):
        assert "is missing" in writer.error(tool, **arguments)["message"], tool


@pytest.mark.parametrize("is_mount_point", [False, True])
def test_an_engine_that_starts_without_the_vault_keeps_the_index(
    tmp_path: Path, is_mount_point: bool
) -> None:
    first = opened(tmp_path)
    root, notes = first.vault.root, first.live.catalogue.paths()
    first.close()
    root.rename(tmp_path / "away")
    if is_mount_point:
        root.mkdir()
    again = Container(root, first.settings, first.state)
    try:
        again.start(watch=False)
        assert again.live.catalogue.paths() == notes
        assert "is missing" in Caller(again).ok("recall_memory", query="kelp census")["notice"]
        assert not root.exists() or not list(root.iterdir())
    finally:
        again.close()


def test_an_engine_that_started_without_the_vault_knows_when_it_has_read_it(tmp_path: Path) -> None:
    first = opened(tmp_path)
    root = first.vault.root
    first.close()
    root.rename(tmp_path / "away")
    again = Container(root, first.settings, first.state)
    try:
        again.start()
        (tmp_path / "away").rename(root)
        until(lambda: again.status()["last_scan"])
        again.live.stores.vectors.remove([next(again.live.catalogue.all()).id])
        assert any("missing from" in each.what for each in again.indexing.doctor())
    finally:
        again.close()


def test_a_journal_that_cannot_be_read_is_named_and_nothing_is_changed(writer: Caller) -> None:
    journal = writer.container.vault.root / ".memvault" / "journal"
    writer.ok("store_memory", content="Low tide is at six.", rationale=WHY)
    journal.rename(journal.with_name("away"))
    journal.write_text("a sync tool put a file here")
    refused = writer.error("store_memory", content="High tide is at noon.", rationale=WHY)
    assert ".memvault/journal cannot be read" in refused["message"]
    (finding,) = writer.container.indexing.doctor(fix=True)
    assert finding.severity == "error" and ".memvault/journal cannot be read" in finding.what
    assert finding.what in writer.container.status()["problems"]
    journal.unlink()
    journal.with_name("away").rename(journal)
    writer.ok("store_memory", content="High tide is at noon.", rationale=WHY)
    assert all(found.severity == "note" for found in writer.container.indexing.doctor())


def test_an_engine_does_not_start_without_the_journal(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.close()
    journal = first.vault.root / ".memvault" / "journal"
    shutil.rmtree(journal, ignore_errors=True)
    journal.parent.mkdir(exist_ok=True)
    journal.write_text("a sync tool put a file here")
    with pytest.raises(StorageError, match=r"\.memvault/journal cannot be read"):
        Container(first.vault.root, first.settings, first.state)


def test_the_log_stays_within_bounds(writer: Caller) -> None:
    state = writer.container.state
    state.log.write_bytes(b"x" * 6_000_000)
    trim_log(state)
    assert state.log.stat().st_size == 0 and state.earlier_log.stat().st_size == 6_000_000
