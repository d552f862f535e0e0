"""Moving a folder: all its notes in one change, and the links to them and in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from memvault.model.errors import (
    InvalidParams,
    MemvaultError,
    NoteConflict,
    NoteNotFound,
    OutsideVault,
)
from memvault.model.note import ParsedNote
from memvault.vault.parse import parse_note
from tests.desk import WHY, Desk

NOTES = {
    "projects/old/Plan.md": "# Plan\n\n[[projects/old/deep/Log]], [[./Log]], ![p](img.png)\n",
    "projects/old/deep/Log.md": "---\nproject: old\n---\n[[../Plan]] and [up](../Plan.md)\n",
    "projects/older/Plan.md": "Another.\n",
    "Home.md": "[[projects/old/Plan]], [[old/deep/Log|log]], [[projects/older/Plan]]\n",
}
BOARD = '{"nodes":[{"type":"file","file":"projects/old/deep/Log.md"}]}'
OTHERS = {
    "projects/old/img.png": "picture",
    "projects/old/Sketch.canvas": BOARD,
    "projects/old/.hidden": "hidden",
    "Board.canvas": BOARD,
}


@pytest.fixture
def desk(vault_folder: Path) -> Desk:
    desk = Desk(vault_folder)
    for path, text in (NOTES | OTHERS).items():
        desk.write(path, text)
    return desk


def files(desk: Desk) -> dict[str, str]:
    found = (file for file in desk.root.rglob("*") if file.is_file())
    return {
        path: file.read_text()
        for file in found
        if not (path := file.relative_to(desk.root).as_posix()).startswith(".memvault/")
    }


def test_only_notes_in_which_a_link_changes_are_parsed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a large vault parsing takes most of the time of a move."""
    desk.write("Diary.md", "[[Log]], [a log](Log.md), ![p](img.png), `[[projects/old]]`\n")
    parsed: list[str] = []

    def parse(path: str, data: bytes) -> ParsedNote:
        parsed.append(path)
        return parse_note(path, data)

    monkeypatch.setattr("memvault.vault.rewrite_links.parse_note", parse)
    done = desk.move_folder("projects/old", "archive/")
    changed = [edit.path for edit in done.plan.edits if edit.after is not None]
    assert "Home.md" in changed
    assert {path for path in parsed if path in NOTES or path == "Diary.md"} <= set(changed)


def test_all_notes_of_a_folder_move_with_their_links_and_one_undo_reverts_it(desk: Desk):
    before = files(desk)
    done = desk.move_folder("Projects/OLD/", "archive/")
    moved = BOARD.replace("projects/old", "archive/old")
    assert files(desk) == {
        "archive/old/Plan.md": "# Plan\n\n[[Log]], [[./Log]], ![p](projects/old/img.png)\n",
        "archive/old/deep/Log.md": "---\nproject: old\n---\n[[../Plan]] and [up](../Plan.md)\n",
        "projects/older/Plan.md": "Another.\n",
        "Home.md": "[[Plan]], [[old/deep/Log|log]], [[projects/older/Plan]]\n",
        **OTHERS, "Board.canvas": moved, "projects/old/Sketch.canvas": moved,
    }  # fmt: skip
    assert done.result.path == "archive/old"
    assert done.result.notice == "Only notes move: 2 other files stay in projects/old/."
    assert done.change is not None
    desk.curator.undo([done.change.reversal_hash], WHY)
    assert files(desk) == before and not (desk.root / "archive").exists()


def test_a_folder_moves_into_one_that_exists_and_else_becomes_the_new_one(desk: Desk):
    assert desk.move_folder("projects/old", "projects/older").result.path == "projects/older/old"
    done = desk.move_folder("projects/older/old", "projects/moor")
    assert done.result.path == "projects/moor"
    assert done.result.moved == {
        "projects/older/old/Plan.md": "projects/moor/Plan.md",
        "projects/older/old/deep/Log.md": "projects/moor/deep/Log.md",
    }
    assert "project: moor\n" in desk.read("projects/moor/deep/Log.md")
    assert {move.project for move in done.result.moves} == {"moor"}
    assert desk.move_folder("projects/moor", "/").result.path == "moor"


REFUSED: dict[tuple[str, str], type[MemvaultError]] = {
    ("projects/old", "projects/old/deep/"): InvalidParams, ("nowhere", "a"): NoteNotFound,
    ("projects/ol", "a"): NoteNotFound, ("projects/old", "../out"): OutsideVault,
    ("projects/old", ".trash/"): OutsideVault, ("projects/old", "taken"): NoteConflict,
    ("projects/old", "new.md"): InvalidParams, ("projects/old", "Home.md"): InvalidParams,
    ("projects/old", "a:b"): InvalidParams, ("../out", "a"): OutsideVault,
    (".trash", "a"): OutsideVault, ("/", "a"): NoteNotFound, ("projects/old", "projects/old/x"): InvalidParams,
}  # fmt: skip


@pytest.mark.parametrize(("folder", "destination"), REFUSED)
def test_what_is_refused_changes_nothing(desk: Desk, folder: str, destination: str):
    desk.write("taken/old/PLAN.md", "Taken.\n")
    before = files(desk)
    with pytest.raises(REFUSED[folder, destination]):
        desk.move_folder(folder, destination)
    assert files(desk) == before and not desk.curator.history.changes()


def test_a_folder_that_is_there_already_stays(desk: Desk):
    before = files(desk)
    for destination in ("projects/", "projects"):
        done = desk.move_folder("projects/old", destination)
        assert done.change is None and done.result.moved == {}
    assert files(desk) == before


def test_a_note_that_was_edited_since_keeps_the_folder_where_it_is(desk: Desk):
    done = desk.move_folder("projects/old/", "archive/")
    desk.write("archive/old/Plan.md", "Mine.\n")
    after = files(desk)
    assert done.change is not None
    undone = desk.curator.undo([done.change.reversal_hash], WHY)
    assert [each.path for each in undone.conflicts] == ["projects/old/Plan.md"]
    assert files(desk) == after
