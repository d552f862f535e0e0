"""Answers, rewards and drives turn the knobs of search, within their ranges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.consolidation.modulation import (
    DriveState,
    Modulation,
    RewardSignal,
    RewardType,
    combined,
    prediction_error,
)
from memvault.model.search import Mode, Tuning
from memvault.search.modes import PLANS


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def modulation(clock: Clock) -> Modulation:
    return Modulation(clock)


SIGNALS = st.builds(RewardSignal, st.sampled_from(RewardType), st.floats(-1, 1))


def test_at_rest_search_is_as_it_is_without_modulation(modulation: Modulation) -> None:
    assert modulation.tuning() == Tuning()
    assert modulation.learning_rate() == 1.0
    assert [plan.tuned(Tuning()) for plan in PLANS.values()] == list(PLANS.values())


def test_a_reward_moves_dopamine_by_a_fifth_and_search_explores_less(
    modulation: Modulation,
) -> None:
    modulation.rewarded("one", RewardSignal(RewardType.REWARD, 1.0))
    assert modulation.levels()["dopamine"] == pytest.approx(0.7)
    assert modulation.tuning().diversity == pytest.approx(-0.04)
    planning = PLANS[Mode.PLANNING].tuned(modulation.tuning())
    assert planning.diversity == pytest.approx(0.66)


def test_questions_that_find_nothing_raise_curiosity_and_depth(modulation: Modulation) -> None:
    for _ in range(12):
        modulation.answered("one", 0.0, found=0)
    assert modulation.drives("one").curiosity == 1.0
    assert modulation.tuning().seeds > Tuning().seeds
    assert modulation.drives("two") == DriveState()


def test_entropy_beyond_the_usual_and_urgency_raise_the_threshold(modulation: Modulation) -> None:
    for _ in range(5):
        modulation.answered("one", 0.4, found=5)
    assert modulation.tuning().threshold == pytest.approx(0.0)
    modulation.answered("one", 0.9, found=5)
    varied = modulation.tuning().threshold
    for _ in range(3):
        modulation.rewarded("one", RewardSignal(RewardType.URGENCY, 1.0))
    modulation.answered("one", 0.4, found=5)
    assert modulation.tuning().threshold > varied > 0.0


def test_levels_return_to_rest(modulation: Modulation, clock: Clock) -> None:
    modulation.rewarded("one", RewardSignal(RewardType.REWARD, 1.0))
    clock.now += 600.0
    assert modulation.levels()["dopamine"] == pytest.approx(0.6)
    clock.now += 100_000.0
    assert modulation.tuning() == Tuning()


@given(st.lists(st.one_of(SIGNALS, st.tuples(st.floats(0, 1), st.integers(0, 20))), max_size=60))
def test_no_history_turns_a_knob_beyond_its_range(events: list[object]) -> None:
    modulation = Modulation(Clock())
    for event in events:
        if isinstance(event, RewardSignal):
            assert -1.0 <= modulation.rewarded("one", event) <= 1.0
        else:
            entropy, found = event  # type: ignore[misc]
            modulation.answered("one", entropy, found)
        assert all(0.0 <= level <= 1.0 for level in modulation.levels().values())
        assert all(knob.least <= knob.value <= knob.most for knob in modulation.knobs())
        assert 2 <= modulation.tuning().seeds <= 8


@pytest.mark.parametrize(
    ("actual", "expected", "conflict", "type_", "value"),
    [
        (0.8, 0.3, False, RewardType.REWARD, 0.5),
        (0.8, 0.0, False, RewardType.NOVELTY, 0.8),
        (-0.5, 0.5, False, RewardType.PENALTY, -1.0),
        (0.2, 0.5, True, RewardType.FRUSTRATION, -0.3),
        (0.5, 0.5, False, RewardType.NEUTRAL, 0.0),
        (1.0, -1.0, False, RewardType.REWARD, 1.0),
    ],
)
def test_the_error_of_an_expectation_is_the_reward(
    actual: float, expected: float, conflict: bool, type_: RewardType, value: float
) -> None:
    found = prediction_error(actual, expected, conflict=conflict)
    assert (found.type, found.value) == (type_, pytest.approx(value))


def test_opposing_signals_cancel_and_like_ones_stay_bounded() -> None:
    reward, penalty = RewardSignal(RewardType.REWARD, 1.0), RewardSignal(RewardType.PENALTY, -1.0)
    assert combined([reward, penalty]) == 0.0
    assert combined([reward] * 5) == 1.0
    assert combined([RewardSignal(RewardType.FRUSTRATION, -0.3)]) == -0.3


def test_drives_fade_with_every_turn(modulation: Modulation) -> None:
    modulation.rewarded("one", RewardSignal(RewardType.NOVELTY, 1.0))
    modulation.answered("one", 0.5, found=3)
    assert modulation.drives("one").novelty == pytest.approx(0.15)
