"""Which claims answer a question."""

from __future__ import annotations

import pytest

from memvault.verification.claims.claim_extraction import PassageClaims
from memvault.verification.claims.claims import Claim, ClaimSource
from memvault.verification.question_terms import question_terms


def claim(text: str, note: str, stems: frozenset[str] | None = None) -> Claim:
    source = ClaimSource(note, f"{note}.md", note)
    (found,) = PassageClaims(text, source, lambda text, exclude: []).claims(stems)
    return found


@pytest.mark.parametrize(
    ("question", "text", "note"),
    [
        ("What did the mower cost?", "The mower cost 180 pounds.", "Tools"),
        ("What did the mower cost?", "It cost 180 pounds.", "Mower"),
        ("How much do we pay for rent?", "The rent is 900 euros.", "Flat"),
        ("What is the current rent?", "Rent: 900 euros", "Flat"),
        ("Can you tell me what the rent is?", "Rent: 900 euros", "Flat"),
        ("What is the rent per month, in euros?", "Rent: 900 euros", "Flat"),
    ],
)
def test_a_claim_with_the_subject_of_a_question_answers_it(
    question: str, text: str, note: str
) -> None:
    terms = question_terms(question, lambda text, exclude: [])
    assert terms.is_answered_by(claim(text, note))


@pytest.mark.parametrize(
    ("question", "text", "note"),
    [
        ("What did the chainsaw cost?", "The mower cost 180 pounds.", "Tools"),
        ("When does the lease end?", "The course ends in May 2027.", "Teaching"),
    ],
)
def test_a_claim_about_another_subject_answers_no_question(
    question: str, text: str, note: str
) -> None:
    terms = question_terms(question, lambda text, exclude: [])
    assert not terms.is_answered_by(claim(text, note))


def test_only_claims_about_an_attribute_that_is_asked_for_are_made() -> None:
    text = "The mower cost 180 pounds and weighs 12 kg."
    source = ClaimSource("Tools", "Tools.md", "Tools")
    passage = PassageClaims(text, source, lambda text, exclude: [])
    of_weight = passage.claims(frozenset({"weight"}))
    assert [each.value_text for each in of_weight] == ["12 kg"]
    assert of_weight == [each for each in passage.claims() if "weight" in each.attribute]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("¿Cuál es el número de teléfono del doctor?", "Cumple 90 años el 3 de marzo de 2027."),
        ("Quel est le numéro de téléphone de la clinique ?", "Le loyer de la cave est 90 euros."),
    ],
)
def test_function_words_of_another_language_ask_for_no_attribute(question: str, text: str) -> None:
    source = ClaimSource("Visits", "Visits.md", "Visits")
    passage = PassageClaims(text, source, lambda text, exclude: [])
    asked = question_terms(question, lambda text, exclude: []).stems
    assert passage.claims() and passage.claims(asked) == []


@pytest.mark.parametrize("question", ["Ada 是 谁？", "Ada は 誰 です か？"])
def test_function_words_of_chinese_and_japanese_are_no_subject(question: str) -> None:
    stems = question_terms(question, lambda text, exclude: []).stems
    assert stems - {"誰"} == {"ada"}
