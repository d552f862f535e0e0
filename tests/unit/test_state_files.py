"""A command that meets a folder in place of a file of the state folder says which one."""

from __future__ import annotations

from pathlib import Path

import pytest

from memvault.cli.app import run
from memvault.config.paths import StateFolder


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
