"""An overview of a vault for a client that connects: notes by kind, project, tag and concept."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from memvault.model.graph import NAMED_ORIGINS, EdgeOrigin, NodeKind
from memvault.model.memory import Memory
from memvault.model.search import NodeRef
from memvault.stores.graph_view import GraphView

MAX_SHOWN = 20  # entries of each list
PROJECT = "project"
_LISTED_SEPARATELY = (NodeKind.TAG, NodeKind.PROJECT, NodeKind.DATE)


@dataclass(frozen=True, slots=True)
class ConceptCount:
    """A note, or an entity without one; ``notes`` counts the other notes that name it."""

    node: NodeRef
    kind: str
    notes: int


@dataclass(frozen=True, slots=True)
class VaultOverview:
    """The numbers of notes by kind, project, tag and concept, largest first.

    ``relations`` counts the uses of each relation name. ``first`` and ``last`` are the earliest and
    latest day of a note (its date, else its creation).
    """

    notes: int
    kinds: Sequence[tuple[str, int]] = ()
    projects: Sequence[tuple[str, int]] = ()
    tags: Sequence[tuple[str, int]] = ()
    concepts: Sequence[ConceptCount] = ()
    relations: Sequence[tuple[str, int]] = ()
    first: date | None = None
    last: date | None = None


def vault_overview(memories: Iterable[Memory], edges: GraphView | None) -> VaultOverview:
    """The overview of these memories and the edges they state.

    Args:
        edges: None if the graph is unreachable; concepts and relations are then missing.

    Raises:
        StoreUnavailable, GraphQueryError: the graph does not answer.
    """
    notes = list(memories)
    days = [memory.moment.date() for memory in notes]
    concepts, relations = _concepts_and_relations(edges) if edges is not None else ((), ())
    return VaultOverview(
        notes=len(notes),
        kinds=_most_frequent(memory.type for memory in notes),
        projects=_most_frequent(memory.project for memory in notes if memory.project),
        tags=_most_frequent(tag for memory in notes for tag in memory.tags),
        concepts=concepts,
        relations=relations,
        first=min(days, default=None),
        last=max(days, default=None),
    )


def _most_frequent(names: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """The most frequent entries, ignoring case."""
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    for name in names:
        spellings[name.casefold()][name] += 1
    ranked = sorted(spellings.values(), key=lambda counts: (-counts.total(), min(counts)))
    return tuple(
        (min(counts, key=lambda name: (-counts[name], name)), counts.total())
        for counts in ranked[:MAX_SHOWN]
    )


def _concepts_and_relations(
    edges: GraphView,
) -> tuple[tuple[ConceptCount, ...], tuple[tuple[str, int], ...]]:
    sources: dict[str, set[str]] = defaultdict(set)
    relations: list[str] = []
    for edge in edges.all():
        if edge.origin is not EdgeOrigin.TAG:
            sources[edge.target].add(edge.source)
        if edge.origin in NAMED_ORIGINS and edge.relation.casefold() != PROJECT:
            relations.append(edge.relation)
    nodes = {node.id: node for node in edges.nodes() if node.kind not in _LISTED_SEPARATELY}
    best = sorted(nodes.keys() & sources.keys(), key=lambda key: (-len(sources[key]), key))
    concepts = tuple(
        ConceptCount(
            NodeRef(key, nodes[key].name, nodes[key].path), nodes[key].kind, len(sources[key])
        )
        for key in best[:MAX_SHOWN]
    )
    return concepts, _most_frequent(relations)
