"""What an edge has learnt from being travelled (core appendix A, *GraphEdge*)."""

from __future__ import annotations

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue

from memvault.model.domain import Domain, NeurotransmitterWeights

STEERING_DECAY = 0.9  # temporal credit assignment
REWARD_SHARE = 0.2  # of the weight, that a full reward adds or takes
SHORTCUT_TRAVERSALS = 5  # a shortcut is valuable that was travelled more often than this
SHORTCUT_REWARD = 0.3  # and rewarded with more than this


class EdgeLearning(BaseModel):
    """An edge that was never travelled has its domain's of `NEW_IN`.

    ``neurotransmitter_weights`` are those of the domain unless given. ``steering_reward`` lies in
    [-1, 1], ``confidence`` in [0, 1]. The times are unknown (None) until somebody sets them.
    """

    model_config = ConfigDict(frozen=True)

    domain: Domain = Domain.GENERAL
    neurotransmitter_weights: NeurotransmitterWeights = Field(
        default_factory=lambda given: NeurotransmitterWeights.for_domain(given["domain"])
    )
    created_at: AwareDatetime | None = None
    last_traversed: AwareDatetime | None = None
    traversal_count: int = Field(0, ge=0)
    is_amortized_shortcut: bool = False
    steering_reward: float = Field(0.0, ge=-1.0, le=1.0)
    confidence: float = Field(1.0, ge=0.0, le=1.0)
    metadata: dict[str, JsonValue] = Field(default_factory=dict)

    def steered(self, reward: float) -> EdgeLearning:
        """With the reward of a traversal: clamped to [-1, 1], then decayed."""
        kept = min(1.0, max(-1.0, reward)) * STEERING_DECAY
        return self.model_copy(update={"steering_reward": kept})

    def modulated(self, weight: float) -> float:
        """The edge's weight as it acts, in [0, 1]."""
        balance = 0.5 + 0.5 * self.neurotransmitter_weights.net_activation()
        acting = weight * balance * (1.0 + REWARD_SHARE * self.steering_reward)
        return min(1.0, max(0.0, acting))

    def is_valuable_shortcut(self) -> bool:
        return (
            self.is_amortized_shortcut
            and self.traversal_count > SHORTCUT_TRAVERSALS
            and self.steering_reward > SHORTCUT_REWARD
        )


UNLEARNT = EdgeLearning()
NEW_IN = {
    domain: UNLEARNT if domain is UNLEARNT.domain else EdgeLearning(domain=domain)
    for domain in Domain
}
"""What an edge of each domain begins with; shared by all such edges."""
