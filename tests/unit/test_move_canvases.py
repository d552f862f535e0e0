"""Moving and merging notes that Obsidian's canvases show or link to."""

from __future__ import annotations

import json

import pytest

from memvault.model.errors import ReadOnlyDocument
from tests.desk import WHY, Desk

# As Obsidian writes it: tabs, one card a line, no line feed at the end.
OBSIDIAN = """{
\t"nodes":[
\t\t{"id":"a1","type":"file","file":"people/Ada.md","subpath":"#Work","x":-20,"y":1.50,"color":"4"},
\t\t{"id":"b2","type":"text","text":"Ask [[Ada]], [[people/Ada#Work|her]]\\n\\n![[Ada]] — é"},
\t\t{"id":"c3","type":"group","label":"people/Ada.md"},
\t\t{"id":"d4","type":"link","url":"https://example.org/people/Ada.md"},
\t\t{"id":"e5","type":"file","file":"Other.md"}
\t],
\t"edges":[{"id":"f6","fromNode":"a1","toNode":"b2","label":"[[Ada]]"}]
}"""


def bytes_of(desk: Desk, path: str) -> bytes:
    return (desk.root / path).read_bytes()


def test_a_canvas_follows_a_renamed_note_and_keeps_every_other_byte(desk: Desk):
    desk.write("people/Ada.md", "# Ada\n\n## Work\n\nText.\n")
    desk.write("Other.md", "Other.\n")
    desk.write("boards/Plan.canvas", OBSIDIAN)
    done = desk.move("people/Ada.md", "friends/Ada Berg é.md")
    assert bytes_of(desk, "boards/Plan.canvas").decode() == OBSIDIAN.replace(
        '"file":"people/Ada.md"', '"file":"friends/Ada Berg é.md"'
    ).replace(
        "Ask [[Ada]], [[people/Ada#Work|her]]\\n\\n![[Ada]]",
        "Ask [[Ada Berg é]], [[Ada Berg é#Work|her]]\\n\\n![[Ada Berg é]]",
    )
    assert done.change is not None and "boards/Plan.canvas" in done.change.paths
    desk.curator.undo([done.change.reversal_hash], WHY)
    assert bytes_of(desk, "boards/Plan.canvas").decode() == OBSIDIAN


def test_a_file_card_names_the_whole_path_where_a_link_needs_only_the_name(desk: Desk):
    desk.write("people/Ada.md", "# Ada\n")
    desk.write("Plan.canvas", OBSIDIAN)
    desk.move("people/Ada.md", "friends")
    found = bytes_of(desk, "Plan.canvas").decode()
    assert '"file":"friends/Ada.md"' in found and "Ask [[Ada]], [[Ada#Work|her]]" in found


WRITTEN = {
    "crlf, spaces and an order of its own": (
        '{ "nodes" : [\r\n  {"file" : "a/Ada.md" , "type":"file"} ] }\r\n'
    ),
    "a byte order mark": '\ufeff{"nodes":[{"type":"file","file":"a/Ada.md"}]}',
    "escapes": r'{"nodes":[{"type":"file","file":"a\/Ad\u0061.md"},{"text":"\u00e9\ud83d\ude00 \/ '
    r'[[a\/Ada]] \ud83d","type":"text"},{"text":"\ud83d\ude00 \/ [[a\/Ada]] \"x\"","type":"text"}]}',
    "a key twice": '{"nodes":[{"type":"text","type":"file","file":"No.md","file":"a/Ada.md"}]}',
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_any_way_to_write_json_is_kept(desk: Desk, kind: str):
    desk.write("a/Ada.md", "# Ada\n")
    desk.write("Plan.canvas", WRITTEN[kind])
    before = bytes_of(desk, "Plan.canvas")
    done = desk.move("a/Ada.md", "b")
    after = bytes_of(desk, "Plan.canvas")
    assert after != before and json.loads(after.decode("utf-8-sig"))
    if kind == "escapes":
        assert after == before.replace(rb"a\/Ad\u0061.md", rb"b\/Ad\u0061.md").replace(
            rb"[[a\/Ada]] \"x", rb"[[Ada]] \"x"
        )  # half of a surrogate pair is no text, so the first card stays
    else:
        assert after == before.replace(b"a/Ada.md", b"b/Ada.md")
    assert done.change is not None
    desk.curator.undo([done.change.reversal_hash], WHY)
    assert bytes_of(desk, "Plan.canvas") == before


@pytest.mark.parametrize(
    "data", [b'{"nodes":[{"type":"file","file":"people/Ada.md"},]}', b'{"nodes": "Ada', b"\xff Ada",
             b"[" * 100_000 + b"Ada"]
)  # fmt: skip
def test_a_canvas_that_is_not_valid_json_stays_and_is_named(desk: Desk, data: bytes):
    desk.write("people/Ada.md", "# Ada\n")
    desk.write("Broken.canvas", data)
    desk.write("Elsewhere.canvas", b'{"nodes": "nobody')
    done = desk.move("people/Ada.md", "friends")
    assert done.result.unreadable == ("Broken.canvas",)
    assert bytes_of(desk, "Broken.canvas") == data
    assert (desk.root / "friends/Ada.md").exists()


def test_a_canvas_that_was_edited_since_stays_as_it_is_when_a_move_is_undone(desk: Desk):
    desk.write("people/Ada.md", "# Ada\n")
    desk.write("Plan.canvas", OBSIDIAN)
    done = desk.move("people/Ada.md", "friends")
    edited = bytes_of(desk, "Plan.canvas").replace(b'"x":-20', b'"x":40')
    desk.write("Plan.canvas", edited)
    assert done.change is not None
    undone = desk.curator.undo([done.change.reversal_hash], WHY)
    assert [each.path for each in undone.conflicts] == ["Plan.canvas"]
    assert bytes_of(desk, "Plan.canvas") == edited and (desk.root / "friends/Ada.md").exists()


def test_a_canvas_follows_merged_notes(desk: Desk):
    desk.write("people/Ada.md", "# Ada\n\nOne.\n")
    desk.write("people/Ada Berg.md", "# Ada Berg\n\nTwo.\n")
    desk.write("Plan.canvas", OBSIDIAN)
    change = desk.merge("people/Ada.md", into="people/Ada Berg.md")
    found = bytes_of(desk, "Plan.canvas").decode()
    assert '"file":"people/Ada Berg.md"' in found and "[[Ada Berg|Ada]]" in found
    assert change is not None
    desk.curator.undo([change.reversal_hash], WHY)
    assert bytes_of(desk, "Plan.canvas").decode() == OBSIDIAN


def test_a_canvas_itself_is_not_moved(desk: Desk):
    desk.write("Plan.canvas", OBSIDIAN)
    with pytest.raises(ReadOnlyDocument, match="read-only"):
        desk.move("Plan.canvas", "boards")
    assert bytes_of(desk, "Plan.canvas").decode() == OBSIDIAN
