"""Moving a note: its bytes, the links to it and in it, and the places that are refused."""

from __future__ import annotations

import os

import pytest

from memvault.curation.moved_paths import RENAMED, MovedPaths
from memvault.model.change import SYSTEM, ChangeKind
from memvault.model.errors import InvalidParams, MemvaultError, NoteConflict, OutsideVault
from memvault.model.memory import id_of_path
from memvault.vault.journal import Journal, JournalEntry
from memvault.vault.links import LinkIndex
from memvault.vault.parse import parse_note
from tests.desk import WHY, Desk


def led_to(desk: Desk) -> dict[str, list[str | None]]:
    """The path that each link leads to, by the note that it is in."""
    links, parsed = LinkIndex(), {}
    for path, data in desk.tree().items():
        parsed[path] = parse_note(path, data)
        links.add(path, parsed[path].aliases)
    return {
        path: [links.resolve(link.target, path) for link in note.links]
        for path, note in parsed.items()
    }


def test_a_moved_note_keeps_its_bytes_and_links_by_name_stay(desk: Desk):
    note = b"\xef\xbb\xbf# Quay\r\n\r\nSee [[Ada]] \r\n"
    desk.write("Quay.md", note)
    desk.write("Ada.md", "By [[Quay]], [[quay|the quay]] and [[Quay#North]].\n")
    before = desk.tree()
    done = desk.move("Quay.md", "harbour/north")
    assert done.result.path == "harbour/north/Quay.md"
    assert desk.tree() == {"harbour/north/Quay.md": note, "Ada.md": before["Ada.md"]}
    assert done.plan.moves == [("Quay.md", "harbour/north/Quay.md")]


LINKS = {
    "[[people/Ada]]": "[[Ada]]",
    "[[people/Ada|my  friend ]]": "[[Ada|my  friend ]]",
    "[[ people/Ada ]]": "[[ Ada ]]",
    "[[people/Ada#Work# At sea|work]]": "[[Ada#Work# At sea|work]]",
    "[[people/Ada#^b1]]": "[[Ada#^b1]]",
    "![[people/Ada#Work]]": "![[Ada#Work]]",
    "![[people/Ada|300]]": "![[Ada|300]]",
    "[[./people/Ada]]": "[[./friends/Ada]]",
    "[[/people/Ada]]": "[[/friends/Ada]]",
    "[shown](people/Ada.md)": "[shown](friends/Ada.md)",
    '[shown](people/Ada.md#At%20sea "A title")': '[shown](friends/Ada.md#At%20sea "A title")',
    "[shown](<people/Ada.md#At sea>)": "[shown](<friends/Ada.md#At sea>)",
    "[shown](people/Ada)": "[shown](friends/Ada)",
    "[shown](./people/Ada.md)": "[shown](./friends/Ada.md)",
    "lead:: [[people/Ada]]": "lead:: [[Ada]]",
    "| a | [[people/Ada\\|x]] |\n|---|---|": "| a | [[Ada\\|x]] |\n|---|---|",
    "`[[people/Ada]]`": "`[[people/Ada]]`",
    "[[people/Ada|[x] y]]": "[[Ada|[x] y]]",
    "[[people/Nobody]]": "[[people/Nobody]]",
    "[web](https://example.org/people/Ada.md)": "[web](https://example.org/people/Ada.md)",
}


@pytest.mark.parametrize("written", LINKS)
def test_a_link_that_would_break_is_rewritten_and_nothing_else(desk: Desk, written: str):
    desk.write("people/Ada.md", "# Ada\n\n## Work\n\n### At sea\n\nA line. ^b1\n")
    text = "Before,\u00a0 it. {}\r\n\r\nAfter  it.\n"
    desk.write("Log.md", text.format(written))
    before = led_to(desk)["Log.md"]
    desk.move("people/Ada.md", "friends/")
    assert desk.read("Log.md") == text.format(LINKS[written])
    moved = [path and path.replace("people", "friends") for path in before]
    assert led_to(desk)["Log.md"] == moved


def test_a_link_by_path_is_rewritten_although_the_new_path_ends_so(desk: Desk):
    desk.write("people/Ada.md", "# Ada\n")
    desk.write("Log.md", "[[people/Ada]], [m](people/Ada.md) and [[Ada]].\n")
    desk.move("people/Ada.md", "old/people")
    assert desk.read("Log.md") == "[[Ada]], [m](old/people/Ada.md) and [[Ada]].\n"


def test_links_in_properties_are_rewritten(desk: Desk):
    desk.write("people/Ada.md", "# Ada\n")
    desk.write("Log.md", '---\nlead: "[[people/Ada|A]]"\nteam:\n- "[[people/Ada]]"\n---\nText.\n')
    desk.move("people/Ada.md", "friends")
    assert desk.read("Log.md") == '---\nlead: "[[Ada|A]]"\nteam:\n- "[[Ada]]"\n---\nText.\n'


def test_quotes_of_properties_stay_valid_around_a_name_with_quotes(desk: Desk):
    desk.write("a/It's.md", "# It\n")
    desk.write(
        "Log.md", "---\none: '[[a/It''s]]'\ntwo: [\"[[a/It's]]\", '[[a/It''s|x]]']\n---\nText.\n"
    )
    desk.write("b/It's.md", "# Other\n")
    desk.write("Own.md", "---\nlead: '[[It''s]]'\n---\nText.\n")
    assert led_to(desk)["Own.md"] == ["a/It's.md"]
    desk.move("a/It's.md", "c")
    assert desk.read("Own.md") == "---\nlead: '[[c/It''s|It''s]]'\n---\nText.\n"
    assert desk.read("Log.md") == (
        "---\none: '[[c/It''s]]'\ntwo: [\"[[c/It's]]\", '[[c/It''s|x]]']\n---\nText.\n"
    )


def test_a_new_file_name_is_what_links_show_unless_they_have_an_alias(desk: Desk):
    desk.write("Ada.md", "Text.\n")
    desk.write(
        "Log.md", "[[Ada]], [[Ada|A.]], ![[Ada#X]], [m](Ada.md), [[Ada#X|x]], [s](<Ada.md>)\n"
    )
    desk.move("Ada.md", "people/Ada Berg é.md")
    assert desk.read("Log.md") == (
        "[[Ada Berg é]], [[Ada Berg é|A.]], ![[Ada Berg é#X]], [m](Ada%20Berg%20é.md), "
        "[[Ada Berg é#X|x]], [s](<Ada Berg é.md>)\n"
    )
    assert set(led_to(desk)["Log.md"]) == {"people/Ada Berg é.md"}


def test_a_name_in_two_folders_is_linked_by_its_path_and_shown_as_before(desk: Desk):
    desk.write("a/Plan.md", "The one.\n")
    desk.write("b/deep/Plan.md", "The other.\n")
    desk.write("Log.md", "[[Plan]], [[Plan#Aim]], ![[Plan]] and [[b/deep/Plan]].\n")
    assert set(led_to(desk)["Log.md"]) == {"a/Plan.md", "b/deep/Plan.md"}
    desk.move("b/deep/Plan.md", "/")  # now [[Plan]] would lead there
    assert desk.read("Log.md") == (
        "[[a/Plan|Plan]], [[a/Plan#Aim|Plan > Aim]], ![[a/Plan]] and [[Plan]].\n"
    )


def test_links_in_the_moved_note_lead_where_they_led(desk: Desk):
    desk.write("a/Plan.md", "Near.\n")
    desk.write("b/Plan.md", "Far.\n")
    desk.write("a/img.png", b"\x89PNG")
    desk.write("a/Log.md", "[[Plan]], [[./Plan]], [r](../b/Plan.md), [[#Here]], ![p](img.png)\n")
    desk.move("a/Log.md", "b")
    assert led_to(desk)["b/Log.md"][:3] == ["a/Plan.md", "a/Plan.md", "b/Plan.md"]
    assert desk.read("b/Log.md") == (
        "[[a/Plan|Plan]], [[../a/Plan]], [r](../b/Plan.md), [[#Here]], ![p](a/img.png)\n"
    )


def test_a_note_that_links_to_itself_by_its_path_moves_and_is_undone_to_the_byte(desk: Desk):
    desk.write("a/Log.md", "Myself: [[a/Log]].\n")
    before = {p: p.read_bytes() for p in desk.root.rglob("*.md")}
    done = desk.move("a/Log.md", "b")
    assert desk.read("b/Log.md") == "Myself: [[Log]].\n"
    assert done.change is not None and len(done.change.files) == 1
    undone = desk.curator.undo([done.change.reversal_hash], WHY)
    assert {p: p.read_bytes() for p in desk.root.rglob("*.md")} == before
    assert undone.change is not None and not (desk.root / "b").exists()
    desk.curator.undo([undone.change.reversal_hash], WHY)
    assert desk.tree() == {"b/Log.md": b"Myself: [[Log]].\n"}


def test_a_moved_note_that_was_edited_since_stays_where_it_is(desk: Desk):
    desk.write("a/Log.md", "Myself: [[a/Log]].\n")
    done = desk.move("a/Log.md", "b")
    desk.write("b/Log.md", "Mine.\n")
    assert done.change is not None
    undone = desk.curator.undo([done.change.reversal_hash], WHY)
    assert [each.path for each in undone.conflicts] == ["a/Log.md"]
    assert desk.tree() == {"b/Log.md": b"Mine.\n"}


def test_an_earlier_move_is_not_undone_under_a_link_that_a_later_one_rewrote(desk: Desk):
    desk.write("a/Plan.md", "The one.\n")
    desk.write("b/Quay.md", "The other.\n")
    desk.write("Log.md", "See [[Plan]].\n")
    before = desk.tree()
    earlier, later = desk.move("a/Plan.md", "z"), desk.move("b/Quay.md", "b/Plan.md")
    assert desk.read("Log.md") == "See [[z/Plan|Plan]].\n"
    assert earlier.change is not None and later.change is not None
    after = desk.tree()
    (conflict,) = desk.undo([earlier.change.reversal_hash]).conflicts
    assert conflict.path == "Log.md" and later.change.reversal_hash[:8] in conflict.reason
    assert desk.tree() == after
    desk.undo([earlier.change.reversal_hash, later.change.reversal_hash])
    assert desk.tree() == before


def test_an_earlier_move_is_undone_if_no_link_needs_the_later_one(desk: Desk):
    for name in ("Ada", "Bo"):
        desk.write(f"a/{name}.md", f"# {name}\n")
    desk.write("Log.md", "[[Ada]] and [[a/Bo]].\n")
    earlier, later = desk.move("a/Ada.md", "b"), desk.move("a/Bo.md", "c")
    assert earlier.change is not None and later.change is not None
    assert not desk.undo([earlier.change.reversal_hash]).conflicts
    assert sorted(desk.tree()) == ["Log.md", "a/Ada.md", "c/Bo.md"]
    assert set(led_to(desk)["Log.md"]) == {"a/Ada.md", "c/Bo.md"}


def test_a_folder_with_a_meaning_sets_the_properties_that_say_otherwise(desk: Desk):
    desk.write("projects/kelp/A.md", "---\nlifecycle: temporary # so far\nproject: kelp\n---\nA\n")
    desk.write("projects/kelp/B.md", "B\n")
    done = desk.move("projects/kelp/A.md", "projects/moor").result
    assert (done.lifecycle, done.project) == ("temporary", "moor")
    assert "project: moor\n" in desk.read("projects/moor/A.md")
    assert "lifecycle: temporary # so far\n" in desk.read("projects/moor/A.md")
    done = desk.move("projects/moor/A.md", "permanent").result
    assert (done.lifecycle, done.project) == ("permanent", "moor")
    assert "lifecycle: permanent # so far\n" in desk.read("permanent/A.md")
    done = desk.move("projects/kelp/B.md", "ideas").result
    assert (done.lifecycle, done.project) == ("permanent", None)
    assert desk.read("ideas/B.md") == "B\n"


def test_a_move_to_where_it_is_changes_nothing(desk: Desk):
    desk.write("a/Log.md", "Text.\n")
    for same in ("a", "a/", "/a/Log.md".removeprefix("/"), "A"):
        assert desk.move("a/Log.md", same).change is None


REFUSED: dict[str, type[MemvaultError]] = {
    "../out": OutsideVault, "a/../../out": OutsideVault, "/etc": OutsideVault,
    "~/x/..": OutsideVault, ".obsidian": OutsideVault, "a/.hidden/b": OutsideVault,
    ".trash": OutsideVault, "private/x": OutsideVault, "manifest.md": OutsideVault,
    "a/.Log.md": InvalidParams, "out/Log.md": OutsideVault, "inside": OutsideVault,
    "taken": NoteConflict, "taken/LOG.md": NoteConflict, "caf\u00e9/Log.md": NoteConflict,
    "a:b": InvalidParams, "what?/Log.md": InvalidParams, "a/b|c.md": InvalidParams,
    "a/C#.md": InvalidParams, "a/[x].md": InvalidParams, "con/Log.md": InvalidParams,
    "a/NUL.md": InvalidParams, "a/x .md": InvalidParams, "a/b. /Log.md": InvalidParams,
    "a/" + "n" * 200 + ".md": InvalidParams, "a/x\0y.md": InvalidParams, "a//b": OutsideVault,
    "Other.md/Log.md": InvalidParams, "a/.md": InvalidParams,
}  # fmt: skip


@pytest.mark.parametrize("destination", REFUSED)
def test_a_place_where_no_note_can_be_is_refused(desk: Desk, destination: str):
    desk.write("Log.md", "Text.\n")
    desk.write("Other.md", "Other.\n")
    desk.write("taken/log.md", "Other.\n")
    desk.write("cafe\u0301/LOG.md", "Other.\n")
    desk.write(".memvaultignore", "private/\n")
    outside = desk.root.parent / f"{desk.root.name}-outside"
    outside.mkdir()
    (desk.root / "out").symlink_to(outside)
    (desk.root / "inside").symlink_to(desk.root / "taken")
    before = desk.tree()
    with pytest.raises(REFUSED[destination]):
        desk.move("Log.md", destination)
    assert desk.tree() == before and list(outside.iterdir()) == []
    assert not desk.curator.history.changes()


def test_a_change_of_case_alone_is_a_move(desk: Desk):
    desk.write("ada.md", "Text.\n")
    desk.write("Log.md", "[[ada]]\n")
    assert desk.move("ada.md", "Ada.md").result.path == "Ada.md"
    assert desk.tree() == {"Ada.md": b"Text.\n", "Log.md": b"[[ada]]\n"}


def test_a_note_keeps_the_id_of_its_first_path_until_it_is_back_there(desk: Desk):
    desk.write("Ada.md", "She plans the harbour.")
    moved = desk.curator.moved
    desk.move("Ada.md", "people/")
    desk.move("people/Ada.md", "crew/")
    assert moved.id_at("crew/Ada.md") == id_of_path("Ada.md")
    assert moved.former("crew/Ada.md") == ("Ada.md", "people/Ada.md")
    assert moved.former("people/Ada.md") == ()
    desk.move("crew/Ada.md", "/")
    assert moved.inherited_ids() == {}


def test_the_next_note_at_a_path_that_another_left_has_an_id_of_its_own(desk: Desk):
    desk.write("Ada.md", "She plans the harbour.")
    moved = desk.curator.moved
    desk.move("Ada.md", "people/")
    desk.write("Ada.md", "Another Ada.")
    second = moved.id_at("Ada.md")
    assert moved.id_at("people/Ada.md") == id_of_path("Ada.md") != second
    desk.move("Ada.md", "crew/")
    assert moved.id_at("crew/Ada.md") == second
    assert len({moved.id_at("Ada.md"), second, id_of_path("Ada.md")}) == 3
    desk.move("people/Ada.md", "/")
    assert moved.id_at("Ada.md") == id_of_path("Ada.md")
    assert moved.inherited_ids() == {"crew/Ada.md": second}


def test_a_rename_that_two_computers_noticed_counts_once(desk: Desk):
    moved, first = desk.curator.moved, id_of_path("Untitled.md")
    other = Journal(desk.curator.vault, writer="other")

    def renamed(path: str, target: str, note_id: str) -> None:
        data = {"new_paths": {path: target}, "ids": {path: note_id}}
        other.append(JournalEntry(ts=desk.curator.now(), kind=RENAMED, actor=SYSTEM, data=data))

    renamed("Untitled.md", "Ada.md", first)
    second = moved.id_at("Untitled.md")
    renamed("Untitled.md", "Eve.md", second)
    renamed("Untitled.md", "Ada.md", first)
    assert (moved.id_at("Ada.md"), moved.id_at("Eve.md")) == (first, second)
    renamed("Ada.md", "people/Ada.md", first)
    third = moved.id_at("Untitled.md")
    renamed("Untitled.md", "Ada.md", first)  # told even later
    assert (moved.id_at("people/Ada.md"), moved.id_at("Untitled.md")) == (first, third)
    for _ in range(2):
        renamed("people/Ada.md", "Untitled.md", first)
    assert moved.id_at("Untitled.md") == first


def test_earlier_paths_that_are_read_after_each_change_are_those_read_at_once(desk: Desk):
    desk.write("Ada.md", "She plans the harbour.")
    desk.write("Eve.md", "She sails.")
    moved, history = desk.curator.moved, desk.curator.history

    def is_the_same() -> bool:
        return moved.inherited_ids() == MovedPaths(desk.journal).inherited_ids()

    for path, target in ("Ada.md", "crew/"), ("Eve.md", "Ada.md"), ("crew/Ada.md", "Eve.md"):
        desk.move(path, target)
        assert is_the_same() and moved.inherited_ids()
    for change in history.changes():
        desk.undo([change.reversal_hash])
        assert is_the_same()
    assert moved.inherited_ids() == {}


def test_a_renamed_note_keeps_the_time_of_its_first_save_and_the_next_at_its_path_has_another(
    desk: Desk,
):
    desk.write("Ada.md", "She plans the harbour.")
    os.utime(desk.root / "Ada.md", ns=(1_700_000_000_000_000_000,) * 2)
    moved = desk.curator.moved
    desk.do(
        ChangeKind.EDITED, desk.target("Ada.md"), lambda staging: staging.write("Ada.md", b"Done.")
    )
    desk.rename_outside("Ada.md", "people/Ada.md")
    desk.move("people/Ada.md", "crew/")
    assert moved.saved_first("crew/Ada.md", "") == 1_700_000_000_000_000_000
    assert moved.saved_first("Ada.md", "") is None is moved.saved_first("people/Ada.md", "")
