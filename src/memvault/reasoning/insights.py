"""Insights about a few memories: causes, entailment, conflicts and neighbours."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from memvault.model.memory import Memory, MemoryOf
from memvault.model.search import Aspect, Conflict, ConflictSide, Insights
from memvault.reasoning.causal import causal_links
from memvault.reasoning.conflicts import conflicts
from memvault.reasoning.entailment import entailment_cones
from memvault.reasoning.neighbours import neighbours
from memvault.stores.graph_view import GraphView

EVERY_ASPECT: tuple[Aspect, ...] = (
    "causal_links",
    "entailment_cones",
    "neighborhood",
    "conflicts",
)
NEAR = 5  # neighbours of each memory


def insights(
    ids: Sequence[str],
    edges: GraphView,
    memory_of: MemoryOf,
    aspects: Collection[Aspect] = EVERY_ASPECT,
    *,
    near: int = NEAR,
    lead_of: Callable[[Memory], tuple[str, int] | None] = lambda _: None,
) -> Insights:
    """The wanted insights of these memories, best first.

    Args:
        near: most neighbours of each memory.
        lead_of: gives the first sentence of a note and its line; quoted for the side of a conflict
            that only the other side names.

    Raises:
        StoreUnavailable, GraphQueryError: the graph does not answer.
    """
    return Insights(
        causal_links=causal_links(ids, edges) if "causal_links" in aspects else (),
        entailment_cones=(
            entailment_cones(ids, edges, memory_of) if "entailment_cones" in aspects else ()
        ),
        neighborhood=(
            {key: near_nodes for key in ids if (near_nodes := neighbours(key, edges, limit=near))}
            if "neighborhood" in aspects
            else {}
        ),
        conflicts=(
            tuple(
                _with_texts(conflict, memory_of, lead_of)
                for conflict in conflicts(ids, edges, memory_of)
            )
            if "conflicts" in aspects
            else ()
        ),
    )


def _with_texts(
    conflict: Conflict,
    memory_of: MemoryOf,
    lead_of: Callable[[Memory], tuple[str, int] | None],
) -> Conflict:
    """The conflict with the first sentence of the notes of which it has only the name."""

    def with_text(side: ConflictSide) -> ConflictSide:
        memory = memory_of(side.node.id) if side.line is None and side.path else None
        lead = lead_of(memory) if memory is not None and side.text == side.node.name else None
        return side if lead is None else replace(side, text=lead[0], line=lead[1])

    first, second = conflict.sides
    return replace(conflict, sides=(with_text(first), with_text(second)))
