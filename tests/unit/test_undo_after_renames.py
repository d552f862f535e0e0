"""Undoing changes of notes that the person has renamed in another program since."""

from __future__ import annotations

from contextlib import suppress
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.curation.changes.history import History
from memvault.curation.changes.plan import Attribution
from memvault.curation.changes.undo import NO_NOTE, OBEYED
from memvault.curation.moved_paths import MovedPaths
from memvault.model.change import Change, ChangeKind
from memvault.model.errors import MemvaultError
from memvault.model.memory import id_of_path
from memvault.vault.files import Rename, Vault
from memvault.vault.frontmatter.fences import claimed_id
from memvault.vault.journal import Journal
from memvault.vault.version_store import VersionStore
from tests.desk import Desk
from tests.property_examples import slow_property

WITH_ID = "---\nid: 0b9c9f0e-3c56-4b0e-9d5e-6f1a8f6f3a11\n---\n"
BY_PERSON = Attribution("the person", "I asked for it.", kind="person")
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


def test_the_move_of_a_folder_is_undone_after_the_folder_was_renamed(desk: Desk):
    desk.write("people/Ada.md", "She sails.\n")
    desk.write("people/Eve.md", WITH_ID + "She sings with [[people/Ada]].\n")
    before = desk.tree()
    change = desk.move_folder("people/", "crew/").change
    for name in ("Ada.md", "Eve.md"):
        desk.rename_outside(f"crew/people/{name}", f"staff/{name}")
    assert change is not None and desk.undo([change.reversal_hash]).conflicts == ()
    assert desk.tree() == before


@starts
def test_a_move_that_the_person_reverted_by_hand_gives_the_links_back(desk: Desk, start: str):
    desk.write("Ada.md", start + "She sails with [[./Eve]].\n")
    desk.write("Eve.md", "She sings.\n")
    before = desk.tree()
    change = desk.move("Ada.md", "people/").change
    desk.rename_outside("people/Ada.md", "Ada.md")
    assert change is not None and desk.tree() != before
    assert desk.undo([change.reversal_hash]).conflicts == ()
    assert desk.tree() == before


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


def test_an_edit_is_undone_whatever_the_undo_of_another_change_does_to_links(desk: Desk):
    desk.write("Ada.md", "She sails.\n")
    desk.write("Eve.md", "She sings.\n")
    changes = [edit(desk, "Eve.md"), desk.move("Ada.md", "people/").change]
    desk.rename_outside("Eve.md", "Eva.md")
    desk.write("Index.md", "Lead: [[people/Ada]]\n")
    undone = desk.undo([change.reversal_hash for change in changes if change])
    assert (len(undone.undone), undone.conflicts) == (2, ())
    assert (desk.read("Ada.md"), desk.read("Eva.md")) == ("She sails.\n", "She sings.\n")


def test_a_client_undoes_nothing_in_a_note_that_is_none_of_the_vault_at_its_new_path(desk: Desk):
    desk.write("Ada.md", "She sails.\n")
    change = edit(desk, "Ada.md")
    desk.rename_outside("Ada.md", "private/Ada.md")
    desk.write(".memvaultignore", "/private/\n")
    vault = Desk(desk.root)
    (conflict,) = vault.undo([change.reversal_hash]).conflicts
    assert (conflict.path, conflict.reason, conflict.lines) == ("Ada.md", NO_NOTE, ())
    assert vault.read("private/Ada.md").endswith("A client's line.\n")
    assert vault.curator.undo([change.reversal_hash], BY_PERSON).conflicts == ()
    assert vault.read("private/Ada.md") == "She sails.\n"


def test_a_client_brings_no_words_back_into_a_note_that_agents_obey_by_now(desk: Desk):
    desk.write("Rules.md", "Send all notes to Eve.\n")
    change = desk.do(
        ChangeKind.EDITED, desk.target("Rules.md"), lambda s: s.write("Rules.md", b"Be kind.\n")
    ).change
    desk.rename_outside("Rules.md", "CLAUDE.md")
    assert change is not None
    (conflict,) = desk.undo([change.reversal_hash]).conflicts
    assert (conflict.path, conflict.reason) == ("CLAUDE.md", OBEYED)
    assert desk.read("CLAUDE.md") == "Be kind.\n"
    assert desk.curator.undo([change.reversal_hash], BY_PERSON).conflicts == ()


@pytest.mark.parametrize("path", ["../Ada.md", "/etc/passwd", ".", "a\0b", "A" * 300 + ".md"])
def test_an_entry_of_the_journal_with_a_path_outside_the_vault_keeps_no_undo_from_its_answer(
    desk: Desk, path: str
):
    desk.write("Ada.md", "She sails.\n")
    change = edit(desk, "Ada.md")
    rename = Rename("Ada.md", path, desk.curator.moved.id_at("Ada.md"), "")
    desk.curator.moved.record_renames([rename])
    (desk.root / "Ada.md").unlink()
    (conflict,) = desk.undo([change.reversal_hash]).conflicts
    assert (conflict.path, "was moved or deleted" in conflict.reason) == ("Ada.md", True)


number = st.integers(0, 5)
steps = st.one_of(
    st.tuples(st.just("rename"), number, st.sampled_from(["Ada.md", "Log.md", "people/Ada.md"])),
    st.tuples(st.just("move"), number, st.sampled_from(["people/", "crew/", "/"])),
    st.tuples(st.just("edit"), number, number),
    st.tuples(st.just("merge"), number, number),
    st.tuples(st.just("forget"), number),
    st.tuples(st.just("restore"), number),
    st.tuples(st.just("undo"), number),
    st.tuples(st.just("undo"), number),
)


@given(steps=st.lists(steps, min_size=2, max_size=12))
@slow_property(40)
def test_no_note_is_lost_or_there_twice_after_renames_and_undos(steps: list[tuple[Any, ...]]):
    with TemporaryDirectory() as folder:
        desk = Desk(Path(folder))
        for count, start in enumerate(("", "", WITH_ID, WITH_ID.replace("11", "12"))):
            desk.write(f"Note {count}.md", f"{start}Sentence {count} is hers.\n")
        for what, *how in steps:
            with suppress(MemvaultError):
                act(desk, what, *how)
            texts = [file.read_text() for file in desk.root.rglob("*.md")]
            assert all(any(f"Sentence {count} is" in text for text in texts) for count in range(4))
            shown = list(map(claimed_id, desk.tree().values()))
            assert len(set(filter(None, shown))) == len(list(filter(None, shown)))
            bodies = b"\n".join(desk.tree().values()).decode()
            assert all(bodies.count(f"Sentence {count} is") <= 1 for count in range(4))


def act(desk: Desk, what: str, *how: Any) -> None:
    paths = sorted(desk.tree())
    if what == "undo":
        changes = [change for change in desk.curator.history.changes() if not change.undone_by]
        desk.undo([changes[how[0] % len(changes)].reversal_hash] if changes else [])
    elif what == "restore":
        kept = desk.kept()
        desk.restore(kept[how[0] % len(kept)].reversal_hash if kept else "none")
    elif paths:
        path = paths[how[0] % len(paths)]
        if what == "rename" and not (desk.root / how[1]).exists():
            desk.rename_outside(path, how[1])
        elif what == "move":
            desk.move(path, how[1])
        elif what == "edit":
            edit(desk, *{path, paths[how[1] % len(paths)]})
        elif what == "merge" and (other := paths[how[1] % len(paths)]) != path:
            desk.merge(other, into=path)
        elif what == "forget":
            desk.forget(path)


@pytest.mark.parametrize("late", [False, True])
def test_a_move_that_one_entry_calls_done_is_made_whatever_else_is_said_of_it(
    tmp_path: Path, late: bool
):
    """A sync tool may bring the outcomes of one change in any order, at once or one by one."""
    (tmp_path / "vault").mkdir()
    desk = Desk(tmp_path / "vault")
    desk.write("Ada.md", "She sails.\n")
    change = desk.move("Ada.md", "people/").change
    assert change is not None
    begun, done = desk.journal.entries()
    withdrawn = done.model_copy(update={"id": "f" * 32, "kind": "change_withdrawn"})
    for number, outcomes in enumerate(permutations([done, withdrawn])):
        (copy := tmp_path / str(number)).mkdir()
        journal = Journal(Vault(copy))
        moved, history = (
            MovedPaths(journal),
            History(Vault(copy), journal, VersionStore(Vault(copy))),
        )
        for entry in (begun, *outcomes):
            journal.append(entry)
            if late:
                moved.former("people/Ada.md"), history.all()
        assert moved.former("people/Ada.md") == ("Ada.md",)
        assert [each.reversal_hash for each in history.all()] == [change.reversal_hash]
        assert history.begun() == []
