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


def test_of_a_drawing_only_its_texts_are_read() -> None:
    note = parse_note("Sketch.excalidraw.md", DRAWING.encode())
    assert note.title == "Sketch"
    assert [block.text for block in note.blocks] == ["Compost heap behind the shed"]
    assert not note.headings
    assert "Shed" in [link.target for link in note.links]
    assert parse_note("Old.md", OLD_DRAWING.encode()).title == "Old"
