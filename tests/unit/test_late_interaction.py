"""The tokens of a passage, kept as signs, and the order that they give the first results."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from memvault.config.settings import EmbeddingSettings
from memvault.model.memory import Lifecycle, Memory
from memvault.model.search import FoundBy, Hit
from memvault.search.late_interaction import FIRST, by_tokens
from memvault.text.encoders.embedding import Embedder
from memvault.text.encoders.export import exported_model
from memvault.text.encoders.openvino_model import OpenVinoModel
from memvault.text.encoders.token_signs import BITS, TokenSigns, fit, projection

QUESTION = "Who repairs the leaking boat?"


def signs_of(embedder: Embedder, text: str) -> bytes:
    return embedder.embed_all([text])[text].signs


def hit(number: int, relevance: float, signs: bytes, found_by: FoundBy = FoundBy.TEXT) -> Hit:
    memory = Memory(
        id=f"{number}",
        path=f"{number}.md",
        title=f"{number}",
        lifecycle=Lifecycle.PERMANENT,
        created_at=datetime(2026, 3, 1, tzinfo=UTC),
        content_hash="0" * 32,
    )
    return Hit(memory, relevance, text="x", token_signs=signs, found_by=found_by)


@given(st.integers(0, 2**32 - 1), st.floats(-1.0, 1.0))
def test_signs_tell_the_cosine_of_two_vectors(seed: int, cosine: float) -> None:
    first, second = np.linalg.qr(np.random.default_rng(seed).standard_normal((384, 2)))[0].T
    other = cosine * first + math.sqrt(1.0 - cosine**2) * second
    projected = (np.stack([first, other]) @ projection(384)).astype(np.float32)
    signs = np.packbits(projected[1:] > 0.0, axis=1).tobytes()
    # Each product of a projection and a sign varies by at most 1; six times the error of a mean.
    assert abs(fit(projected[:1], signs) - cosine) < 6.0 * math.sqrt(math.pi / 2.0 / BITS)


def test_the_projection_is_the_same_on_every_computer() -> None:
    assert projection(384)[0, :3].tolist() == pytest.approx([1.7640524, 0.4001572, 0.9787380])


def test_only_content_tokens_are_kept_and_all_of_a_text_that_has_none(embedder: Embedder) -> None:
    bytes_per_token = BITS // 8
    assert len(signs_of(embedder, "The boat is in the harbour.")) == 2 * bytes_per_token
    assert len(signs_of(embedder, "This is it.")) == 4 * bytes_per_token


def test_a_text_that_says_what_is_asked_fits_better(embedder: Embedder) -> None:
    question = embedder.query_tokens(QUESTION)
    says = signs_of(embedder, "Ingrid mends the hull that lets water in.")
    other = signs_of(embedder, "The harbour opens at six, and tickets cost two crowns.")
    assert fit(question, says) > fit(question, other)
    assert fit(question, says + other) >= fit(question, says)
    assert fit(question, b"") == 0.0


def test_a_model_without_vectors_of_tokens_leaves_the_order(embedder: Embedder) -> None:
    signs = signs_of(embedder, QUESTION)
    hits = [hit(0, 0.5, b""), hit(1, 0.5, signs)]
    assert by_tokens(embedder.query_tokens(QUESTION), hits) == hits
    assert by_tokens(np.zeros((0, BITS), np.float32), [hits[1], hits[0]]) == [hits[1], hits[0]]


def test_of_two_passages_about_as_relevant_the_one_with_nearer_tokens_comes_first(
    embedder: Embedder,
) -> None:
    near = signs_of(embedder, "Ingrid repairs the leaking boat.")
    far = signs_of(embedder, "The harbour opens at six, and tickets cost two crowns.")
    first, second, linked = hit(0, 0.5, far), hit(1, 0.49, near), hit(2, 0.4, near, FoundBy.LINK)
    question = embedder.query_tokens(QUESTION)
    assert by_tokens(question, [first, second]) == [second, first]
    assert by_tokens(question, [hit(0, 0.9, far), second])[1] is second
    assert by_tokens(question, [first, linked, second]) == [second, linked, first]


def test_what_the_question_names_keeps_its_place_and_places_keep_their_relevance(
    embedder: Embedder,
) -> None:
    near = signs_of(embedder, "Ingrid repairs the leaking boat.")
    far = signs_of(embedder, "The harbour opens at six, and tickets cost two crowns.")
    named, second, third = hit(0, 0.5, far), hit(1, 0.5, far), hit(2, 0.49, near)
    named.is_named = True
    ordered = by_tokens(embedder.query_tokens(QUESTION), [named, second, third])
    assert ordered == [named, third, second]
    assert [each.relevance for each in ordered] == [0.5, 0.5, 0.49]


def test_only_the_first_results_are_compared(embedder: Embedder) -> None:
    near = signs_of(embedder, "Ingrid repairs the leaking boat.")
    far = signs_of(embedder, "The harbour opens at six, and tickets cost two crowns.")
    hits = [hit(number, 0.5, far) for number in range(FIRST)] + [hit(FIRST, 0.5, near)]
    assert by_tokens(embedder.query_tokens(QUESTION), hits) == hits


def test_a_vocabulary_that_marks_the_beginnings_of_words_is_read_too() -> None:
    vocabulary = {"▁the": 0, "▁boat": 1, "s": 2, "▁": 3, "!": 4}
    signs = TokenSigns(Tokenizer(WordLevel(vocabulary, unk_token="!")))
    rows = np.arange(7 * BITS, dtype=np.float32).reshape(-1, BITS)
    assert np.array_equal(signs.content([4, 0, 1, 2, 3, 4, 4], rows), rows[2:4])


def test_what_a_model_wants_in_front_of_a_text_is_no_part_of_it() -> None:
    prompted = OpenVinoModel(exported_model(EmbeddingSettings().model))
    prompted.meta = replace(prompted.meta, query_prompt="query: ", document_prompt="passage: ")
    embedder = Embedder(prompted, "prompted")
    bytes_per_token = BITS // 8
    assert embedder.query_tokens("Who repairs the boat?").shape == (2, BITS)
    assert len(signs_of(embedder, "The boat is in the harbour.")) == 2 * bytes_per_token
    long_text = "boat " * (embedder.window + 5)
    assert len(signs_of(embedder, long_text)) == (embedder.window + 5) * bytes_per_token
