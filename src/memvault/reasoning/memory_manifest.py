"""A summary of what the vault holds, for a client that connects for the first time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from memvault.model.graph import EdgeOrigin, NodeKind
from memvault.model.insights import Thing
from memvault.model.memory import Memory
from memvault.reasoning.causal import GIVEN
from memvault.stores.graph_view import GraphView

MOST = 20  # of each list
PROJECT = "project"
_TOLD_APART = (NodeKind.TAG, NodeKind.PROJECT, NodeKind.DATE)


@dataclass(frozen=True, slots=True)
class Concept:
    """A note, or an entity without one; ``notes`` counts the other notes that name it."""

    thing: Thing
    kind: str
    notes: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """Counts are of notes, largest first; ``relations`` counts the uses of each relation name.
    ``first`` and ``last`` are the earliest and latest day of a note (its date, else creation)."""

    notes: int
    kinds: Sequence[tuple[str, int]] = ()
    projects: Sequence[tuple[str, int]] = ()
    tags: Sequence[tuple[str, int]] = ()
    concepts: Sequence[Concept] = ()
    relations: Sequence[tuple[str, int]] = ()
    first: date | None = None
    last: date | None = None


def manifest_of(memories: Iterable[Memory], edges: GraphView | None) -> Manifest:
    """The manifest of these memories and the edges they state.

    Args:
        edges: None if the graph is unreachable; concepts and relations are then missing.

    Raises:
        StoreUnavailable, GraphQueryError: the graph does not answer.
    """
    known = list(memories)
    days = [(memory.date or memory.created_at).date() for memory in known]
    concepts, relations = _of_graph(edges) if edges is not None else ((), ())
    return Manifest(
        notes=len(known),
        kinds=_most(memory.type for memory in known),
        projects=_most(memory.project for memory in known if memory.project),
        tags=_most(tag for memory in known for tag in memory.tags),
        concepts=concepts,
        relations=relations,
        first=min(days, default=None),
        last=max(days, default=None),
    )


def _most(names: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """The most frequent entries, ignoring case."""
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    for name in names:
        spellings[name.casefold()][name] += 1
    ranked = sorted(spellings.values(), key=lambda each: (-each.total(), min(each)))
    return tuple(
        (min(each, key=lambda name: (-each[name], name)), each.total()) for each in ranked[:MOST]
    )


def _of_graph(
    edges: GraphView,
) -> tuple[tuple[Concept, ...], tuple[tuple[str, int], ...]]:
    naming: dict[str, set[str]] = defaultdict(set)
    relations: list[str] = []
    for edge in edges.all():
        if edge.origin is not EdgeOrigin.TAG:
            naming[edge.target].add(edge.source)
        if edge.origin in GIVEN and edge.relation.casefold() != PROJECT:
            relations.append(edge.relation)
    nodes = {node.id: node for node in edges.nodes() if node.kind not in _TOLD_APART}
    best = sorted(nodes.keys() & naming.keys(), key=lambda key: (-len(naming[key]), key))
    concepts = tuple(
        Concept(Thing(key, nodes[key].name, nodes[key].path), nodes[key].kind, len(naming[key]))
        for key in best[:MOST]
    )
    return concepts, _most(relations)
