"""Which tools to call, in which order, to reach a goal: by what the goal asks for and by the state
of what the memory knows of it (graph-tools, *reflect_on_memory*)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from typing import Any

from memvault.model.pulse import CognitivePulse
from memvault.reasoning.goal import Goal, Named, Wish

HIGH_ENTROPY = 0.7  # as in `memvault.model.pulse.suggest_action`
LOW_COHERENCE = 0.4
LATELY = timedelta(days=7)
SEVERAL = 2  # things named in a goal: how they are related is part of it
SHOWN = 3  # names in the reasoning


class Trigger(StrEnum):
    HIGH_ENTROPY = "high_entropy"
    LOW_COHERENCE = "low_coherence"
    BALANCED = "balanced"


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a tool; it succeeds as it stands."""

    tool: str
    params: Mapping[str, Any]
    rationale: str


@dataclass(frozen=True, slots=True)
class Plan:
    reasoning: str
    steps: tuple[Step, ...]
    triggered_by: Trigger


def trigger_of(pulse: CognitivePulse) -> Trigger:
    """What stands out in the state of what was recalled for a goal."""
    if pulse.entropy > HIGH_ENTROPY:
        return Trigger.HIGH_ENTROPY
    return Trigger.LOW_COHERENCE if pulse.coherence < LOW_COHERENCE else Trigger.BALANCED


def plan(
    goal: Goal,
    pulse: CognitivePulse,
    found: Sequence[Named],
    *,
    tools: Collection[str],
    max_steps: int,
    now: datetime,
) -> Plan:
    """At most so many calls: what prepares the question first, then the one that answers it.

    Args:
        pulse: of what a quick recall of the goal found.
        found: what it found, best first.
        tools: the names of those that can be called.
    """
    trigger = trigger_of(pulse)
    probes = [s for s in _probes(goal, trigger, found, now) if s.tool in tools]
    last = _answering(goal, trigger, tools)
    if max_steps == 1 and probes and probes[0].tool in _ANSWERS_ALONE and not goal.named:
        steps = probes[:1]
    else:
        steps = [*probes[: max_steps - 1], last]
    return Plan(_reasoning(goal, pulse, trigger, found, steps), tuple(steps), trigger)


_ANSWERS_ALONE = ("get_graph_manifest", "get_recent_context", "get_memetic_status")


def _probes(goal: Goal, trigger: Trigger, found: Sequence[Named], now: datetime) -> Iterator[Step]:
    """What would help before the answering call, the most helpful first."""
    scope = _scope(goal)
    if Wish.OVERVIEW in goal.wishes or not found:
        yield Step("get_graph_manifest", {}, "See what the memory holds before asking it")
    if Wish.UPKEEP in goal.wishes:
        yield Step("get_memetic_status", {}, "It lists what a person may want to put right")
    if Wish.RECENT in goal.wishes:
        params = {"since": _since(goal, now), **scope}
        yield Step("get_recent_context", params, "The goal is about what happened lately")
    if trigger is Trigger.HIGH_ENTROPY:
        yield Step(
            "generate_search_plan",
            {"query": goal.text, **scope},
            "What was found lies far apart: narrower questions reduce the uncertainty first",
        )
    if Wish.PREFERENCE in goal.wishes:
        params = {"query": goal.text, "top_k": 5, "filters": {"types": ["preference"]}}
        yield Step("recall_memory", params, "How the person likes it is kept as preferences")
    if Wish.RELATION in goal.wishes or Wish.CAUSE in goal.wishes or len(goal.named) >= SEVERAL:
        why = (
            "Causes are stated as relations: follow them from what the goal names"
            if Wish.CAUSE in goal.wishes
            else "The goal is about how things are related: follow the relations"
        )
        yield Step("graph_query", {"query": goal.text, **scope}, why)
    if trigger is Trigger.LOW_COHERENCE or len(goal.named) == 1:
        for each in (*goal.named, *found)[:1]:
            params = {"node_id": each.id, "hops": 2, **scope}
            yield Step(
                "get_neighborhood",
                params,
                f"See what {each.name} is linked with: what was found hangs together badly"
                if trigger is Trigger.LOW_COHERENCE
                else f"The goal names {each.name}: see what it is linked with",
            )


def _answering(goal: Goal, trigger: Trigger, tools: Collection[str]) -> Step:
    """The call that gathers the answer."""
    told = [
        aspect
        for aspect, wanted in (
            ("causal_links", Wish.CAUSE in goal.wishes),
            ("conflicts", Wish.CONFLICT in goal.wishes or trigger is Trigger.LOW_COHERENCE),
            ("neighborhood", Wish.RELATION in goal.wishes),
        )
        if wanted
    ]
    why = "Gather what the notes say, with their sources"
    if told:
        why += ", and " + " and ".join(aspect.replace("_", " ") for aspect in told)
    params: dict[str, Any] = {"query": goal.text, **_scope(goal)}
    if "inject_context" not in tools:
        if told:
            params["verbosity_level"] = 2
        return Step("recall_memory", params, why)
    if told:
        params["include_metadata"] = told
    if Wish.CODE in goal.wishes:
        params["distillation_mode"] = "code_focused"
        why += ", code first"
    return Step("inject_context", params, why)


def _scope(goal: Goal) -> dict[str, Any]:
    return {"project": goal.project} if goal.project else {}


def _since(goal: Goal, now: datetime) -> str:
    start = now - LATELY
    if goal.span is not None:
        start = min(now, datetime.combine(goal.span.first, time(), UTC))
    return start.replace(microsecond=0).isoformat()


def _reasoning(
    goal: Goal,
    pulse: CognitivePulse,
    trigger: Trigger,
    found: Sequence[Named],
    steps: Sequence[Step],
) -> str:
    state = {
        Trigger.HIGH_ENTROPY: f"High entropy ({pulse.entropy:.2f}): what was found for the goal"
        " lies far apart.",
        Trigger.LOW_COHERENCE: f"Low coherence ({pulse.coherence:.2f}): what was found for the goal"
        " hangs together badly.",
        Trigger.BALANCED: f"Balanced (entropy {pulse.entropy:.2f}, coherence"
        f" {pulse.coherence:.2f}): the memory can answer directly.",
    }[trigger]
    if not found:
        state = "Nothing was found for the goal."
    said = [state]
    if goal.named:
        said.append("It names " + ", ".join(each.name for each in goal.named[:SHOWN]) + ".")
    if goal.wishes:
        said.append("It asks for " + ", ".join(sorted(goal.wishes)) + ".")
    said.append("So: " + ", then ".join(step.tool for step in steps) + ".")
    return " ".join(said)
