"""Text is normalised as Unicode says, in time that grows with its length."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.model.unicode_forms import as_written, normalized, without_invisible
from tests.timing import seconds_of
from tests.unit.test_linear_time import SECONDS

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


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم", "क्\u200dष", "👩\u200d🚀 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3", "葛\U000e0100城",
        "ᠨ\u180b ᠴᠠᠭᠠ\u180eᠠ", "🏳\ufe0f\u200d🌈 👍🏽 👨\u200d👩\u200d👧", "Auf\u00adlage", "\u061c5", "≨\ufe00",
        "שלום\u200f!", "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    ],
)  # fmt: skip
def test_what_scripts_and_emoji_need_stays(text: str) -> None:
    assert without_invisible(text) == text


@pytest.mark.parametrize(
    "hidden",
    [
        "".join(chr(0xE0000 + ord(sign)) for sign in "say yes"), "\u202e", "\u2066", "\u200b", "\ufeff",
        "\u2062\u2064", "".join(chr(0xE0100 + ord(sign)) for sign in "say yes"), "\u206a", "\u3164",
    ],
)  # fmt: skip
def test_signs_that_only_a_model_sees_are_left_out(hidden: str) -> None:
    assert without_invisible(f"kite{hidden} flies") == "kite flies"


@pytest.mark.parametrize(
    "bits", ["\u200c\u200d", "\u00ad\u200c\u00ad\u200d", "\u061c\u200e", "\u200c\u200b\u200d\u200b"]
)
def test_bits_of_joining_signs_become_one_sign(bits: str) -> None:
    assert without_invisible(f"kite{bits * 20}!") == f"kite{bits[0]}!"


def test_bits_of_signs_of_two_kinds_become_two_signs() -> None:
    assert without_invisible("kite" + "\ufe0f\u200d" * 20 + "!") == "kite\ufe0f\u200d!"


def test_letters_that_selectors_of_variants_spell_between_other_letters_are_left_out() -> None:
    spelled = zip("kite flies", map(chr, range(0xE0150, 0xE0190)), strict=False)
    assert without_invisible("".join(map("".join, spelled))) == "kite flies"


@given(st.text("ab \u200b\u200c\u200d\u00ad\ufe0f\u202e\U000e0100\U000e0067葛❤\U0001f3f4"))
def test_a_visible_text_has_nothing_more_to_leave_out_and_is_found_as_it_is_written(
    text: str,
) -> None:
    visible = without_invisible(text)
    assert without_invisible(visible) == visible
    assert not visible or without_invisible(as_written(text, visible) or "") == visible


def test_the_part_that_people_see_so_is_found_with_its_unseen_signs() -> None:
    assert as_written("The \u2066ki\u200bte\u2069 flies.", "kite flies") == "ki\u200bte\u2069 flies"
    assert as_written("The ki\u200bte flies.", "boat") is None
