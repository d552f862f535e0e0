"""Plans which tools to call, in which order, to reach a goal (graph-tools, *reflect_on_memory*).

The order follows from the goal's words and from the state of the memories recalled for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from typing import Any

from memvault.model.graph import NodeKind
from memvault.model.memory import Memory
from memvault.model.state import HIGH_ENTROPY, LOW_COHERENCE, CognitivePulse
from memvault.search.time_expressions import cut_times
from memvault.search.time_spans import Calendar, Span
from memvault.text.mentions import Mention
from memvault.text.name_matcher import NameMatcher
from memvault.text.words import composed, some_words


class Need(StrEnum):
    """A kind of answer that a goal asks for."""

    CAUSE = "cause"
    CONFLICT = "conflict"
    RELATION = "relation"
    RECENT = "recent"
    OVERVIEW = "overview"
    CODE = "code"
    PREFERENCE = "preference"
    UPKEEP = "upkeep"
    CHANCE = "chance"
    CHECK = "check"


_CUES = {
    Need.CAUSE: r"why|because|caus(?:e|es|ed|al)|effects?|consequences?|led to|leads? to|reasons?"
    r"|depends?|dependenc(?:y|ies)|block(?:s|ed|ers?|ing)?|impact|result(?:s|ed)? in|root",
    Need.CONFLICT: r"contradict\w*|conflict\w*|inconsisten\w*|disagree\w*|supersed\w*|outdated"
    r"|changed (?:our|my|their|his|her) minds?|still (?:true|valid|current)",
    Need.RELATION: r"connect\w*|relation(?:s|ships?)?|relat(?:ed|es)|link(?:s|ed)?|between|knows"
    r"|(?:who|which|whose|where)\b.{0,60}\b(?:of|that|who|whose)",
    Need.RECENT: r"recent(?:ly)?|lately|latest|today|yesterday|this week|last week|catch (?:me )?up"
    r"|left off|what(?:'s| is) new|what changed",
    Need.OVERVIEW: r"overview|what (?:do you|can you|does (?:it|this|the memory)) know|everything"
    r"|what(?:'s| is) in (?:my|the|this) (?:memory|vault|notes)|my (?:memory|vault|notes) about"
    r"|discover|explore|might have missed|get to know",
    Need.CODE: r"code|snippets?|functions?|scripts?|implement(?:ed|ation|ing)?"
    r"|api|regex|sql|command",
    Need.PREFERENCE: r"prefer(?:s|red|ences?)?|likes? (?:it|things|me|my)|style|tone"
    r"|formatt?(?:ing|ed)?",
    Need.CHANCE: r"how (?:likely|probable|sure|certain)|probab\w*|likelihood|chances?|odds|risks?"
    r"|what if|what (?:happens|would happen) if|suppose",
    Need.CHECK: r"check|verif(?:y|ied)|fact-?check\w*|critiqu\w*|criticise|am i right"
    r"|(?:is|are) (?:it|this|that|these|those) (?:true|right|correct)|accurate\w*",
    Need.UPKEEP: r"duplicates?|clean(?: |-)?up|tidy|orphan\w*|stale|broken links?|curat\w*|health",
}
_WISHES = {wish: re.compile(rf"\b(?:{cue})\b", re.IGNORECASE) for wish, cue in _CUES.items()}
_CLAUSES = re.compile(
    r"(?<=[?;])\s+|\s*\n[\s*\d.)-]*"
    r"|,?\s+(?:and|then|also|but)\s+(?=(?:who|whom|whose|what|when|where|why|how|which|did|does|do"
    r"|is|are|was|were)\b)",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|this|these|those|that)\b", re.IGNORECASE
)
_BACKWARD = re.compile(r"\b(?:why|because|causes?|caused|reasons?|root|led to|blocks?)\b", re.I)
_FORWARD = re.compile(r"\b(?:effects?|consequences?|impact|results?|depends?)\b", re.I)
SHORTEST_CLAUSE = 2  # words
SHORTEST_REASONING = 20  # characters that critique_context reads


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity that a goal names, with the vault's own name for it."""

    name: str
    id: str
    kind: str
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class Goal:
    """A parsed goal.

    Attributes:
        resolved_text: the text with the vault's own names.
        types: the note types that it asks for.
        clauses: its questions, if it has several; each can be understood alone.
    """

    text: str
    resolved_text: str
    named: tuple[NamedEntity, ...] = ()
    wishes: frozenset[Need] = frozenset()
    project: str | None = None
    types: tuple[str, ...] = ()
    span: Span | None = None
    clauses: tuple[Goal, ...] = ()


class GoalReader:
    """Parses goals with the names, types and projects of one vault.

    Args:
        names: the names of the vault.
        by_id: gives the memory of a node's id.
        in_project: whether any memory belongs to a project.
        types: gives the types of the notes.
        project: the project to search in, even if the goal names another.
    """

    def __init__(
        self,
        names: NameMatcher,
        by_id: Callable[[str], Memory | None],
        in_project: Callable[[str], bool],
        types: Callable[[], Iterable[str]],
        project: str | None = None,
    ) -> None:
        self._names = names
        self._by_id = by_id
        self._in_project = in_project
        self._types = types
        self._asked_within = project

    def read(self, text: str, today: Calendar) -> Goal:
        """Parse a goal; relative dates count from today."""
        text = composed(text.strip())
        whole = self._one_question(text, today)
        clauses = [self._one_question(part, today) for part in self._clauses(text)]
        if self._asked_within or whole.project is None:
            return replace(whole, clauses=tuple(clauses))
        within = [replace(each, project=each.project or whole.project) for each in clauses]
        return replace(whole, clauses=tuple(within))

    def _one_question(self, text: str, today: Calendar) -> Goal:
        named = self._named(text)
        _, cuts = cut_times(text, today)
        return Goal(
            text=text,
            resolved_text=self._in_own_names(text),
            named=named,
            wishes=frozenset(wish for wish, cue in _WISHES.items() if cue.search(text)),
            project=self._asked_within or next(filter(None, map(self._project, named)), None),
            types=self._types_in(text, named),
            span=cuts[0].span if cuts else None,
        )

    def _named(self, text: str) -> tuple[NamedEntity, ...]:
        found: dict[str, NamedEntity] = {}
        for mention in self._names.find(text, question=True):
            found.setdefault(mention.name.target, self._one(mention))
        return tuple(found.values())

    def _one(self, mention: Mention) -> NamedEntity:
        target = mention.name.target
        memory = self._by_id(target)
        spelled = memory.title if memory else self._names.spelling(target) or mention.name.text
        return NamedEntity(spelled, target, mention.name.kind, memory)

    def _project(self, named: NamedEntity) -> str | None:
        """The project of a named entity, if the project has memories."""
        if named.kind != NodeKind.PROJECT:
            return None
        project = named.memory.project if named.memory is not None else named.name
        return project if project and self._in_project(project) else None

    def _types_in(self, text: str, named: Iterable[NamedEntity]) -> tuple[str, ...]:
        said = set(some_words(text.lower()))
        own = {NodeKind.NOTE, *(each.kind for each in named)}  # "the project Aurora" is one name
        return tuple(
            kind
            for kind in sorted(set(self._types()))
            if kind not in own and {kind.lower(), kind.lower() + "s"} & said
        )

    def _clauses(self, text: str) -> Iterator[str]:
        """The single questions, with the names that their pronouns mean; empty if there is one."""
        parts = [part.strip(" ,;") for part in _CLAUSES.split(text)]
        parts = [part for part in parts if len(some_words(part)) >= SHORTEST_CLAUSE]
        if len(parts) < 2:
            return
        subjects: tuple[NamedEntity, ...] = ()
        for part in parts:
            own = self._named(part)
            points = not own and subjects and _POINTING.search(part)
            pointed = ", ".join(each.name for each in subjects)
            yield f"{part.rstrip('?')} ({pointed})" if points else part
            subjects = own or subjects

    def _in_own_names(self, text: str) -> str:
        """The text with aliases and given names replaced by the vault's own names."""
        pieces, position = [], 0
        for mention in self._names.find(text, question=True):
            meant = self._one(mention)
            typed = text[mention.start : mention.end]
            if meant.name.casefold() in text.casefold():
                continue
            if not _words(typed) <= _words(meant.name):  # an alias
                pieces += [text[position : mention.end], f" ({meant.name})"]
                position = mention.end
            elif meant.kind == NodeKind.PERSON:  # a given name
                pieces += [text[position : mention.start], meant.name]
                position = mention.end
        return "".join((*pieces, text[position:]))


def _words(name: str) -> set[str]:
    return set(some_words(name.lower()))


LATELY = timedelta(days=7)
SEVERAL = 2  # named entities from which their relation is part of the goal
SHOWN = 3  # most names in the reasoning


class Trigger(StrEnum):
    HIGH_ENTROPY = "high_entropy"
    LOW_COHERENCE = "low_coherence"
    BALANCED = "balanced"


@dataclass(frozen=True, slots=True)
class Step:
    """One tool call, valid as written."""

    tool: str
    params: Mapping[str, Any]
    rationale: str


@dataclass(frozen=True, slots=True)
class Plan:
    reasoning: str
    steps: tuple[Step, ...]
    triggered_by: Trigger


def trigger_of(pulse: CognitivePulse) -> Trigger:
    """The most notable feature in the state of the memories recalled for a goal."""
    if pulse.entropy > HIGH_ENTROPY:
        return Trigger.HIGH_ENTROPY
    return Trigger.LOW_COHERENCE if pulse.coherence < LOW_COHERENCE else Trigger.BALANCED


def plan(
    goal: Goal,
    pulse: CognitivePulse,
    found: Sequence[NamedEntity],
    *,
    tools: Collection[str],
    max_steps: int,
    now: datetime,
) -> Plan:
    """At most ``max_steps`` calls: preparatory calls first, then the one that answers.

    Args:
        pulse: the pulse of a quick recall for the goal.
        found: the memories of that recall, best first.
        tools: names of the tools that the client can call.
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


def _probes(
    goal: Goal, trigger: Trigger, found: Sequence[NamedEntity], now: datetime
) -> Iterator[Step]:
    """Calls that prepare the answering call, most helpful first."""
    scope = _scope(goal)
    if Need.OVERVIEW in goal.wishes or not found:
        yield Step("get_graph_manifest", {}, "See what the memory holds before asking it")
    if Need.UPKEEP in goal.wishes:
        yield Step("get_memetic_status", {}, "It lists what a person may want to correct")
    if Need.RECENT in goal.wishes:
        params = {"since": _since(goal, now), **scope}
        yield Step("get_recent_context", params, "The goal is about what happened lately")
    if trigger is Trigger.HIGH_ENTROPY:
        yield Step(
            "generate_search_plan",
            {"query": goal.text, **scope},
            "What was found lies far apart: narrower questions reduce the uncertainty first",
        )
    if Need.PREFERENCE in goal.wishes:
        params = {"query": goal.text, "top_k": 5, "filters": {"types": ["preference"]}}
        yield Step("recall_memory", params, "How the person likes it is kept as preferences")
    if Need.CHANCE in goal.wishes:
        params = {"query": goal.text, **scope}
        yield Step("probabilistic_query", params, "The goal asks how likely something is")
    if Need.CHECK in goal.wishes and len(goal.text) >= SHORTEST_REASONING:
        params = {"reasoning_summary": goal.text}
        yield Step("critique_context", params, "Find what speaks against what the goal states")
    if Need.CAUSE in goal.wishes and goal.named:
        params = {"action": goal.named[0].id, "direction": _direction(goal.text)}
        yield Step(
            "query_causal",
            params,
            f"Follow the causes and effects that notes state of {goal.named[0].name}",
        )
    if Need.RELATION in goal.wishes or Need.CAUSE in goal.wishes or len(goal.named) >= SEVERAL:
        why = (
            "Causes are stated as relations: follow them from what the goal names"
            if Need.CAUSE in goal.wishes
            else "The goal is about how things are related: follow the relations"
        )
        yield Step("graph_query", {"query": goal.text, **scope}, why)
    if trigger is Trigger.LOW_COHERENCE or len(goal.named) == 1:
        for each in (*goal.named, *found)[:1]:
            params = {"node_id": each.id, "hops": 2, **scope}
            yield Step(
                "get_neighborhood",
                params,
                f"See what {each.name} is linked with: what was found is loosely connected"
                if trigger is Trigger.LOW_COHERENCE
                else f"The goal names {each.name}: see what it is linked with",
            )


def _direction(text: str) -> str:
    """The direction for query_causal: causes, effects or both."""
    backward, forward = _BACKWARD.search(text), _FORWARD.search(text)
    if (backward is None) == (forward is None):
        return "both"
    return "causes" if backward else "effects"


def _answering(goal: Goal, trigger: Trigger, tools: Collection[str]) -> Step:
    """The call that answers the goal."""
    told = [
        aspect
        for aspect, wanted in (
            ("causal_links", Need.CAUSE in goal.wishes),
            ("conflicts", Need.CONFLICT in goal.wishes or trigger is Trigger.LOW_COHERENCE),
            ("neighborhood", Need.RELATION in goal.wishes),
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
    if Need.CODE in goal.wishes:
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
    found: Sequence[NamedEntity],
    steps: Sequence[Step],
) -> str:
    state = {
        Trigger.HIGH_ENTROPY: f"High entropy ({pulse.entropy:.2f}): what was found for the goal"
        " lies far apart.",
        Trigger.LOW_COHERENCE: f"Low coherence ({pulse.coherence:.2f}): what was found for the goal"
        " is loosely connected.",
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
