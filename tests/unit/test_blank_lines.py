"""The blank lines of a note cost next to nothing when its sentences are read."""

from __future__ import annotations

from memvault.curation.origins.sentence_digests import units
from tests.timing import seconds_of

LINES = 10_000
TIMES = 5  # of which the quickest counts, as other processes disturb some
HEAD = "# Long\n\n## Part\n\nFirst words:\n\n"


def seconds_to_read(text: str) -> float:
    return seconds_of(lambda: list(units(text.encode())), times=TIMES)


def test_a_blank_line_takes_a_small_part_of_the_time_of_a_sentence() -> None:
    blank = seconds_to_read(HEAD + "\n" * LINES + "Last words.\n")
    assert 8 * blank < seconds_to_read(HEAD + "Words that last.\n" * LINES)


def test_blank_lines_change_nothing_but_the_numbers_of_lines() -> None:
    text = (
        HEAD
        + "- a list\n\n  with a paragraph\n\n```\ncode\n\nmore code\n```\n\n> quoted\n>\n> end\n"
    )
    spaced = text.replace("\n\n", "\n \n\t\n\n")
    read, read_spaced = (list(units(each.encode())) for each in (text, spaced))
    assert [unit._replace(line=0) for unit in read] == [
        unit._replace(line=0) for unit in read_spaced
    ]
