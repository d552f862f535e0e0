"""Undoing changes of notes that the person has renamed in another program since."""

from __future__ import annotations

import pytest

from memvault.model.change import Change, ChangeKind
from memvault.model.memory import id_of_path
from tests.desk import Desk

WITH_ID = "---\nid: 0b9c9f0e-3c56-4b0e-9d5e-6f1a8f6f3a11\n---\n"
starts = pytest.mark.parametrize("start", ["", WITH_ID])


def edit(desk: Desk, *paths: str) -> Change:
    """A client adds a line to notes."""

    def stage(staging):
        for path in paths:
            staging.write(path, staging.read(path) + b"A client's line.\n")

    change = desk.do(ChangeKind.EDITED, desk.target(paths[0]), stage).change
    assert change is not None
    return change


@starts
def test_an_edit_is_undone_where_the_note_is_now(desk: Desk, start: str):
    desk.write("Ada.md", start + "She sails.\n")
    change = edit(desk, "Ada.md")
    desk.rename_outside("Ada.md", "people/Ada.md")
    assert desk.undo([change.reversal_hash]).conflicts == ()
    assert desk.tree() == {"people/Ada.md": (start + "She sails.\n").encode()}
    undo = desk.curator.history.changes()[0]
    desk.undo([undo.reversal_hash])
    assert desk.read("people/Ada.md").endswith("A client's line.\n")


@starts
def test_a_move_is_undone_without_a_second_copy(desk: Desk, start: str):
    desk.write("Ada.md", start + "She sails.\n")
    change = desk.move("Ada.md", "people/").change
    desk.rename_outside("people/Ada.md", "people/Ada Berg.md")
    assert change is not None and desk.undo([change.reversal_hash]).conflicts == ()
    assert desk.tree() == {"Ada.md": (start + "She sails.\n").encode()}
    if not start:
        assert desk.curator.moved.id_at("Ada.md") == id_of_path("Ada.md")


@starts
def test_a_note_renamed_and_changed_since_its_move_stays_and_is_not_made_again(
    desk: Desk, start: str
):
    desk.write("Ada.md", start + "She sails.\n")
    change = desk.move("Ada.md", "people/").change
    desk.rename_outside("people/Ada.md", "people/Ada Berg.md")
    desk.write("people/Ada Berg.md", start + "She sails and sings.\n")
    before = desk.tree()
    assert change is not None
    (conflict,) = desk.undo([change.reversal_hash]).conflicts
    assert "people/Ada Berg.md was changed since" in conflict.reason
    assert desk.tree() == before


@starts
def test_a_clients_changes_before_and_after_a_rename_are_undone_together(desk: Desk, start: str):
    desk.write("Ada.md", start + "She sails.\n")
    desk.write("Eve.md", "She sings.\n")
    before = desk.tree()
    changes = [edit(desk, "Ada.md", "Eve.md")]
    desk.rename_outside("Ada.md", "Ada Berg.md")
    changes += [edit(desk, "Ada Berg.md"), desk.move("Ada Berg.md", "people/").change]
    desk.rename_outside("people/Ada Berg.md", "people/Berg.md")
    (conflict,) = desk.undo([changes[0].reversal_hash]).conflicts
    assert conflict.path == "people/Berg.md"
    undone = desk.undo([change.reversal_hash for change in changes if change])
    assert (len(undone.undone), undone.conflicts) == (3, ())
    assert desk.tree() == {"Ada Berg.md": before["Ada.md"], "Eve.md": before["Eve.md"]}


@starts
def test_the_next_note_at_the_old_path_stays_when_an_edit_before_the_rename_is_undone(
    desk: Desk, start: str
):
    desk.write("Ada.md", start + "She sails.\n")
    change = edit(desk, "Ada.md")
    desk.rename_outside("Ada.md", "Ada Berg.md")
    desk.write("Ada.md", "Another Ada.\n")
    assert desk.undo([change.reversal_hash]).conflicts == ()
    assert desk.read("Ada Berg.md") == start + "She sails.\n"
    assert desk.read("Ada.md") == "Another Ada.\n"


def test_a_note_renamed_since_another_was_merged_into_it_gets_its_words_back(desk: Desk):
    desk.write("Ada.md", "She sails.\n")
    desk.write("Eve.md", "She sings.\n")
    before = desk.tree()
    change = desk.merge("Eve.md", into="Ada.md")
    desk.rename_outside("Ada.md", "Both.md")
    assert change is not None and desk.undo([change.reversal_hash]).conflicts == ()
    assert desk.tree() == {"Both.md": before["Ada.md"], "Eve.md": before["Eve.md"]}


def test_a_copy_with_the_same_id_is_not_taken_for_the_note(desk: Desk):
    desk.write("Ada Berg.md", WITH_ID + "She sails.\n")
    change = edit(desk, "Ada Berg.md")
    desk.write("Ada.md", desk.read("Ada Berg.md"))
    assert desk.undo([change.reversal_hash]).conflicts == ()
    assert desk.read("Ada Berg.md") == WITH_ID + "She sails.\n" != desk.read("Ada.md")


def test_a_move_is_not_undone_below_a_link_to_the_new_name(desk: Desk):
    desk.write("Ada.md", "She sails.\n")
    change = desk.move("Ada.md", "people/").change
    desk.rename_outside("people/Ada.md", "people/Berg.md")
    desk.write("Index.md", "Lead: [[Berg]]\n")
    before = desk.tree()
    assert change is not None
    (conflict,) = desk.undo([change.reversal_hash]).conflicts
    assert (conflict.path, conflict.reason) == ("Index.md", "a link in it would lead elsewhere")
    assert desk.tree() == before
