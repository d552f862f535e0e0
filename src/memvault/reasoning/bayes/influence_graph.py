"""The influences around the nodes named in a question, and the Bayesian network that they form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import product
from math import prod

import numpy as np

from memvault.reasoning.bayes.influences import Influence, Kind
from memvault.reasoning.bayes.network import FALSE, TRUE, Network, Table, Variable, reachable
from memvault.reasoning.bayes.source_weights import belief

LEAK = 0.5  # share of its own belief that a node with causes keeps if they are all false
MAX_NODES = 40
MAX_PARENTS = 4


@dataclass(frozen=True, slots=True)
class InfluenceGraph:
    """Nodes, nearest first, and the influences between them that the network keeps."""

    nodes: tuple[str, ...]
    influences: tuple[Influence, ...]

    def network(self, sources: Callable[[str], float], name_of: Callable[[str], str]) -> Network:
        """Build a network with one Boolean variable for each node.

        Args:
            sources: gives the weight of the notes that support a node itself, in ordinary sources.
        """
        network = Network()
        for key in self.nodes:
            influences = [influence for influence in self.influences if influence.effect == key]
            table = truth_table(belief(sources(key)), influences)
            network.add(Variable(key, name_of(key)), [i.cause for i in influences], table)
        return network


def influence_graph(
    seeds: Sequence[str],
    influences_of: Callable[[str], Iterable[Influence]],
    allowed: Callable[[str], bool] = lambda _: True,
) -> InfluenceGraph:
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
    inside = [i for i in influences.values() if i.cause in included and i.effect in included]
    kept = tuple(influence for parents in acyclic(inside).values() for influence in parents)
    return InfluenceGraph(tuple(included), kept)


def acyclic(influences: Sequence[Influence]) -> dict[str, list[Influence]]:
    """The strongest influences on each effect that together form no cycle."""
    kept: dict[str, list[Influence]] = {}
    for influence in sorted(influences, key=lambda i: (-i.strength, i.cause, i.effect)):
        parents = kept.setdefault(influence.effect, [])
        has_room = len(parents) < MAX_PARENTS and all(i.cause != influence.cause for i in parents)
        if has_room and influence.effect not in reachable(
            [influence.cause], lambda key: (i.cause for i in kept.get(key, ()))
        ):
            parents.append(influence)
    return kept


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
