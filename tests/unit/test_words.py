"""Words, and expressions of them."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from memvault.text.words import any_of

LETTERS = "ab.(|^ "


@given(st.sets(st.text(LETTERS, min_size=1, max_size=3), min_size=1), st.text(LETTERS, max_size=6))
@example({".a"}, "ba")
@example({"a", "a b"}, "a b")
def test_an_expression_of_words_matches_the_longest_that_a_text_begins_with(
    words: set[str], text: str
) -> None:
    found = re.match(any_of(words), text)
    first_words = sorted(filter(text.startswith, words), key=len)
    assert (found and found[0]) == (first_words[-1] if first_words else None)
