"""The words of a question that paths of relations are compared with."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memvault.search.relations.paths import QuestionWords, masked


def test_names_are_masked_wherever_they_stand() -> None:
    assert masked("Who taught Ann's aunt Bea?", [(11, 14), (22, 25)]) == "Who taught X's aunt X?"


def test_words_that_stand_together_are_compared_together_but_not_function_words_alone() -> None:
    words = QuestionWords.read("Who is the owner of X")
    assert "owner of X" in words.phrases and "the owner" in words.phrases
    assert "is the" not in words.phrases and "of X" not in words.phrases


def test_a_question_word_decides_the_kind_of_the_answer() -> None:
    assert QuestionWords.read("By whom was X painted?").answer_kind == "person"
    assert QuestionWords.read("Where does X lie?").answer_kind == "place"
    assert QuestionWords.read("Which dish has X?").answer_kind == ""


@given(st.text(max_size=80))
def test_any_text_has_phrases_made_of_its_own_words(text: str) -> None:
    words = QuestionWords.read(text)
    assert len(words.phrases) == len(words.spans)
    assert bool(words.phrases) == bool(words.content)
