from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.vault.compose import (
    MAX_TITLE_CHARS,
    compose_note,
    first_heading,
    frontmatter,
    importance_word,
    title_of,
)
from memvault.vault.links import LinkIndex, wikilink
from memvault.vault.parse import parse_note
from tests.timing import seconds_of


def test_frontmatter_is_written_as_a_person_would() -> None:
    text = frontmatter(
        {
            "lifecycle": "permanent",
            "tags": ["storage", "db/edge"],
            "created": datetime(2026, 3, 1, 11, 20, 30, 5, timezone(timedelta(hours=1))),
            "date": date(2026, 2, 8),
            "rationale": "because: of this",
            "answer": "no",
            "ratio": "1e3",
            "long": "word " * 60 + "end",
        }
    )
    assert text.splitlines()[:5] == [
        "---",
        "lifecycle: permanent",
        "tags: [storage, db/edge]",
        "created: 2026-03-01T10:20:30Z",
        "date: 2026-02-08",
    ]
    assert "rationale: 'because: of this'" in text
    assert len(text.splitlines()) == 10


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(
        st.from_regex(r"[a-z][a-z_]{0,10}", fullmatch=True),
        st.text(st.characters(codec="utf-8", exclude_characters="\r\x85\u2028\u2029"), max_size=40)
        | st.booleans()
        | st.integers(-(10**9), 10**9)
        | st.lists(st.text("ab1e-:#[] '\"", max_size=8), max_size=3),
        max_size=4,
    )
)
def test_what_is_written_as_frontmatter_is_read_back_equal(values: dict[str, object]) -> None:
    note = parse_note("a.md", compose_note(values, "text"))
    assert note.frontmatter_problem is None
    assert note.frontmatter == values


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("# Jars, not envelopes #\n\ntext", "Jars, not envelopes"),
        ("We keep seeds in glass jars. They stay dry.", "We keep seeds in glass jars"),
        ("Yes. We keep them in jars. Always.", "Yes. We keep them in jars"),
        ("\n\n---\n- [ ] Buy **two** [[shelves|boards]]", "Buy two boards"),
        ("```py\nprint(1)\n```\nWhat it prints", "What it prints"),
        (
            "Paul ist am 24. November bei Dr. Kröger. Um drei.",
            "Paul ist am 24. November bei Dr. Kröger",
        ),
        ("種は瓶に入れる。乾いたまま。", "種は瓶に入れる。乾いたまま"),
        ("See [the plan](https://example.org/a_b) for `x`!", "See the plan for x!"),
        ("```\nonly code\n```", ""),
        ("***", ""),
    ],
)
def test_a_title_is_the_first_heading_or_sentence(content: str, title: str) -> None:
    assert title_of(content) == title


@settings(max_examples=100)
@given(st.text(min_size=60))
def test_a_title_is_one_line_within_its_limit(content: str) -> None:
    title = title_of(content)
    assert len(title) <= MAX_TITLE_CHARS
    assert "\n" not in title


def test_a_long_title_is_cut_between_words() -> None:
    title = title_of("gardening " * 30)
    assert title.endswith("gardening…")
    assert len(title) <= 80


def test_only_a_heading_at_the_start_is_the_contents_own() -> None:
    assert first_heading("\n## Plan ##\ntext") == "Plan"
    assert first_heading("text\n# Plan") is None


def test_the_default_importance_is_not_written_and_named_ones_are_words() -> None:
    assert [importance_word(each) for each in (0.5, 0.8, 0.33)] == [None, "high", 0.33]


def test_a_link_is_the_shortest_that_obsidian_would_write() -> None:
    links = LinkIndex()
    for path in ("permanent/Ada.md", "a/Plan.md", "b/Plan.md", "Home.md", "odd/C# [1].md"):
        links.add(path)
    assert wikilink("permanent/Ada.md", "sessions/x.md", links) == "[[Ada]]"
    assert wikilink("Home.md", "sessions/x.md", links) == "[[Home]]"
    ambiguous = {wikilink(path, "c/x.md", links) for path in ("a/Plan.md", "b/Plan.md")}
    assert "[[b/Plan|Plan]]" in ambiguous
    assert wikilink("permanent/Ada.md", "sessions/x.md") == "[[permanent/Ada|Ada]]"
    assert wikilink("OLD.MD", "sessions/x.md") == "[[OLD]]"
    odd = wikilink("odd/C# [1].md", "sessions/x.md", links)
    found = parse_note("sessions/x.md", odd.encode()).links[0]
    assert links.resolve(found.target, "sessions/x.md") == "odd/C# [1].md"


def test_times_without_a_fraction_are_utc() -> None:
    assert "created: 2026-03-01T00:00:00Z" in frontmatter(
        {"created": datetime(2026, 3, 1, tzinfo=UTC)}
    )


@pytest.mark.parametrize("unit", ["[", "![[", "[a](", "`", "** ", "_a __b ", "# ", " \t"])
def test_a_title_of_one_endless_line_is_found_at_once(unit: str) -> None:
    def find() -> None:
        for start in ("", "# ", "- "):
            text = start + unit * (60_000 // len(unit)) + "x"
            assert len(title_of(text)) <= 80
            first_heading(text)

    assert seconds_of(find) < 5  # quadratic patterns take minutes
