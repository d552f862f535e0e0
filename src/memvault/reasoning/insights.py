"""Insights about a few memories for detailed answers: causes, cones, neighbours, conflicts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from memvault.model.memory import Memory
from memvault.model.search import Aspect, Conflict, ConflictSide, Insights
from memvault.reasoning.causal import causal_links
from memvault.reasoning.conflicts import conflicts
from memvault.reasoning.entailment import entailment_cones
from memvault.reasoning.neighbours import Relevance, neighbours
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
    memory_of: Callable[[str], Memory | None],
    wanted: Collection[Aspect] = EVERY_ASPECT,
    *,
    near: int = NEAR,
    relevance: Relevance = lambda _: {},
    opening_of: Callable[[Memory], tuple[str, int] | None] = lambda _: None,
) -> Insights:
    """The wanted insights of these memories, best first.

    Args:
        near: how many neighbours of each memory at most.
        relevance: see `memvault.reasoning.neighbours.neighbours`.
        opening_of: the first sentence of a note and its line; quoted for the side of a conflict
            that only the other side names.

    Raises:
        StoreUnavailable, GraphQueryError: the graph does not answer.
    """
    return Insights(
        causal_links=causal_links(ids, edges) if "causal_links" in wanted else (),
        entailment_cones=(
            entailment_cones(ids, edges, memory_of) if "entailment_cones" in wanted else ()
        ),
        neighborhood=(
            {
                key: found
                for key in ids
                if (found := neighbours(key, edges, limit=near, relevance=relevance))
            }
            if "neighborhood" in wanted
            else {}
        ),
        conflicts=(
            tuple(
                _with_texts(conflict, memory_of, opening_of)
                for conflict in conflicts(ids, edges, memory_of)
            )
            if "conflicts" in wanted
            else ()
        ),
    )


def _with_texts(
    conflict: Conflict,
    memory_of: Callable[[str], Memory | None],
    opening_of: Callable[[Memory], tuple[str, int] | None],
) -> Conflict:
    def told(side: ConflictSide) -> ConflictSide:
        memory = memory_of(side.thing.id) if side.line is None and side.path else None
        said = opening_of(memory) if memory is not None and side.text == side.thing.name else None
        return side if said is None else replace(side, text=said[0], line=said[1])

    return replace(conflict, sides=(told(conflict.sides[0]), told(conflict.sides[1])))
