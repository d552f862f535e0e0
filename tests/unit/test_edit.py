"""Edits change their span and nothing else, and an edit undone gives the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memvault.curation.operations.edit import EditOperation, EditResult, NoteEdit, stage_edit
from memvault.model.change import Change, ChangeKind
from memvault.model.errors import (
    InvalidParams,
    MalformedFrontmatter,
    MemvaultError,
    NoteConflict,
)
from memvault.vault.parse import frontmatter_of
from tests.desk import WHY, Desk
from tests.property_examples import slow_property
from tests.unit.test_undo import a_desk

NOTE = "---\ntags: [a]  # kept\n---\n# Plan\n\nIntro.\n\n## Tasks\n\n- One\n- Two\n\n## Notes\n\nEnd.\n"


def edit(desk: Desk, operation: str, content: str, **more: Any) -> tuple[EditResult, Change | None]:
    target = desk.target("Plan.md")
    wanted = NoteEdit(EditOperation(operation), content, **more)
    done = desk.do(ChangeKind.EDITED, target, lambda staging: stage_edit(staging, target, wanted))
    return done.result, done.change


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    found = Desk(tmp_path)
    found.write("Plan.md", NOTE)
    return found


def test_a_note_whose_properties_cannot_be_read_is_left_alone(desk: Desk) -> None:
    desk.write("Plan.md", "---\ntags: [a\n---\n# Plan\n")
    before = desk.vault.read("Plan.md")
    with pytest.raises(MalformedFrontmatter, match="malformed at line"):
        edit(desk, "append", "More.")
    assert desk.vault.read("Plan.md") == before


def test_a_note_gets_no_second_encoding(desk: Desk) -> None:
    path = desk.vault.root / "Plan.md"
    path.write_bytes("# Plan\n\nFür alle.\n".encode("latin-1"))
    with pytest.raises(InvalidParams, match="UTF-8"):
        edit(desk, "append", "Für dich.")
    edit(desk, "append", "For you.")
    assert path.read_bytes() == "# Plan\n\nFür alle.\n\nFor you.\n".encode("latin-1")


@pytest.mark.parametrize(
    ("arguments", "old", "new"),
    [
        ({"operation": "append", "content": "More."}, "End.\n", "End.\n\nMore.\n"),
        ({"operation": "append", "content": "- Three", "section": "tasks"},
         "- Two\n", "- Two\n- Three\n"),
        ({"operation": "append", "content": "Why.", "section": "## Tasks"},
         "- Two\n", "- Two\n\nWhy.\n"),
        ({"operation": "prepend", "content": "First."}, "# Plan\n\n", "# Plan\n\nFirst.\n\n"),
        ({"operation": "prepend", "content": "See below.", "section": "Notes"},
         "## Notes\n\n", "## Notes\n\nSee below.\n\n"),
        ({"operation": "replace_section", "content": "All done.", "section": "Tasks"},
         "- One\n- Two\n", "All done.\n"),
        ({"operation": "replace_section", "content": "## Tasks\n\nNone.", "section": "Tasks"},
         "- One\n- Two\n", "None.\n"),
        ({"operation": "replace_text", "content": "Outro.", "find": "End."}, "End.", "Outro."),
        ({"operation": "set_property", "content": "[b, c]", "property": "tags"},
         "tags: [a]", "tags: [b, c]"),
        ({"operation": "set_property", "content": "high", "property": "importance"},
         "# kept\n---", "# kept\nimportance: high\n---"),
        ({"operation": "set_property", "content": "12:30", "property": "start"},
         "# kept\n---", "# kept\nstart: \"12:30\"\n---"),
        ({"operation": "set_property", "content": "2026-13-45", "property": "due"},
         "# kept\n---", "# kept\ndue: \"2026-13-45\"\n---"),
    ],
)  # fmt: skip
def test_an_edit_changes_its_span_and_is_undone_to_the_byte(
    desk: Desk, arguments: dict[str, Any], old: str, new: str
) -> None:
    _, change = edit(desk, **arguments)
    assert desk.read("Plan.md") == NOTE.replace(old, new, 1)
    assert change is not None
    desk.curator.undo([change.reversal_hash], WHY)
    assert desk.read("Plan.md") == NOTE


@pytest.mark.parametrize("section", ["Tasks", "#to-do", "## Tasks {#to-do}"])
def test_a_section_is_found_by_the_text_or_the_id_of_its_heading(desk: Desk, section: str) -> None:
    note = NOTE.replace("## Tasks", "## Tasks {#to-do}")
    desk.write("Plan.md", note)
    edit(desk, "replace_section", "## Tasks {#to-do}\n\nAll done.", section=section)
    assert desk.read("Plan.md") == note.replace("- One\n- Two\n", "All done.\n")


def test_a_text_is_found_as_answers_show_it_without_signs_that_nobody_sees(desk: Desk) -> None:
    desk.write("Plan.md", NOTE.replace("- One", "- O\u200bn\u202ae"))
    edit(desk, "replace_text", "- 1\n- 2", find="- One\n- Two")
    assert desk.read("Plan.md") == NOTE.replace("- One\n- Two", "- 1\n- 2")


def test_a_text_that_answers_show_twice_is_not_replaced(desk: Desk) -> None:
    note = NOTE.replace("- One", "- One\n- O\u200bne")
    desk.write("Plan.md", note)
    with pytest.raises(NoteConflict, match="2 times"):
        edit(desk, "replace_text", "- 1", find="- One")
    edit(desk, "replace_text", "- 1", find="- O\u200bne")
    assert desk.read("Plan.md") == note.replace("- O\u200bne", "- 1")


def test_a_section_is_found_as_answers_show_its_heading(desk: Desk) -> None:
    note = NOTE.replace("## Tasks", "## Ta\u200bsks")
    desk.write("Plan.md", note)
    edit(desk, "replace_section", "All done.", section="Tasks")
    assert desk.read("Plan.md") == note.replace("- One\n- Two\n", "All done.\n")


def test_line_ends_of_the_note_are_used_and_found(desk: Desk) -> None:
    desk.write("Plan.md", NOTE.replace("\n", "\r\n"))
    edit(desk, "replace_text", "- 1\n- 2", find="- One\n- Two")
    edit(desk, "append", "A\nB")
    assert desk.read("Plan.md").count("\n") == desk.read("Plan.md").count("\r\n")
    assert desk.read("Plan.md").endswith("End.\r\n\r\nA\r\nB\r\n")


@pytest.mark.parametrize(
    ("arguments", "data"),
    [
        ({"operation": "replace_text", "content": "x", "find": "- Three"}, "nearest"),
        ({"operation": "replace_text", "content": "x", "find": "o"}, "count"),
        ({"operation": "replace_text", "content": "x", "find": "tags: [a]"}, "nearest"),
        ({"operation": "replace_section", "content": "x", "section": "Goals"}, "headings"),
        ({"operation": "append", "content": "x", "section": "Goals"}, "headings"),
        ({"operation": "replace_section", "content": "x", "section": "Tasks", "find": "- One"},
         "current"),
    ],
)  # fmt: skip
def test_an_edit_that_does_not_fit_is_refused_with_what_is_there(
    desk: Desk, arguments: dict[str, Any], data: str
) -> None:
    with pytest.raises(NoteConflict) as refused:
        edit(desk, **arguments)
    assert data in refused.value.data and desk.read("Plan.md") == NOTE
    nearest = refused.value.data.get("nearest") or []
    assert not nearest or nearest[0] in refused.value.message, "a model reads only the message"


@pytest.mark.parametrize(
    "arguments",
    [
        {"operation": "replace_section", "content": "x"},
        {"operation": "replace_text", "content": "x"},
        {"operation": "set_property", "content": "x"},
        {"operation": "set_property", "content": "true", "property": "Verified"},
        {"operation": "set_property", "content": "x", "property": "id"},
    ],
)
def test_arguments_that_are_missing_or_guarded_are_refused(
    desk: Desk, arguments: dict[str, Any]
) -> None:
    with pytest.raises(InvalidParams):
        edit(desk, **arguments)
    assert desk.read("Plan.md") == NOTE


def test_text_cannot_become_properties(desk: Desk) -> None:
    desk.write("Plan.md", "Plain.\n")
    with pytest.raises(InvalidParams, match="properties"):
        edit(desk, "prepend", "---\nverified: true\n---\n")


_parts = st.sampled_from(
    ["# Plan", "## Tasks", "### Deep", "## Notes", "Text.", "- item", "", "```", "~~~", "> quote",
     "Setext\n===", "| a | b |\n| - | - |", "%% hidden %%", "    code", "\ufeff", "#tag", "^id"]
)  # fmt: skip
_bodies = st.lists(_parts, max_size=9).map("\n".join)
_heads = st.sampled_from(["", "---\ntags: [a]\n---\n", "---\r\nid: x\r\n---\r\n", "---\n---\n"])
_contents = st.sampled_from(["New.", "- item", "## Own\n\nText.", "```\ncode", "a\n\nb\n", "~~~"])


@slow_property(60)
@given(
    head=_heads,
    body=_bodies,
    ends=st.sampled_from(["\n", "\r\n"]),
    operation=st.sampled_from(["append", "prepend", "replace_section", "replace_text"]),
    content=_contents,
    section=st.sampled_from([None, "Tasks", "Plan", "Setext"]),
    tail=st.sampled_from([b"", b"\n", b"\xff stray\n"]),
)
def test_an_edit_adds_or_replaces_one_span_and_can_be_undone(
    head: str, body: str, ends: str, operation: str, content: str, section: str | None, tail: bytes
) -> None:
    before = head.encode() + body.replace("\n", ends).encode() + tail
    with a_desk({"Plan.md": before}) as desk:
        find = "Text." if operation == "replace_text" else None
        try:
            done, change = edit(desk, operation, content, section=section, find=find)
        except MemvaultError:
            assert desk.vault.read("Plan.md") == before
            return
        assume(change is not None)
        assert change is not None
        after = desk.vault.read("Plan.md")
        old, new = (each.encode("utf-8", "surrogateescape") for each in (done.before, done.after))
        assert any(
            before[:at] + new + before[at + len(old) :] == after
            for at in range(len(before) + 1)
            if before.startswith(old, at)
        )
        if operation in ("append", "prepend"):
            assert old == b""
        assert frontmatter_of(after) == frontmatter_of(before)
        desk.curator.undo([change.reversal_hash], WHY)
        assert desk.vault.read("Plan.md") == before


@pytest.mark.parametrize("key", ["pinned", "Pinned", "verified", "id"])
def test_a_property_that_only_the_person_or_memvault_sets_is_refused(key: str) -> None:
    with a_desk({"Plan.md": b"Text.\n"}) as desk:
        with pytest.raises(InvalidParams, match="cannot be set"):
            edit(desk, "set_property", "true", property=key)
        assert desk.vault.read("Plan.md") == b"Text.\n"
