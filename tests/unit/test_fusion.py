"""Bringing scores together."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.model.note import ChunkSize, Vector
from memvault.model.search import Ranking
from memvault.search.fusion import Fused, FusionSettings, ScoreList, best_first
from memvault.search.note_languages import CommonPartOfNotes

PASSAGE, SECTION, NOTE = ChunkSize.PASSAGE, ChunkSize.SECTION, ChunkSize.NOTE
SETTINGS = FusionSettings()


Found = tuple[float, int, tuple[str, int]]


def hit(note: str, chunk: int, score: float, *sizes: ChunkSize) -> Found:
    return score, chunk, (note, sum(size.bit for size in sizes or (PASSAGE,)))


def scores(limit: int, *hits: Found, lift: float = 0.0) -> ScoreList:
    return ScoreList.from_ranking(Ranking.of(hits), limit, lift)


def relevance(
    cosine: float,
    keywords: float,
    best: float,
    half: float = 20.0,
    mean_cosine: float = 0.0,
    usual: float = 0.0,
) -> float:
    scores = np.array([cosine]), np.array([keywords])
    return float(
        SETTINGS.relevances(*scores, best, half, mean_cosine=mean_cosine, usual_cosine=usual)[0]
    )


@given(
    cosine=st.floats(0, 1),
    keywords=st.floats(0, 1e6),
    above=st.floats(0, 1e6),
    more=st.floats(0.01, 100),
    mean_cosine=st.floats(0, 1),
    usual=st.floats(0, 1),
)
def test_relevance_lies_in_0_to_1_and_grows_with_either_score(
    cosine: float, keywords: float, above: float, more: float, mean_cosine: float, usual: float
) -> None:
    best, known = keywords + above + more, {"mean_cosine": mean_cosine, "usual": usual}
    before = relevance(cosine, keywords, best, **known)
    assert 0.0 <= before <= 1.0
    assert relevance(cosine, keywords + more, best, **known) >= before
    assert relevance(min(1.0, cosine + more), keywords, best, **known) >= before


def test_where_a_model_finds_all_notes_alike_words_count_for_more_than_cosines() -> None:
    def near_before_named(mean_cosine: float) -> float:
        near, named = (
            relevance(0.9, 10.0, 20.0, mean_cosine=mean_cosine),
            relevance(0.7, 18.0, 20.0, mean_cosine=mean_cosine),
        )
        return near - named

    distinguishing_cosine, hardly = SETTINGS.distinguishing_cosine, 0.8
    assert near_before_named(0.0) == near_before_named(distinguishing_cosine)
    assert near_before_named(hardly) < near_before_named(distinguishing_cosine)
    usual = relevance(0.6, 0.0, 20.0, mean_cosine=hardly, usual=0.6)
    assert usual == pytest.approx(relevance(0.6, 0.0, 20.0))  # so that thresholds mean the same


def test_keyword_scores_of_a_long_question_keep_their_distances() -> None:
    best, half_as_good = (relevance(0.0, score, 80.0) for score in (80.0, 40.0))
    assert half_as_good == pytest.approx(best / 2)


def test_a_question_whose_words_are_hardly_found_has_no_relevant_note() -> None:
    assert relevance(0.0, 2.0, 2.0) < 0.1
    assert relevance(0.0, 20.0, 20.0) > 0.1


def test_a_notes_score_is_the_mean_over_sizes_of_its_best_chunk() -> None:
    hits = [hit("a", 1, 0.9), hit("a", 2, 0.6, SECTION), hit("a", 3, 0.5), hit("a", 4, 0.3, NOTE)]
    assert scores(10, *hits).of_notes({"a": 0}) == pytest.approx((0.9 + 0.6 + 0.3) / 3)


def test_a_chunk_that_is_all_there_is_counts_for_every_size() -> None:
    found = scores(10, hit("a", 1, 0.6, PASSAGE, SECTION, NOTE))
    assert found.of_notes({"a": 0}) == pytest.approx(0.6)


def test_what_a_full_list_left_out_has_at_most_its_last_score() -> None:
    hits = hit("a", 1, 0.9), hit("b", 2, 0.4)
    full = scores(2, *hits)
    chunks = [3, 1, 2]
    assert full.of_chunks(chunks) == pytest.approx([0.4, 0.9, 0.4])
    assert full.of_notes({"b": 0, "a": 1, "c": 2}) == pytest.approx(
        [0.4, (0.9 + 0.4 + 0.4) / 3, 0.4]
    )
    assert scores(3, *hits).of_chunks(chunks)[0] == 0.0


def test_opposite_vectors_count_as_nothing() -> None:
    found = scores(1, hit("a", 1, -0.3))
    assert found.of_chunks([1]) == found.of_notes({"a": 0}) == found.floor == 0.0
    assert scores(1, hit("a", 1, -0.3), lift=0.4).of_chunks([1]) == pytest.approx([0.1])


def test_a_search_that_finds_nothing_tells_nothing() -> None:
    nothing = scores(9)
    assert nothing.of_chunks([1]) == nothing.of_notes({"a": 0}) == nothing.floor == 0.0
    assert Fused(nothing, nothing, 20.0, SETTINGS).of_notes()[0] == []
    assert Fused(nothing, nothing, 20.0, SETTINGS).passages() == {}


def test_what_both_searches_find_comes_before_what_one_finds() -> None:
    dense = scores(9, hit("a", 1, 0.5), hit("b", 2, 0.5))
    keywords = scores(9, hit("b", 2, 16.0), hit("c", 3, 16.0))
    fused = Fused(dense, keywords, 20.0, SETTINGS)
    chunks = list(fused.passages())
    relevances = fused.of_chunks(chunks)
    assert [chunks[k] for k in best_first(chunks, relevances, 3)] == [2, 3, 1]
    notes, relevances = fused.of_notes()
    assert [notes[k] for k in best_first(notes, relevances, 3)] == ["b", "c", "a"]


def test_a_word_found_in_one_note_counts_about_the_same_in_small_and_large_vaults() -> None:
    def rarest(chunks: int) -> float:
        score = math.log(1.0 + (chunks - 0.5) / 1.5)  # the idf of a word in one chunk
        return relevance(0.0, score, score, SETTINGS.half_of(chunks))

    assert rarest(10) == pytest.approx(rarest(100_000), rel=0.25)


def test_equal_relevances_are_ordered_by_id() -> None:
    keys, relevances = ["b", "a", "c", "d"], np.array([0.5, 0.5, 0.9, 0.5])
    assert [keys[k] for k in best_first(keys, relevances, 9)] == ["c", "a", "b", "d"]
    assert [keys[k] for k in best_first(keys, relevances, 2)] == ["c", "a"]


@given(st.lists(st.sampled_from((0.0, 0.1, 0.5, 0.9)), max_size=30), st.integers(1, 40))
def test_the_best_are_the_first_of_all_in_order(worth: list[float], most: int) -> None:
    keys = [f"{k:02}" for k in range(len(worth))][::-1]
    ordered = sorted(range(len(keys)), key=lambda k: (-worth[k], keys[k]))
    assert best_first(keys, np.array(worth), most) == ordered[:most]


def vector(*values: float) -> Vector:
    made = np.array(values, np.float32)
    return made / np.linalg.norm(made)


def test_what_all_notes_share_is_taken_off_a_question() -> None:
    notes = [vector(3, 1, 0), vector(3, 0, 1), vector(3, -1, 0), vector(3, 0, -1)]
    shared = CommonPartOfNotes.from_vectors(notes)
    assert shared is not None
    question = vector(3, 1, 0.5)
    rest, lift = shared.subtracted_from(question)
    before = [float(question @ note) for note in notes]
    after = [float(rest @ note) + lift for note in notes]
    assert sum(after) == pytest.approx(sum(before), abs=1e-5)
    assert np.argsort(after).tolist() == np.argsort(before).tolist()
    assert np.ptp(after) > 1.2 * np.ptp(before)


def test_cosines_that_differ_little_are_stretched_to_those_of_english() -> None:
    notes = [vector(3, 1, 0), vector(3, 0, 1), vector(3, -1, 0), vector(3, 0, -1)]
    shared = CommonPartOfNotes.from_vectors(notes)
    assert shared is not None
    question = vector(3, 1, 0.5)
    factor = shared.stretch(question, 0.15)
    assert 1.0 < factor < 4.0
    assert float((np.array(notes) @ question).std()) * factor == pytest.approx(0.15, abs=1e-3)
    assert shared.stretch(question, 0.0) == 1.0
    assert shared.stretch(vector(1, 0, 0), 0.15) == 4.0


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=9),
    st.floats(0.0, 1.0),
    st.floats(1.0, 4.0),
)
def test_stretched_scores_keep_their_order(drawn: list[float], usual: float, factor: float) -> None:
    hits = [hit(f"note {k}", k, score) for k, score in enumerate(sorted(drawn, reverse=True))]
    far = scores(len(hits), *hits).stretched(usual, factor)
    assert (np.diff(far.scores) <= 1e-9).all()
    assert (far.scores >= 0.0).all() and far.floor <= far.scores.min() + 1e-9


def test_notes_that_have_nothing_in_common_take_nothing_off() -> None:
    assert CommonPartOfNotes.from_vectors([vector(1, 0), vector(0, 1)]) is None
    assert CommonPartOfNotes.from_vectors([vector(1, 0)]) is None
