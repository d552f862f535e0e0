from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.model.errors import InvalidParams, OutsideVault, StorageError
from memvault.vault.export import export_folder, export_json, restore_export
from memvault.vault.files import Vault
from memvault.vault.ignore import IGNORE_FILE
from memvault.vault.journal import Actor, Journal, JournalEntry


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    contents = {
        "Home.md": b"\xef\xbb\xbf# Home\r\nno final newline",
        "a/Bad \xe9.md": b"\xff\xfe not UTF-8",
        "a/pic.png": bytes(range(256)),
        "manifest.md": b"# list",
        ".memvaultignore": b"private/\n*.log\n",
        ".memvault/archive/0f.zip": b"PK the full text of a faded note",
        "private/diary.md": b"mine",
        "a/x.log": b"noise",
        ".obsidian/app.json": b"{}",
        ".DS_Store": b"x",
    }
    for path, data in contents.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    entry = JournalEntry(
        ts=datetime(2026, 3, 1, tzinfo=UTC), kind="created", actor=Actor(kind="person")
    )
    Journal(Vault(root)).append(entry)
    return root


def tree(root: Path) -> dict[str, bytes]:
    files = (file for file in root.rglob("*") if file.is_file() and file.name != ".lock")
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in files}


def visible(root: Path) -> dict[str, bytes]:
    out = ("private/", "a/x.log", ".obsidian", ".DS_Store")
    return {path: data for path, data in tree(root).items() if not path.startswith(out)}


def test_a_folder_holds_every_file_byte_for_byte_but_what_is_ignored(
    root: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out" / "copy"
    count = export_folder(Vault(root), target)
    assert tree(target) == visible(root)
    assert count == len(visible(root)) == 7


def test_a_json_export_restores_every_byte_and_twice_changes_nothing(
    root: Path, tmp_path: Path
) -> None:
    file = tmp_path / "all.json"
    export_json(Vault(root), file)
    assert json.loads(file.read_text(encoding="utf-8"))["memvault_export"] == 1
    new = tmp_path / "new"
    new.mkdir()
    report = restore_export(file, Vault(new))
    assert tree(new) == visible(root)
    assert (len(report.written), report.unchanged, report.left_alone) == (7, 0, [])
    again = restore_export(file, Vault(new))
    assert (again.written, again.unchanged) == ([], 7)


def test_a_restore_writes_over_nothing(root: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.json"
    export_json(Vault(root), file)
    (root / "Home.md").write_text("newer words")
    report = restore_export(file, Vault(root))
    assert report.left_alone == ["Home.md"]
    assert (root / "Home.md").read_text() == "newer words"


def test_an_export_into_the_vault_or_onto_something_is_refused(root: Path, tmp_path: Path) -> None:
    vault = Vault(root)
    before = tree(root)
    full = tmp_path / "full"
    full.mkdir()
    (full / "x").write_text("x")
    for target in (root, root / "copy", full):
        with pytest.raises(InvalidParams):
            export_folder(vault, target)
    for target in (root / "all.json", full / "x"):
        with pytest.raises(InvalidParams):
            export_json(vault, target)
    assert tree(root) == before
    assert (full / "x").read_text() == "x"


@pytest.mark.parametrize(
    "path",
    [
        "../x.md",
        "/etc/x.md",
        "a/../../x.md",
        "",
        "a//b.md",
        ".obsidian/app.json",
        ".git/hooks/x",
        ".memvault/journal/x.sh",
        ".memvault/archive/x.sh",
        ".memvault/history/x.zip",
        ".memvault/journal/../../../x.jsonl",
        "a\x00.md",
    ],
)
def test_a_restore_never_leaves_the_vault(tmp_path: Path, path: str) -> None:
    file = tmp_path / "all.json"
    files = [{"path": "ok.md", "text": "x"}, {"path": path, "text": "x"}]
    file.write_text(json.dumps({"memvault_export": 1, "files": files}))
    root = tmp_path / "v"
    root.mkdir()
    with pytest.raises(OutsideVault):
        restore_export(file, Vault(root))
    assert tree(tmp_path) == {"all.json": file.read_bytes()}


def test_a_restore_does_not_follow_a_link_out(tmp_path: Path) -> None:
    root, outside = tmp_path / "v", tmp_path / "o"
    root.mkdir()
    outside.mkdir()
    try:
        (root / "a").symlink_to(outside, target_is_directory=True)
    except OSError:
        pytest.skip("links need rights here")
    file = tmp_path / "all.json"
    file.write_text(json.dumps({"memvault_export": 1, "files": [{"path": "a/x.md", "text": "x"}]}))
    with pytest.raises(OutsideVault):
        restore_export(file, Vault(root))
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"memvault_export": 2, "files": []}',
        '{"memvault_export": 1, "files": [3]}',
        '{"memvault_export": 1, "files": [{"path": "a.md", "base64": "?"}]}',
    ],
)
def test_what_is_no_export_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "all.json"
    file.write_text(content)
    with pytest.raises(InvalidParams):
        restore_export(file, Vault(tmp_path / "v"))


def test_a_folder_is_no_file_to_restore_but_a_vault(root: Path, tmp_path: Path) -> None:
    export_folder(Vault(root), tmp_path / "copy")
    with pytest.raises(InvalidParams, match="itself a vault"):
        restore_export(tmp_path / "copy", Vault(tmp_path / "v"))


def test_a_link_out_of_the_vault_is_not_exported(root: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("s")
    try:
        (root / "a" / "link.md").symlink_to(secret)
    except OSError:
        pytest.skip("links need rights here")
    export_folder(Vault(root), tmp_path / "copy")
    assert not os.path.lexists(tmp_path / "copy" / "a" / "link.md")


@settings(max_examples=20, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_survive_a_json_export(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    base = tmp_path_factory.mktemp("e")
    (base / "v").mkdir()
    (base / "v" / "n.md").write_bytes(data)
    export_json(Vault(base / "v"), base / "all.json")
    (base / "w").mkdir()
    restore_export(base / "all.json", Vault(base / "w"))
    assert (base / "w" / "n.md").read_bytes() == data


def test_a_journal_is_restored_only_into_a_vault_without_a_history(
    root: Path, tmp_path: Path
) -> None:
    file = tmp_path / "all.json"
    planted = {"path": ".memvault/journal/2024-01.jsonl", "text": "{}\n"}
    export = {"memvault_export": 1, "files": [planted, {"path": "New.md", "text": "new"}]}
    file.write_text(json.dumps(export), encoding="utf-8")
    journal = tmp_path / "used" / ".memvault" / "journal"
    journal.mkdir(parents=True)
    (journal / "2026-01.jsonl").write_text("{}\n", encoding="utf-8")
    report = restore_export(file, Vault(tmp_path / "used"))
    assert report.left_alone == [planted["path"]] and report.written == ["New.md"]
    assert [each.name for each in journal.iterdir()] == ["2026-01.jsonl"]
    (tmp_path / "new").mkdir()
    assert planted["path"] in restore_export(file, Vault(tmp_path / "new")).written


@pytest.mark.parametrize("export", [export_folder, export_json])
def test_an_export_is_refused_while_nobody_knows_what_to_leave_out(
    root: Path, tmp_path: Path, export: Callable[[Vault, Path], int]
) -> None:
    (root / IGNORE_FILE).unlink(missing_ok=True)
    (root / IGNORE_FILE).mkdir()
    with pytest.raises(StorageError, match="cannot be read, so memvault does not know"):
        export(Vault(root), tmp_path / "copy.json")


@pytest.mark.parametrize("export", [export_folder, export_json])
def test_an_export_without_a_folder_that_cannot_be_read_is_refused(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    export: Callable[[Vault, Path], int],
) -> None:
    """Root may read everything, so the folder is refused by the system's call."""
    (root / "Letters").mkdir()
    (root / "Letters" / "Ada.md").write_text("Dear Ada.\n", encoding="utf-8")
    scandir = os.scandir

    def refusing(folder: str | Path) -> object:
        if Path(folder).name == "Letters":
            raise PermissionError(errno.EACCES, "Permission denied", str(folder))
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(StorageError, match="Letters cannot be accessed"):
        export(Vault(root), tmp_path / "copy.json")
