"""The state folder: who can read it, and what a command says of a folder in place of a file."""

from __future__ import annotations

import os
import platform
import shutil
import stat
from pathlib import Path

import pytest

from memvault.cli.app import run
from memvault.config.hook_files import HookFiles
from memvault.config.paths import StateFolder


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_only_the_owner_reads_a_state_folder_that_a_hook_made_before_the_engine(
    tmp_path: Path,
) -> None:
    state = StateFolder.of_vault(tmp_path / "vault", tmp_path / "state")
    HookFiles(str(state.root)).keep("claude-code", "Stop", b"{}")
    state.create()
    assert stat.S_IMODE(state.root.stat().st_mode) == 0o700


@pytest.mark.parametrize("name", ["engine.lock", "start.lock", "engine.log"])
def test_a_folder_in_place_of_a_file_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMVAULT_STATE", str(tmp_path / "state"))
    (tmp_path / "vault").mkdir()
    state = StateFolder.of_vault(tmp_path / "vault")
    state.create()
    (state.root / name).mkdir()
    assert run(["--vault", str(tmp_path / "vault"), "search", "kites"]) == 1
    shown = capsys.readouterr().err
    assert str(state.root / name) in shown and "move it elsewhere" in shown
    assert "internal error" not in shown


def test_a_computer_keeps_its_name_for_a_vault_when_a_network_renames_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def named(host: str, folder: Path) -> str:
        monkeypatch.setattr(platform, "node", lambda: host)
        return StateFolder(folder).device

    home = tmp_path / "home"
    home.mkdir()
    first = named("laptop.local", home)
    assert named("laptop.example.org", home) == first
    (home / "device").write_text("damaged")
    assert named("laptop.local", home) == first
    copied = shutil.copytree(home, tmp_path / "copied")  # as to a new computer
    other = named("desktop", copied)
    assert other != first and named("desktop.local", copied) == other
    missing = tmp_path / "missing"
    assert named("laptop.local", missing) == named("laptop.local", missing) and not missing.exists()
