"""Finds effects of an action and causes of an observation, with their chains of influences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import prod

from memvault.model.search import NodeRef, Scope
from memvault.reasoning.bayes.inference import posterior
from memvault.reasoning.bayes.influence_graph import influence_graph
from memvault.reasoning.bayes.influences import Influence, Kind
from memvault.reasoning.bayes.network import FALSE, TRUE, Network
from memvault.reasoning.bayes.reasoner import Reasoner
from memvault.stores.graph_view import GraphView, node_ref

MAX_SHOWN = 10
MAX_CHAINS = 20
MAX_PER_NODE = 12  # influences of one node that chains follow
SECONDS = 0.05  # for the exact computation of one probability


class Direction(StrEnum):
    EFFECTS = "effects"
    CAUSES = "causes"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class CausalChain:
    """A chain of influences from cause to effect.

    ``strength`` is the product of their strengths; ``raises`` is whether the chain makes its end
    more likely.
    """

    links: tuple[Influence, ...]

    @property
    def strength(self) -> float:
        return prod(influence.strength for influence in self.links)

    @property
    def raises(self) -> bool:
        return sum(influence.kind is Kind.LOWERS for influence in self.links) % 2 == 0

    @property
    def nodes(self) -> tuple[str, ...]:
        return (self.links[0].cause, *(influence.effect for influence in self.links))


@dataclass(frozen=True, slots=True)
class Consequence:
    """An effect of the action, or a cause of it.

    For an effect, ``before`` is its probability if the action is prevented and ``after`` if it is
    done (Pearl's ``do``); for a cause, its probability before and after the effect is observed.
    """

    node: NodeRef
    direction: Direction
    chain: CausalChain
    before: float
    after: float
    approximate: bool


class Effects:
    """Follows influences from one node. Thread-safe."""

    def __init__(self, reasoner: Reasoner, edges: GraphView) -> None:
        self._reasoner = reasoner
        self._edges = edges

    def of(
        self, key: str, direction: Direction, max_depth: int, scope: Scope | None = None
    ) -> list[Consequence]:
        """Effects and causes within ``max_depth`` influences, greatest change first."""
        reader = self._reasoner.influences([key])
        allowed = self._reasoner.allowed(scope)
        graph = influence_graph([key], reader.of, allowed)
        network = graph.network(reader.sources_of, self._reasoner.name_of)
        consequences: list[Consequence] = []
        for one_direction in (Direction.EFFECTS, Direction.CAUSES):
            if direction in (one_direction, Direction.BOTH):
                best = _best_chains(
                    self._chains(key, one_direction, max_depth, graph.influences), key
                )
                for end, chain in best[:MAX_SHOWN]:
                    consequences.append(self._consequence(network, key, end, one_direction, chain))
        return sorted(consequences, key=lambda c: (-abs(c.after - c.before), c.node.name))

    def chains(self, key: str, max_depth: int, scope: Scope | None = None) -> list[CausalChain]:
        """Causal chains through a node, strongest first.

        Chains that lead to it are joined with chains that start at it, if both exist.
        """
        reader = self._reasoner.influences([key])
        graph = influence_graph([key], reader.of, self._reasoner.allowed(scope))
        before = _longest(self._chains(key, Direction.CAUSES, max_depth, graph.influences))
        after = _longest(self._chains(key, Direction.EFFECTS, max_depth, graph.influences))
        joined = [
            CausalChain((*leading.links, *following.links))
            for leading in before
            for following in after
            if not set(leading.nodes[:-1]) & set(following.nodes)
        ]
        found = joined or before or after
        return sorted(found, key=lambda c: (-c.strength, c.nodes))[:MAX_CHAINS]

    def _chains(
        self, key: str, direction: Direction, depth: int, influences: Sequence[Influence]
    ) -> list[CausalChain]:
        """All chains from the node, or to it, that visit no node twice."""
        forward = direction is Direction.EFFECTS
        adjacent: dict[str, list[Influence]] = {}
        for influence in influences:
            near_end = influence.cause if forward else influence.effect
            adjacent.setdefault(near_end, []).append(influence)
        chains: list[CausalChain] = []
        frontier: list[tuple[str, tuple[Influence, ...]]] = [(key, ())]
        for _ in range(depth):
            frontier = [
                longer
                for end, links in frontier
                for longer in _longer(end, links, adjacent.get(end, ()), forward=forward)
            ]
            chains += (CausalChain(links) for _, links in frontier)
        return chains

    def _consequence(
        self, network: Network, key: str, end: str, direction: Direction, chain: CausalChain
    ) -> Consequence:
        if direction is Direction.EFFECTS:
            before = posterior(network.intervened({key: FALSE}), end, {}, SECONDS)
            after = posterior(network.intervened({key: TRUE}), end, {}, SECONDS)
        else:
            before = posterior(network, end, {}, SECONDS)
            after = posterior(network, end, {key: TRUE}, SECONDS)
        return Consequence(
            node_ref(end, self._edges),
            direction,
            chain,
            before.probabilities[TRUE],
            after.probabilities[TRUE],
            before.approximate or after.approximate,
        )


def _best_chains(chains: Sequence[CausalChain], key: str) -> list[tuple[str, CausalChain]]:
    """The strongest chain to each far end, strongest first."""
    best: dict[str, CausalChain] = {}
    for chain in sorted(chains, key=lambda c: (-c.strength, len(c.links), c.nodes)):
        end = chain.nodes[-1] if chain.nodes[0] == key else chain.nodes[0]
        best.setdefault(end, chain)
    return list(best.items())


def _longest(chains: Sequence[CausalChain]) -> list[CausalChain]:
    """The chains that are not part of a longer chain."""
    parts = {chain.links[:-1] for chain in chains} | {chain.links[1:] for chain in chains}
    return [chain for chain in chains if chain.links not in parts]


def _longer(
    end: str, links: tuple[Influence, ...], influences: Sequence[Influence], *, forward: bool
) -> Iterator[tuple[str, tuple[Influence, ...]]]:
    """The chains with one more link at their end, which visit no node twice, with their new end.

    Args:
        influences: of the end.
        forward: the chain grows at its effect, else at its cause.
    """
    visited = {end, *(link.effect for link in links), *(link.cause for link in links)}
    for influence in influences[:MAX_PER_NODE]:
        new_end = influence.effect if forward else influence.cause
        if new_end not in visited:
            yield new_end, ((*links, influence) if forward else (influence, *links))
