"""Plans which tools to call, in which order, to reach a goal (graph-tools, *reflect_on_memory*).

The order follows from the goal's words and from the state of the memories recalled for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from typing import Any

from memvault.model.state import HIGH_ENTROPY, LOW_COHERENCE, CognitivePulse
from memvault.reasoning.goals import Goal, NamedEntity, Need

RECENT = timedelta(days=7)
MIN_RELATED = 2  # entities named in a goal that is about their relation
MAX_PREFERENCES = 5  # to recall
MAX_NAMES = 3  # in the reasoning
MIN_REASONING_CHARS = 20  # shortest text that critique_context accepts
_BACKWARD = re.compile(r"\b(?:why|because|causes?|caused|reasons?|root|led to|blocks?)\b", re.I)
_FORWARD = re.compile(r"\b(?:effects?|consequences?|impact|results?|depends?)\b", re.I)


class Trigger(StrEnum):
    HIGH_ENTROPY = "high_entropy"
    LOW_COHERENCE = "low_coherence"
    BALANCED = "balanced"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call, valid as written."""

    tool: str
    params: Mapping[str, Any]
    rationale: str


@dataclass(frozen=True, slots=True)
class ToolPlan:
    reasoning: str
    steps: tuple[ToolCall, ...]
    triggered_by: Trigger


def trigger_of(pulse: CognitivePulse) -> Trigger:
    """The most notable feature in the state of the memories recalled for a goal."""
    if pulse.entropy > HIGH_ENTROPY:
        return Trigger.HIGH_ENTROPY
    return Trigger.LOW_COHERENCE if pulse.coherence < LOW_COHERENCE else Trigger.BALANCED


def plan(
    goal: Goal,
    pulse: CognitivePulse,
    recalled: Sequence[NamedEntity],
    *,
    tools: Collection[str],
    max_steps: int,
    now: datetime,
) -> ToolPlan:
    """At most ``max_steps`` calls: preparatory calls first, then the one that answers.

    Args:
        pulse: the pulse of a quick recall for the goal.
        recalled: the memories of that recall, best first.
        tools: names of the tools that the client can call.
    """
    trigger = trigger_of(pulse)
    preparing = [s for s in _preparing_steps(goal, trigger, recalled, now) if s.tool in tools]
    answering = _answering_step(goal, trigger, tools)
    if max_steps == 1 and preparing and preparing[0].tool in _ANSWERS_ALONE and not goal.entities:
        steps = preparing[:1]
    else:
        steps = [*preparing[: max_steps - 1], answering]
    return ToolPlan(_reasoning(goal, pulse, trigger, recalled, steps), tuple(steps), trigger)


_ANSWERS_ALONE = ("get_graph_manifest", "get_recent_context", "get_memetic_status")


def _preparing_steps(
    goal: Goal, trigger: Trigger, recalled: Sequence[NamedEntity], now: datetime
) -> Iterator[ToolCall]:
    """Calls that prepare the answering call, most helpful first."""
    scope = _scope(goal)
    if Need.OVERVIEW in goal.needs or not recalled:
        yield ToolCall("get_graph_manifest", {}, "See what the memory holds before asking it")
    if Need.UPKEEP in goal.needs:
        yield ToolCall("get_memetic_status", {}, "It lists what a person may want to correct")
    if Need.RECENT in goal.needs:
        params = {"since": _since(goal, now), **scope}
        yield ToolCall("get_recent_context", params, "The goal is about what happened lately")
    if trigger is Trigger.HIGH_ENTROPY:
        yield ToolCall(
            "generate_search_plan",
            {"query": goal.text, **scope},
            "What was found lies far apart: narrower questions reduce the uncertainty first",
        )
    if Need.PREFERENCE in goal.needs:
        params = {
            "query": goal.text,
            "top_k": MAX_PREFERENCES,
            "filters": {"types": ["preference"]},
        }
        yield ToolCall("recall_memory", params, "How the person likes it is kept as preferences")
    if Need.CHANCE in goal.needs:
        params = {"query": goal.text, **scope}
        yield ToolCall("probabilistic_query", params, "The goal asks how likely something is")
    if Need.CHECK in goal.needs and len(goal.text) >= MIN_REASONING_CHARS:
        params = {"reasoning_summary": goal.text}
        yield ToolCall("critique_context", params, "Find what speaks against what the goal states")
    yield from _graph_steps(goal, trigger, recalled)


def _graph_steps(
    goal: Goal, trigger: Trigger, recalled: Sequence[NamedEntity]
) -> Iterator[ToolCall]:
    """Calls that follow the graph from what the goal names."""
    scope = _scope(goal)
    if Need.CAUSE in goal.needs and goal.entities:
        params = {"action": goal.entities[0].id, "direction": _direction(goal.text)}
        yield ToolCall(
            "query_causal",
            params,
            f"Follow the causes and effects that notes state of {goal.entities[0].name}",
        )
    if Need.RELATION in goal.needs or Need.CAUSE in goal.needs or len(goal.entities) >= MIN_RELATED:
        why = (
            "Causes are stated as relations: follow them from what the goal names"
            if Need.CAUSE in goal.needs
            else "The goal is about how things are related: follow the relations"
        )
        yield ToolCall("graph_query", {"query": goal.text, **scope}, why)
    if trigger is Trigger.LOW_COHERENCE or len(goal.entities) == 1:
        for entity in (*goal.entities, *recalled)[:1]:
            yield ToolCall(
                "get_neighborhood",
                {"node_id": entity.id, "hops": 2, **scope},
                f"See what {entity.name} is linked with: what was found is loosely connected"
                if trigger is Trigger.LOW_COHERENCE
                else f"The goal names {entity.name}: see what it is linked with",
            )


def _direction(text: str) -> str:
    """The direction for query_causal: causes, effects or both."""
    backward, forward = _BACKWARD.search(text), _FORWARD.search(text)
    if (backward is None) == (forward is None):
        return "both"
    return "causes" if backward else "effects"


def _answering_step(goal: Goal, trigger: Trigger, tools: Collection[str]) -> ToolCall:
    """The call that answers the goal."""
    aspects = [
        aspect
        for aspect, is_needed in (
            ("causal_links", Need.CAUSE in goal.needs),
            ("conflicts", Need.CONFLICT in goal.needs or trigger is Trigger.LOW_COHERENCE),
            ("neighborhood", Need.RELATION in goal.needs),
        )
        if is_needed
    ]
    why = "Gather what the notes say, with their sources"
    if aspects:
        why += ", and " + " and ".join(aspect.replace("_", " ") for aspect in aspects)
    params: dict[str, Any] = {"query": goal.text, **_scope(goal)}
    if "inject_context" not in tools:
        if aspects:
            params["verbosity_level"] = 2
        return ToolCall("recall_memory", params, why)
    if aspects:
        params["include_metadata"] = aspects
    if Need.CODE in goal.needs:
        params["distillation_mode"] = "code_focused"
        why += ", code first"
    return ToolCall("inject_context", params, why)


def _scope(goal: Goal) -> dict[str, Any]:
    return {"project": goal.project} if goal.project else {}


def _since(goal: Goal, now: datetime) -> str:
    start = now - RECENT
    if goal.span is not None:
        start = min(now, datetime.combine(goal.span.first, time(), UTC))
    return start.replace(microsecond=0).isoformat()


def _reasoning(
    goal: Goal,
    pulse: CognitivePulse,
    trigger: Trigger,
    recalled: Sequence[NamedEntity],
    steps: Sequence[ToolCall],
) -> str:
    state = {
        Trigger.HIGH_ENTROPY: f"High entropy ({pulse.entropy:.2f}): what was found for the goal"
        " lies far apart.",
        Trigger.LOW_COHERENCE: f"Low coherence ({pulse.coherence:.2f}): what was found for the goal"
        " is loosely connected.",
        Trigger.BALANCED: f"Balanced (entropy {pulse.entropy:.2f}, coherence"
        f" {pulse.coherence:.2f}): the memory can answer directly.",
    }[trigger]
    if not recalled:
        state = "Nothing was found for the goal."
    sentences = [state]
    if goal.entities:
        sentences.append(
            "It names " + ", ".join(entity.name for entity in goal.entities[:MAX_NAMES]) + "."
        )
    if goal.needs:
        sentences.append("It asks for " + ", ".join(sorted(goal.needs)) + ".")
    sentences.append("So: " + ", then ".join(step.tool for step in steps) + ".")
    return " ".join(sentences)
