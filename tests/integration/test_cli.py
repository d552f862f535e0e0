"""The command line against a real vault, its real engine and real stores."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from mcp_server.engine.launcher import EngineAddress, read_address, write_address
from memvault.cli.app import run
from memvault.cli.notes import _row
from memvault.cli.options import find_places
from memvault.cli.vaults import make_vault
from memvault.config.paths import user_config_file
from memvault.consolidation.learning import Learning
from memvault.consolidation.rewards import Signal, SignalKind
from memvault.vault.files import Vault
from tests.integration.tiny_engine import environment
from tests.waiting import PATIENCE_SECONDS, until

pytestmark = pytest.mark.usefixtures("forked_engines")


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A vault made by `memvault init`, with its engine running."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMVAULT_STATE", str(home / "state"))
        patch.setenv("MEMVAULT_ENGINE__IDLE_EXIT_SECONDS", "60")
        patch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
        patch.setenv("MEMVAULT_VAULT", str(home / "My vault"))
        assert run(["init"]) == 0
        yield home / "My vault"
        address = read_address(find_places(None, None).state)
        if address is not None:
            with suppress(OSError):
                os.kill(address.pid, signal.SIGTERM)


def printed(capsys: pytest.CaptureFixture[str]) -> object:
    return json.loads(capsys.readouterr().out)


def test_init_makes_a_vault_that_answers(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (vault / "Home.md").is_file()
    (vault / "Quay.md").write_text("# Quay\n\nThe ferry to Osk leaves from the eastern quay.\n")

    def found() -> dict[str, Any] | None:
        assert run(["search", "where", "does the ferry leave?", "--top", "3", "--json"]) == 0
        answer = printed(capsys)
        assert isinstance(answer, dict)
        return answer if any(node["path"] == "Quay.md" for node in answer["nodes"]) else None

    answer = until(found)
    assert answer is not None
    assert run(["search", "where does the ferry leave?"]) == 0
    shown = capsys.readouterr().out
    assert "Quay.md:" in shown
    assert "eastern quay" in shown
    assert run(["show", "Quay.md", "--raw"]) == 0
    assert capsys.readouterr().out == (vault / "Quay.md").read_text()
    assert run(["show", answer["nodes"][0]["id"]]) == 0
    assert run(["show", "quay", "--raw"]) == 0
    assert "eastern quay" in capsys.readouterr().out


def test_a_note_is_shown_by_title_alias_file_name_path_and_id(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = vault / "money"
    folder.mkdir()
    text = "---\naliases: [Velo]\n---\n# What the bike cost\n\nThe bike cost 900.\n"
    (folder / "2026 bike.md").write_text(text)
    until(lambda: run(["show", "money/2026 bike.md"]) == 0)
    capsys.readouterr()
    assert run(["show", "money/2026 bike.md", "--json"]) == 0
    shown = printed(capsys)
    assert isinstance(shown, dict)
    for name in ("What the bike cost", "velo", "2026 bike", "2026 bike.md", shown["id"]):
        assert run(["show", name, "--raw"]) == 0
        assert capsys.readouterr().out == text
    assert run(["show", "What the bike costs"]) == 1
    assert "the nearest names are What the bike cost" in capsys.readouterr().err
    assert run(["show", "costs/2026 bike.md"]) == 1  # a path that it had in another folder
    assert "a note of this name is at money/2026 bike.md" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="its user folders ignore the environment")
def test_init_of_ones_own_folder_makes_it_the_vault_of_commands_that_would_find_none(
    vault: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert run(["init"]) == 0
    assert "--vault" not in capsys.readouterr().out
    assert not user_config_file().exists()
    monkeypatch.delenv("MEMVAULT_VAULT")
    assert run(["init", "--vault", str(vault)]) == 0  # for this command only
    assert not user_config_file().exists()
    capsys.readouterr()
    assert run(["init", str(vault)]) == 0
    shown = capsys.readouterr().out
    assert "--vault" not in shown and str(user_config_file()) in shown
    assert find_places(None, None).vault == vault
    assert run(["search", "ferry"]) == 0


def test_init_of_a_second_vault_says_what_other_commands_need(
    vault: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("MEMVAULT_VAULT")
    (tmp_path / "Documents" / "Memory-Vault").mkdir(parents=True)
    assert run(["init", str(vault)]) == 0
    assert not user_config_file().exists()
    shown = capsys.readouterr().out
    assert f'memvault connect claude-desktop --vault "{vault}"' in shown
    assert (
        f"Every command needs this --vault, unless MEMVAULT_VAULT or `vault` in {user_config_file()}"
        in shown
    )


def test_a_name_that_two_notes_have_is_refused_with_the_path_of_each(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("north", "south"):
        (vault / folder).mkdir()
        (vault / folder / f"{folder} pump.md").write_text("# The old pump\n\nIt is rusty.\n")
        until(lambda path=f"{folder}/{folder} pump.md": run(["show", path]) == 0)
    capsys.readouterr()
    assert run(["forget", "The old pump", "--yes"]) == 1
    stderr = capsys.readouterr().err
    assert "north/north pump.md, south/south pump.md" in stderr
    assert run(["forget", "north/north pump.md", "--yes"]) == 0


def test_a_preview_of_forgetting_names_the_note_and_what_links_to_it_and_changes_no_byte(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (vault / "Winch.md").write_text("# Winch\n\nMade by [[Orla Finn]].\n")
    (vault / "Slipway.md").write_text("# Slipway\n\nIts [[Winch]] is rusty.\n")
    for name in ("Winch", "Slipway"):
        until(lambda name=name: run(["show", name]) == 0)
    before = {file: file.read_bytes() for file in vault.rglob("*") if file.is_file()}
    capsys.readouterr()
    stays = "Notes that link to it or name it stay as they are:\n  {}\nNothing was changed.\n"
    for arguments, shown in {
        ("Winch",): "Winch.md → trash\n" + stays.format("Slipway.md"),
        ("Winch", "--for-good"): "Winch.md: deleted for good, with its earlier versions\n"
        + stays.format("Slipway.md"),
        ("Orla Finn",): "Orla Finn: memvault no longer shows this name; your notes keep it\n"
        + stays.format("Winch.md"),
    }.items():
        assert run(["forget", *arguments, "--preview"]) == 0
        assert capsys.readouterr().out == shown
    assert {file: file.read_bytes() for file in vault.rglob("*") if file.is_file()} == before


def test_piped_output_is_neither_wrapped_nor_padded(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sentence = "The lighthouse keeper of Osk writes " + "very " * 40 + "long sentences."
    (vault / "Lighthouse.md").write_text(f"# Lighthouse\n\n{sentence}\n")
    until(lambda: run(["show", "Lighthouse"]) == 0)
    capsys.readouterr()
    for arguments in (["show", "Lighthouse"], ["search", "who keeps the lighthouse"], ["status"]):
        assert run(arguments) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line for line in lines if line != line.rstrip()] == []
    assert run(["search", "who keeps the lighthouse of Osk", "-n", "1"]) == 0
    assert any(len(line) > 200 for line in capsys.readouterr().out.splitlines())


def test_notes_written_here_are_related_logged_and_undone(
    vault: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (vault / "Jetty.md").write_text("# Jetty\n\nThe jetty has eight steps.\n")
    until(lambda: run(["show", "Jetty.md"]) == 0)
    capsys.readouterr()
    assert run(["new", "Boat shed", "--text", "The shed is next to the [[Jetty]].", "--json"]) == 0
    saved = printed(capsys)
    assert isinstance(saved, dict)
    note = vault / saved["path"]
    assert note == vault / "permanent" / "Boat shed.md"
    assert "next to the [[Jetty]]" in note.read_text()
    monkeypatch.setattr(sys, "stdin", io.StringIO("Oars hang in the [[Boat shed]].\n"))
    assert run(["new", "Oars", "--tag", "boats", "--type", "decision"]) == 0
    assert "Saved " in capsys.readouterr().out
    assert "\ntype: decision\n" in (vault / "permanent" / "Oars.md").read_text()
    assert run(["new", "Empty", "--text", " "]) == 2

    def related() -> list[str]:
        capsys.readouterr()
        if run(["related", "Boat shed", "--json"]) != 0:
            return []  # not indexed yet
        notes = printed(capsys)
        assert isinstance(notes, list)
        return [each["title"] for each in notes]

    until(lambda: {"Jetty", "Oars"} <= set(related()))
    assert run(["related", "Boat shed"]) == 0
    assert "Oars hang in the Boat shed" in capsys.readouterr().out.replace("[[", "").replace(
        "]]", ""
    )

    assert run(["log", "boat shed", "--json"]) == 0
    changes = printed(capsys)
    assert isinstance(changes, list)
    assert [(each["kind"], each["paths"]) for each in changes] == [("created", [saved["path"]])]
    assert run(["log", saved["path"], "--client", changes[0]["by"]]) == 0
    first, _, says = capsys.readouterr().out.strip().split("\t")
    assert changes[0]["reversal_hash"].startswith(first) and "Boat shed" in says
    assert run(["log", "--client", "nobody"]) == 0
    assert capsys.readouterr().out == "No changes found.\n"
    day = datetime.fromisoformat(changes[0]["timestamp"]).date().isoformat()
    assert run(["log", "--day", day, "--json"]) == 0
    assert changes[0] in printed(capsys)
    assert run(["log", "--day", "2001-01-01"]) == 0
    assert capsys.readouterr().out == "No changes found.\n"
    assert run(["undo", first]) == 0
    assert not note.exists()


def test_notes_are_listed_by_their_properties_and_moved_with_their_links(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (vault / "boats").mkdir()
    (vault / "Oars.md").write_text("Two oars.\n")
    (vault / "boats/Skiff.md").write_text("---\ntype: boat\nstate: dry\n---\nAn old skiff.\n")
    (vault / "boats/Fleet.md").write_text("We row the [[boats/Skiff]].\n")
    until(lambda: run(["show", "Skiff.md"]) == 0 and run(["show", "Fleet.md"]) == 0)
    capsys.readouterr()
    assert run(["list", "boats", "--type", "boat", "--property", "state=dry"]) == 0
    path, _, kind, title = capsys.readouterr().out.strip().split("\t")
    assert (path, kind, title) == ("boats/Skiff.md", "boat", "Skiff")
    assert run(["list", "--created-before", "2001-01-01", "--json"]) == 0
    answer = printed(capsys)
    assert isinstance(answer, dict) and answer["memories"] == [] and answer["total"] == 0
    assert run(["list", "--folders"]) == 0
    shown = capsys.readouterr().out
    assert "boats\t2\n" in shown
    assert run(["list", "--json"]) == 0
    counts = [int(line.split("\t")[1]) for line in shown.splitlines()]
    assert sum(counts) == printed(capsys)["total"], "with those in no folder"
    assert run(["list", "boats", "--folders"]) == 0
    assert capsys.readouterr().out == "(in boats)\t2\n"
    assert run(["list", "--property", "state"]) == 2
    assert run(["list", "--lifecycle", "forever"]) == 2
    capsys.readouterr()

    before = (vault / "boats/Fleet.md").read_bytes()
    assert run(["move", "Skiff", "boats/Old skiff.md", "--preview"]) == 0
    shown = capsys.readouterr().out
    assert "+ We row the [[Old skiff]]." in shown and shown.endswith("Nothing was changed.\n")
    assert (vault / "boats/Skiff.md").exists() and (vault / "boats/Fleet.md").read_bytes() == before
    assert run(["move", "Skiff", "boats/Old skiff.md"]) == 0
    shown = capsys.readouterr().out
    assert "boats/Skiff.md → boats/Old skiff.md\nLinks rewritten in 1 note.\n" in shown
    assert (vault / "boats/Fleet.md").read_text() == "We row the [[Old skiff]].\n"
    assert run(["move", "boats/", "store/", "--preview"]) == 0
    assert "boats → store/boats: 2 notes\n" in capsys.readouterr().out
    assert run(["move", "Old skiff", "../elsewhere"]) == 1
    assert run(["move", "Old skiff", "sheds", "--json"]) == 0
    moved = printed(capsys)
    assert isinstance(moved, dict) and moved["path"] == "sheds/Old skiff.md"
    assert moved["notes_changed"] == []
    for key in (moved["reversal_hash"], shown.split()[-1]):
        assert run(["undo", key]) == 0
    assert (vault / "boats/Skiff.md").exists() and (vault / "boats/Fleet.md").read_bytes() == before


def test_a_new_note_with_the_name_of_another_is_saved_with_a_hint_at_both(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (vault / "shore").mkdir()
    (vault / "shore/Heron.md").write_text("Grey.\n")
    assert run(["new", "heron", "--text", "It stands in the reeds."]) == 0
    saved, hint = capsys.readouterr()
    assert saved == f"Saved {vault / 'permanent/heron.md'}\n"
    assert hint.startswith("shore/Heron.md has this name, too, so links by name may lead to either")
    assert 'memvault move "permanent/heron.md" "permanent/NEW NAME.md"' in hint
    assert run(["new", "Egret", "--text", "It stands in the reeds, too."]) == 0
    assert capsys.readouterr().err == ""


def test_a_list_shows_the_day_in_local_time_and_a_stated_day_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    note = {"path": "a.md", "type": "note", "title": "A"}
    for zone, late in (("Asia/Tokyo", "2026-03-02"), ("America/Lima", "2026-03-01")):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        created = ("2026-03-01T23:30:00Z", "2026-03-01T00:00:00Z")
        days = [_row({**note, "created_at": each})[1] for each in created]
        assert days == [late, "2026-03-01"]
    monkeypatch.undo()
    time.tzset()


def test_a_cut_list_says_how_to_get_the_rest_without_changing_what_a_pipe_gets(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("Tern", "Gull", "Auk"):
        (vault / f"{name}.md").write_text(f"---\ntype: seabird\n---\nThe {name} nests here.\n")
    until(lambda: run(["show", "Auk.md"]) == run(["show", "Gull.md"]) == run(["show", "Tern"]) == 0)
    capsys.readouterr()
    assert run(["list", "--type", "seabird", "-n", "2"]) == 0
    page, hint = capsys.readouterr()
    assert len(page.splitlines()) == 2
    assert hint.startswith("2 of 3 notes. The next ones: --cursor ")
    cursor = hint.split("--cursor ")[1].split(". ")[0]
    assert run(["list", "--type", "seabird", "-n", "2", "--cursor", cursor]) == 0
    rest, hint = capsys.readouterr()
    paths = {line.split("\t")[0] for line in (page + rest).splitlines()}
    assert paths == {"Auk.md", "Gull.md", "Tern.md"} and hint == ""

    for text in ("one", "two"):
        assert run(["new", f"Egg {text}", "--text", text]) == 0
    capsys.readouterr()
    assert run(["log", "-n", "1"]) == 0
    shown, hint = capsys.readouterr()
    assert len(shown.splitlines()) == 1
    assert hint.startswith("1 of ") and "All of them: -n " in hint


def test_a_search_shows_all_lines_that_answer(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stalls = [f"Stall {number} sells {number} kinds of cheese." for number in range(1, 15)]
    (vault / "permanent/Market.md").write_text("\n\n".join(f"- {stall}" for stall in stalls))

    def shown() -> str:
        assert run(["search", "What do the stalls of the market sell?", "-n", "1"]) == 0
        return capsys.readouterr().out

    until(lambda: all(stall in shown() for stall in stalls))


def test_a_search_quotes_one_sentence_of_each_further_note_unless_asked_for_more(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for yard in ("Nordwerft", "Sudwerft"):
        built = (
            f"{yard} builds {kind}, and sells them to fishermen of the whole coast."
            for kind in ("dinghies", "cutters", "trawlers", "ketches")
        )
        (vault / f"permanent/{yard}.md").write_text("\n\n".join(built))

    def sentences(*options: str) -> list[int]:
        assert run(["search", "What do Nordwerft and Sudwerft build?", *options]) == 0
        shown = capsys.readouterr().out
        return sorted(shown.count(f"{yard} builds") for yard in ("Nordwerft", "Sudwerft"))

    until(lambda: sentences("--long") == [4, 4])
    assert sentences() == [1, 4]


def test_status_and_doctor_list_the_same_notes(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (vault / "Broken.md").write_text("---\ntags: [a\n---\n# Broken\n\nText.\n")
    until(lambda: run(["show", "Broken.md"]) == 0)
    capsys.readouterr()
    assert run(["doctor", "--json"]) == 0
    findings = printed(capsys)
    assert isinstance(findings, list) and findings
    assert run(["status", "--json"]) == 0
    status = printed(capsys)
    assert isinstance(status, dict)
    assert [f"{each['path']}: {each['what']}" for each in findings] == status["problems"]
    (vault / "Broken.md").unlink()
    until(lambda: run(["doctor"]) == 0)


def test_doctor_says_once_what_to_do_about_several_notes(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = [vault / "Bent.md", vault / "Torn.md"]
    for number, note in enumerate(broken, 1):
        note.write_text("---\ntags: [a\n---\n# Broken\n\nText.\n")
        until(lambda note=note: run(["show", note.name]) == 0)
        capsys.readouterr()
        assert run(["doctor"]) == 0
        stdout = capsys.readouterr().out
        assert stdout.count("correct the YAML in your editor") == 1
        assert stdout.count("part of the frontmatter cannot be read") == number
        assert ("For each of these 2: correct" in stdout) == (number == 2)
    for note in broken:
        note.unlink()
    until(lambda: run(["doctor"]) == 0 and "No problems" in capsys.readouterr().out)


def test_status_doctor_and_rebuild_tell_what_is_there(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["status", "--json"]) == 0
    status = printed(capsys)
    assert isinstance(status, dict)
    assert status["notes"] >= 1
    assert run(["doctor", "--json"]) == 0
    assert isinstance(printed(capsys), list)
    assert run(["rebuild"]) == 0
    assert "Rebuilt from" in capsys.readouterr().out
    assert run(["status"]) == 0


def test_status_has_only_rows_that_say_something_and_json_has_all(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["status", "--json"]) == 0
    everything = printed(capsys)
    assert isinstance(everything, dict) and everything["stores"]["graph"] == "embedded"

    def rows() -> dict[str, str]:
        assert run(["status"]) == 0
        lines = capsys.readouterr().out.splitlines()
        return dict(line.split("\t", 1) for line in lines)

    until(lambda: not {"still loading", "indexing"} & rows().keys())
    shown = rows()
    assert shown["vault"] == str(vault) and int(shown["notes"]) >= 1 and "problems" in shown
    assert not {"chunks", "nodes", "stores", "stores that are full", "indexing"} & shown.keys()


def test_a_memory_that_is_not_there_is_exit_code_1(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run(["show", "no-such-id"]) == 1
    assert capsys.readouterr().err.startswith("memvault: ")


def test_the_name_of_a_note_that_is_not_indexed_is_answered_with_its_path_and_the_reason(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (vault / "Blanks").mkdir()
    (vault / "Blanks/Log entry.md").write_text("# {{date}}\n")
    (vault / ".memvaultignore").write_text("Blanks/\n")
    try:
        until(lambda: run(["show", "Log entry"]) == 1)
        capsys.readouterr()
        for name in ("log entry", "Log entry.md", "Blanks/Log entry"):
            assert run(["show", name]) == 1
            error = capsys.readouterr().err
            assert "is not indexed: .memvaultignore excludes Blanks/" in error
            assert "memvault: Blanks/Log entry" in error
        assert run(["show", "Log entries"]) == 1
        assert "Blanks" not in capsys.readouterr().err
    finally:
        (vault / ".memvaultignore").unlink()
        (vault / "Blanks/Log entry.md").unlink()


def test_a_folder_without_faded_notes_has_no_text_to_bring_back(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run(["reconstruct", "sessions/"]) == 0
    assert capsys.readouterr().err == "No faded notes found.\n"
    assert run(["reconstruct", "Quay"]) == 1
    assert "no text of it is archived" in capsys.readouterr().err


def test_everything_goes_out_and_conversations_come_in_once(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = {
        "sender": "human",
        "text": "How do tides work?",
        "created_at": "2026-01-02T10:00:00Z",
    }
    conversation = {
        "uuid": "5f0c",
        "name": "Tides",
        "created_at": "2026-01-02T10:00:00Z",
        "chat_messages": [message],
    }
    export = tmp_path / "conversations.json"
    export.write_text(json.dumps([conversation]))
    capsys.readouterr()
    assert run(["import", "claude", str(export), "--json"]) == 0
    first = printed(capsys)
    assert isinstance(first, dict)
    assert len(first["added"]) == 1
    assert run(["import", "claude", str(export), "--json"]) == 0
    second = printed(capsys)
    assert isinstance(second, dict)
    assert (second["added"], second["unchanged"]) == ([], 1)
    export.write_text(json.dumps([conversation | {"uuid": "5f0d", "name": "Ebb"}]))
    assert run(["import", "claude", str(export)]) == 0
    assert "fade to a summary" in capsys.readouterr().err

    assert run(["export", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / first["added"][0]).is_file()
    assert run(["export", str(tmp_path / "out.json")]) == 0
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["files"]
    assert run(["export", str(tmp_path / "out")]) == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no such files")
def test_a_pipe_or_a_device_is_refused_instead_of_read_without_end(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    for special in (str(pipe), "/dev/zero"):
        for provider in ("claude", "memvault"):
            assert run(["import", provider, special]) == 2
            assert "save its content to a file" in capsys.readouterr().err


def test_an_export_brings_back_every_byte_that_is_gone_and_changes_none_that_is_there(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [note for note in vault.rglob("*.md") if ".trash" not in note.parts]
    notes = {note: note.read_bytes() for note in found}
    assert run(["export", str(tmp_path / "out.json")]) == 0
    gone, edited = sorted(notes)[:2]
    gone.unlink()
    edited.write_bytes(b"Mine.\n")
    capsys.readouterr()
    assert run(["import", "memvault", str(tmp_path / "out.json"), "--json"]) == 0
    report = printed(capsys)
    assert isinstance(report, dict)
    assert report["written"] == [gone.relative_to(vault).as_posix()]
    # An engine of this vault may have written to the journal in the meantime.
    notes_left = [path for path in report["left_alone"] if not path.startswith(".memvault/")]
    assert notes_left == [edited.relative_to(vault).as_posix()]
    assert {note: note.read_bytes() for note in notes} == {**notes, edited: b"Mine.\n"}


def test_the_bridge_of_the_command_line_answers_with_the_real_tools(vault: Path) -> None:
    info = {"name": "test", "version": "1"}
    initialize = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
    lines = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    ]
    done = subprocess.run(
        [sys.executable, "-m", "memvault.cli", "mcp", "--vault", str(vault)],
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    names = {tool["name"] for tool in answers[1]["result"]["tools"]}
    assert {"recall_memory", "store_memory", "search", "fetch"} <= names


def test_a_folder_of_notes_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "diary").mkdir()
    (tmp_path / "diary" / "Monday.md").write_text("mine")
    (tmp_path / "Projects").mkdir()
    before = sorted(tmp_path.rglob("*"))
    assert "write into permanent/, Projects/ and sessions/" in make_vault(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_vault_from_the_template_is_not_filled_up_again(tmp_path: Path) -> None:
    assert "files added" in make_vault(tmp_path / "new")
    (tmp_path / "new" / "Home.md").unlink()
    make_vault(tmp_path / "new")
    assert not (tmp_path / "new" / "Home.md").exists()


def test_the_manifest_is_written_edited_shown_and_applied(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (vault / "Old ferry.md").write_text("# Old ferry\n\nThe old ferry sank in spring.\n")
    until(lambda: run(["show", "Old ferry.md"]) == 0)
    capsys.readouterr()
    assert run(["manifest", "--json"]) == 0
    written = printed(capsys)
    assert isinstance(written, dict)
    assert (written["path"], written["waiting"]) == ("manifest.md", 0)
    manifest = vault / "manifest.md"
    text = manifest.read_text(encoding="utf-8")
    assert "- Old ferry\n" in text
    edited = text.replace("- Old ferry\n", "") + "[NOTE: Seed library] open on Sundays\n"
    manifest.write_text(edited, encoding="utf-8")
    assert run(["manifest", "--apply", "--json"]) == 0
    preview = printed(capsys)
    assert isinstance(preview, dict)
    assert (preview["applied"], preview["changes_total"]) == (False, 2)
    assert manifest.read_text(encoding="utf-8") == edited

    assert run(["manifest", "--apply", "--yes"]) == 0
    shown = capsys.readouterr().out
    assert "forget Old ferry\n  Old ferry.md → trash\n" in shown
    assert "add to Seed library\n" in shown and "· open on Sundays\n" in shown
    assert "Done. To undo: memvault undo " in shown
    assert (vault / ".trash" / "Old ferry.md").is_file() and not (vault / "Old ferry.md").exists()
    assert "open on Sundays" in next(vault.rglob("Seed library.md")).read_text(encoding="utf-8")
    journal = "".join(file.read_text() for file in (vault / ".memvault/journal").glob("*.jsonl"))
    assert '"actor":{"kind":"person"' in journal

    manifest.write_text("", encoding="utf-8")
    assert run(["manifest", "--apply", "--yes"]) == 1
    assert "manifest.md, line 1: the manifest is empty" in capsys.readouterr().out
    assert run(["manifest"]) == 0
    assert manifest.read_text(encoding="utf-8").startswith("# Knowledge Manifest\n")


def test_a_change_is_taken_back_by_its_hash_and_a_day_is_shown_first(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note = vault / "Ferry times.md"
    note.write_bytes(b"# Ferry times\r\n\r\nAt nine.\r\n")
    until(lambda: run(["show", "Ferry times.md"]) == 0)
    assert run(["manifest"]) == 0
    with (vault / "manifest.md").open("a", encoding="utf-8") as manifest:
        manifest.write("[NOTE: Ferry times] and at ten\n")
    capsys.readouterr()
    assert run(["manifest", "--apply", "--yes"]) == 0
    taken = re.search(r"memvault undo (\w+)", capsys.readouterr().out)
    assert taken is not None and b"and at ten" in note.read_bytes()
    day = datetime.now().astimezone().date().isoformat()
    assert run(["undo", "--day", day, "--preview"]) == 0
    shown = capsys.readouterr().out
    assert "and at ten" in shown and "Nothing was changed." in shown

    assert run(["undo", taken[1][:12]]) == 0
    again = re.search(r"memvault undo (\w+)", capsys.readouterr().out)
    assert note.read_bytes() == b"# Ferry times\r\n\r\nAt nine.\r\n"
    note.write_bytes(b"# Ferry times\r\n\r\nAt noon.\r\n")
    assert again is not None and run(["undo", again[1]]) == 1
    assert "it was changed since and stays as it is" in capsys.readouterr().out
    assert note.read_bytes() == b"# Ferry times\r\n\r\nAt noon.\r\n"
    assert run(["undo"]) == 2


def test_a_search_without_an_answer_says_so_once(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["search", "quantum chromodynamics on a lattice"]) == 0
    printed_text = capsys.readouterr().out
    assert "No note seems to answer this" in printed_text
    assert "No notes found" not in printed_text


def test_what_was_learnt_is_reported_reset_and_brought_back(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    learning = Learning(Vault(vault), "laptop")
    read = Signal(at=datetime.now(UTC), kind=SignalKind.OPENED, thousandths=500, memory="one")
    learning.observe([read])
    learning.flush()
    # The engine may write a signal of the question above at any moment; it names no note.
    assert run(["learnt"]) == 0
    assert "Notes: 1." in capsys.readouterr().out
    assert run(["learnt", "--reset"]) == 0
    assert "Notes: 0." in capsys.readouterr().out
    learning.refresh()
    assert learning.state.memories == {}
    assert run(["learnt", "--undo-reset"]) == 0
    assert "Notes: 1." in capsys.readouterr().out


def test_a_question_without_a_sure_answer_is_not_called_one_that_found_nothing(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    learning = Learning(Vault(vault), "tablet")
    question = "Which projects did we refuse?"
    asked = Signal(
        at=datetime.now(UTC), kind=SignalKind.UNANSWERED, thousandths=0, question=question
    )
    learning.observe([asked])
    learning.flush()
    assert run(["learnt"]) == 0
    assert f"by you: {question}" in (shown := capsys.readouterr().out)
    assert "No sure answer" in shown and "Found nothing" not in shown


def test_init_says_that_some_notes_have_problems(
    vault: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "Broken.md").write_text("---\ntags: [a\n---\nThe ferry leaves at noon.\n")
    assert run(["init", "--vault", str(tmp_path)]) == 0
    assert f'1 problem found: memvault doctor --vault "{tmp_path}"' in capsys.readouterr().out
    assert run(["stop", "--vault", str(tmp_path)]) == 0


def test_a_search_in_a_folder_without_notes_says_so(
    vault: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["search", "ferry", "--vault", str(tmp_path)]) == 0
    assert f"{tmp_path} has no notes yet." in capsys.readouterr().out
    assert run(["stop", "--vault", str(tmp_path)]) == 0


def test_the_page_opens_in_a_browser_and_keeps_its_address_after_a_restart(
    vault: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("typer.launch", opened.append)
    assert run(["open"]) == 0
    page = capsys.readouterr().out.strip()
    assert run(["stop"]) == run(["open"]) == 0
    assert opened == [page, page]


def test_the_engine_stops_and_starts_again(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status"]) == 0
    capsys.readouterr()
    assert run(["stop"]) == 0
    assert capsys.readouterr().out == "The engine has stopped.\n"
    assert run(["stop"]) == 0
    assert capsys.readouterr().out == "No engine is running.\n"
    assert run(["status"]) == 0


def test_a_wrong_file_of_settings_is_named_also_while_an_engine_runs_without_it(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["status"]) == 0
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("bogus = 1\n")
    capsys.readouterr()
    for command in ("doctor", "status"):
        assert run(["--config", str(wrong), command]) == 2
        assert f"unknown keys: bogus. Correct it in {wrong}" in capsys.readouterr().err


def test_a_changed_configuration_is_reported_while_the_engine_goes_on_with_the_old_one(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = find_places(None, None).state.config_file
    assert run(["doctor"]) == 0
    assert "configuration" not in capsys.readouterr().out
    try:
        config.write_text("[sessions]\nexpiry_hours = 12\n")
        assert run(["doctor"]) == 0
        changed = "the configuration changed since memvault started - run `memvault stop`"
        assert changed in capsys.readouterr().out
        config.write_text('[engine]\nport = "harbour"\n')
        assert run(["doctor"]) == 1
        shown = capsys.readouterr().out
        assert "engine.port: input should be a valid integer" in shown
        assert f"correct it in {config}" in shown
        assert run(["status", "--json"]) == 0
        status = printed(capsys)
        assert isinstance(status, dict) and "engine.port" in status["problems"][0]
        assert run(["search", "ferry"]) == run(["stop"]) == 0
        log = find_places(None, None).state.log.read_text()
        assert log.count("engine.port: input should be a valid integer") == 1
        capsys.readouterr()
        assert run(["status"]) == 2
        error = capsys.readouterr().err
        assert "engine.port" in error and f"Correct it in {config}, then try again." in error
        assert len(error.splitlines()) == 1
    finally:
        config.unlink()
    assert run(["doctor"]) == 0
    assert "configuration" not in capsys.readouterr().out


def test_status_says_why_an_engine_cannot_start(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "broken"
    (folder / ".memvault").mkdir(parents=True)
    (folder / ".memvault" / "journal").write_text("a sync tool put a file here")
    assert run(["--vault", str(folder), "status"]) == 1
    assert ".memvault/journal cannot be read" in capsys.readouterr().err


def test_stop_reports_an_engine_that_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMVAULT_STATE", str(tmp_path / "state"))
    (tmp_path / "vault").mkdir()
    state = find_places(str(tmp_path / "vault"), None).state
    state.create()
    with FileLock(state.engine_lock):
        assert run(["--vault", str(tmp_path / "vault"), "stop"]) == 1
        assert "just starting" in capsys.readouterr().err
        write_address(state, EngineAddress(os.getpid(), "127.0.0.1", 9, "t", "0", 0.0))
        assert run(["--vault", str(tmp_path / "vault"), "stop"]) == 1
        assert f"process {os.getpid()}) does not answer" in capsys.readouterr().err
