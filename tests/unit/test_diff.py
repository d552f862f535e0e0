"""Two sequences are divided by a longest common subsequence, however often elements repeat."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mcp_server.pages.note_html import compared
from memvault.curation.changes.plan import lines_changed
from memvault.text.diff import stretches
from tests.timing import seconds_of

LETTERS = st.lists(st.sampled_from("abc"), max_size=12)


def length_of_longest(one: list[str], other: list[str]) -> int:
    """By the textbook's table."""
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            longer = max(table[i][j + 1], table[i + 1][j])
            table[i + 1][j + 1] = table[i][j] + 1 if a == b else longer
    return table[-1][-1]


@given(LETTERS, LETTERS)
def test_stretches_follow_each_other_and_as_much_as_possible_is_equal(
    old: list[str], new: list[str]
) -> None:
    found = list(stretches(old, new))
    i = j = 0
    for stretch in found:
        assert (stretch.i1, stretch.j1) == (i, j)
        i, j = stretch.i2, stretch.j2
        if stretch.equal:
            assert old[stretch.i1 : i] == new[stretch.j1 : j] != []
    assert (i, j) == (len(old), len(new))
    assert [each.equal for each in found[1:]] == [not each.equal for each in found[:-1]]
    equal = sum(each.i2 - each.i1 for each in found if each.equal)
    assert equal == length_of_longest(old, new)


def test_a_thousand_paragraphs_that_all_change_are_compared_at_once() -> None:
    """Blank lines, or the spaces between words, are all equal."""
    before = "\n\n".join(f"paragraph {number}" for number in range(2_000))
    after = before.replace("par", "Par")
    changes = lines_changed("n.md", before.encode(), after.encode())
    assert len(changes) == 2_000
    assert all(change.before and change.after for change in changes)
    words = [" ".join(f"{letter}{number}" for number in range(1_500)) for letter in "ab"]

    def compare() -> None:
        lines_changed("n.md", before.encode(), after.encode())
        compared(*((each, lambda _: None) for each in words))

    assert seconds_of(compare) < 5  # with difflib it takes minutes
