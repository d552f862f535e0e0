"""What the rewards of a client tell it: their sums, its scores, and what to do better."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from memvault.consolidation.rewards import OF_STORING, USES, Reward, SignalKind

TARGET = 0.2  # the average reward that the specification aims at
_THIRD = 1 / 3
_OF_USE = USES | {SignalKind.IGNORED, SignalKind.EMITTED}
_JUDGED = frozenset(
    {SignalKind.VERIFIED, SignalKind.KEPT, SignalKind.MERGED, SignalKind.CONTRADICTED,
     SignalKind.UNDONE}
)  # fmt: skip

REASONS = {
    SignalKind.IGNORED: "another memory of the same answer was read instead",
    SignalKind.CONTRADICTED: "the person marked it as wrong",
    SignalKind.UNDONE: "the change was undone",
    SignalKind.DUPLICATE: "nearly the same as a memory that was there",
    SignalKind.UNCONNECTED: "connected with nothing in the vault",
}
"""Why memories are penalised."""
_ADVICE = {
    SignalKind.DUPLICATE: "You store near-duplicates: call recall_memory before store_memory, and "
    "edit the memory that is there.",
    SignalKind.UNCONNECTED: "You store memories that are connected with nothing: name people, "
    "projects and notes by their titles, or use link_to.",
    SignalKind.CONTRADICTED: "The person marked some of your memories as wrong: ask before you "
    "store what you are not sure of.",
    SignalKind.UNDONE: "Your changes are undone: preview them, or ask the person first.",
    SignalKind.IGNORED: "Your memories are passed over: give them titles that say what is in them.",
}


def reward_sums(rewards: Sequence[Reward]) -> dict[str, float]:
    """Sums of rewards, by name; those named penalties are negative or 0."""

    def total(*kinds: SignalKind, positive: bool) -> float:
        of_kind = (reward.value for reward in rewards if reward.kind in kinds)
        return sum(value for value in of_kind if (value > 0.0) is positive)

    return {
        "novelty_rewards": total(SignalKind.NOVEL, positive=True),
        "coherence_rewards": total(SignalKind.COHERENT, positive=True),
        "use_rewards": total(*USES, positive=True),
        "judgement_rewards": total(*_JUDGED, positive=True),
        "duplication_penalties": total(SignalKind.DUPLICATE, positive=False),
        "low_priors_penalties": total(SignalKind.UNCONNECTED, positive=False),
        "ignored_penalties": total(SignalKind.IGNORED, positive=False),
        "judgement_penalties": total(*_JUDGED, positive=False),
    }


def role_scores(rewards: Sequence[Reward]) -> tuple[float | None, float | None, float | None]:
    """Mean rewards of use, of storing, and of the person's judgement; None for those without
    any."""
    of_use = [reward.value for reward in rewards if reward.kind in _OF_USE]
    of_storing = [reward.value for reward in rewards if reward.kind in OF_STORING]
    of_judgement = [reward.value for reward in rewards if reward.kind not in _OF_USE | OF_STORING]
    return _mean(of_use), _mean(of_storing), _mean(of_judgement)


def aggregate(scores: Iterable[float | None]) -> float:
    """The aggregate reward: a third of each role's score; a role without rewards counts as 0."""
    return sum(score * _THIRD for score in scores if score)


def advice_on(rewards: Sequence[Reward]) -> list[str]:
    """Advice for the client, the greatest loss first."""
    losses = {
        kind: sum(reward.value for reward in rewards if reward.kind is kind and reward.value < 0.0)
        for kind in _ADVICE
    }
    advice = [
        _ADVICE[kind] for kind in sorted(losses, key=lambda kind: losses[kind]) if losses[kind]
    ]
    if advice:
        return advice
    if not rewards:
        return ["Nothing was rewarded or penalised yet."]
    if fmean(reward.value for reward in rewards) >= TARGET:
        return ["Go on: what you store is used and kept."]
    return ["What you store is used little: store decisions and facts that will be asked for."]


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
