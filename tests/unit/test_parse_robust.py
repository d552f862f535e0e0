"""Notes that are damaged, huge or hostile are read without harm."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.vault.files import Vault
from memvault.vault.parse import frontmatter_of, parse_note
from tests.timing import seconds_of


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_read(data: bytes) -> None:
    note = parse_note("n.md", data)
    assert note == parse_note("n.md", data)


@given(st.binary(max_size=60) | st.sampled_from(["a: 1", "a: [", "b: [[X]]", "\u00e9: \u00ff", ""])
       .map(lambda yaml: f"---\n{yaml}\n---\nText\n".encode()))  # fmt: skip
def test_the_frontmatter_alone_is_that_of_the_whole_note(data: bytes) -> None:
    assert frontmatter_of(data) == parse_note("n.md", data).frontmatter


_YAML = st.lists(
    st.sampled_from(
        [
            "\n", "key: ", "- ", "  ", "true", "False", " x", "12", "1.5", "12:30", "2026-13-45", "~", ".inf", "!!bool ", "!!int ",
            "!!timestamp ", "!!set ", "!x ", "&a ", "*a", "<<: ", "? ", "| ", "[", "]", "{", "}", "'", '"', "%", "@", "[[N]]", "é",
        ]
    ),
    max_size=9,
).map("".join)  # fmt: skip


@given(_YAML)
def test_any_frontmatter_is_read(yaml: str) -> None:
    assert parse_note("n.md", f"---\nkey: {yaml}\n---\n\ntext".encode()).blocks[-1].text == "text"


def test_line_ends_and_byte_order_marks_change_nothing_but_the_hash() -> None:
    unix = parse_note("n.md", b"---\na: 1\n---\n# T\n\nOne\nTwo [[L]]\n")
    for data in (
        b"---\r\na: 1\r\n---\r\n# T\r\n\r\nOne\r\nTwo [[L]]\r\n",
        b"\xef\xbb\xbf---\na: 1\n---\n# T\n\nOne\nTwo [[L]]\n",
        b"---\ra: 1\r---\r# T\r\rOne\rTwo [[L]]\r",
    ):
        note = parse_note("n.md", data)
        assert (note.blocks, note.links, note.frontmatter) == (
            unix.blocks,
            unix.links,
            unix.frontmatter,
        )
        assert note.warnings == ()


def test_bytes_that_are_not_utf8_are_replaced_and_counted() -> None:
    note = parse_note("n.md", b"caf\xe9 and \xff [[X]]")
    assert note.blocks[0].text == "caf� and � X"
    assert note.warnings == (
        "2 invalid bytes are ignored; the file is unchanged; save the note as UTF-8",
    )
    assert parse_note("n.md", "a � sign".encode()).warnings == ()


def test_utf16_is_read_and_said() -> None:
    note = parse_note("n.md", "# Größe\n\ntext".encode("utf-16"))
    assert (note.title, note.blocks[0].text) == ("Größe", "text")
    assert "UTF-16" in note.warnings[0]


def test_properties_without_the_line_that_ends_them_are_reported() -> None:
    note = parse_note("n.md", b"---\r\ntype: person\r\n\r\nAda keeps the lighthouse.\r\n")
    assert note.frontmatter == {}
    assert note.warnings == ("its properties are not read; add the line --- below them",)
    for text in (b"---\ntype: person\n---\nAda.", b"---\nAda: she keeps it.", b"---\n\na: 1\n"):
        assert parse_note("n.md", text).warnings == ()


def test_two_versions_that_git_could_not_merge_are_reported() -> None:
    versions = "<<<<<<< HEAD\nIt is blue.\n=======\nIt is red.\n>>>>>>> phone\n"
    note = parse_note("n.md", f"---\na: 1\n---\n# Boat\n\n{versions}".encode())
    (warning,) = note.warnings
    assert warning.startswith("Git could not merge two versions from line 6 on")
    (warning,) = parse_note("n.md", f"```\n{versions}```\n\n{versions}".encode()).warnings
    assert "from line 9 on" in warning, "those in code are an example"
    for text in (f"```\n{versions}```\n", versions[:30], "<<<<<<< nothing else\n"):
        assert parse_note("n.md", text.encode()).warnings == ()


def test_a_key_that_the_frontmatter_repeats_is_reported_with_its_lines() -> None:
    note = parse_note("n.md", b"---\nrating: 4\ntags: [a]\n'rating': 2\n---\nSoup\n")
    assert note.frontmatter["rating"] == 2
    assert note.warnings == (
        "the frontmatter has 'rating' in lines 2 and 4, and only the value in line 4 is read; "
        "keep one of them",
    )
    nested = b"---\na:\n  name: x\nb:\n  name: y\nc: |\n  a: 1\n  a: 2\n---\n"
    assert parse_note("n.md", nested).warnings == ()


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", bytes(range(32)) * 20, b"text\0text"]
)
def test_a_binary_file_called_md_has_no_blocks(data: bytes) -> None:
    note = parse_note("n.md", data)
    assert note.blocks == ()
    assert note.warnings == ("the file is not text and is not indexed",)


def test_of_a_very_long_note_whole_lines_up_to_the_limit_are_read() -> None:
    line = b"Some words here.\n\n"
    note = parse_note("n.md", line * 1000, max_bytes=len(line) * 10 + 5)
    assert [block.text for block in note.blocks] == ["Some words here."] * 10
    assert "what comes after these is not indexed (17,815 bytes)" in note.warnings[0]
    assert parse_note("n.md", b"x" * 100, max_bytes=10).blocks[0].text == "x" * 10


N = 3000
BOMBS = {
    "brackets": "[" * N, "links": "](" * N, "embeds": "![[" * N, "half wikilinks": "[[a|" * N, "half fields": "[a:: " * N, "half links": "[a](" * N,
    "stars": "*a **b " * N, "underscores": "_a__" * N, "tildes": "~~a" * N, "backticks": " ".join("`" * n for n in range(150)),
    "angles": "<a <!-- " * N, "entities": "&a;" * N, "hashes": "#" * N, "percents": "%%\n\n" * N, "escapes": "\\" * N, "footnotes": "[^1]: a\n" * N,
    "names": "A: b, " * N, "fields": "a:: b\n" * N, "stops": "a. " * N, "list in list": "- " * N + "x", "quote in quote": "> " * N + "x",
    "steps": "\n".join("  " * n + "- x" for n in range(300)), "columns": "|a" * N + "\n" + "|-" * N, "lines": "a\n" * N,
    "yaml lists": "---\na: " + "[" * N * 10 + "\n---\nx", "yaml dashes": "---\na:\n " + "- " * N * 10 + "\n---\nx", "yaml keys": "---\n" + "? " * N * 10 + "\n---\nx",
    "yaml text in brackets": "---\na: '" + ("[" + "x" * N * 10) * 15 + "]'\n---\nx", "yaml cycle": "---\na: &a [*a]\n---\nx",
    "yaml laughs": "---\na: &a [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1 or ''}, *a{n - 1 or ''}]\n" for n in range(1, 40)) + "---\nx",
}  # fmt: skip


@pytest.mark.timeout(60)  # each takes well under a second; a hang takes hours
@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_no_text_makes_reading_hang_recurse_to_death_or_swell(bomb: str) -> None:
    note = parse_note("n.md", bomb.encode())
    assert note.line_count == len(bomb.splitlines())  # it was read to its end
    assert sum(len(block.text) for block in note.blocks) <= len(bomb)


def test_what_is_nested_too_deeply_is_said() -> None:
    assert parse_note("n.md", ("- " * 30 + "deep").encode()).blocks[0].text == "deep"
    assert parse_note("n.md", ("- " * 300 + "deep").encode()).warnings == (
        "text nested deeper than 50 levels is not indexed",
    )


def test_what_the_vault_walks_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "ünï 日本.md").write_bytes("# ünï\n".encode())
    vault = Vault(tmp_path)
    [note] = [parse_note(found.path, vault.read(found.path)) for found in vault.walk()]
    assert (note.path, note.title) == ("ünï 日本.md", "ünï")


@pytest.mark.parametrize(
    "written",
    [
        "Before. ![sketch](data:image/png;base64,{data}) After.",
        "Before. ![sketch][image1] After.\n\n[image1]: <data:image/png;base64,{data}>",
        'Before. sketch <img src="data:image/jpeg;base64,{data}"> After.',
    ],
)
def test_of_a_picture_written_into_the_text_its_name_is_read_and_not_its_data(
    written: str,
) -> None:
    note = parse_note("n.md", written.format(data="iVBORw0KGgo/" * 50_000).encode())
    (block,) = note.blocks
    assert block.text.split() == ["Before.", "sketch", "After."]
    assert block.lines.first == 1


@pytest.mark.parametrize(
    "text",
    ["# {}\n\nText.", "---\ntitle: {}\n---\nText.", "---\naliases: [{}]\n---\nText.",
     "# A\n\n## {}\n\nText."],
)  # fmt: skip
def test_names_without_end_are_cut_and_headings_like_that_are_found_as_text(text: str) -> None:
    words = "endless name " * 1_000 + "last"
    note = parse_note("n.md", text.format(words).encode())
    headings = [*note.headings, *(part for block in note.blocks for part in block.heading)]
    assert all(len(str(name)) < 400 for name in (note.title, *note.aliases, *headings))
    if note.headings:
        assert any("last" in block.text for block in note.blocks)
    else:
        assert any("endless name" in name for name in (note.title, *note.aliases))


def test_a_name_of_usual_length_is_kept_whole() -> None:
    name = "A name as long as a file's may be " * 7
    note = parse_note("n.md", f"# {name}\n\nText.".encode())
    assert note.title == name.strip() and [block.text for block in note.blocks] == ["Text."]


@pytest.mark.parametrize(
    "header",
    [
        "related: '" + "[[n]] " * 10_000 + "'",
        "Superseded by: '" + "[[note]] and " * 5_000 + "'",
        "related:\n" + "".join(f"  - '[[note {n}]]'\n" for n in range(4_000)),
    ],
    ids=["of one note", "in a sentence", "of many notes"],
)
def test_a_property_with_thousands_of_links_is_read_at_once(header: str) -> None:
    data = f"---\n{header}\n---\nbody\n".encode()
    assert len(parse_note("n.md", data).links) >= 4_000
    assert seconds_of(lambda: parse_note("n.md", data)) < 2.0


def test_each_link_of_a_property_has_its_line() -> None:
    header = "a: '[[y]]'\nrelated:\n  - '[[x]] [[y]]'\n  - '[[z]]'\n  - '[[x]]'\n  - '[[y]]'\n"
    note = parse_note("n.md", f"---\n{header}---\n".encode())
    lines = [(link.target, link.line) for link in note.links]
    assert lines == [("y", 2), ("x", 4), ("y", 4), ("z", 5), ("x", 6), ("y", 7)]
