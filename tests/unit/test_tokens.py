"""Counting and cutting by the model's tokens."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memvault.text.encoders.embedding import MIN_BYTES_OF_ONE, Embedder
from memvault.text.tokens import TokenCounter


@pytest.fixture(scope="module")
def tokens(embedder: Embedder) -> TokenCounter:
    return embedder.tokens


def test_special_tokens_are_not_counted(tokens: TokenCounter) -> None:
    assert tokens.count("") == 0
    assert tokens.count("a cat") == 2


def test_long_texts_are_counted_whole(tokens: TokenCounter) -> None:
    assert tokens.count("cat " * 5000) == 5000
    assert tokens.count_all(["cat", "cat " * 5000]) == [1, 5000]


def test_a_text_within_the_limit_is_not_cut(tokens: TokenCounter) -> None:
    assert tokens.split("  two words ", 2) == ["  two words "]


def test_cuts_fall_between_words_where_a_word_fits(tokens: TokenCounter) -> None:
    pieces = tokens.split("unbelievable " * 50, 20)
    assert set(" ".join(pieces).split()) == {"unbelievable"}


def test_a_word_longer_than_the_limit_is_cut_within(tokens: TokenCounter) -> None:
    word = "ab1" * 30
    pieces = tokens.split(word, 8)
    assert len(pieces) > 1
    assert "".join(pieces) == word


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    text=st.lists(
        st.one_of(
            st.text(max_size=12), st.sampled_from(["alpha", "Überraschung", "日本語", "🦊🦊"])
        ),
        max_size=40,
    ).map(" ".join),
    limit=st.integers(1, 30),
)
def test_cutting_loses_nothing_but_white_space(tokens: TokenCounter, text: str, limit: int) -> None:
    pieces = tokens.split(text, limit)
    assert "".join("".join(pieces).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "text",
    [
        "How do I open a note on another computer?",
        "When should roses be pruned?",
        "Who decided to keep the archive in the cellar, and why?",
    ],
)
def test_the_default_model_knows_english(tokens: TokenCounter, text: str) -> None:
    assert tokens.bytes_per_token(text) >= MIN_BYTES_OF_ONE


@pytest.mark.parametrize(
    "text",
    [
        "Wie öffne ich eine Notiz auf einem anderen Rechner?",
        "¿Cómo abro una nota en otro ordenador?",
        "Как открыть заметку на другом компьютере?",
        "別のパソコンでノートを開くにはどうすればいいですか。",
        "怎样在另一台电脑上打开笔记？",
        "ฉันจะเปิดบันทึกบนคอมพิวเตอร์เครื่องอื่นได้อย่างไร",
        "Miten voin avata muistiinpanon toisella tietokoneella?",
    ],
)
def test_the_default_model_knows_no_other_language(tokens: TokenCounter, text: str) -> None:
    assert tokens.bytes_per_token(text) < MIN_BYTES_OF_ONE


def test_a_text_without_words_has_no_tokens(tokens: TokenCounter) -> None:
    assert tokens.bytes_per_token("") == tokens.bytes_per_token("?!") == math.inf
