"""Links between the pages of a Logseq graph lead where they lead in Logseq."""

from __future__ import annotations

from datetime import date, timedelta
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.model.note import ParsedNote
from memvault.vault.links import LinkIndex
from memvault.vault.markdown.logseq_marks import without_marks
from memvault.vault.parse import parse_note


def note(path: str, text: str = "- Text\n") -> ParsedNote:
    return parse_note(path, text.encode())


def leads_to(target: str, *notes: ParsedNote) -> str | None:
    links = LinkIndex()
    for each in notes:
        links.add(each.path, each.aliases)
    return links.resolve(target, "journals/2026_01_01.md")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("pages/Boat___Rope.md", "Boat/Rope"),
        ("pages/Boat%2FRope.md", "Boat/Rope"),
        ("graph/pages/Boat___Q___Why%3F.md", "Boat/Q/Why?"),
        ("journals/2026_03_01.md", "2026-03-01"),
    ],
)
def test_a_page_is_named_and_linked_as_in_logseq(path: str, name: str) -> None:
    assert note(path).title == name
    assert leads_to(name, note(path)) == path
    assert leads_to(name.upper(), note(path)) == path


def test_only_files_in_the_folders_of_logseq_have_its_names() -> None:
    for path in ("notes/Boat___Rope.md", "Boat___Rope.md"):
        assert note(path).title == "Boat___Rope"
        assert leads_to("Boat/Rope", note(path)) is None
    assert note("journals/2026_13_01.md").title == "2026_13_01"
    assert note("pages/Rope.md", "# Ropes on boats\n").aliases == ()


def test_a_note_in_folders_comes_before_a_page_whose_name_reads_like_its_path() -> None:
    notes = note("pages/Boat___Rope.md"), note("Boat/Rope.md")
    assert leads_to("Boat/Rope", *notes) == "Boat/Rope.md"


def test_a_heading_is_the_title_of_a_page_and_its_name_still_leads_to_it() -> None:
    page = note("pages/Boat___Rope.md", "# Ropes on boats\n")
    assert page.title == "Ropes on boats"
    assert leads_to("Boat/Rope", page) == page.path


@pytest.mark.parametrize(
    ("target", "day"),
    [
        ("Mar 1st, 2026", "2026_03_01"),
        ("Mar 2nd, 2026", "2026_03_02"),
        ("Mar 3rd, 2026", "2026_03_03"),
        ("Mar 11th, 2026", "2026_03_11"),
        ("Mar 22nd, 2026", "2026_03_22"),
        ("2026-03-01", "2026_03_01"),
        ("2026-03-01 Sun", "2026_03_01"),
    ],
)
def test_a_day_leads_to_its_journal(target: str, day: str) -> None:
    days = [date(2026, 3, 1) + timedelta(days=each) for each in range(31)]
    journals = [note(f"journals/{each:%Y_%m_%d}.md") for each in days]
    assert leads_to(target, *journals) == f"journals/{day}.md"


@pytest.mark.parametrize(
    "text", ["---\ntitle: Boat rope\n---\n- x\n", "title:: Boat rope\n\n- x\n"]
)
def test_the_title_of_a_page_leads_to_it_and_that_of_another_note_does_not(text: str) -> None:
    assert leads_to("Boat rope", note("pages/boat_rope.md", text)) == "pages/boat_rope.md"
    assert leads_to("Boat rope", note("notes/boat_rope.md", text)) is None


@pytest.mark.parametrize("bullet", ["", "- "])
def test_the_property_alias_in_the_first_block_gives_names(bullet: str) -> None:
    page = note("Line.md", f"{bullet}alias:: Cord, [[Boat/Cord]], sheet\n\n- Text\n")
    assert page.aliases == ("Boat/Cord", "Cord", "sheet")
    assert leads_to("boat/cord", page) == leads_to("Sheet", page) == "Line.md"


def test_an_alias_further_down_is_text() -> None:
    assert note("Line.md", "- Text\n- More\n  alias:: Cord\n").aliases == ()


@given(st.text(st.characters(exclude_characters="/_", exclude_categories=["C"]), min_size=1))
def test_every_character_that_a_file_name_encodes_is_read_back(name: str) -> None:
    path = f"pages/{quote(name, safe='')}___{quote(name, safe='')}.md"
    assert note(path).title == f"{name}/{name}"


ID = "64a0b0c1-1111-2222-3333-444455556666"


def read(text: str) -> list[tuple[int, str]]:
    """First line and text of every block."""
    return [(block.lines.first, block.text) for block in note("pages/Rice.md", text).blocks]


def test_what_logseq_writes_for_itself_is_not_read() -> None:
    text = f"""- # Cooking
  id:: {ID}
- Rice needs twice the water
  id:: {ID}
  collapsed:: true
  and some salt. (({ID}))
- ![pot](pot.png){{:height 300, :width 400}}{{{{youtube-timestamp 1361}}}} with a lid
- #+BEGIN_QUOTE
  Slow is smooth.
  #+END_QUOTE
- DONE wash up
  done:: 1616841860590
  :LOGBOOK:
  CLOCK: [2024-01-01 Mon 10:00:00]
  :END:
  with sand
- {{{{query (and [[Rice]] (todo now))}}}}
"""
    parsed = note("pages/Rice.md", text)
    assert read(text) == [
        (3, "Rice needs twice the water\nand some salt."),
        (7, "pot with a lid"),
        (8, "Slow is smooth."),
        (11, "DONE wash up\nwith sand"),
    ]
    assert parsed.headings[0].text == "Cooking"
    assert not parsed.fields
    assert not [link for link in parsed.links if link.target == "Rice"]


def test_what_a_macro_shows_is_read() -> None:
    text = f"- {{{{embed [[Broth]]}}}} and {{{{video https://example.org/rice}}}}{{{{embed (({ID}))}}}}\n"
    assert read(text) == [(1, "Broth and https://example.org/rice")]
    assert [link.target for link in note("pages/Rice.md", text).links] == ["Broth"]


@pytest.mark.parametrize(
    "text",
    [
        "id:: the blue one",
        "heading:: north",
        "done:: 2024",
        "collapsed:: the old bridge",
        "A template says {{title}} and {{date}}.",
        "He (or she ((or they))) came.",
        "use `{{query (todo now)}}` for that",
        "a set {:height 3} of values",
    ],
)
def test_what_a_person_writes_alike_is_read(text: str) -> None:
    assert without_marks(text) == text


MARKS = f"id:: {ID}|collapsed:: true|(({ID}))|{{{{embed [[A]]}}}}|{{{{query x|}}}}|#+BEGIN_QUOTE"
PIECES = [*MARKS.split("|"), ":LOGBOOK:", "CLOCK: [x]", ":END:", "`", "``", "\n", "\nword\n", "  "]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_every_other_line_keeps_its_place_and_its_words(text: str) -> None:
    lines, left = text.split("\n"), without_marks(text).split("\n")
    assert len(left) == len(lines)
    assert [n for n, line in enumerate(left) if "word" in line] == [
        n for n, line in enumerate(lines) if "word" in line
    ]
