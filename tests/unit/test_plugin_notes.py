"""What plugins of Obsidian write into notes for their own use stays as it is, and is not read as
the person's words."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from memvault.curation.operations.annotate import stage_annotation
from memvault.curation.operations.edit import EditOperation, NoteEdit, stage_edit
from memvault.model.change import ChangeKind
from memvault.model.errors import InvalidParams, NoteConflict
from memvault.search.property_text import shown_parts
from memvault.vault.parse import parse_note
from tests.desk import Desk

TODAY = date(2026, 11, 27)
BOARD = """---

kanban-plugin: board

---

## Backlog

- [ ] Sell the old oven


## Done

**Complete**
- [x] Demolish the pantry


***

## Archive

- [x] Get the permit


%% kanban:settings
```
{"kanban-plugin":"board","lane-width":280}
```
%%"""

DRAWING = """---

excalidraw-plugin: parsed
tags: [excalidraw]

---
==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu of this document. ⚠==


# Excalidraw Data

## Text Elements
Compost heap behind the shed ^aB3dE6gH

## Element Links
zZ8yY7xX: [[Shed]]

## Embedded Files
5d8b0a1f3c6e2b7a9d4c1e8f0a3b6c9d2e5f8a1b: [[pond.png]]

%%
## Drawing
```compressed-json
N4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hADTgQ
```
%%
"""
OLD_DRAWING = """---
excalidraw-plugin: parsed
---
# Text Elements
The door opens to the south ^oPq2Rs3T

%%
# Drawing
```json
{"type":"excalidraw"}
```
%%
"""
BERTH = """# Club

## Berth

Berth 17, next to the Amalia. ^berth

%%
Ask for a discount.
%%

```dataview
LIST FROM #club
```

```python
fee = 310
```

## Fees

310 EUR.
"""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    found = Desk(tmp_path)
    for name, text in (
        ("Board", BOARD), ("Sketch.excalidraw", DRAWING), ("Old", OLD_DRAWING), ("Club", BERTH),
    ):  # fmt: skip
        found.write(f"{name}.md", text)
    return found


def edited(desk: Desk, name: str, operation: str, content: str, **more: Any) -> str:
    """The text of a note after an edit."""
    target = desk.target(f"{name}.md")
    edit = NoteEdit(EditOperation(operation), content, **more)
    desk.do(ChangeKind.EDITED, target, lambda staging: stage_edit(staging, target, edit))
    return desk.vault.read(f"{name}.md").decode()


@pytest.mark.parametrize(
    ("section", "above"),
    [
        ("Backlog", "- [ ] Sell the old oven\n"),
        ("Done", "- [x] Demolish the pantry\n"),
        ("Archive", "- [x] Get the permit\n"),
    ],
)
def test_a_card_is_added_to_its_list_and_everything_else_of_the_board_stays(
    desk: Desk, section: str, above: str
) -> None:
    text = edited(desk, "Board", "append", "- [ ] Buy grout", section=section)
    assert text == BOARD.replace(above, f"{above}- [ ] Buy grout\n")


@pytest.mark.parametrize(
    ("operation", "content", "section"),
    [
        ("append", "- [ ] Buy grout", None),
        ("append", "The tiler comes on Friday.", "Backlog"),
        ("prepend", "- [ ] Buy grout", "Done"),
        ("replace_section", "The tiler comes on Friday.", "Done"),
    ],
)
def test_text_that_the_plugin_would_remove_from_a_board_is_refused(
    desk: Desk, operation: str, content: str, section: str | None
) -> None:
    with pytest.raises(InvalidParams, match="Kanban board"):
        edited(desk, "Board", operation, content, section=section)
    assert desk.vault.read("Board.md").decode() == BOARD


def test_the_settings_of_a_board_stay_when_its_last_list_is_replaced(desk: Desk) -> None:
    text = edited(desk, "Board", "replace_section", "- [x] Get no permit", section="Archive")
    assert text == BOARD.replace("Get the permit", "Get no permit")


def test_done_cards_are_replaced_with_their_mark(desk: Desk) -> None:
    text = edited(
        desk, "Board", "replace_section", "**Complete**\n- [x] Buy grout\n\n***", section="Done"
    )
    assert text == BOARD.replace("Demolish the pantry", "Buy grout")


def test_a_remark_on_a_board_is_above_its_settings(desk: Desk) -> None:
    target = desk.target("Board.md")
    desk.do(
        ChangeKind.ANNOTATED, target, lambda staging: stage_annotation(staging, target, "A", TODAY)
    )
    text, settings = desk.vault.read("Board.md").decode().split("\n\n\n%% kanban:settings")
    assert text.endswith(f"## Annotations\n\n- {TODAY.isoformat()} · A")
    assert settings == BOARD.split("\n\n\n%% kanban:settings")[1]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_text_added_to_a_drawing_is_above_its_data(desk: Desk, line_end: str) -> None:
    desk.write("Sketch.excalidraw.md", DRAWING.replace("\n", line_end))
    text = edited(desk, "Sketch.excalidraw", "append", "Mind the gate.").replace(line_end, "\n")
    assert text == DRAWING.replace("⚠==\n", "⚠==\n\nMind the gate.\n")
    assert edited(desk, "Old", "append", "Mind the gate.").endswith(
        "Mind the gate.\n" + OLD_DRAWING.split("---\n")[2]
    )


def test_the_data_of_a_drawing_are_no_sections(desk: Desk) -> None:
    for section in ("Excalidraw Data", "Text Elements", "Embedded Files"):
        with pytest.raises(NoteConflict, match="no section"):
            edited(desk, "Sketch.excalidraw", "replace_section", "Gone.", section=section)
    assert desk.vault.read("Sketch.excalidraw.md").decode() == DRAWING


def test_a_section_is_not_replaced_without_what_answers_do_not_show_of_it(desk: Desk) -> None:
    with pytest.raises(NoteConflict, match=r"\^berth, %% Ask for a discount\. %%, ```dataview"):
        edited(desk, "Club", "replace_section", "Berth 18.", section="Berth")
    hidden = "Berth 18. ^berth\n\n%%\nAsk for a discount.\n%%\n\n```dataview\nLIST FROM #club\n```"
    text = edited(desk, "Club", "replace_section", hidden, section="Berth")
    assert text == f"# Club\n\n## Berth\n\n{hidden}\n\n## Fees\n\n310 EUR.\n"
    assert "Berth 19." in edited(
        desk, "Club", "replace_section", "Berth 19.", section="Berth", find=hidden
    )


def test_comments_that_are_shown_as_code_may_be_replaced(desk: Desk) -> None:
    desk.write("Tips.md", "## Hide\n\nWrite `%% so %%` or `<!-- so -->`.\n")
    assert edited(desk, "Tips", "replace_section", "Ask.", section="Hide") == "## Hide\n\nAsk.\n"


@pytest.mark.parametrize("find", [None, "Ada's.\n\n---"])
def test_a_rule_that_a_client_repeats_is_not_written_twice(desk: Desk, find: str | None) -> None:
    desk.write("Keys.md", "## Shed\n\nAda's.\n\n---\n\n## Car\n")
    text = edited(desk, "Keys", "replace_section", "Bo's.\n\n---", section="Shed", find=find)
    assert text == "## Shed\n\nBo's.\n\n---\n\n## Car\n"


@pytest.mark.parametrize(
    ("line", "content", "changed"),
    [
        ("rate: '95.00'  # net", "99.00", 'rate: "99.00"  # net'),
        ("rate: '95'", "99.50", 'rate: "99.50"'),
        ('rate: "0301"', "0302", 'rate: "0302"'),
        ("rate: 95.00", "99.00", "rate: 99.00"),
        ('rate: "2026-01-02"', "2026-01-03", 'rate: "2026-01-03"'),
        ('rate: "true"', "99.00", "rate: 99.00"),
        ("rate: unknown", "true", "rate: true"),
    ],
)
def test_a_text_that_the_person_quoted_stays_one(
    desk: Desk, line: str, content: str, changed: str
) -> None:
    desk.write("Heron.md", f"---\nstatus: active\n{line}\n---\n# Heron\n")
    text = edited(desk, "Heron", "set_property", content, property="rate")
    assert text == f"---\nstatus: active\n{changed}\n---\n# Heron\n"


def test_of_a_drawing_only_its_texts_are_read() -> None:
    note = parse_note("Sketch.excalidraw.md", DRAWING.encode())
    assert note.title == "Sketch"
    assert [block.text for block in note.blocks] == ["Compost heap behind the shed"]
    assert not note.headings
    assert "Shed" in [link.target for link in note.links]
    assert parse_note("Old.md", OLD_DRAWING.encode()).title == "Old"


def read(text: str) -> list[str]:
    """The sentences that are read of a note's text."""
    note = parse_note("A note.md", text.encode())
    return [sentence.text for block in note.blocks for sentence in block.sentences]


@pytest.mark.parametrize(
    "code",
    [
        "= this.file.name",
        "=[[Heron]].budget",
        "$= dv.pages().length",
        "INPUT[slider(minValue(0), maxValue(12)):hours]",
        "VIEW[{hours} * 7][math]",
        "BUTTON[save]",
        "dice: 2d6+3",
    ],
)
def test_what_a_plugin_computes_is_not_read_as_words(code: str) -> None:
    assert read(f"I slept `{code}` hours.") == ["I slept … hours."]


@pytest.mark.parametrize(
    "code",
    [
        "=SUM(A1:A9)", "== 3", "this.name", "make dice", "$HOME", "=[this] { return 1; }",
        "= [[nodiscard]]", "= [[1, 2], [3, 4]]", "VIEW[0]", "INPUT[name]", "BUTTON[3]",
        "dice: how we play",
    ],
)  # fmt: skip
def test_other_code_in_a_sentence_stays(code: str) -> None:
    assert read(f"Write `{code}` here.") == [f"Write {code} here."]


def test_commands_and_placeholders_of_templates_are_no_words_links_or_titles() -> None:
    note = parse_note(
        "Daily.md",
        b"# <% tp.file.title %>\n\nUp: [[<% tp.date.now() %>]]\n\n"
        b"<%* const day = 1\n\n# no heading\n- [ ] no task\n\ntR += day %> Slept well. [[Ada]]\n\n"
        b"Ate <% tp.meal\n(1) %> plums. <% no command\n\n<% no command\n\nEnd.",
    )
    assert note.title == "Daily"
    assert [block.text for block in note.blocks] == [
        "Up:", "Slept well. Ada", "Ate  plums. <% no command", "<% no command", "End.",
    ]  # fmt: skip
    assert (note.tasks, note.headings) == ((), ())
    assert [(link.target, link.line) for link in note.links] == [("Ada", 10)]
    assert parse_note("Person.md", b"# {{title}}\n\nBorn on a Monday.").title == "Person"


@pytest.mark.parametrize(
    "text",
    [
        "Embedded Ruby wraps code in <% and %> marks.",
        "Print it with <%= name %> here.",
        "It is <% 5 or %> 3.",
    ],
)
def test_marks_of_other_template_languages_are_words(text: str) -> None:
    assert read(text) == [text]


def test_words_between_two_odd_marks_are_read() -> None:
    text = "<% is odd.\n\nSow beans in May.\n\n```js\nx = '%>'\n```\n\nWater them."
    assert read(text) == ["<% is odd.", "Sow beans in May.", "Water them."]


def test_a_callout_of_the_plugin_admonition_is_text() -> None:
    text = (
        "# Bees\n\n````ad-warning\ntitle: Varroa\ncollapse: open\nTreat in [[December]].\n"
        "```ad-tip\nFeed syrup.\n```\n````\n\n- [ ] Buy syrup\n"
    )
    note = parse_note("Bees.md", text.encode())
    sentences = [(part.text, part.line) for block in note.blocks for part in block.sentences]
    assert sentences == [
        ("Varroa", 5), ("Treat in December.", 6), ("Feed syrup.", 8), ("Buy syrup", 12),
    ]  # fmt: skip
    assert [(link.target, link.line) for link in note.links] == [("December", 6)]
    assert (note.code, {block.heading for block in note.blocks}) == ((), {("Bees",)})


def test_a_heading_in_a_callout_of_the_plugin_admonition_is_no_section(desk: Desk) -> None:
    text = "## Bees\n\nTwo hives.\n\n```ad-tip\n# Syrup\nFeed it.\n```\n\n## Hens\n\nFour.\n"
    assert read(text) == ["Two hives.", "Syrup", "Feed it.", "Four."]
    desk.write("Yard.md", text)
    replaced = edited(desk, "Yard", "replace_section", "No hives.", section="Bees")
    assert replaced == "## Bees\n\nNo hives.\n\n## Hens\n\nFour.\n"


def test_callouts_within_callouts_are_read_in_linear_time() -> None:
    assert len(parse_note("A.md", b"```ad-tip\n" * 3000).code) == 1


def test_the_blocks_rows_and_cells_of_html_are_kept_apart() -> None:
    html = (
        "<h2>Oven &amp; hob</h2><ul><li>Preheat <b>12</b> minutes</li><li>Model X9</li></ul>\n"
        "<table><tr><td>Seal</td> <td>Viton</td></tr><tr><td>Fan</td><td>steel</td></tr></table>\n"
    )
    assert read(html) == [
        "Oven & hob", "Preheat 12 minutes", "Model X9", "Seal | Viton", "Fan | steel",
    ]  # fmt: skip


def test_a_line_break_in_a_cell_does_not_end_its_row() -> None:
    rows = read("| Name | Role |\n| --- | --- |\n| Ada | tiles<br>advice |\n")
    assert rows == ["Name | Role", "Ada | tiles advice"]


def test_a_task_that_matters_is_open() -> None:
    tasks = parse_note("A.md", b"- [!] Call Ada\n- [-] Call Bo\n- [x] Call Cy\n").tasks
    assert [(task.text, task.done) for task in tasks] == [("Call Ada", False), ("Call Cy", True)]


def test_properties_within_properties_are_shown() -> None:
    value = [{"name": "Rune", "phone": 5550188}, {"name": "Ada", "at": {"day": 3, "by": None}}]
    assert shown_parts(value) == "name: Rune, phone: 5550188; name: Ada, at: (day: 3)"
    assert shown_parts({"notes": "long " * 40}) is shown_parts("text") is shown_parts([]) is None
