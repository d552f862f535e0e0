"""Blind spots: pairs of notes far apart in meaning, with a common cause or effect and no link.

Whoever reads one of them will not find the other (REQ-AUTO-22, REM phase).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import nsmallest
from itertools import combinations

from memvault.cognition.similarity_index import SimilarityIndex
from memvault.reasoning.stated_causes import causal_link
from memvault.stores.graph_view import GraphView

MAX_PAIRS = 20
FAR_APART = 0.3  # cosine below which two notes are about different subjects
MAX_AROUND = 30  # most effects of a cause, or causes of an effect, that connect two notes


@dataclass(frozen=True, slots=True)
class BlindSpot:
    """The ids of two notes and of their common cause or effect."""

    first: str
    second: str
    shared: str


def blind_spots(
    view: GraphView,
    index: SimilarityIndex,
    go_on: Callable[[], None] = lambda: None,
) -> list[BlindSpot]:
    """The blind spots of a vault, those between the most important notes first.

    Args:
        go_on: called between steps; may pause, and raises to stop.
    """
    spots = {(spot.first, spot.second): spot for spot in _candidates(view, go_on)}
    ids = {key for pair in spots for key in pair if index.is_memory(key)}
    vectors = index.vectors(ids)

    def is_far(spot: BlindSpot) -> bool:
        first, second = vectors.get(spot.first), vectors.get(spot.second)
        return first is not None and second is not None and float(first @ second) < FAR_APART

    def importance(spot: BlindSpot) -> float:
        return index.importance(spot.first) + index.importance(spot.second)

    unlinked = [spot for spot in spots.values() if is_far(spot) and not _is_linked(spot, index)]
    return nsmallest(
        MAX_PAIRS, unlinked, key=lambda spot: (-importance(spot), spot.first, spot.second)
    )


def _candidates(view: GraphView, go_on: Callable[[], None]) -> Iterator[BlindSpot]:
    """The pairs of nodes with a common cause or effect."""
    effects: dict[str, set[str]] = {}
    causes: dict[str, set[str]] = {}
    for edge in view.all():
        go_on()
        link = causal_link(edge, view)
        if link is not None:
            effects.setdefault(link.cause.id, set()).add(link.effect.id)
            causes.setdefault(link.effect.id, set()).add(link.cause.id)
    for around in (effects, causes):
        for shared, ids in around.items():
            if len(ids) <= MAX_AROUND:
                for first, second in combinations(sorted(ids), 2):
                    yield BlindSpot(first, second, shared)


def _is_linked(spot: BlindSpot, index: SimilarityIndex) -> bool:
    """Whether two notes are linked directly or through one node other than the shared one."""
    around = index.around((spot.first, spot.second))
    neighbours = around[spot.first].neighbours
    common = neighbours & around[spot.second].neighbours
    return spot.second in neighbours or bool(common - {spot.shared})
