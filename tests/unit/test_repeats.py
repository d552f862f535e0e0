"""Merged texts keep each sentence once and lose none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.text.repeats import without_repeats
from tests.desk import WHY, Desk

KNOWN = "The ferry leaves at ten.\nIt takes an hour. Dogs ride free.\n\n- Bread\n- Salt\n"


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (KNOWN, ""),
        ("It takes an hour. Bikes cost two euros.", "Bikes cost two euros."),
        ("It takes an\nhour. Bikes ride\nfree.", "Bikes ride\nfree."),
        ("It takes an\nhour and a half.", "It takes an\nhour and a half."),
        ("- Salt\n- Oil\n", "- Oil"),
        ("- Salt\n  of the sea\n", "- Salt\n  of the sea\n"),
        ("## Shopping\n\n- Bread\n\n## Rest\n\nNew.", "## Rest\n\nNew."),
        ("```\nIt takes an hour.\n\nDogs\n```\n", "```\nIt takes an hour.\n\nDogs\n```\n"),
        ("> It takes an hour.\n", "> It takes an hour.\n"),
        ("| It takes an hour. |\n", "| It takes an hour. |\n"),
        ("## Empty of its own\n", "## Empty of its own\n"),
    ],
)
def test_only_what_is_known_is_left_out(text: str, rest: str) -> None:
    assert without_repeats(text, [KNOWN]) == rest


_sentences = st.sampled_from(["One is here.", "Two came.", "Three, or four?", "Five!", "six"])
_lines = st.one_of(
    _sentences,
    _sentences.map("- {}".format),
    _sentences.map("> {}".format),
    _sentences.map("## {}".format),
    st.just(""),
    st.just("```"),
    st.lists(_sentences, min_size=1, max_size=3).map(" ".join),
)
_texts = st.lists(_lines, max_size=10).map("\n".join)


@given(text=_texts, known=_texts)
def test_no_sentence_is_lost_and_none_is_new(text: str, known: str) -> None:
    """A heading may go with all that stands below it."""
    rest = without_repeats(text, [known])
    body = "\n".join(line for line in text.split("\n") if not line.startswith("## "))
    for sentence in ("One is here.", "Two came.", "Three, or four?", "Five!", "six"):
        assert sentence not in body or sentence in rest or sentence in known
        assert rest.count(sentence) <= text.count(sentence)
    assert without_repeats(text, []) == text


def test_near_duplicates_merge_into_one_text_and_come_apart_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.write("Ferry.md", "# Ferry\n\nThe ferry leaves at ten. It takes an hour.\n")
    desk.write("Boat.md", "# Boat\n\nThe ferry leaves at ten. Dogs ride free.\n")
    desk.write("Same.md", "# Same\n\nIt takes an hour.\n")
    desk.write("Link.md", "![[Same]] and [[Boat]].\n")
    before = desk.tree()
    change = desk.merge("Boat.md", "Same.md", into="Ferry.md")
    text = desk.read("Ferry.md")
    for sentence in ("The ferry leaves at ten.", "It takes an hour.", "Dogs ride free."):
        assert text.count(sentence) == 1
    assert "# From Boat" in text and "From Same" not in text
    assert desk.read("Link.md") == "![[Ferry|Same]] and [[Ferry|Boat]].\n"
    assert change is not None
    desk.curator.undo([change.reversal_hash], WHY)
    assert desk.tree() == before
