"""Code, comments and HTML that a text leaves open hide nothing that memvault adds below it."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from memvault.capture.extract import Item
from memvault.capture.session_note import CapturedSession, extended_note
from memvault.curation.operations.annotate import stage_annotation
from memvault.model.change import Change, ChangeKind
from memvault.model.errors import MalformedFrontmatter, NoteConflict
from memvault.vault.compose import closed
from memvault.vault.conversations.conversation import Conversation, ConversationTurn
from memvault.vault.open_marks import hides_rest
from memvault.vault.parse import parse_note
from memvault.vault.session_lines import ItemKind
from tests.desk import MORNING, WHY, Desk
from tests.property_examples import slow_property
from tests.unit.test_edit import edit
from tests.unit.test_undo import a_desk

OPEN = ("```\n{}", "%% {}", "<!-- {}", "<pre>\n{}", "<script>\n{}", "<?php {}", "- %% {}")
SHAPES = (
    *OPEN, "{}", "# {}", "- {}", "1. {}", "> {}", "```\n{}\n```", "~~~\n{}\n~~~", "", "    {}",
    "| {} | b |\n| --- | --- |\n| c | d |", "%% {} %%", "%%\n{}\n%%", "<!-- {}\n-->", "$$\n{}\n$$",
    "key:: {}", "[[{}]]", "{}\n===", "---", "{} ^id", "<div>{}</div>", "{}[^1]", "`{}`", "#tag {}",
    "- {}\n  - sub", "<details>\n{}", "{}\r", "`` {}", "$$\n{}", "- ```\n  {}", "> %%\n> {}",
)  # fmt: skip
HEADS = (
    "", "", "---\ntags: [{}]\n---\n", "---\nowner: {}\nmine: [1, 2]\n---\n", "---\n---\n",
    "---\nabout: |\n  {}\n  ```\nplan: '`make`'\n---\n", "---\nlead: '[[{}]]'\n---\n",
    "---\nby: {{name: {}}}\nto: [{{a: 1}}]\n---\n", "---\nat: 2026-03-01\n\"a`b\": {}\n---\n",
)  # fmt: skip


def found(data: bytes) -> str:
    """The text of a note that a search can find."""
    note = parse_note("Plan.md", data)
    texts = [block.text for block in note.blocks] + [code.text for code in note.code]
    return "\n".join([note.title, *texts, *(heading.text for heading in note.headings)])


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("```py\nx", "\n```"),
        ("````\n```\nx", "\n````"),
        ("```\n``` py\n", "```"),
        ("```\nx\n```", ""),
        ("~~~\n```\n~~~", ""),
        ("~~~\n```", "\n~~~"),
        ("no fence", ""),
        ("%%time\r\nx\r\n", "%%"),
        ("100%% sure, a < b", ""),
        ("<!--\n```", "\n-->"),
        ("<script>\nlet x", "\n</script>"),
    ],
)
def test_what_a_text_leaves_open_is_closed(text: str, added: str) -> None:
    assert closed(text) == text + added


@given(st.lists(st.sampled_from(SHAPES), max_size=5).map("\n".join))
def test_a_closed_text_hides_nothing_below_it(text: str) -> None:
    once = closed(text)
    assert not hides_rest(once) and once.startswith(text) and closed(once) == once


def annotate(desk: Desk, remark: str) -> Change | None:
    target = desk.target("Plan.md")
    return desk.do(
        ChangeKind.ANNOTATED, target,
        lambda staging: stage_annotation(staging, target, remark, MORNING.date()),
    ).change  # fmt: skip


@pytest.mark.parametrize("shape", OPEN)
def test_what_is_added_below_an_open_mark_is_found(tmp_path: Path, shape: str) -> None:
    desk, opened = Desk(tmp_path), "# Plan\n\n## Annotations\n\n" + shape.format("aim")
    desk.write("Plan.md", opened)
    edit(desk, "append", "The boat.")  # closes the mark
    edit(desk, "append", "The kite.", section="Annotations")
    assert {"The boat.", "The kite."} <= set(found(desk.vault.read("Plan.md")).split("\n"))
    desk.write("Plan.md", opened)
    annotate(desk, "The boat.")
    assert "The boat." in found(desk.vault.read("Plan.md"))
    items = [Item(ItemKind.FACT, "I have a boat.", "person")]
    longer = extended_note(
        CapturedSession("claude", "1"), "Plan.md", opened.encode(), items, ["a.py"]
    )
    assert "I have a boat." in found(longer) and "a.py" in found(longer)


def test_the_properties_of_a_note_leave_nothing_open(tmp_path: Path) -> None:
    desk, head = Desk(tmp_path), "---\r\nabout: |\r\n  ```\r\n  <!-- all\r\n---\r\n"
    desk.write("Plan.md", f"{head}Red.\r\n")
    edit(desk, "append", "The boat.")
    assert desk.read("Plan.md") == f"{head}Red.\r\n\r\nThe boat.\r\n"


@pytest.mark.parametrize("paste", ["%%time\nimport re", "Why?\n%%bash\nls", "Why?\n<script>\nlet"])
def test_what_somebody_pastes_into_a_conversation_hides_no_other_turn(paste: str) -> None:
    turns = (
        ConversationTurn(True, paste),
        ConversationTurn(False, "So it is."),
        ConversationTurn(True, "The boat is red."),
    )
    talk = Conversation("chatgpt", "1", "Talk", datetime(2026, 3, 1, tzinfo=UTC), turns)
    assert "The boat is red." in found(talk.body().encode())


_sections = st.sampled_from(["Plan", "Files", "Annotations", "Facts stated by the person"])
_parts = st.lists(st.sampled_from(SHAPES) | _sections.map("## {}".format), max_size=8)


@slow_property(12)
@given(st.sampled_from(HEADS), st.sampled_from(["\n", "\n\n"]), _parts, _sections)
@example("", "\n", ["## Annotations", "<details>\n{}", "<!-- {}"], "Files")
def test_what_is_added_to_any_note_is_found_and_hides_nothing(
    head: str, gap: str, shapes: list[str], section: str
) -> None:
    text = gap.join(shape.format(f"a{number}x") for number, shape in enumerate(shapes))
    before = (head.format("a9x") + text).encode()
    assume(parse_note("Plan.md", before).frontmatter_problem is None)  # a rule at the start
    with a_desk({"Plan.md": before}) as desk:
        with suppress(NoteConflict):  # there is no such section, or several
            edit(desk, "append", "- b1x", section=section)
        assert annotate(desk, "b2x.") and edit(desk, "append", "b3x.")
        items = [Item(ItemKind.FACT, "I have a boat, b4x.", "person")]
        note = desk.vault.read("Plan.md")
        after = extended_note(CapturedSession("claude", "1"), "Plan.md", note, items, ["b5x.py"])
        assert words(found(before)) <= words(found(after))
        assert words(after.decode()) - words(before.decode()) <= words(found(after))


_texts = st.lists(st.sampled_from(SHAPES), max_size=4)
_notes = st.tuples(st.sampled_from(HEADS), st.sampled_from(["\n", "\n\n"]), _texts)


@slow_property(12)
@given(st.tuples(_notes, _notes, _notes))
def test_a_merge_loses_and_hides_no_word_and_is_undone_to_the_byte(
    drawn: tuple[tuple[str, str, list[str]], ...],
) -> None:
    notes = {}
    for name, (head, gap, shapes) in zip("abc", drawn, strict=True):
        lines = [shape.format(f"{name}{number}x") for number, shape in enumerate(shapes)]
        text = head.format(f"{name}9x") + gap.join(lines) + "\n"
        notes[f"{name.upper()}.md"] = text.encode()
    with a_desk(notes) as desk:
        try:
            change = desk.merge("B.md", "C.md", into="A.md")
        except MalformedFrontmatter:  # the note begins with a rule, as frontmatter does
            assert desk.tree() == notes
            return
        assert change is not None
        after = desk.vault.read("A.md")
        for data in notes.values():
            assert words(data.decode()) <= words(after.decode())
            assert words(found(data)) <= words(found(after))
        desk.curator.undo([change.reversal_hash], WHY)
        assert desk.tree() == notes


def words(text: str) -> set[str]:
    return set(re.findall(r"[abc]\dx\b", text))
