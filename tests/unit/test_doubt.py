"""What is no statement of its writer: said by others, dreamt, denied, quoted or struck out."""

from __future__ import annotations

import pytest

from memvault.verification.claims.claim_extraction import claims_of
from memvault.verification.claims.claims import ClaimSource
from memvault.verification.doubt import is_doubtful, is_set_apart


@pytest.mark.parametrize(
    "sentence",
    [
        "Tom says the rent of the barn is 900 EUR.",
        "The scam letter says the rent of the barn is 900 EUR.",
        "According to Eve, the rent of the barn is 900 EUR.",
        "I dreamt that the rent of the barn is 900 EUR.",
        "In the novel, the rent of the barn is 900 EUR.",
        "The rent of the barn is 900 EUR in Monopoly.",
        "The rent of the barn is 900 EUR, which is a lie.",
        "The rent of the barn is 900 EUR — not true!",
        "The rent of the barn is 900 EUR, but that is wrong.",
        "Laut Eva ist die Miete 900 EUR.",
        "Selon Eva, le loyer est de 900 EUR.",
        "Según Eva, la renta es de 900 EUR.",
        "По словам Евы, аренда стоит 900 EUR.",
    ],
)
def test_what_others_say_and_what_is_dreamt_or_denied_is_doubtful(sentence: str) -> None:
    assert is_doubtful(sentence, "")
    assert all(
        not each.asserted for each in claims_of(sentence, ClaimSource("n", "n.md", "n"), _names)
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "The rent of the barn is 900 EUR.",
        "The village lies 300 m above the sea.",
        "The crew is made up of 12 people.",
        "The British film industry made 40 films in 1950.",
        "The disk writes 500 MB a second.",
        "She wrote 3 books; the last has 200 pages.",
        "Die Miete beträgt 900 EUR.",
    ],
)
def test_plain_statements_are_not_doubtful(sentence: str) -> None:
    assert not is_doubtful(sentence, "What we told Ada > Barn")


@pytest.mark.parametrize("heading", ["Not true", "Barn > Rumours", "Wrong", "Gerüchte"])
def test_a_heading_may_say_that_what_follows_is_not_so(heading: str) -> None:
    assert is_doubtful("The rent of the barn is 900 EUR.", heading)


@pytest.mark.parametrize(
    ("note", "apart"),
    [
        ("> The rent is 900 EUR.", True),
        ("> [!quote]\n> The rent is 900 EUR.", True),
        ("- > The rent is 900 EUR.", True),
        ("~~The rent is 900 EUR.~~", True),
        ("~~The rent~~ is **900 EUR**.", False),
        ("- [ ] The rent is 900 EUR.", True),
        ("1. [ ] The rent is 900 EUR.", True),
        ("- [x] The rent is 900 EUR.", False),
        ("- The rent is 900 EUR.", False),
        ("> [!note] Costs\n> The rent is 900 EUR.", False),
        ("> The rent is 900 EUR.\n\nThe rent is 900 EUR.", False),
    ],
)
def test_quotes_struck_text_and_open_tasks_are_set_apart(note: str, apart: bool) -> None:
    assert is_set_apart(note.splitlines(), "The rent is 900 EUR.", "900 EUR") is apart


def _names(text: str, exclude: str | None) -> list[tuple[int, int, str]]:
    return []


def test_a_sentence_that_is_not_in_the_lines_counts_as_set_apart() -> None:
    lines = ["He wrote:", "I have not answered."]
    assert is_set_apart(lines, "The deposit of the flat is 9000 euros.", "9000 euros")


def test_a_quotation_over_two_lines_is_set_apart() -> None:
    lines = ["> The deposit of the flat", "> is 9000 euros.", "", "Not 9000 euros."]
    assert is_set_apart(lines, "The deposit of the flat is 9000 euros.", "9000 euros")
