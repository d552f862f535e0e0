"""Follows the relations of a question through the graph.

Each relation carries scores from the nodes that one term may mean to those of the term that it
connects to, over one edge or two. An edge weighs exp((s - best) / fall), where s is how well its
sentence states the relation and best is the greatest s of all edges between the right kinds. So a
*lead* is not taken for a member of the *team* if any note of the vault names leads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np

from memvault.search.relations.array_graph import (
    NO_DAY,
    ArrayGraph,
    Flags,
    Floats32,
    Ints,
    PhraseFit,
    Places,
)
from memvault.search.relations.lexicon import WRONG_KIND
from memvault.search.relations.question import Phrase
from memvault.search.times.time_spans import Span

Steps = tuple[int, ...]  # of a path: the numbers of its edges

FALL = 0.1  # how fast a step loses weight relative to the best fitting step
KINDS_WEIGHT = 0.2  # least weight of an edge between the right kinds, whatever its words
# How much better two edges must fit than one; more ("loose") if one edge suffices or the question's
# words are vague.
TWO_STEPS, TWO_STEPS_LOOSE = 0.12, 0.35
# Of two edges: how much the better and the worse one count, and the kind of the node between them.
BETTER_EDGE, WORSE_EDGE, MIDDLE_KIND = 0.7, 0.3, 0.3
MIN_TWO_STEP_SCORE = 0.3  # of a node from which two edges are followed
IS_RIGHT_KIND = 0.5  # weight of a kind above which a node is of the right kind
REVERSED_VALUE = 0.1  # subtracted for a step to a value that another note states
OWN_NOTE = 0.45  # weight of a node's own note if a value is asked for
OWN_NOTE_IF_WEAK = 0.999  # the same, if the question's words may state any relation
UNKNOWN_FIT = 0.5  # of a step whose words are not compared
# Factors for events at another time, or at no known time, if the question names one.
OUTSIDE_TIMES, UNDATED_INSIDE, UNDATED_STEP = 0.05, 0.3, 0.5
LEAST_SCORE = 0.02  # of a node that is followed
MAX_FOLLOWED = 400  # nodes per relation
_MAX_MOVES = 6_000  # best moves of one relation that are looked at
_MAX_VALUES = 500
_MAX_FIRST_EDGES = 3_000  # of moves over two edges
_LEAST_VALUE = 0.01  # of a move


@dataclass(slots=True)
class TermScores:
    """Scores of all nodes for one term, (n_nodes,), each with its best path.

    Attributes:
        steps: the best path of a node, nearest step first.
        stating: the nodes whose own notes may state the value that is asked for.
    """

    score: Floats32
    steps: dict[int, Steps] = field(default_factory=dict)
    stating: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class RelationFit:
    """The kinds of nodes at both ends of a relation and how well each edge states it.

    Attributes:
        child_kinds, parent_kinds: weights, (n_kinds,).
        fit: of every edge, (n_edges,).
        middle_fit: how well each kind fits between two edges, (n_kinds,).
        loose: whether the words are vague.
        times: when it holds, if the question says so.
    """

    child_kinds: Floats32
    parent_kinds: Floats32
    fit: Floats32
    middle_fit: Floats32
    loose: bool
    times: Span | None = None


@dataclass(frozen=True, slots=True)
class _OutEdges:
    """Edges that leave some nodes: each node, edge, and the node at its other end."""

    origin: Ints
    edge: Ints
    target: Ints


@dataclass(frozen=True, slots=True)
class _Moves:
    """Possible moves: from a child, over one or two edges, to a parent."""

    child: Ints
    parent: Ints
    middle: Ints  # -1 where there is none
    first: Ints
    second: Ints  # -1 where there is none
    value: Floats32


class Traversal:
    """Follows the relations of one question.

    Args:
        usable: nodes that the question may see, (n_nodes,).
        similar: as in `PhraseFit`.
        max_hops: greatest number of edges in a path.
    """

    def __init__(
        self,
        graph: ArrayGraph,
        usable: Flags,
        similar: dict[str, Floats32],
        max_hops: int,
    ) -> None:
        self._graph = graph
        self._usable = usable
        self.phrase_fit = PhraseFit(graph, similar)
        self._max_hops = max_hops

    def start(self, kinds: Floats32) -> TermScores:
        """Every usable node, scored by its kind."""
        return TermScores(kinds[self._graph.kind_of] * self._usable)

    def named(self, nodes: Sequence[int]) -> TermScores:
        """These nodes, as far as they are usable."""
        score = np.zeros(len(self._graph.node_ids), np.float32)
        score[list(nodes)] = 1.0
        return TermScores(score * self._usable)

    def empty(self) -> TermScores:
        return TermScores(np.zeros(len(self._graph.node_ids), np.float32))

    # -- one relation -----------------------------------------------------------------------------

    def step(self, child: TermScores, relation_fit: RelationFit) -> tuple[TermScores, float]:
        """The parent's scores from the child's, and how well the best step fits."""
        graph = self._graph
        parents = relation_fit.parent_kinds[graph.kind_of]
        children = relation_fit.child_kinds[graph.kind_of]
        forward = np.minimum(parents[graph.source], children[graph.target]) > IS_RIGHT_KIND
        backward = np.minimum(parents[graph.target], children[graph.source]) > IS_RIGHT_KIND
        fits_either = forward | backward
        best = float(relation_fit.fit[fits_either].max()) if fits_either.any() else -math.inf
        followed = self._followed_nodes(child)
        if not len(followed):
            return self.empty(), max(best, -1.0)
        out_edges = self._out_edges(followed)
        origin, edge, middle = out_edges.origin, out_edges.edge, out_edges.target
        fits_kinds = np.where(graph.target[edge] == origin, forward[edge], backward[edge])
        first, second, beyond, fit_two = self._two_steps(
            child, relation_fit, out_edges, one_suffices=bool(fits_kinds.any())
        )
        best = max(best, float(fit_two.max()) if len(fit_two) else -math.inf)
        if not math.isfinite(best):  # no edge connects such kinds
            best = float(relation_fit.fit[edge].max(initial=-1.0))
        fall = FALL * (2.0 if relation_fit.loose else 1.0)
        weight_one = np.minimum(np.exp((relation_fit.fit[edge] - best) / fall), 1.0)
        weight_one = np.where(fits_kinds, np.maximum(weight_one, KINDS_WEIGHT), weight_one)
        weight_two = np.minimum(np.exp((fit_two - best) / fall), 1.0)
        value = np.concatenate(
            [
                child.score[origin] * weight_one * parents[middle],
                child.score[origin[first]] * weight_two * parents[beyond],
            ]
        )
        none = np.full(len(edge), -1, np.int32)
        moves = _Moves(
            child=np.concatenate([origin, origin[first]]),
            parent=np.concatenate([middle, beyond]),
            middle=np.concatenate([none, middle[first]]),
            first=np.concatenate([edge, edge[first]]),
            second=np.concatenate([none, second]),
            value=value.astype(np.float32),
        )
        return self._best_moves(child, moves, relation_fit.times), best

    def _followed_nodes(self, state: TermScores) -> Ints:
        """The nodes that are followed: the best ones."""
        active = np.flatnonzero(state.score > LEAST_SCORE)
        if len(active) > MAX_FOLLOWED:
            active = active[np.argsort(-state.score[active], kind="stable")[:MAX_FOLLOWED]]
        return active.astype(np.int32)

    def _out_edges(self, nodes: Ints) -> _OutEdges:
        position, half = self._usable_half_edges(nodes)
        graph = self._graph
        return _OutEdges(nodes[position], graph.half_edge[half], graph.half_target[half])

    def _usable_half_edges(self, nodes: Ints) -> tuple[Places, Places]:
        """The half edges of these nodes to usable ones, as `ArrayGraph.half_edges` returns them."""
        position, half = self._graph.half_edges(nodes)
        is_usable = self._usable[self._graph.half_target[half]]
        return position[is_usable], half[is_usable]

    def _two_steps(
        self,
        child: TermScores,
        relation_fit: RelationFit,
        out_edges: _OutEdges,
        *,
        one_suffices: bool,
    ) -> tuple[Places, Ints, Ints, Floats32]:
        """Position of the first edge, second edge, node beyond and fit of moves over two edges."""
        graph, fit = self._graph, relation_fit.fit
        origin, edge, middle = out_edges.origin, out_edges.edge, out_edges.target
        parents = relation_fit.parent_kinds[graph.kind_of]
        starts = np.flatnonzero((child.score[origin] > MIN_TWO_STEP_SCORE) & ~graph.is_date[middle])
        if len(starts) > _MAX_FIRST_EDGES:
            starts = starts[np.argsort(-fit[edge[starts]], kind="stable")[:_MAX_FIRST_EDGES]]
        position, half = self._usable_half_edges(middle[starts])
        first, second, beyond = starts[position], graph.half_edge[half], graph.half_target[half]
        valid = (beyond != origin[first]) & (second != edge[first])
        valid &= parents[beyond] > IS_RIGHT_KIND
        first, second, beyond = first[valid], second[valid], beyond[valid]
        fit_first, fit_second = fit[edge[first]], fit[second]
        better, worse = np.maximum(fit_first, fit_second), np.minimum(fit_first, fit_second)
        fit_two = BETTER_EDGE * better + WORSE_EDGE * worse
        fit_two += MIDDLE_KIND * relation_fit.middle_fit[graph.kind_of[middle[first]]]
        fit_two -= TWO_STEPS_LOOSE if relation_fit.loose or one_suffices else TWO_STEPS
        return first, second, beyond, fit_two.astype(np.float32)

    def _best_moves(self, child: TermScores, moves: _Moves, times: Span | None) -> TermScores:
        """The best move to every node, without moves to a node that the path contains."""
        best_moves = self.empty()
        value = moves.value if times is None else moves.value * self._in_time(moves, times)
        places = np.flatnonzero(value >= _LEAST_VALUE)
        best_first = places[np.argsort(-value[places], kind="stable")[:_MAX_MOVES]]
        columns = (moves.parent, moves.child, moves.middle, moves.first, moves.second, value)
        visited_from = cache(partial(self._visited, child))
        scores: dict[int, float] = {}
        for node, origin, middle, first, second, score in zip(
            *(column[best_first].tolist() for column in columns), strict=True
        ):
            if node in scores:
                continue
            visited = visited_from(origin)
            steps = ((first,) if second < 0 else (second, first)) + child.steps.get(origin, ())
            if node in visited or middle in visited or len(steps) > self._max_hops:
                continue
            scores[node] = score
            best_moves.steps[node] = steps
        best_moves.score[list(scores)] = list(scores.values())
        return best_moves

    def _visited(self, state: TermScores, node: int) -> frozenset[int]:
        """The nodes of a node's path and the node itself."""
        edges = list(state.steps.get(node, ()))
        graph = self._graph
        return frozenset((node, *graph.source[edges].tolist(), *graph.target[edges].tolist()))

    def _in_time(self, moves: _Moves, times: Span) -> Floats32:
        """Factor of each move, by whether one of its nodes is of that time."""
        middle = np.where(moves.middle < 0, moves.parent, moves.middle)
        days = [self._graph.day[nodes] for nodes in (moves.parent, moves.child, middle)]
        is_inside = np.any([_within(day, times) for day in days], axis=0)
        is_dated = np.any([day != NO_DAY for day in days], axis=0)
        outside = np.where(is_dated, WRONG_KIND, UNDATED_STEP)
        return np.where(is_inside, 1.0, outside).astype(np.float32)

    # -- values -----------------------------------------------------------------------------------

    def value(self, child: TermScores, phrase: Phrase) -> tuple[TermScores, float]:
        """The notes that may state a value (a place, a day): the child's own, and those that edges
        lead to."""
        graph, reached = self._graph, self.empty()
        followed = self._followed_nodes(child)
        own_weight = OWN_NOTE_IF_WEAK if phrase.is_weak else OWN_NOTE
        for node in followed.tolist():
            if graph.has_note[node]:
                reached.score[node] = own_weight * child.score[node]
                reached.steps[node] = child.steps.get(node, ())
                reached.stating.add(node)
        if not len(followed) or phrase.is_weak:
            return reached, UNKNOWN_FIT
        out_edges = self._out_edges(followed)
        is_stated_by_child = graph.source[out_edges.edge] == out_edges.origin
        fit = self.phrase_fit.of_edges(phrase)[out_edges.edge]
        fit = fit - np.where(is_stated_by_child, 0.0, REVERSED_VALUE)
        best = float(fit.max(initial=UNKNOWN_FIT))
        scores = child.score[out_edges.origin] * np.exp(np.minimum(0.0, fit - best) / FALL)
        self._add_linked_values(reached, child, scores.astype(np.float32), out_edges)
        return reached, best

    def _add_linked_values(
        self, reached: TermScores, child: TermScores, scores: Floats32, out_edges: _OutEdges
    ) -> None:
        """Add to the nodes reached those at the other ends of edges.

        Args:
            scores: of these edges, (len(out_edges),).
        """
        visited_from = cache(partial(self._visited, child))
        for k in np.argsort(-scores, kind="stable")[:_MAX_VALUES]:
            node, origin = int(out_edges.target[k]), int(out_edges.origin[k])
            if scores[k] < LEAST_SCORE:
                return
            steps = (int(out_edges.edge[k]), *child.steps.get(origin, ()))
            if node in visited_from(origin) or len(steps) > self._max_hops:
                continue
            if scores[k] > reached.score[node]:
                reached.score[node] = scores[k]
                reached.steps[node] = steps
                reached.stating.discard(node)

    # -- several terms ----------------------------------------------------------------------------

    @staticmethod
    def intersection(first: TermScores, second: TermScores) -> TermScores:
        """The nodes of both states."""
        meeting = TermScores(first.score * second.score)
        for node in first.steps.keys() | second.steps.keys():
            meeting.steps[node] = first.steps.get(node, ()) + second.steps.get(node, ())
        return meeting

    def at_times(self, state: TermScores, times: Span) -> None:
        """Lower the scores of nodes of another time."""
        days = self._graph.day
        outside = np.where(days != NO_DAY, OUTSIDE_TIMES, UNDATED_INSIDE)
        factors = np.where(_within(days, times), 1.0, outside)
        state.score = (state.score * factors).astype(np.float32)


def _within(days: Ints, times: Span) -> Flags:
    has_begun, is_not_over = days >= times.first.toordinal(), days <= times.last.toordinal()
    within: Flags = has_begun & is_not_over & (days != NO_DAY)
    return within
