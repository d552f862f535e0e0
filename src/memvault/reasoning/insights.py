"""Insights about a few memories: causes, entailment, conflicts and neighbours."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import get_args

from memvault.model.memory import Memory, MemoryOf
from memvault.model.search import Aspect, Conflict, ConflictSide, Insights
from memvault.reasoning.conflicts import conflicts
from memvault.reasoning.entailment import entailment_cones
from memvault.reasoning.neighbours import neighbours
from memvault.reasoning.stated_causes import causal_links
from memvault.stores.graph_view import GraphView

EVERY_ASPECT: tuple[Aspect, ...] = get_args(Aspect)
MAX_NEIGHBOURS = 5  # neighbours of each memory


def insights(
    ids: Sequence[str],
    edges: GraphView,
    memory_of: MemoryOf,
    aspects: Collection[Aspect] = EVERY_ASPECT,
    *,
    near: int = MAX_NEIGHBOURS,
    lead_of: Callable[[Memory], tuple[str, int] | None] = lambda _: None,
    allowed: Callable[[str], bool] = lambda _: True,
) -> Insights:
    """The wanted insights of these memories, best first.

    Args:
        near: most neighbours of each memory.
        allowed: nodes for which it is false are left out, with what they state.
        lead_of: gives the first sentence of a note and its line; quoted for the side of a conflict
            that only the other side names.

    Raises:
        StoreUnavailable, GraphQueryError: the graph does not answer.
    """
    links = causal_links(ids, edges, allowed) if "causal_links" in aspects else ()
    cones = (
        entailment_cones(ids, edges, memory_of, allowed) if "entailment_cones" in aspects else ()
    )
    found = conflicts(ids, edges, memory_of, allowed=allowed) if "conflicts" in aspects else ()
    around = (
        ((key, neighbours(key, edges, limit=near, allowed=allowed)) for key in ids)
        if "neighborhood" in aspects
        else ()
    )
    return Insights(
        causal_links=links,
        entailment_cones=cones,
        neighborhood={key: near_nodes for key, near_nodes in around if near_nodes},
        conflicts=tuple(_with_texts(conflict, memory_of, lead_of) for conflict in found),
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
