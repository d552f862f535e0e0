"""Splits a vague goal into concrete questions.

A goal with several questions is split into them. A goal whose results are dispersed or incoherent
is narrowed to facets: one project, one note type, or one entity that several results name. A facet
is kept only if a trial search for its question gives results with a lower entropy than the goal's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from itertools import islice
from typing import Any

from memvault.model.graph import EdgeOrigin, NodeKind
from memvault.model.moments import in_utc
from memvault.model.search import Filters, FindMemories, Hit, Scope
from memvault.reasoning.goals import Goal, Need
from memvault.reasoning.tool_plan import ToolCall
from memvault.search.scope import in_scope
from memvault.stores.graph_view import GraphView
from memvault.text.words import STOP_WORDS, name_key

MIN_MEMBERS = 2  # least memories of a facet
MAX_RESULTS = 10  # results of a facet's question
MAX_TRIED = 8  # most facets that are tried, a few milliseconds each
SINGLE = "memory"  # kind of a facet with one memory
MIN_ENTROPY_DROP = 0.02  # least drop in entropy that makes a facet worth a question
EntropyOf = Callable[[Sequence[Hit]], float]
# Words that say nothing about the topic.
_VAGUE = STOP_WORDS | frozenset(
    (
        *("anything", "everything", "info", "information", "memory", "nothing", "overview"),
        *("show", "something", "stuff", "tell", "vault", "know"),
    )
)


@dataclass(frozen=True, slots=True)
class _Facet:
    """A subset of the results, and the question that asks for it."""

    key: tuple[str, str]
    rationale: str
    members: tuple[Hit, ...]
    added: str = ""  # words for the question
    project: str | None = None
    filters: dict[str, Any] = field(default_factory=dict)


def search_plan(
    goal: Goal,
    results: Sequence[Hit],
    edges: GraphView | None,
    limit: int,
    *,
    vague: bool,
    entropy_of: EntropyOf,
    find: FindMemories,
) -> tuple[ToolCall, ...]:
    """At most ``limit`` questions, each with a tool; never empty.

    Args:
        results: the results of the unchanged goal, best first.
        edges: None if the graph is unreachable.
        vague: whether those results are dispersed or incoherent.
        entropy_of: the entropy of memories, in [0, 1], weighted by relevance.
        find: see `Searcher.find`.
    """
    steps: dict[str, ToolCall] = {}
    has_several = bool(goal.questions)
    direct = [
        _direct_step(question, results, several=has_several)
        for question in goal.questions or (goal,)
    ]
    narrow = vague and not has_several
    narrowed = _facet_steps(goal, results, edges, entropy_of, find) if narrow else ()
    facets = list(islice(narrowed, limit))
    if facets and direct[0].params == {"query": goal.text}:  # asking the whole goal would not help
        direct, facets = facets, direct
    for step in (*direct, *facets):
        steps.setdefault(repr((step.tool, step.params)), step)
    return tuple(steps.values())[:limit]


def _direct_step(goal: Goal, results: Sequence[Hit], *, several: bool) -> ToolCall:
    narrowed, why = _narrowing(goal, results)
    rationale = "One of the questions that the goal asks at once" if several else "As asked"
    if goal.resolved_text != goal.text:
        rationale += ", in the vault's own names"
    if why:
        rationale += f", {why}"
    relational = Need.RELATION in goal.needs or Need.CAUSE in goal.needs
    tool = "graph_query" if relational and "filters" not in narrowed else "recall_memory"
    return ToolCall(tool, {"query": goal.resolved_text, **narrowed}, rationale)


def _narrowing(goal: Goal, results: Sequence[Hit]) -> tuple[dict[str, Any], str]:
    """The filters that the goal's words request and that at least one result satisfies."""
    params: dict[str, Any] = {}
    why = []
    if goal.project:
        params["project"] = goal.project
        why.append(f"within {goal.project}")
    filters: dict[str, Any] = {}
    if goal.types and _any_matches(results, Filters(types=list(goal.types))):
        filters["types"] = list(goal.types)
        why.append("only " + ", ".join(goal.types))
    if goal.span is not None:
        after = in_utc(datetime.combine(goal.span.first, time.min))
        before = in_utc(datetime.combine(goal.span.last, time.max.replace(microsecond=0)))
        if _any_matches(results, Filters(created_after=after, created_before=before)):
            filters["created_after"] = after.isoformat()
            filters["created_before"] = before.isoformat()
            why.append("in the time that it names")
    if filters:
        params["filters"] = filters
    return params, ", ".join(why)


def _any_matches(results: Iterable[Hit], filters: Filters) -> bool:
    return any(in_scope(result.memory, Scope(filters)) for result in results)


def _facet_steps(
    goal: Goal,
    results: Sequence[Hit],
    edges: GraphView | None,
    entropy_of: EntropyOf,
    find: FindMemories,
) -> Iterator[ToolCall]:
    """The questions of facets whose results have a clearly lower entropy, most relevant first."""
    max_entropy = entropy_of(results) - MIN_ENTROPY_DROP
    facets = _facets(goal, results, edges)
    measured = [(facet, entropy_of(facet.members)) for facet in facets]
    useful = [(facet, entropy) for facet, entropy in measured if entropy < max_entropy]
    useful.sort(
        key=lambda pair: (pair[0].key[0] == SINGLE, -_relevance(pair[0]), pair[1], pair[0].key)
    )
    covered: set[str] = set()
    tries = 0
    for facet, _ in useful:
        members = {member.memory.id for member in facet.members}
        if members <= covered or tries == MAX_TRIED:
            continue
        tries += 1
        step = _facet_step(goal, facet)
        if entropy_of(_found_by(step, find)) < max_entropy:
            covered |= members
            yield step


def _relevance(facet: _Facet) -> float:
    return sum(member.relevance for member in facet.members)


def _facet_step(goal: Goal, facet: _Facet) -> ToolCall:
    words = [
        word for word in goal.resolved_text.rstrip("?!. ").split() if name_key(word) not in _VAGUE
    ]
    query = " ".join((*words, facet.added)).strip() or goal.resolved_text
    params: dict[str, Any] = {"query": query}
    params["top_k"] = min(MAX_RESULTS, len(facet.members))
    project = facet.project or goal.project
    if project:
        params["project"] = project
    if facet.filters:
        params["filters"] = facet.filters
    return ToolCall("recall_memory", params, facet.rationale)


def _found_by(step: ToolCall, find: FindMemories) -> list[Hit]:
    filters = step.params.get("filters")
    scope = Scope(Filters(**filters) if filters else None, step.params.get("project"))
    return find(step.params["query"], step.params["top_k"], scope)


def _facets(goal: Goal, results: Sequence[Hit], edges: GraphView | None) -> Iterator[_Facet]:
    """Facets with at least `MIN_MEMBERS` results; also single memories if no entity is named."""
    yield from _by_project(goal, results)
    yield from _by_type(results)
    if edges is not None:
        yield from _by_entity(goal, results, edges)
    for result in results if not goal.entities else ():
        if result.memory.is_claim:  # a step does not say who wrote the title
            continue
        added = result.memory.title
        if result.heading:
            added += ": " + result.heading.rpartition(" > ")[2]
        if name_key(added) not in name_key(goal.text):
            why = f"{result.memory.title} may be what is meant"
            yield _Facet((SINGLE, result.memory.id), why, (result,), added=added)


def _by_project(goal: Goal, results: Sequence[Hit]) -> Iterator[_Facet]:
    for project, members in _groups(results, lambda hit: [hit.memory.project or ""]):
        if project and goal.project is None:
            why = f"{len(members)} of the memories found belong to {project}"
            yield _Facet(("project", project), why, members, project, project)


def _by_type(results: Sequence[Hit]) -> Iterator[_Facet]:
    for kind, members in _groups(results, lambda hit: [hit.memory.type]):
        if kind != NodeKind.NOTE:
            why = f"{len(members)} of the memories found are of the type {kind}"
            yield _Facet(("type", kind), why, members, filters={"types": [kind]})


def _by_entity(goal: Goal, results: Sequence[Hit], edges: GraphView) -> Iterator[_Facet]:
    def named_in(hit: Hit) -> set[str]:
        stated = edges.stated_by(hit.memory.id)
        return {hit.memory.id} | {e.target for e in stated if e.origin is not EdgeOrigin.TAG}

    named_in_goal = {entity.id for entity in goal.entities}
    for node_id, members in _groups(results, named_in):
        node = edges.node(node_id)
        if node is None or node_id in named_in_goal:
            continue
        if node.kind not in (NodeKind.PROJECT, NodeKind.DATE):
            why = f"{len(members)} of the memories found are about {node.name}"
            yield _Facet(("node", node_id), why, members, node.name)


def _groups(
    results: Sequence[Hit], keys_of: Callable[[Hit], Iterable[str]]
) -> Iterator[tuple[str, tuple[Hit, ...]]]:
    """The results with each key, if these are several, but not all."""
    groups: dict[str, list[Hit]] = defaultdict(list)
    for result in results:
        for key in keys_of(result):
            groups[key].append(result)
    for key, members in groups.items():
        if MIN_MEMBERS <= len(members) < len(results):
            yield key, tuple(members)
