"""Follows the relations of a question through the graph.

Each relation carries scores from the nodes that one term may mean to those of the term that it
connects to, over one edge or two. An edge weighs exp((s - best) / fall), where s is how well its
sentence states the relation and best is the greatest s of all edges between the right kinds. So a
*lead* is not taken for a member of the *team* if any note of the vault names leads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from memvault.search.relations.edge_index import NO_DAY, Flags, Floats, Ints, StepGraph
from memvault.search.relations.lexicon import WRONG_KIND
from memvault.search.relations.question import Phrase
from memvault.search.time_spans import Span

Places = npt.NDArray[np.int64]
# A step of a chain: the number of an edge, or -1 - k for the k-th value that a note states.
Steps = tuple[int, ...]
# For nodes, a phrase and the asking word: the value that each note states best, and how well.
OwnValues = Callable[[Sequence[int], Phrase, str], dict[int, tuple[int, float]]]

# The fit of a step is its cosine to the phrase plus SHARED.
FALL = 0.1  # how fast a step loses weight relative to the best fitting step
LISTED = 0.08  # subtracted for a target in a list if one node is meant
SHARED = 0.25  # added if a step has all word stems of the phrase; less for a part of them
RIGHT_KINDS = 0.2  # least weight of an edge between the right kinds, whatever its words
# How much better two edges together must fit than one edge, or two edges of one sentence; "loose":
# if one edge suffices or the question's words are vague.
TWO_STEPS, TWO_STEPS_LOOSE = 0.12, 0.35
SAME_SENTENCE, SAME_SENTENCE_LOOSE = 0.03, 0.2
REVERSED_VALUE = 0.1  # subtracted for a step to a value that another note states
OWN_NOTE = 0.45  # weight of a node's own note if a value is asked for
# Factors for events at another time, or at no known time, if the question names one.
OUTSIDE_TIMES, UNDATED_INSIDE, UNDATED_STEP = 0.05, 0.3, 0.5
SEEN = 0.02  # least score of a node that is followed
FOLLOWED = 400  # nodes at most per relation
_TRIED = 6_000  # best moves of one relation that are looked at
_TRIED_VALUES = 500
_BRANCHES = 3_000  # first edges of moves over two edges
_ABOUT_AS_GOOD = 0.8
_FAINT = 0.01
_VALUES_READ = 8  # notes whose own sentences are read for a value


@dataclass(slots=True)
class State:
    """Scores of all nodes for one term, (n_nodes,), each with its best chain.

    ``steps`` has the nearest step first; ``also`` has last steps of chains about as good.
    """

    score: Floats
    steps: dict[int, Steps] = field(default_factory=dict)
    also: dict[int, list[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Joint:
    """The kinds of nodes at both ends of a relation and how well each edge states it.

    Attributes:
        child_kinds, parent_kinds: weights, (n_kinds,).
        fit: of every edge, (n_edges,).
        middle_fit: how well each kind fits between two edges, (n_kinds,).
        loose: whether the words are vague.
        times: when it holds, if the question says so.
    """

    child_kinds: Floats
    parent_kinds: Floats
    fit: Floats
    middle_fit: Floats
    loose: bool
    times: Span | None = None


@dataclass(frozen=True, slots=True)
class _Near:
    """Edges that leave some nodes: each node, edge, and the node at its other end."""

    origin: Ints
    edge: Ints
    far: Ints


@dataclass(frozen=True, slots=True)
class _Moves:
    """Possible moves: from a child, over one or two edges, to a parent."""

    child: Ints
    parent: Ints
    middle: Ints  # -1 where there is none
    first: Ints
    second: Ints  # -1 where there is none
    value: Floats


class Traversal:
    """Follows the relations of one question.

    Args:
        usable: nodes that the question may see, (n_nodes,).
        similar: by phrase of the question, its similarity to every step text, (n_texts,).
        max_hops: greatest number of edges in a chain.
        all_values: read the values of all notes; otherwise only if the answer may follow relations
            that the vault states repeatedly, since other answers are not used.
    """

    def __init__(
        self,
        graph: StepGraph,
        usable: Flags,
        similar: dict[str, Floats],
        max_hops: int,
        *,
        all_values: bool = True,
    ) -> None:
        self._graph = graph
        self._usable = usable
        self._similar = similar
        self._max_hops = max_hops
        self._all_values = all_values
        self._fits: dict[tuple[Phrase, bool], Floats] = {}

    def fit(self, phrase: Phrase, *, single: bool) -> Floats:
        """How well each edge states a phrase, (n_edges,).

        Args:
            single: one node is meant (*the lead of*), which a list of members seldom states.
        """
        key = (phrase, single)
        if key not in self._fits:
            graph, texts = self._graph, self.text_fit(phrase)
            fit = 0.6 * texts[graph.local] + 0.4 * texts[graph.whole]
            self._fits[key] = fit - LISTED * graph.listed if single else fit
        return self._fits[key]

    def text_fit(self, phrase: Phrase) -> Floats:
        """How well each step text states a phrase, (n_texts,): half by the best of its ways, half
        by their mean, and by shared word stems."""
        ways = np.stack([self._similar[way] for way in phrase.ways])
        fit: Floats = 0.5 * ways.max(axis=0) + 0.5 * ways.mean(axis=0)
        for stem in phrase.stems:
            fit[self._graph.bearing(stem)] += SHARED / len(phrase.stems)
        return fit

    def start(self, kinds: Floats) -> State:
        """Every usable node, scored by its kind."""
        return State(kinds[self._graph.kind_of] * self._usable)

    def named(self, nodes: Sequence[int]) -> State:
        score = np.zeros(len(self._graph.node_ids), np.float32)
        score[list(nodes)] = 1.0
        return State(score * self._usable)

    def empty(self) -> State:
        return State(np.zeros(len(self._graph.node_ids), np.float32))

    # -- one relation -----------------------------------------------------------------------------

    def step(self, child: State, joint: Joint) -> tuple[State, float]:
        """The parent's scores from the child's, and how well the best step fits."""
        graph = self._graph
        parents = joint.parent_kinds[graph.kind_of]
        children = joint.child_kinds[graph.kind_of]
        forward = np.minimum(parents[graph.source], children[graph.target]) > 0.5
        backward = np.minimum(parents[graph.target], children[graph.source]) > 0.5
        right = forward | backward
        best = float(joint.fit[right].max()) if right.any() else -math.inf
        active = self._active(child)
        if not len(active):
            return self.empty(), max(best, -1.0)
        near = self._leaving(active)
        origin, edge, middle = near.origin, near.edge, near.far
        fits_kinds = np.where(graph.target[edge] == origin, forward[edge], backward[edge])
        first, second, beyond, fit_two = self._two_steps(
            child, joint, near, direct=bool(fits_kinds.any())
        )
        best = max(best, float(fit_two.max()) if len(fit_two) else -math.inf)
        if not math.isfinite(best):  # no edge connects such kinds
            best = float(joint.fit[edge].max(initial=-1.0))
        fall = self._fall(best) * (2.0 if joint.loose else 1.0)
        one = np.minimum(np.exp((joint.fit[edge] - best) / fall), 1.0)
        one = np.where(fits_kinds, np.maximum(one, RIGHT_KINDS), one)
        two = np.minimum(np.exp((fit_two - best) / fall), 1.0)
        value = np.concatenate(
            [
                child.score[origin] * one * parents[middle],
                child.score[origin[first]] * two * parents[beyond],
            ]
        )
        nothing = np.full(len(edge), -1, np.int32)
        moves = _Moves(
            child=np.concatenate([origin, origin[first]]),
            parent=np.concatenate([middle, beyond]),
            middle=np.concatenate([nothing, middle[first]]),
            first=np.concatenate([edge, edge[first]]),
            second=np.concatenate([nothing, second]),
            value=value.astype(np.float32),
        )
        return self._taken(child, moves, joint.times), best

    def _active(self, state: State) -> Ints:
        active = np.flatnonzero(state.score > SEEN)
        if len(active) > FOLLOWED:
            active = active[np.argsort(-state.score[active], kind="stable")[:FOLLOWED]]
        return active.astype(np.int32)

    def _leaving(self, nodes: Ints) -> _Near:
        at, half = self._around(nodes)
        return _Near(nodes[at], self._graph.half_edge[half], self._graph.far[half])

    def _around(self, nodes: Ints) -> tuple[Places, Places]:
        """Half edges that leave these nodes for usable ones, each with its node's position."""
        graph = self._graph
        begin, end = graph.start[nodes], graph.start[nodes + 1]
        count = end - begin
        at = np.repeat(np.arange(len(nodes)), count)
        offset = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        half = begin[at] + offset
        kept = self._usable[graph.far[half]]
        return at[kept], half[kept]

    def _fall(self, best: float) -> float:
        """How fast steps lose weight: slowly if even the best step fits badly."""
        return FALL * (1.0 + 2.0 * max(0.0, 0.55 - best))

    def _two_steps(
        self,
        child: State,
        joint: Joint,
        near: _Near,
        *,
        direct: bool,
    ) -> tuple[Places, Ints, Ints, Floats]:
        """Position of the first edge, second edge, node beyond and fit of moves over two edges."""
        graph, fit = self._graph, joint.fit
        origin, edge, middle = near.origin, near.edge, near.far
        parents = joint.parent_kinds[graph.kind_of]
        top = np.flatnonzero((child.score[origin] > 0.3) & ~graph.dates[middle])
        if len(top) > _BRANCHES:
            top = top[np.argsort(-fit[edge[top]], kind="stable")[:_BRANCHES]]
        at, half = self._around(middle[top])
        first, second, beyond = top[at], graph.half_edge[half], graph.far[half]
        kept = (beyond != origin[first]) & (second != edge[first]) & (parents[beyond] > 0.5)
        first, second, beyond = first[kept], second[kept], beyond[kept]
        one, two = fit[edge[first]], fit[second]
        same = graph.sentence[edge[first]] == graph.sentence[second]
        apart = 0.7 * np.maximum(one, two) + 0.3 * np.minimum(one, two)
        apart += 0.3 * joint.middle_fit[graph.kind_of[middle[first]]]
        loose = joint.loose or direct
        price = TWO_STEPS_LOOSE if loose else TWO_STEPS
        price_same = SAME_SENTENCE_LOOSE if direct else SAME_SENTENCE
        found = np.where(same, 0.5 * (one + two) - price_same, apart - price)
        return first, second, beyond, found.astype(np.float32)

    def _taken(self, child: State, moves: _Moves, times: Span | None) -> State:
        """The best move to every node, without nodes that its chain contains."""
        out = self.empty()
        value = moves.value if times is None else moves.value * self._in_time(moves, times)
        kept = np.flatnonzero(value >= _FAINT)
        order = kept[np.argsort(-value[kept], kind="stable")[:_TRIED]]
        columns = (moves.parent, moves.child, moves.middle, moves.first, moves.second, value)
        been: dict[int, frozenset[int]] = {}
        scores: dict[int, float] = {}
        for node, origin, middle, first, second, worth in zip(
            *(column[order].tolist() for column in columns), strict=True
        ):
            last = first if second < 0 else second
            if node in scores:
                if worth > _ABOUT_AS_GOOD * scores[node]:
                    out.also.setdefault(node, []).append(last)
                continue
            if origin not in been:
                been[origin] = self._been(child, origin)
            seen = been[origin]
            steps = ((last,) if second < 0 else (second, first)) + child.steps.get(origin, ())
            if node in seen or middle in seen or len(steps) > self._max_hops:
                continue
            scores[node] = worth
            out.steps[node] = steps
        out.score[list(scores)] = list(scores.values())
        return out

    def _been(self, state: State, node: int) -> frozenset[int]:
        """The nodes of its chain and the node itself."""
        edges = [step for step in state.steps.get(node, ()) if step >= 0]
        graph = self._graph
        return frozenset((node, *graph.source[edges].tolist(), *graph.target[edges].tolist()))

    def _in_time(self, moves: _Moves, times: Span) -> Floats:
        """Factor of each move, by whether one of its nodes is of that time."""
        middle = np.where(moves.middle < 0, moves.parent, moves.middle)
        days = [self._graph.day[nodes] for nodes in (moves.parent, moves.child, middle)]
        inside = np.any([_within(day, times) for day in days], axis=0)
        dated = np.any([day != NO_DAY for day in days], axis=0)
        other = np.where(dated, WRONG_KIND, UNDATED_STEP)
        return np.where(inside, 1.0, other).astype(np.float32)

    # -- values -----------------------------------------------------------------------------------

    def value(
        self,
        child: State,
        phrase: Phrase,
        own_values: OwnValues,
        asking: str,
        *,
        single: bool,
    ) -> tuple[State, float]:
        """Values without a note (a place, a day) that the notes around the child and its own note
        state.

        Args:
            asking: the question's word for the value.
        """
        graph, out = self._graph, self.empty()
        active = self._active(child)
        own = 0.999 if phrase.is_weak else OWN_NOTE
        for node in active.tolist():
            if graph.noted[node]:
                out.score[node] = own * child.score[node]
                out.steps[node] = child.steps.get(node, ())
        if not len(active):
            return out, 0.5
        top = active[np.argsort(-child.score[active], kind="stable")[:_VALUES_READ]]
        noted = [int(node) for node in top if graph.noted[node]]
        near = self._leaving(active)
        told_by_child = graph.source[near.edge] == near.origin
        fit = self.fit(phrase, single=single)[near.edge]
        fit = fit - np.where(told_by_child, 0.0, REVERSED_VALUE)
        leads = bool(len(fit)) and bool(graph.repeated[near.edge[fit.argmax()]])
        leads = leads or any(graph.are_relations(child.steps.get(node, ())) for node in noted)
        if not (self._all_values or leads):
            noted = []
        stated = own_values(noted, phrase, asking)
        best = max([*(f for _, f in stated.values()), float(fit.max(initial=-1.0))])
        fall = self._fall(best)
        for node, (number, own_fit) in stated.items():
            worth = float(child.score[node]) * math.exp(min(0.0, own_fit - best) / fall)
            if len(out.steps[node]) < self._max_hops:
                out.score[node] = max(out.score[node], worth)
                out.steps[node] = (-1 - number, *child.steps.get(node, ()))
        if phrase.is_weak:
            return out, 0.5
        worth_all = child.score[near.origin] * np.exp(np.minimum(0.0, fit - best) / fall)
        self._values_around(child, out, worth_all.astype(np.float32), near)
        return out, best

    def _values_around(self, child: State, out: State, worth: Floats, near: _Near) -> None:
        been: dict[int, frozenset[int]] = {}
        for k in np.argsort(-worth, kind="stable")[:_TRIED_VALUES]:
            node, start = int(near.far[k]), int(near.origin[k])
            if worth[k] < SEEN:
                return
            steps = (int(near.edge[k]), *child.steps.get(start, ()))
            if start not in been:
                been[start] = self._been(child, start)
            if node in been[start] or len(steps) > self._max_hops:
                continue
            if worth[k] > out.score[node]:
                out.score[node] = worth[k]
                out.steps[node] = steps
            elif worth[k] > _ABOUT_AS_GOOD * out.score[node]:
                out.also.setdefault(node, []).append(int(near.edge[k]))

    # -- several ----------------------------------------------------------------------------------

    @staticmethod
    def meet(one: State, other: State) -> State:
        """Nodes that answer both, and far behind them those that answer one."""
        half = 0.05 * np.maximum(one.score, other.score)
        out = State(np.maximum(one.score * other.score, half))
        for node in one.steps.keys() | other.steps.keys():
            out.steps[node] = one.steps.get(node, ()) + other.steps.get(node, ())
            out.also[node] = one.also.get(node, [])
        return out

    def at_times(self, state: State, times: Span) -> None:
        """Lower the scores of nodes of another time."""
        days = self._graph.day
        other = np.where(days != NO_DAY, OUTSIDE_TIMES, UNDATED_INSIDE)
        state.score = (state.score * np.where(_within(days, times), 1.0, other)).astype(np.float32)


def _within(days: Ints, times: Span) -> Flags:
    after, before = days >= times.first.toordinal(), days <= times.last.toordinal()
    within: Flags = after & before & (days != NO_DAY)
    return within
