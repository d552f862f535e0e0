"""Tools about learning from use and its effects: rewards, drives, knobs, balance."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from statistics import fmean, pvariance
from typing import Annotated

from fastmcp.tools import tool
from pydantic import BaseModel, ConfigDict, Field

from mcp_server.answers.learning import (
    DriftShape,
    DrivesAnswer,
    EmittedAnswer,
    HomeostaticAnswer,
    KnobShape,
    NeuromodulationAnswer,
    PenaltyShape,
    RewardBreakdown,
    RewardShape,
    ScoredAnswer,
    SteeringAnswer,
)
from mcp_server.middleware.client_identity import client_name
from mcp_server.runtime.learning_service import UNNAMED
from mcp_server.tools.arguments import ADDS, FULL, READS, SessionId
from mcp_server.tools.toolbox import Tools
from memvault.consolidation.modulation import RewardSignal, RewardType, prediction_error
from memvault.consolidation.steering import REASONS, advice_on, aggregate, reward_sums, role_scores
from memvault.model.memory import (
    DEFAULT_IMPORTANCE,
    MAX_CLIENT_VARIANCE,
    Stage,
    balanced_importance,
    importance_is_own,
)

MAX_PENALTIES = 10
MAX_DRIFTING = 10
CO_OCCURRING = 5  # latest memories of a session, which share an emitted reward

Lookback = Annotated[
    int,
    Field(ge=1, le=100, description="How many of the latest rewards to look at, without a window."),
]
Window = Annotated[
    float | None,
    Field(gt=0, le=24 * 366, description="Hours: look at all rewards of the last so many."),
]
OfSession = Annotated[
    str | None, Field(min_length=1, max_length=128, description="Only rewards of this session.")
]
Unit = Annotated[float, Field(ge=-1, le=1)]


class AffectiveSignal(BaseModel):
    model_config = ConfigDict(extra="forbid")

    actual_value: Unit = Field(description="How it went, from -1 to 1.")
    conflict: bool = Field(False, description="Whether memories contradicted each other.")


class EmittedReward(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: RewardType
    value: Unit


Signal = Annotated[AffectiveSignal, Field(description="What happened.")]
Emitted = Annotated[EmittedReward, Field(description="As affective_score_signal returns it.")]
Expected = Annotated[
    float | None, Field(ge=-1, le=1, description="Default: the mean of the session's rewards.")
]


class LearningTools(Tools):
    """Tools over `Learning` and `Modulation`."""

    @tool(annotations=READS, tags=FULL, title="Feedback on what you stored")
    def get_steering_feedback(
        self,
        lookback_count: Lookback = 10,
        window: Window = None,
        session_id: OfSession = None,
    ) -> SteeringAnswer:
        """Show how what you stored was rewarded or penalised, why, and what to do better.

        Rewards: others read your memories, the person verified or kept them, they were new and
        connected. Penalties: duplicates, undone changes, memories marked as wrong or passed over.
        """
        self._box.touch(session_id)
        container = self._box.container
        period = timedelta(hours=window) if window is not None else None
        all_rewards = container.learning.learnt.rewards(client_name() or UNNAMED, period)
        if session_id is not None:
            all_rewards = [reward for reward in all_rewards if reward.session == session_id]
        rewards = all_rewards[-lookback_count:] if period is None else all_rewards
        values = [reward.value for reward in rewards]
        gardener, curator, assessor = role_scores(rewards)
        return SteeringAnswer(
            cumulative_dopamine=sum(values),
            average_dopamine=fmean(values) if values else 0.0,
            rewards=len(values),
            reward_breakdown=RewardBreakdown(**reward_sums(rewards)),
            penalised=[
                PenaltyShape(
                    at=reward.at, kind=reward.kind, reward=reward.value, why=REASONS[reward.kind],
                    title=memory.title if (memory := container.memory_of(reward.memory)) else None,
                )
                for reward in reversed(rewards) if reward.value < 0.0 and reward.kind in REASONS
            ][:MAX_PENALTIES],
            gardener_score=gardener,
            curator_score=curator,
            assessor_score=assessor,
            aggregate_reward=aggregate((gardener, curator, assessor)),
            lifecycle_stage=Stage.of(len(container.live.catalogue)),
            behavioral_recommendations=advice_on(rewards),
            pulse=self._box.meter.of_vault(),
        )  # fmt: skip

    @tool(annotations=READS, tags=FULL, title="Score a signal")
    def affective_score_signal(
        self, signal: Signal, expected_value: Expected = None, session_id: SessionId = None
    ) -> ScoredAnswer:
        """Compute the reward prediction error of what happened: how much better or worse it went
        than expected. Nothing is stored; affective_emit_reward stores it."""
        session = self._box.touch(session_id)
        expected = expected_value
        if expected is None:
            expected = self._box.container.learning.modulation.expected(session.id)
        error = prediction_error(signal.actual_value, expected, conflict=signal.conflict)
        return ScoredAnswer(
            reward=RewardShape.of(error),
            expected_value=expected,
            pulse=self._box.meter.of_vault(),
        )

    @tool(annotations=READS, tags=FULL, title="Drives of a session")
    def affective_get_drive_state(self, session_id: SessionId = None) -> DrivesAnswer:
        """Show the session's drives: urgency, novelty and curiosity, each from 0 to 1. They begin
        at 0 and fade with every answer; questions that find nothing raise curiosity."""
        session = self._box.touch(session_id)
        drives = self._box.container.learning.modulation.drives(session.id)
        return DrivesAnswer.of(drives, active=drives.active(), pulse=self._box.meter.of_vault())

    @tool(annotations=ADDS, tags=FULL, title="Emit a reward")
    def affective_emit_reward(self, reward: Emitted, session_id: SessionId = None) -> EmittedAnswer:
        """Reward or penalise how the session went.

        A positive reward is shared among the memories that the session was shown last, which are
        then found a little better; what AI clients wrote gains nothing by it.
        """
        session = self._box.touch(session_id)
        signal = RewardSignal(reward.type, reward.value)
        stored_id, net, boosted = self._box.container.learning.emit(
            session.id, client_name(), signal, session.working_set[:CO_OCCURRING]
        )
        return EmittedAnswer(
            stored_id=stored_id, net_value=net, boosted=boosted, pulse=self._box.meter.of_vault()
        )

    @tool(annotations=READS, tags=FULL, title="What modulates search")
    def get_neuromodulation(self) -> NeuromodulationAnswer:
        """Show the four levels that follow answers and rewards, the knob of search or learning
        that each turns, its value now, and why. A level of 0.5 changes nothing."""
        knobs = self._box.container.learning.modulation.knobs()
        return NeuromodulationAnswer(
            **{knob.transmitter: knob.level for knob in knobs},
            knobs=[KnobShape.of(knob, knob=knob.name) for knob in knobs],
            pulse=self._box.meter.of_vault(),
        )

    @tool(annotations=READS, tags=FULL, title="Balance of importance")
    def homeostatic_status(self) -> HomeostaticAnswer:
        """Show how importance is distributed. What clients set drifts towards the setpoint, as it
        counts in search; notes are not changed, and what the person set stays."""
        now, memories = datetime.now(UTC), list(self._box.container.live.catalogue.all())
        counted = {memory.id: balanced_importance(memory, now) for memory in memories}
        set_by_clients = [memory for memory in memories if not importance_is_own(memory)]
        variance = _variance([counted[memory.id] for memory in set_by_clients])
        drifting = sorted(
            (m for m in set_by_clients if counted[m.id] != m.importance),
            key=lambda m: -abs(counted[m.id] - m.importance),
        )
        return HomeostaticAnswer(
            setpoint=DEFAULT_IMPORTANCE,
            importance_mean=fmean(counted.values()) if counted else DEFAULT_IMPORTANCE,
            importance_variance=_variance(list(counted.values())),
            set_by_clients=len(set_by_clients),
            clients_variance_before=_variance([memory.importance for memory in set_by_clients]),
            clients_variance=variance,
            balanced=variance < MAX_CLIENT_VARIANCE,
            drifting=[
                DriftShape.of(memory, counts_as=counted[memory.id])
                for memory in drifting[:MAX_DRIFTING]
            ],
            pulse=self._box.meter.of_vault(),
        )


def _variance(values: Sequence[float]) -> float:
    return pvariance(values) if values else 0.0
