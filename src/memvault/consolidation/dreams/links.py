"""Finds missing links: between notes that name each other without a link, or are closely related.

The score of two notes is the cosine of their vectors times a sum. Its first part is their common
neighbours, rare ones counting more (Adamic and Adar, Friends and neighbors on the Web, Social
Networks 25, 2003). If one note names the other, the second is how often that name is a link where
it occurs (*link probability*: Mihalcea and Csomai, Wikify!, CIKM 2007).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from heapq import nsmallest

import numpy as np

from memvault.cognition.vector_rows import Rows
from memvault.model.graph import EdgeOrigin, GraphEdge
from memvault.stores.graph_view import GraphView

NAMED = frozenset((EdgeOrigin.MENTION, EdgeOrigin.ENTITY))
MAX_NEAREST = 10  # most similar notes with which each note is compared
AT_ONCE = 64  # notes whose nearest are found in one step: 20 ms in a vault of 10,000
EDGES_AT_ONCE = 500
NAME_WEIGHT = 2.5  # weight of a link probability, added to Adamic-Adar
MIN_SHARED = 1.5  # least Adamic-Adar of two notes that do not name each other
SAME = 0.95  # cosine from which two notes are duplicates rather than related
GoOn = Callable[[], None]


@dataclass(frozen=True, slots=True)
class MissingLink:
    """A proposed link from ``source`` to ``target``.

    ``naming`` is the edge by which ``source`` names ``target``, if any; ``shared`` is the rarest
    node that both are linked with.
    """

    source: str
    target: str
    score: float
    naming: GraphEdge | None = None
    shared: str | None = None


@dataclass(frozen=True, slots=True)
class LinkedNodes:
    """The neighbours of all nodes, and the names that are not links.

    Attributes:
        around: the neighbours of each node, in either direction; tags do not count, nor do notes
            that are only named.
        sources: the notes that link to each note.
        naming: the first edge by which a note names another, if they are not linked.
        names: the number of notes that name each note and are not linked with it.
    """

    around: dict[str, set[str]]
    sources: dict[str, set[str]]
    naming: dict[tuple[str, str], GraphEdge]
    names: dict[str, int]

    @classmethod
    def from_view(
        cls, view: GraphView, ids: Collection[str], go_on: GoOn = lambda: None
    ) -> LinkedNodes:
        around: dict[str, set[str]] = defaultdict(set)
        sources: dict[str, set[str]] = defaultdict(set)
        named: dict[tuple[str, str], GraphEdge] = {}
        for index, edge in enumerate(view.all()):
            if index % EDGES_AT_ONCE == 0:
                go_on()
            if edge.source == edge.target or edge.origin is EdgeOrigin.TAG:
                continue
            if edge.origin not in NAMED or edge.target not in ids:
                around[edge.source].add(edge.target)
                around[edge.target].add(edge.source)
            if edge.origin not in NAMED:
                sources[edge.target].add(edge.source)
            elif edge.source in ids and edge.target in ids:
                named.setdefault((edge.source, edge.target), edge)
        naming = {
            pair: edge for pair, edge in named.items() if pair[1] not in around.get(pair[0], ())
        }
        names: dict[str, int] = defaultdict(int)
        for _, target in naming:
            names[target] += 1
        return cls(around, sources, naming, names)

    def probability(self, target: str) -> float:
        """The probability that a name of this note is a link where it occurs, in (0, 1)."""
        links = len(self.sources.get(target, ()))
        return (links + 0.5) / (links + self.names.get(target, 0) + 1.0)

    def shared(self, first: str, second: str) -> tuple[float, str | None]:
        """Adamic-Adar of two nodes, and the rarest node that both are linked with."""
        common = self.around.get(first, set()) & self.around.get(second, set())
        if not common:
            return 0.0, None
        value = sum(1.0 / math.log(1.0 + len(self.around[node])) for node in common)
        return value, min(common, key=lambda node: (len(self.around[node]), node))


def are_linked(first: str, second: str, view: GraphView) -> bool:
    """Whether a link joins two nodes, in either direction."""
    edges = view.touching(first)
    return any(e.origin not in NAMED and second in (e.source, e.target) for e in edges)


def nearest_notes(rows: Rows, most: int, go_on: GoOn) -> Iterator[tuple[str, str, float]]:
    """The most similar other notes of each note, with their cosine."""
    matrix, count = rows.matrix, len(rows.ids)
    most = min(most, count - 1)
    if most < 1:
        return
    for first in range(0, count, AT_ONCE):
        go_on()
        cosines = matrix[first : first + AT_ONCE] @ matrix.T
        rows_of_block = np.arange(len(cosines))
        cosines[rows_of_block, first + rows_of_block] = -np.inf
        best = np.argpartition(-cosines, most - 1, axis=1)[:, :most]
        for index, others in enumerate(best.tolist()):
            for other in others:
                yield rows.ids[first + index], rows.ids[other], float(cosines[index, other])


def missing_links(
    linked: LinkedNodes, rows: Rows, most: int, go_on: GoOn = lambda: None
) -> list[MissingLink]:
    """The most likely missing links between these notes, at most one per pair, best first.

    Args:
        linked: the neighbours of the notes that may be linked.
        rows: the vectors of the notes that may be linked, L2-normalised.
        go_on: called between steps of a few milliseconds; may pause, and raises to stop.
    """
    row_of = {key: index for index, key in enumerate(rows.ids)}
    cosines = {
        _pair(first, second): cosine
        for first, second, cosine in nearest_notes(rows, MAX_NEAREST, go_on)
    }
    for first, second in linked.naming:
        if first not in row_of or second not in row_of:
            continue
        cosine = float(rows.matrix[row_of[first]] @ rows.matrix[row_of[second]])
        cosines.setdefault(_pair(first, second), cosine)
    links: list[MissingLink] = []
    for index, ((first, second), cosine) in enumerate(cosines.items()):
        if index % EDGES_AT_ONCE == 0:
            go_on()
        if 0.0 < cosine < SAME and second not in linked.around.get(first, ()):
            link = _scored(first, second, cosine, linked)
            links += [link] * (link.score > 0.0)
    return nsmallest(most, links, key=lambda link: (-link.score, link.source, link.target))


def _pair(first: str, second: str) -> tuple[str, str]:
    return (first, second) if first < second else (second, first)


def _scored(first: str, second: str, cosine: float, linked: LinkedNodes) -> MissingLink:
    named_pairs = [pair for pair in ((first, second), (second, first)) if pair in linked.naming]
    source, target = max(
        named_pairs, key=lambda pair: linked.probability(pair[1]), default=(first, second)
    )
    probability = linked.probability(target) if named_pairs else 0.0
    value, shared = linked.shared(first, second)
    is_related = bool(named_pairs) or value >= MIN_SHARED
    score = cosine * (value + NAME_WEIGHT * probability) * is_related
    return MissingLink(source, target, score, linked.naming.get((source, target)), shared)
