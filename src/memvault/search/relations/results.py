"""From the ends of roads to memories, each with the road that led to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from memvault.model.graph import GraphEdge
from memvault.model.note import Chunk, LineRange
from memvault.model.search import Hop, Recalled
from memvault.search.relations.edge_index import Memories, StepGraph, in_order
from memvault.search.relations.solving import End, Solution
from memvault.search.relations.traversal import Road
from memvault.search.relations.values import StatedValue
from memvault.stores.open import Stores

_TIER = 0.55  # of the best score left: ends about as good stand together
_LEAST = 0.04  # of the best score
_STATED_FIRST = frozenset(("where", "when", "what"))


@dataclass(frozen=True, slots=True)
class Told:
    """A note that answers, how well in [0, 1], and its road, nearest step first; ``best`` if it
    ends or states one of the best roads."""

    note_id: str
    score: float
    road: Road
    best: bool = False


def notes_of(solution: Solution, graph: StepGraph) -> list[Told]:
    """The notes that answer, in tiers of score: in each the ends of the roads, then the notes that
    state their last steps; where a place or a day is asked for, those that state it first."""
    kept: dict[int, Told] = {}
    rest = [end for end in solution.ends if end.score >= _LEAST * solution.ends[0].score]
    first = solution.question.asked.text in _STATED_FIRST
    best = True
    while rest:
        tier = [end for end in rest if end.score >= _TIER * rest[0].score]
        rest = rest[len(tier) :]
        ends = ((end.node, end.road, end.score) for end in tier)
        stating = ((node, road, end.score) for end in tier for node, road in _stating(end, graph))
        for node, road, score in chain(*((stating, ends) if first else (ends, stating))):
            if node not in kept and graph.noted[node]:
                worth = min(1.0, score * solution.fit)
                kept[node] = Told(graph.node_ids[node], worth, road, best)
        best = False
    return list(kept.values())


def _stating(end: End, graph: StepGraph) -> Iterable[tuple[int, Road]]:
    """The notes that state the last step of a road, or of others about as good."""
    if end.road and end.road[0] >= 0:
        yield int(graph.source[end.road[0]]), end.road
    elif end.road:
        yield end.node, end.road
    for step in end.also if end.road else ():
        yield int(graph.source[step]), (step, *end.road[1:])


class Teller:
    """Reads, for the notes that are shown, what their roads and passages say."""

    def __init__(
        self,
        stores: Stores,
        memories: Memories,
        graph: StepGraph,
        values: Sequence[tuple[int, StatedValue]],
    ) -> None:
        self._stores = stores
        self._memories = memories
        self._graph = graph
        self._values = values

    def recalled(self, told: Sequence[Told], known: Mapping[str, Recalled]) -> list[Recalled]:
        """The notes as memories, in the same order; those gone meanwhile are left out.

        Raises:
            StoreUnavailable, GraphQueryError: a store does not answer.
        """
        steps = {step for each in told for step in each.road}
        edges = self._edges(step for step in steps if step >= 0)
        passages = self._stores.vectors.passages([each.note_id for each in told])
        found = []
        for each in told:
            hops = tuple(h for step in reversed(each.road) if (h := self._hop(step, edges)))
            own = passages.get(each.note_id, [])
            passage = self._passage(each, edges, own, known.get(each.note_id))
            if passage is not None:
                heading, lines, text = passage
                found.append(Recalled(each.note_id, each.score, heading, lines, text, hops))
        return found

    def _edges(self, numbers: Iterable[int]) -> dict[int, GraphEdge]:
        """The graph's edges by number; one changed meanwhile is left out."""
        graph, wanted = self._graph, list(numbers)
        sources = {graph.node_ids[graph.source[number]] for number in wanted}
        stated: dict[str, list[GraphEdge]] = {source: [] for source in sources}
        for edge in self._stores.graph.stated_by(sources):
            stated[edge.source].append(edge)
        ordered = {source: list(in_order(edges)) for source, edges in stated.items()}
        found = {}
        for number in wanted:
            own = ordered[graph.node_ids[graph.source[number]]]
            ordinal = int(graph.ordinal[number])
            target = graph.node_ids[graph.target[number]]
            if ordinal < len(own) and own[ordinal].target == target:
                found[number] = own[ordinal]
        return found

    def _hop(self, step: int, edges: Mapping[int, GraphEdge]) -> Hop | None:
        graph = self._graph
        if step < 0:
            node, stated = self._values[-1 - step]
            path = self._path(graph.node_ids[node])
            name = graph.names[node]
            return Hop(name, "states", stated.value.text, path, stated.sentence)
        edge = edges.get(step)
        if edge is None:
            return None
        source, target = (graph.number_of[end] for end in (edge.source, edge.target))
        path = self._path(edge.source)
        return Hop(graph.names[source], edge.relation, graph.names[target], path, edge.sentence)

    def _path(self, note_id: str) -> str:
        memory = self._memories.by_id(note_id)
        return memory.path if memory is not None else ""

    def _passage(
        self,
        told: Told,
        edges: Mapping[int, GraphEdge],
        passages: Sequence[Chunk],
        known: Recalled | None,
    ) -> tuple[str, LineRange, str] | None:
        """The passage of a note that states the road's end, else what hybrid recall found in it,
        else its beginning."""
        stating = _stating_passage(told, edges, passages, self._values)
        if stating is not None:
            return stating.heading, stating.lines, stating.text
        if known is not None:
            return known.heading, known.lines, known.text
        if not passages:
            memory = self._memories.by_id(told.note_id)
            return None if memory is None else ("", LineRange(1, 1), memory.title)
        first = passages[0]
        return first.heading, first.lines, first.text


def _stating_passage(
    told: Told,
    edges: Mapping[int, GraphEdge],
    passages: Sequence[Chunk],
    values: Sequence[tuple[int, StatedValue]],
) -> Chunk | None:
    for step in told.road:
        if step < 0:
            lines = values[-1 - step][1].lines
            return next((chunk for chunk in passages if chunk.lines == lines), None)
        edge = edges.get(step)
        if edge is not None and edge.source == told.note_id:
            inside = (c for c in passages if c.lines.first <= edge.line <= c.lines.last)
            return next(inside, None)
    return None
