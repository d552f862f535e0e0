"""Frontmatter is split from the text as the reader splits it, in text and in bytes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.curation.origins.sentence_digests import units
from memvault.model.graph import uuid_of
from memvault.vault.frontmatter.fences import claimed_id, split_frontmatter
from memvault.vault.frontmatter.read import read_frontmatter
from memvault.vault.parse import frontmatter_of

LINES = st.lists(
    st.sampled_from(["---", "--- ", "...", "", "key: value", "id: x", "Text.", "----"]), max_size=8
)
ID = "0192f0c1-1111-7222-8333-444455556666"


@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_the_split_is_the_readers(lines: list[str], newline: str, marked: bool) -> None:
    plain = "\n".join(lines)
    note = ("\ufeff" if marked else "") + newline.join(lines)
    source, body = split_frontmatter(note)
    frontmatter = read_frontmatter(plain)
    if frontmatter.values:  # without a key the lines are text between two rules
        assert source.replace(newline, "\n") == frontmatter.source
        assert body.replace(newline, "\n") == plain[frontmatter.body_start :]
    assert split_frontmatter(note.encode()) == (source.encode(), body.encode())
    assert note.endswith(body)


@pytest.mark.parametrize("note", ["", "Text.", "---\nkey: value\n", "Text.\n---\nid: 1\n---\n"])
def test_a_note_without_both_fences_is_all_text(note: str) -> None:
    assert split_frontmatter(note) == ("", note)


def test_an_id_counts_only_in_the_frontmatter() -> None:
    assert claimed_id(f'---\nid: "{ID.upper()}"\n---\nText.\n'.encode()) == ID
    assert claimed_id(f"---\ntitle: Ada\n---\nid: {ID}\n".encode()) == ""
    assert claimed_id(f"---\rid: {ID}\r---\rText.\r".encode()) == ID
    assert claimed_id(f"id: {ID}\n".encode()) == ""


@pytest.mark.parametrize("key", ["id:", "id :", '"id":', "ID:", "ids:"])
@pytest.mark.parametrize(
    "value",
    [ID, ID.replace("-", ""), f"urn:uuid:{ID}", f'"{{{ID}}}"', f"' {ID} '", f"{{{ID}}}",
     f"{ID} # mine", f"{ID}#mine", f"{ID} mine", f"[{ID}]", ID[:-1], '""', ""],
)  # fmt: skip
def test_an_id_is_the_one_that_is_indexed(key: str, value: str) -> None:
    note = f"---\ntags: a\n{key} {value}\n---\nText.\n".encode()
    assert claimed_id(note) == uuid_of(str(frontmatter_of(note).get("id", "")).strip())


def test_three_dots_do_not_close_the_frontmatter_for_whose_words_they_are() -> None:
    found = {unit.text: unit.is_body for unit in units(b"---\na: 1\n...\nb: 2\n---\nText.\n")}
    assert found == {"a: 1": False, "b: 2": False, "Text.": True}


def test_no_pattern_needs_a_python_that_repeats_groups_without_backtracking_correctly() -> None:
    """Before 3.11.5, which Debian 12 lacks, such groups fail to match (python/cpython#106052).

    ")*+," is of a class of characters, in the order of ASCII.
    """
    root = Path(__file__).parents[2]
    broken = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+(?!,)|\(\?>")
    found = [
        f"{file.relative_to(root)}: {match[0]}"
        for folder in ("src", "indexer", "mcp_server")
        for file in (root / folder).rglob("*.py")
        for match in broken.finditer(file.read_text(encoding="utf-8"))
    ]
    assert found == []
