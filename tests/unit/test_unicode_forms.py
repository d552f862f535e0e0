"""Text is normalised as Unicode says, in time that grows with its length."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.model.unicode_forms import normalized
from tests.unit.test_linear_time import SECONDS, seconds_of

WORDS = "Cafe\u0301 und Åre, 日本語。 e\u0301\u0316! 한국어 ﬁn 👩\u200d🚀 "


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_a_long_text_is_normalised_as_a_short_one(form: str) -> None:
    assert normalized(WORDS * 200, form) == unicodedata.normalize(form, WORDS * 200)


@given(st.text(alphabet="aé\u0301\u0316가ﬁ。 ", min_size=1, max_size=30))
def test_what_people_write_is_normalised_as_by_python(text: str) -> None:
    long = text + ("word " + text) * 300
    assert normalized(long) == unicodedata.normalize("NFC", long)


def test_a_letter_with_very_many_accents_takes_no_time() -> None:
    assert seconds_of(lambda: normalized("a" + "\u0316\u0301" * 200_000)) < SECONDS
