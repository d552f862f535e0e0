"""The network around what is asked: at most so many things, those that bear on it most."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from memvault.reasoning.bayes.influences import Influence
from memvault.reasoning.bayes.network import Network, Variable, acyclic, truth_table
from memvault.reasoning.bayes.weights import belief

MOST_THINGS = 40
MOST_PARENTS = 4

InfluencesOf = Callable[[str], Iterable[Influence]]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Things, the nearest first, and the influences between them that the network keeps."""

    things: tuple[str, ...]
    influences: tuple[Influence, ...]

    def network(self, sources: Callable[[str], float], name_of: Callable[[str], str]) -> Network:
        """True or false for each thing.

        Args:
            sources: how many ordinary sources say that a thing holds by itself.
        """
        by_effect: dict[str, list[Influence]] = {}
        for each in self.influences:
            by_effect.setdefault(each.effect, []).append(each)
        network = Network()
        waiting = list(self.things)
        while waiting:
            ready = [
                key
                for key in waiting
                if all(each.cause in network.variables for each in by_effect.get(key, ()))
            ]
            for key in ready:
                own = by_effect.get(key, [])
                table = truth_table(belief(sources(key)), own)
                network.add(Variable(key, name_of(key)), [each.cause for each in own], table)
            waiting = [key for key in waiting if key not in network.variables]
        return network


def surroundings(
    seeds: Sequence[str],
    influences_of: InfluencesOf,
    allowed: Callable[[str], bool] = lambda _: True,
    *,
    most: int = MOST_THINGS,
) -> Surroundings:
    """What bears on these things and what they bear on, along the strongest influences.

    Args:
        seeds: are always in; in order.
        allowed: things that it refuses are neither taken in nor passed through.
    """
    taken: dict[str, None] = {}
    seen: dict[tuple[str, str, str], Influence] = {}
    heap: list[tuple[float, int, str]] = [(-1.0, k, key) for k, key in enumerate(seeds)]
    count = len(heap)
    while heap and len(taken) < max(most, len(seeds)):
        reach, _, key = heappop(heap)
        if key in taken:
            continue
        taken[key] = None
        for each in influences_of(key):
            seen.setdefault((each.cause, each.effect, each.kind), each)
            far = each.effect if each.cause == key else each.cause
            if far not in taken and allowed(far):
                count += 1
                heappush(heap, (reach * each.strength, count, far))
    return Surroundings(tuple(taken), tuple(_between(seen, taken)))


def _between(
    seen: Mapping[tuple[str, str, str], Influence], taken: Collection[str]
) -> Iterable[Influence]:
    inside = [each for each in seen.values() if each.cause in taken and each.effect in taken]
    for kept in acyclic(inside, MOST_PARENTS).values():
        yield from kept
