"""The mode of a question, and what it asks of recall."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.model.memory import Lifecycle, Memory
from memvault.model.search import Hit, Mode
from memvault.model.verification import Status, Verification
from memvault.search.calibration import (
    ANSWERS,
    CONCERNS,
    confidence,
    features,
    word_shares,
)
from memvault.search.modes import PLANS, detect_mode, diverse
from tests.timing import seconds_of

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "query",
    [
        "Brainstorm ideas",
        "Explore alternatives to the current store",
        "research competitors for the bakery",
        "What are some ideas for the summer party?",
        "Which alternatives are there to renting?",
        "What should we explore next quarter?",
        "Can you brainstorm names for the boat?",
    ],
)
def test_a_search_for_many_possibilities_is_planning(query):
    assert detect_mode(query) is Mode.PLANNING


@pytest.mark.parametrize(
    "query",
    [
        "Implement feature X",
        "deploy the site on Friday",
        "Can you build the shed?",
        "I want to build a shed",
        "We should first deploy the site",
        "What must I deploy on Friday?",
        "Please create a checklist for the move",
        "Execute the backup plan",
    ],
)
def test_a_task_to_be_done_is_execution(query):
    assert detect_mode(query) is Mode.EXECUTION


@pytest.mark.parametrize(
    "query",
    [
        "Who leads the bakery?",
        "What did Ada research in Oslo?",
        "Where did she get the idea for the shed?",
        "When was the site created?",
        "Who built the boat?",
        "How do I build the shed?",
        "how to create a checklist",
        "How should we deploy the site?",
        "sleep research notes",
        "errors of the nightly build",
        "the button to create a note",
        "What options does the oven have?",
        "I don't want to build anything",
        "Can I build a boat without a plan?",
        "Rebuild history",
        "creative hobbies",
        "Don't implement anything, only tell what was agreed",
        "",
    ],
)
def test_a_question_for_a_fact_stays_in_the_default_mode_whatever_words_it_holds(query):
    assert detect_mode(query) is Mode.DEFAULT


def test_a_mode_is_detected_in_far_less_than_ten_milliseconds():
    long = "and then we talked about the garden and the shed " * 80
    assert seconds_of(lambda: detect_mode(long), times=20) < 0.010


def test_the_plans_are_those_of_the_document():
    planning, execution = PLANS[Mode.PLANNING], PLANS[Mode.EXECUTION]
    assert (planning.top_k, planning.threshold, planning.diversity) == (20, 0.65, 0.7)
    assert (execution.top_k, execution.threshold, execution.diversity) == (5, 0.85, 0.2)


# -- diversity --------------------------------------------------------------------------------------

A, A_TOO, B = [1.0, 0.0], [0.999, 0.0447], [0.0, 1.0]


def test_without_diversity_the_order_is_that_of_relevance():
    vectors = np.array([A, A_TOO, B], np.float32)
    assert diverse([0.7, 0.9, 0.8], vectors, 3, 0.0) == [1, 2, 0]


def test_what_repeats_the_first_comes_after_what_is_new():
    vectors = np.array([A, A_TOO, B], np.float32)
    assert diverse([0.9, 0.89, 0.7], vectors, 3, 0.7) == [0, 2, 1]
    assert diverse([0.9, 0.89, 0.3], vectors, 3, 0.2) == [0, 1, 2]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12),
    st.integers(1, 12),
    st.floats(0.0, 1.0),
)
def test_each_is_chosen_once_and_the_most_relevant_first(relevance, count, diversity):
    rows = np.random.default_rng(5).normal(size=(len(relevance), 4))
    vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    order = diverse(relevance, vectors, count, diversity)
    assert len(order) == len(set(order)) == min(count, len(relevance))
    if diversity < 1.0:
        assert relevance[order[0]] == max(relevance)


# -- calibration ------------------------------------------------------------------------------------


def hit(relevance: float, text: str) -> Hit:
    nameless = Memory(
        id=text, path=f"{text}.md", title="", lifecycle=Lifecycle.PERMANENT, created_at=NOW
    )
    return Hit(nameless, relevance, text=text)


def test_a_lone_good_match_is_surer_than_one_of_many_alike():
    alone = [hit(0.6, "kelp census"), hit(0.2, "bread"), hit(0.2, "soup")]
    crowd = [hit(0.6, "kelp census"), hit(0.6, "kelp list"), hit(0.59, "kelp")]
    sure = ANSWERS.confidences(features("kelp census", alone))
    unsure = ANSWERS.confidences(features("kelp census", crowd))
    assert sure[0] > unsure[0] > unsure[1] > unsure[2] > sure[1]


def test_what_hardly_fits_is_not_called_sure_for_being_first():
    faint = [hit(0.22, "bread recipes"), hit(0.2, "soup"), hit(0.2, "tea")]
    chances = ANSWERS.confidences(features("kelp census of the bay", faint))
    assert max(chances) < 0.5


@pytest.mark.parametrize(
    ("question", "function_words"),
    [
        ("¿Cuándo se plantan los cerezos de la huerta?", "los muebles de la cocina"),
        ("Wann blüht der Kirschbaum in dem Garten?", "der Tisch in dem Zimmer"),
    ],
)
def test_function_words_of_no_language_make_an_answer_surer(question, function_words):
    def chance(text: str) -> float:
        found = [hit(0.3, text), hit(0.2, "soup"), hit(0.2, "tea")]
        return ANSWERS.confidences(features(question, found))[0]

    assert chance(function_words) == chance("bread")


def test_words_of_an_english_question_count_though_another_language_has_them_too():
    assert word_shares("die cast", ["Die cast", "Cast"])[1] < 1.0


def test_alternatives_do_not_lower_each_other_where_many_may_serve():
    crowd = [hit(0.6, "kelp census"), hit(0.6, "kelp list"), hit(0.59, "kelp")]
    chances = CONCERNS.confidences(features("kelp census", crowd))
    assert min(chances) > 0.65


def test_words_that_everything_found_has_count_for_less():
    found = [hit(0.5, "the kelp census"), hit(0.5, "the kelp"), hit(0.5, "kelp")]
    shares = features("kelp census", found)[:, 2]
    assert shares[0] == pytest.approx(1.0)
    assert 0.0 < shares[1] < 0.5


def test_what_hardly_answers_stays_unsure_though_the_person_states_what_is_asked():
    own = Verification(Status.VERIFIED, 1.0, by_person=True, answers=True)
    assert confidence(0.05, own) < 0.1
    assert confidence(0.6, own) > 0.8
    assert confidence(1.0, own) == 1.0
