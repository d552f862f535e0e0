"""Files that a synchronised folder or a download may bring: pipes, huge notes, damaged archives."""

from __future__ import annotations

import json
import os
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from memvault.model.errors import InvalidParams
from memvault.vault.conversations.export_files import read_export
from memvault.vault.files import Vault
from memvault.vault.ignore import IGNORE_FILE
from memvault.vault.journal import Journal
from memvault.vault.walk import MAX_NOTE_BYTES
from tests.unit.test_conversations import chatgpt, message
from tests.unit.test_files import posix_only, walked
from tests.unit.test_journal import entry

pytestmark = pytest.mark.timeout(20)  # who opens a pipe waits for ever


def vault_with_a_diary(root: Path) -> Vault:
    for name in ("private/Diary.md", "Kite.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x\n")
    return Vault(root)


@posix_only
@pytest.mark.parametrize("path", [".obsidian/app.json", ".obsidian/templates.json"])
def test_a_pipe_in_the_place_of_obsidians_settings_is_not_opened(tmp_path: Path, path: str) -> None:
    vault = vault_with_a_diary(tmp_path)
    (tmp_path / ".obsidian").mkdir()
    os.mkfifo(tmp_path / path)
    assert walked(vault) == ["Kite.md", "private/Diary.md"]


@posix_only
def test_nothing_is_read_while_it_is_not_known_what_is_private(tmp_path: Path) -> None:
    vault = vault_with_a_diary(tmp_path)
    os.mkfifo(tmp_path / IGNORE_FILE)
    assert walked(vault) == []
    assert "cannot be read" in vault.problems["."]
    assert not vault.is_note("private/Diary.md")
    assert "cannot be read" in (vault.ignore_rules.why_excluded("Kite.md") or "")
    (tmp_path / IGNORE_FILE).unlink()
    (tmp_path / IGNORE_FILE).write_text("private/\n")
    assert walked(vault) == ["Kite.md"]
    assert vault.problems == {}


@posix_only
def test_what_was_private_stays_so_while_the_list_cannot_be_read(tmp_path: Path) -> None:
    vault = vault_with_a_diary(tmp_path)
    (tmp_path / IGNORE_FILE).write_text("private/\n")
    assert walked(vault) == ["Kite.md"]
    (tmp_path / IGNORE_FILE).unlink()
    os.mkfifo(tmp_path / IGNORE_FILE)
    assert walked(vault) == ["Kite.md"]
    assert not vault.is_note("private/Diary.md")


@posix_only
def test_a_list_on_a_drive_that_is_away_hides_what_it_hid(tmp_path: Path) -> None:
    vault, drive = vault_with_a_diary(tmp_path / "vault"), tmp_path / "drive"
    drive.write_text("private/\n")
    (vault.root / IGNORE_FILE).symlink_to(drive)
    assert walked(vault) == ["Kite.md"]
    drive.rename(tmp_path / "away")
    assert walked(vault) == ["Kite.md"]
    assert "cannot be read" in vault.problems["."]
    assert walked(Vault(vault.root)) == []
    (tmp_path / "away").rename(drive)
    assert walked(vault) == ["Kite.md"] and vault.problems == {}


@posix_only
def test_a_list_that_cannot_be_read_is_not_parsed_again_for_each_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = vault_with_a_diary(tmp_path)
    for number in range(100):
        (tmp_path / f"Note {number}.md").write_text("x\n")
    (tmp_path / IGNORE_FILE).write_text("private/\n")
    assert len(walked(vault)) == 101
    (tmp_path / IGNORE_FILE).unlink()
    os.mkfifo(tmp_path / IGNORE_FILE)
    parse, parsed = GitIgnoreSpec.from_lines, []
    monkeypatch.setattr(GitIgnoreSpec, "from_lines", lambda each: parsed.append(1) or parse(each))
    assert len(walked(vault)) == 101
    assert len(parsed) == 2


@posix_only
def test_a_pipe_and_a_dangling_link_are_no_part_of_the_journal(tmp_path: Path) -> None:
    journal = Journal(Vault(tmp_path))
    journal.append(entry(1))
    folder = journal.files()[0].parent
    os.mkfifo(folder / "2026-03-pipe.jsonl")
    os.mkfifo(folder / "2026-03-pipe.jsonl.gz")
    (folder / "2026-03-gone.jsonl").symlink_to(tmp_path / "nowhere")
    assert [each.data for each in journal.entries_after({})[0]] == [{"n": 1}]
    journal.append(entry(2))
    assert [each.data for each in journal.entries()] == [{"n": 1}, {"n": 2}]


def test_a_note_of_gigabytes_is_named_and_not_read(tmp_path: Path) -> None:
    vault = vault_with_a_diary(tmp_path)
    with (tmp_path / "Huge.md").open("wb") as stream:
        stream.truncate(MAX_NOTE_BYTES + 1)
    assert walked(vault) == ["Kite.md", "private/Diary.md"]
    assert "larger than" in vault.problems["Huge.md"]
    assert not vault.is_note("Huge.md")


def test_an_export_that_would_unpack_to_gigabytes_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "e.zip", "w") as archive:
        archive.writestr("conversations.json", "[]")
        archive.getinfo("conversations.json").file_size = 4_000_000_000
    with pytest.raises(InvalidParams, match=r"would unpack to 4\.0 GB"):
        list(read_export(tmp_path / "e.zip", "chatgpt"))


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@given(data=st.data())
def test_an_export_that_was_damaged_on_its_way_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, method: int, data: st.DataObject
) -> None:
    file = tmp_path_factory.getbasetemp() / "damaged.zip"
    conversation = json.dumps([chatgpt(message("user", f"{n} seeds")) for n in range(9)])
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("conversations.json", conversation)
    content = bytearray(file.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    file.write_bytes(content)
    with suppress(InvalidParams):
        list(read_export(file, "chatgpt"))


def test_an_export_with_damaged_data_or_names_is_called_damaged(tmp_path: Path) -> None:
    file, name = tmp_path / "e.zip", "Gespräch/conversations.json"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr(name, json.dumps([chatgpt(message("user", "Seeds"))]))
    content = file.read_bytes()
    in_data = content.index(name.encode()) + len(name.encode()) + 30
    for damaged in (
        content[:in_data] + b"\0\0\0\0" + content[in_data + 4 :],
        content.replace("ä".encode(), b"\xff\xff"),
    ):
        file.write_bytes(damaged)
        with pytest.raises(InvalidParams, match="is damaged"):
            list(read_export(file, "chatgpt"))
