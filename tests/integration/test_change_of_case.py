"""A note's name changes only in case, where the file system ignores case."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memvault.curation.changes.undo import undoable
from memvault.model.errors import InvalidParams, NoteConflict
from tests.desk import WHY, Desk
from tests.ignoring_case import ignoring_case
from tests.integration.killed_changes import left_by_kills

NOTES = {"ada.md": b"# Ada\n\nMyself: [[ada]].\n", "Log.md": b"[[ada]], [m](ada.md)\n"}
RENAMED = {"Ada.md": NOTES["ada.md"], "Log.md": NOTES["Log.md"]}


@pytest.fixture(params=[True, False], ids=["macOS and Windows", "Linux"])
def desk(request: pytest.FixtureRequest, vault_folder: Path) -> Iterator[Desk]:
    with ignoring_case(in_one_step=request.param):
        desk = Desk(vault_folder)
        for path, data in NOTES.items():
            desk.write(path, data)
        yield desk


def test_a_note_gets_the_name_and_undo_gives_it_back(desk: Desk):
    done = desk.move("ada.md", "Ada.md")
    assert desk.tree() == RENAMED and done.change is not None
    assert desk.vault.stat("ada.md") is None and desk.vault.stat("Ada.md") is not None
    undone = desk.curator.undo([done.change.reversal_hash], WHY)
    assert desk.tree() == NOTES and undone.change is not None
    desk.curator.undo([undone.change.reversal_hash], WHY)
    assert desk.tree() == RENAMED
    assert not list(desk.root.glob(".memvault-*"))


def test_a_property_that_the_move_sets_is_set(desk: Desk):
    desk.write("projects/kelp/plan.md", "---\nproject: moor\n---\nText.\n")
    done = desk.move("projects/kelp/plan.md", "projects/kelp/Plan.md")
    assert desk.tree()["projects/kelp/Plan.md"] == b"---\nproject: kelp\n---\nText.\n"
    assert done.change is not None
    desk.curator.undo([done.change.reversal_hash], WHY)
    assert desk.tree()["projects/kelp/plan.md"] == b"---\nproject: moor\n---\nText.\n"


def test_another_note_of_that_name_is_not_replaced(desk: Desk):
    desk.write("friends/ADA.md", b"Another.\n")
    before = desk.tree()
    for destination in ("friends", "friends/Ada.md"):
        with pytest.raises(NoteConflict, match=r"friends/ADA\.md already"):
            desk.move("ada.md", destination)
    assert desk.tree() == before


def test_a_folders_name_does_not_change_only_in_case_and_the_message_says_what_to_do(desk: Desk):
    desk.write("friends/Bo.md", b"Bo.\n")
    before = desk.tree()
    for destination in ("Friends", "Friends/"):
        with pytest.raises(InvalidParams, match="rename the folder in your editor"):
            desk.move_folder("friends", destination)
    assert desk.tree() == before


def test_a_note_that_was_edited_since_keeps_its_name(desk: Desk):
    done = desk.move("ada.md", "Ada.md")
    desk.write("Ada.md", b"Edited.\n")
    assert done.change is not None
    assert desk.curator.undo([done.change.reversal_hash], WHY).conflicts
    assert desk.tree() == {**RENAMED, "Ada.md": b"Edited.\n"}


@pytest.mark.parametrize("taking_back", [False, True], ids=["rename", "undo"])
def test_a_rename_killed_at_any_step_leaves_the_note_in_one_of_the_two_names(
    tmp_path: Path, taking_back: bool
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    for path, data in NOTES.items():
        (vault / path).write_bytes(data)
    with ignoring_case(in_one_step=False):
        desk = Desk(vault)

        def change() -> None:
            made = undoable(desk.curator.history.changes())
            if made:
                desk.curator.undo(made, WHY)
            else:
                desk.move("ada.md", "Ada.md")

        if taking_back:
            change()
        outcomes = []
        for root in left_by_kills(vault, tmp_path, change):
            left = Desk(root)
            tree = left.tree()
            assert tree in (NOTES, RENAMED)
            left.open()
            assert left.recovered == [] and left.tree() == tree
            outcomes.append("renamed" if tree == RENAMED else "not renamed")
    assert set(outcomes) == {"renamed", "not renamed"} and len(outcomes) > 6
