"""Limits that questions set for numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.search.lists.comparisons import comparison_in, first_number
from tests.timing import seconds_of


@pytest.mark.parametrize(
    ("question", "inside", "outside"),
    [
        ("invoices over 200", [200.01, 5_000], [200, 3]),
        ("at least 3 rooms", [3, 9], [2.9]),
        ("no more than five of them", [5, 1], [5.1]),
        ("fewer than 20 pages", [19], [20]),
        ("between 50 and 100 EUR", [50, 75, 100], [49.9, 101]),
        ("rated 4 or more", [4, 5], [3.5]),
        ("at least 3 and at most 7", [3, 7], [2, 8]),
        ("Rechnungen über 1.500,50 €", [1_501], [1_500]),
        ("moins de 2 500 euros", [2_499], [2_500]),
        ("più di 10", [11], [10]),
        ("more than 2k", [2_001], [1_999]),
        ("дороже, но не более 30", [30], [31]),
    ],
)
def test_a_question_limits_a_number(
    question: str, inside: list[float], outside: list[float]
) -> None:
    limits = comparison_in(question)
    assert limits is not None
    assert all(map(limits.has, inside))
    assert not any(map(limits.has, outside))


@pytest.mark.parametrize(
    "question",
    ["under the bridge", "over 10:30", "version 3.2.1", "more or less", "chapter 4 and 5", ""],
)
def test_other_questions_limit_none(question: str) -> None:
    assert comparison_in(question) is None


def test_a_long_run_of_spaces_costs_no_time_and_changes_nothing() -> None:
    question = "cheaper than" + " " * 2_000 + "5" + "\n" * 2_000 + "euros"
    limits = comparison_in(question)
    assert limits is not None and limits.has(4) and not limits.has(5)
    assert comparison_in("chapter 5" + " " * 4_000) is None
    assert seconds_of(lambda: comparison_in(question), times=3) < 0.5
    assert seconds_of(lambda: comparison_in("chapter 5" + " " * 4_000), times=3) < 0.5


def test_the_rest_of_the_question_lacks_the_limit() -> None:
    limits = comparison_in("suppliers with a rating over 3 in Leeds")
    assert limits is not None
    assert " ".join(limits.rest.split()) == "suppliers with a rating in Leeds"


@given(st.integers(0, 10**9))
def test_a_number_is_read_as_it_is_written_in_three_styles(number: int) -> None:
    for written in (str(number), f"{number:,}", f"{number:,}".replace(",", ".")):
        assert first_number(f"{written} EUR") == number


@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    number = first_number(text)
    assert number is None or number >= 0.0
    limits = comparison_in(text)
    assert limits is None or not limits.has(float("nan"))
