"""Answers about what is learnt: rewards, drives, and what they change in search."""

from __future__ import annotations

from mcp_server.answers.base import Answer, Moment, Rounded, Shape, optional
from memvault.consolidation.modulation import RewardType
from memvault.consolidation.rewards import SignalKind
from memvault.model.memory import Stage


class RewardBreakdown(Shape):
    """Sums of rewards; those named penalties are negative or 0."""

    novelty_rewards: Rounded
    coherence_rewards: Rounded
    use_rewards: Rounded
    judgement_rewards: Rounded
    duplication_penalties: Rounded
    low_priors_penalties: Rounded
    ignored_penalties: Rounded
    judgement_penalties: Rounded


class PenaltyShape(Shape):
    """What was penalised; ``title`` is left out if the memory is gone."""

    at: Moment
    kind: SignalKind
    reward: Rounded
    why: str
    title: str | None = optional()


class SteeringAnswer(Answer):
    """``gardener_score``: how what this client stored is used; ``curator_score``: how it fits what
    was known; ``assessor_score``: how the person judged it. Each is a mean reward, left out without
    any; ``aggregate_reward`` is their sum, each weighing a third."""

    cumulative_dopamine: Rounded
    average_dopamine: Rounded
    rewards: int
    reward_breakdown: RewardBreakdown
    penalised: list[PenaltyShape]
    gardener_score: Rounded | None = optional()
    curator_score: Rounded | None = optional()
    assessor_score: Rounded | None = optional()
    aggregate_reward: Rounded
    lifecycle_stage: Stage
    behavioral_recommendations: list[str]


class RewardShape(Shape):
    type: RewardType
    value: Rounded


class ScoredAnswer(Answer):
    """The reward prediction error of a signal."""

    reward: RewardShape
    expected_value: Rounded


class DrivesAnswer(Answer):
    """Each drive in [0, 1]; ``active`` are those above their thresholds."""

    urgency: Rounded
    novelty: Rounded
    curiosity: Rounded
    active: list[str]


class EmittedAnswer(Answer):
    """``net_value``: what the session's signals of this turn add up to. ``boosted``: ids of the
    memories that were given a share of it."""

    stored_id: str
    net_value: Rounded
    boosted: list[str]


class KnobShape(Shape):
    """``level`` of the transmitter in [0, 1], and the knob that it turns: ``value`` now, between
    ``least`` and ``most``, and why it has this value."""

    transmitter: str
    level: Rounded
    knob: str
    value: Rounded
    least: float
    most: float
    why: str


class NeuromodulationAnswer(Answer):
    dopamine: Rounded
    serotonin: Rounded
    noradrenaline: Rounded
    acetylcholine: Rounded
    knobs: list[KnobShape]


class DriftShape(Shape):
    """A memory whose importance a client set: as the note says it, and as it counts now."""

    id: str
    title: str
    importance: Rounded
    counts_as: Rounded


class HomeostaticAnswer(Answer):
    """Means and variances of importance: of all memories as they count, and of those only whose
    importance clients set, as their notes say it and as they count."""

    setpoint: float
    importance_mean: Rounded
    importance_variance: Rounded
    set_by_clients: int
    clients_variance_before: Rounded
    clients_variance: Rounded
    balanced: bool
    drifting: list[DriftShape]
