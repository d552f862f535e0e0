"""Influences that notes state between nodes: causes, hindrances, needs, support, contradiction.

They are read from the graph's edges by the rules of `reasoning.causal` and `reasoning.conflicts`.
The weight of a note (`source_weights`) gives the belief in its influences.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from math import prod

from memvault.model.graph import (
    HINDERED,
    HINDERING,
    NAMED_ORIGINS,
    NEEDED,
    NEEDING,
    SUPPORTED,
    SUPPORTING,
    EdgeOrigin,
    GraphEdge,
    relation_name,
)
from memvault.model.memory import Memory, MemoryOf
from memvault.model.verification import ConflictKind
from memvault.reasoning.bayes.source_weights import belief, moment_of, recency, weight
from memvault.reasoning.conflicts import stated_conflict
from memvault.reasoning.stated_causes import causal_link
from memvault.stores.graph_view import GraphView

MAX_EDGES = 400  # strongest edges of one node that are read
MAX_STATING_NOTES = 20  # notes that determine the belief in an entity without a note
NAMED_ONLY = 0.5  # share of a note's weight that counts for an entity it only mentions


class Kind(StrEnum):
    RAISES = "raises"
    LOWERS = "lowers"
    NEEDED = "is needed for"


@dataclass(frozen=True, slots=True)
class InfluenceSource:
    """A note that states an influence; ``weight`` is the note's, in ordinary sources."""

    memory_id: str
    line: int
    sentence: str
    relation: str
    weight: float


@dataclass(frozen=True, slots=True)
class Influence:
    """An influence of a cause on an effect.

    Attributes:
        strength: the probability that the cause, if true (for a need: if false), decides the
            effect.
        between_notes: whether a note supports or contradicts another, instead of stating a cause.
    """

    cause: str
    effect: str
    kind: Kind
    strength: float
    stated: tuple[InfluenceSource, ...]
    between_notes: bool = False


@dataclass(frozen=True, slots=True)
class Influences:
    """Reads the influences on and from nodes, for one question.

    Attributes:
        latest: the moment from which ages count.
    """

    edges: GraphView
    memory_of: MemoryOf
    latest: datetime
    half_life_days: float

    def of(self, node_id: str) -> list[Influence]:
        """The influences that start or end at a node, strongest first, each pair and kind once.

        Equal statements combine like independent causes, 1 - prod(1 - strength); the strength of
        a single statement is the edge's weight and confidence times the belief in its note.
        """
        equal_influences: dict[tuple[str, str, Kind], list[Influence]] = {}
        for edge in self.edges.of(node_id)[:MAX_EDGES]:
            influence = self._of_edge(edge)
            if influence is not None and influence.cause != influence.effect:
                equal_influences.setdefault(
                    (influence.cause, influence.effect, influence.kind), []
                ).append(influence)
        combined = [_combined(equal) for equal in equal_influences.values()]
        return sorted(combined, key=lambda i: (-i.strength, i.cause, i.effect))

    def related(self, node_id: str, max_edges: int) -> list[Influence]:
        """Like `of`, but for every relation: related nodes raise each other."""
        by_neighbour: dict[str, list[Influence]] = {}
        for edge in self.edges.of(node_id)[:max_edges]:
            neighbour = edge.target if edge.source == node_id else edge.source
            stated = self._stated(edge)
            if stated is not None and neighbour != node_id:
                influence = Influence(
                    node_id, neighbour, Kind.RAISES, _strength(edge, stated), (stated,)
                )
                by_neighbour.setdefault(neighbour, []).append(influence)
        return [_combined(equal) for equal in by_neighbour.values()]

    def weight_of(self, memory: Memory) -> float:
        return weight(memory, recency(moment_of(memory), self.latest, self.half_life_days))

    def sources_of(self, node_id: str) -> float:
        """The weight, in ordinary sources, of a node's own note, else of the notes that name it."""
        memory = self.memory_of(node_id)
        if memory is not None:
            return self.weight_of(memory)
        naming = {edge.source for edge in self.edges.of(node_id)[:MAX_STATING_NOTES]}
        memories = (self.memory_of(key) for key in sorted(naming))
        return sum(NAMED_ONLY * self.weight_of(memory) for memory in memories if memory is not None)

    def _of_edge(self, edge: GraphEdge) -> Influence | None:
        ends = self._ends(edge)
        stated = self._stated(edge) if ends is not None else None
        if ends is None or stated is None:
            return None
        cause, effect, kind, between_notes = ends
        return Influence(cause, effect, kind, _strength(edge, stated), (stated,), between_notes)

    def _ends(self, edge: GraphEdge) -> tuple[str, str, Kind, bool] | None:
        """The cause, effect and kind that an edge states, and whether it is between notes."""
        meaning = _meaning(edge.relation)
        if meaning is None and edge.origin in (EdgeOrigin.TAG, EdgeOrigin.MENTION):
            return None
        if (
            meaning is not None
            and edge.origin in NAMED_ORIGINS
            and meaning in ("supports", "supported")
        ):
            ends = (edge.source, edge.target)
            cause, effect = ends if meaning == "supports" else ends[::-1]
            return cause, effect, Kind.RAISES, True
        conflict = stated_conflict(edge, self.edges)
        if conflict is not None:
            lowering, lowered = (side.node.id for side in conflict.sides)
            if conflict.kind is ConflictKind.CONTRADICTION and self._is_newer(lowered, lowering):
                lowering, lowered = lowered, lowering
            return lowering, lowered, Kind.LOWERS, True
        link = causal_link(edge, self.edges)
        if link is None:
            return None
        return link.cause.id, link.effect.id, _KINDS.get(meaning or "", Kind.RAISES), False

    def _is_newer(self, note_id: str, other_id: str) -> bool:
        memory, other = self.memory_of(note_id), self.memory_of(other_id)
        if memory is None or other is None:
            return False
        return moment_of(memory) > moment_of(other)

    def _stated(self, edge: GraphEdge) -> InfluenceSource | None:
        memory = self.memory_of(edge.source)
        if memory is None:
            return None
        return InfluenceSource(
            memory.id, edge.line, edge.sentence, edge.relation, self.weight_of(memory)
        )


_KINDS = {"hinders": Kind.LOWERS, "needed": Kind.NEEDED}


@lru_cache(maxsize=10_000)
def _meaning(relation: str) -> str | None:
    """The kind of influence that a relation's last words state, or None."""
    parts = relation_name(relation).split()
    for first in range(len(parts)):
        name = " ".join(parts[first:])
        if name in HINDERING or name in HINDERED:
            return "hinders"
        if name in NEEDED or name in NEEDING:
            return "needed"
        if name in SUPPORTING:
            return "supports"
        if name in SUPPORTED:
            return "supported"
    return None


def _strength(edge: GraphEdge, stated: InfluenceSource) -> float:
    return edge.weight * edge.learned.confidence * belief(stated.weight)


def _combined(equal: Iterable[Influence]) -> Influence:
    """Equal influences combined into one; a note counts once."""
    by_note: dict[str, Influence] = {}
    for influence in equal:
        note_id = influence.stated[0].memory_id
        strongest = by_note.get(note_id)
        if strongest is None or influence.strength > strongest.strength:
            by_note[note_id] = influence
    none_true = prod(1 - influence.strength for influence in by_note.values())
    ranked = sorted(by_note.values(), key=lambda i: (-i.strength, i.stated[0].memory_id))
    stated = tuple(influence.stated[0] for influence in ranked)
    return replace(ranked[0], strength=1 - none_true, stated=stated)
