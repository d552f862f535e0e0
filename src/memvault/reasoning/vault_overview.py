"""An overview of a vault: notes by kind, project, tag and concept, and the most connected nodes."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from memvault.model.graph import NAMED_ORIGINS, EdgeOrigin, NodeKind
from memvault.model.memory import Memory
from memvault.model.search import NodeRef
from memvault.search.scope import MemoryLookup
from memvault.stores.graph_view import GraphView, node_ref
from memvault.text.note_graph import PROJECT

MAX_SHOWN = 20  # entries of each list
MAX_CONNECTED = 5
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

    ``relations`` counts the uses of each relation name. ``connected`` are the nodes with most
    relations, of any kind, and their number. ``first`` and ``last`` are the earliest and latest day
    of a note (its date, else its creation).
    """

    notes: int
    kinds: Sequence[tuple[str, int]] = ()
    projects: Sequence[tuple[str, int]] = ()
    tags: Sequence[tuple[str, int]] = ()
    concepts: Sequence[ConceptCount] = ()
    relations: Sequence[tuple[str, int]] = ()
    connected: Sequence[tuple[NodeRef, int]] = ()
    first: date | None = None
    last: date | None = None


class Overviews:
    """The overview of one index, made again when the index has changed. Thread-safe."""

    def __init__(self, memories: MemoryLookup, edges: GraphView) -> None:
        self._memories = memories
        self._edges = edges
        self._version: int | None = None
        self._overview = VaultOverview(0)
        self._lock = threading.Lock()

    def current(self) -> VaultOverview:
        """The overview of the index as it is now.

        Raises:
            StoreUnavailable, GraphQueryError: the graph does not answer.
        """
        with self._lock:
            version = self._edges.version
            if version != self._version:
                self._overview = vault_overview(self._memories.all(), self._edges)
                self._version = version
            return self._overview


def vault_overview(memories: Iterable[Memory], edges: GraphView | None) -> VaultOverview:
    """The overview of these memories and the edges they state.

    Args:
        edges: None if the graph is unreachable; what it holds is then missing.

    Raises:
        StoreUnavailable, GraphQueryError: the graph does not answer.
    """
    notes = list(memories)
    days = [memory.moment.date() for memory in notes]
    concepts, relations = _concepts_and_relations(edges) if edges is not None else ((), ())
    connected = _most_connected(edges) if edges is not None else ()
    return VaultOverview(
        notes=len(notes),
        kinds=_most_frequent(memory.type for memory in notes),
        projects=_most_frequent(memory.project for memory in notes if memory.project),
        tags=_most_frequent(tag for memory in notes for tag in memory.tags),
        concepts=concepts,
        relations=relations,
        connected=connected,
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


def _most_connected(edges: GraphView) -> tuple[tuple[NodeRef, int], ...]:
    counts: Counter[str] = Counter()
    for edge in edges.all():
        counts.update((edge.source, edge.target))
    best = sorted(counts, key=lambda key: (-counts[key], key))[:MAX_CONNECTED]
    return tuple((node_ref(key, edges), counts[key]) for key in best if edges.node(key) is not None)
