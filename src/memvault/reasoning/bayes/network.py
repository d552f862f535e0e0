"""Discrete Bayesian networks, and the network around the nodes named in a question."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from memvault.reasoning.bayes.influences import Influence, Kind
from memvault.reasoning.bayes.source_weights import belief

FALSE, TRUE = 0, 1
TRUTH = ("false", "true")
LEAK = 0.5  # share of its own belief that a node with causes keeps if they are all false

IMPOSSIBLE = (
    "Causal query failed: the evidence cannot hold together by what the notes say. Leave out what "
    "contradicts the rest, or ask with do to see what would follow."
)

Table = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Variable:
    id: str
    name: str
    states: tuple[str, ...] = TRUTH


@dataclass(slots=True)
class Network:
    """A discrete Bayesian network; parents are added before their children.

    ``tables[x]`` has one axis for each parent of ``x``, in order, and a last axis for ``x``, along
    which it sums to 1.
    """

    variables: dict[str, Variable] = field(default_factory=dict)
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)

    def add(self, variable: Variable, parents: Sequence[str], table: Table) -> None:
        self.variables[variable.id] = variable
        self.parents[variable.id] = tuple(parents)
        self.tables[variable.id] = table

    def cardinality(self, key: str) -> int:
        return len(self.variables[key].states)

    def intervened(self, values: Mapping[str, int]) -> Network:
        """The network after an intervention (Pearl's ``do``): the variables lose their parents."""
        changed = Network(dict(self.variables), dict(self.parents), dict(self.tables))
        for key, value in values.items():
            table = np.zeros(self.cardinality(key))
            table[value] = 1.0
            changed.parents[key] = ()
            changed.tables[key] = table
        return changed

    def ancestors(self, keys: Sequence[str]) -> set[str]:
        """These variables and all their ancestors."""
        reached: set[str] = set()
        waiting = [key for key in keys if key in self.variables]
        while waiting:
            key = waiting.pop()
            if key not in reached:
                reached.add(key)
                waiting += self.parents[key]
        return reached

    def restricted(self, keys: Sequence[str]) -> Network:
        """The part with these variables and their ancestors; all others would sum to 1."""
        ancestors = self.ancestors(keys)
        return Network(
            {key: variable for key, variable in self.variables.items() if key in ancestors},
            {key: parents for key, parents in self.parents.items() if key in ancestors},
            {key: table for key, table in self.tables.items() if key in ancestors},
        )

    def active(self, start: str, observed: Collection[str]) -> set[str]:
        """The variables not d-separated from ``start`` given ``observed``, ``start`` included.

        Follows active trails (Koller and Friedman 2009, algorithm 3.1). As fast as pgmpy's
        ``active_trail_nodes`` (0.02 ms for 40 variables), without the 7 s to load pgmpy.
        """
        # An observed common effect, or a descendant of it, opens the trail between its causes.
        opening = self.ancestors(list(observed))
        children: dict[str, list[str]] = {key: [] for key in self.variables}
        for key, parents in self.parents.items():
            for parent in parents:
                children[parent].append(key)
        connected: set[str] = set()
        visited: set[tuple[str, bool]] = set()
        waiting = [(start, True)]  # variable, and whether it was reached from a child
        while waiting:
            key, from_child = visit = waiting.pop()
            if visit in visited:
                continue
            visited.add(visit)
            is_observed = key in observed
            if not is_observed:
                connected.add(key)
            if from_child and not is_observed:
                waiting += [(parent, True) for parent in self.parents[key]]
                waiting += [(child, False) for child in children[key]]
            elif not from_child:
                if not is_observed:
                    waiting += [(child, False) for child in children[key]]
                if key in opening:
                    waiting += [(parent, True) for parent in self.parents[key]]
        return connected

    def in_order(self) -> Iterator[str]:
        """The variables in topological order: every variable after its parents."""
        done: set[str] = set()
        waiting = list(self.variables)
        while waiting:
            ready = [key for key in waiting if done.issuperset(self.parents[key])]
            yield from ready
            done.update(ready)
            waiting = [key for key in waiting if key not in done]


def truth_table(own_belief: float, influences: Sequence[Influence]) -> Table:
    """The conditional probability table of a node, shape (2, …, 2) with the node last.

    Noisy-OR with a leak (Henrion 1989) over its causes, times ``1 - strength`` for each hindrance
    that is true and each need that is false. Without causes, its own belief replaces the leak.

    Args:
        own_belief: belief in the node by itself, in [0, 1].
        influences: one for each parent, in order.
    """
    has_causes = any(i.kind is Kind.RAISES and not i.between_notes for i in influences)
    leak = own_belief * LEAK if has_causes else own_belief
    table = np.empty((2,) * (len(influences) + 1))
    for states in product((FALSE, TRUE), repeat=len(influences)):
        pairs = list(zip(states, influences, strict=True))
        not_raised = prod(
            1 - i.strength for is_true, i in pairs if is_true and i.kind is Kind.RAISES
        )
        not_lowered = prod(
            1 - i.strength for is_true, i in pairs if is_true and i.kind is Kind.LOWERS
        )
        not_lacking = prod(
            1 - i.strength for is_true, i in pairs if not is_true and i.kind is Kind.NEEDED
        )
        true = (1 - (1 - leak) * not_raised) * not_lowered * not_lacking
        table[states] = (1 - true, true)
    return table


def acyclic(influences: Sequence[Influence]) -> dict[str, list[Influence]]:
    """The strongest influences on each effect that together form no cycle."""
    kept: dict[str, list[Influence]] = {}
    for influence in sorted(influences, key=lambda i: (-i.strength, i.cause, i.effect)):
        parents = kept.setdefault(influence.effect, [])
        has_room = len(parents) < MAX_PARENTS and all(i.cause != influence.cause for i in parents)
        if has_room and not _leads(influence.effect, influence.cause, kept):
            parents.append(influence)
    return kept


def _leads(start: str, end: str, kept: Mapping[str, Sequence[Influence]]) -> bool:
    """Whether the kept influences lead from one node to the other."""
    visited: set[str] = set()
    waiting = [end]
    while waiting:
        key = waiting.pop()
        if key == start:
            return True
        if key not in visited:
            visited.add(key)
            waiting += [influence.cause for influence in kept.get(key, ())]
    return False


MAX_NODES = 40
MAX_PARENTS = 4

InfluencesOf = Callable[[str], Iterable[Influence]]


@dataclass(frozen=True, slots=True)
class NetworkSelection:
    """Nodes, nearest first, and the influences between them that the network keeps."""

    nodes: tuple[str, ...]
    influences: tuple[Influence, ...]

    def network(self, sources: Callable[[str], float], name_of: Callable[[str], str]) -> Network:
        """Build a network with one Boolean variable for each node.

        Args:
            sources: gives the weight of the notes that support a node itself, in ordinary sources.
        """
        by_effect: dict[str, list[Influence]] = {}
        for influence in self.influences:
            by_effect.setdefault(influence.effect, []).append(influence)
        network = Network()
        waiting = list(self.nodes)
        while waiting:
            ready = [
                key
                for key in waiting
                if all(influence.cause in network.variables for influence in by_effect.get(key, ()))
            ]
            for key in ready:
                influences = by_effect.get(key, [])
                table = truth_table(belief(sources(key)), influences)
                network.add(Variable(key, name_of(key)), [i.cause for i in influences], table)
            waiting = [key for key in waiting if key not in network.variables]
        return network


def surroundings(
    seeds: Sequence[str],
    influences_of: InfluencesOf,
    allowed: Callable[[str], bool] = lambda _: True,
) -> NetworkSelection:
    """The nodes around these seeds along the strongest influences, at most `MAX_NODES`.

    Args:
        seeds: always included, in order.
        allowed: nodes for which it is false are neither included nor passed through.
    """
    included: dict[str, None] = {}
    influences: dict[tuple[str, str, str], Influence] = {}
    heap: list[tuple[float, int, str]] = [(-1.0, k, key) for k, key in enumerate(seeds)]
    count = len(heap)
    while heap and len(included) < max(MAX_NODES, len(seeds)):
        reach, _, key = heappop(heap)
        if key in included:
            continue
        included[key] = None
        for influence in influences_of(key):
            influences.setdefault((influence.cause, influence.effect, influence.kind), influence)
            neighbour = influence.effect if influence.cause == key else influence.cause
            if neighbour not in included and allowed(neighbour):
                count += 1
                heappush(heap, (reach * influence.strength, count, neighbour))
    return NetworkSelection(tuple(included), tuple(_between(influences, included)))


def _between(
    influences: Mapping[tuple[str, str, str], Influence], nodes: Collection[str]
) -> Iterable[Influence]:
    inside = [
        influence
        for influence in influences.values()
        if influence.cause in nodes and influence.effect in nodes
    ]
    for kept in acyclic(inside).values():
        yield from kept
