"""Infers in any direction: some nodes are clamped to known values, others are predicted.

The four directions are those of graph-tools 1.2.5.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from heapq import heappop, heappush

import numpy as np

from memvault.model.errors import InvalidParams
from memvault.model.note import ChunkSize
from memvault.model.search import Scope
from memvault.reasoning.bayes.belief_propagation import propagate
from memvault.reasoning.bayes.influence_graph import InfluenceGraph, influence_graph
from memvault.reasoning.bayes.influences import Influence, Influences
from memvault.reasoning.bayes.network import TRUE, reachable
from memvault.reasoning.bayes.reasoner import Reasoner
from memvault.reasoning.bayes.source_weights import wilson
from memvault.stores.graph_view import GraphView
from memvault.stores.vectors import VectorStore

MAX_PREDICTED = 10
MAX_RELATIONS = 60  # relations per node that the search for a bridge or an explanation follows
MAX_VISITED = 400  # nodes that the search for a bridge visits
MAX_EXPLAINING = 10  # explanations of one observation, whose table has 2^n entries for n of them
RELATED_WEIGHT = 0.5  # of a relation that is not causal, by which its strength is multiplied


class InferenceDirection(StrEnum):
    FORWARD = "forward"
    BACKWARD = "backward"
    BRIDGE = "bridge"
    ABDUCTION = "abduction"


@dataclass(frozen=True, slots=True)
class Prediction:
    """The predicted probability ``value`` that a node is true.

    ``confidence`` is 1 minus the width of its 95% interval.
    """

    key: str
    value: float
    confidence: float


@dataclass(frozen=True, slots=True)
class InferenceResult:
    """The predictions of an inference.

    For a bridge, ``path`` has its influences or relations in order.
    """

    predictions: tuple[Prediction, ...]
    iterations: int
    converged: bool
    path: tuple[Influence, ...] = ()

    @property
    def path_nodes(self) -> tuple[str, ...]:
        """The nodes of the bridge, with both ends; empty without one."""
        return (self.path[0].cause, *(step.effect for step in self.path)) if self.path else ()

    @property
    def overall_confidence(self) -> float:
        """The mean of the predictions' confidences; 0 without any."""
        if not self.predictions:
            return 0.0
        return sum(prediction.confidence for prediction in self.predictions) / len(self.predictions)


def resemblance(node_id: str, embedding: Sequence[float], store: VectorStore) -> float:
    """The cosine of an embedding and the nearest passage of a note, in [0, 1]; 0 without text.

    Raises StoreUnavailable: the store does not answer.
    """
    vector = np.asarray(embedding, dtype=np.float32)
    length = float(np.linalg.norm(vector))
    passages = store.vectors([node_id], ChunkSize.PASSAGE).get(node_id, [])
    cosines = [float(vector @ passage) / length for passage in passages if length]
    return min(1.0, max(0.0, *cosines, 0.0))


class OmniInference:
    """Builds the network that a kind of inference needs and runs belief propagation on it."""

    def __init__(self, reasoner: Reasoner, edges: GraphView) -> None:
        self._reasoner = reasoner
        self._edges = edges

    def infer(
        self,
        kind: InferenceDirection,
        clamped: Mapping[str, float],
        targets: Sequence[str],
        max_iterations: int,
        scope: Scope | None = None,
    ) -> InferenceResult:
        """Predict nodes, most probable first.

        Args:
            clamped: the probability in [0, 1] that each node is true.
            targets: nodes to predict; empty for those that this kind of inference finds.

        Raises:
            InvalidParams: a bridge without exactly two ends.
            CausalInferenceError: the clamped values contradict each other.
        """
        reader = self._reasoner.influences(clamped)
        graph, found = self._graph(kind, clamped, targets, reader, self._reasoner.allowed(scope))
        network = graph.network(reader.sources_of, self._reasoner.name_of)
        likelihoods = {key: (1.0 - chance, chance) for key, chance in clamped.items()}
        beliefs = propagate(network, likelihoods, max_iterations)
        keys = list(dict.fromkeys(targets)) or found
        stating = _stating(graph)
        predicted = [
            _predicted(key, float(beliefs.probabilities[key][TRUE]), reader, stating)
            for key in keys
            if key in beliefs.probabilities and key not in clamped
        ]
        if kind is not InferenceDirection.BRIDGE:
            predicted.sort(key=lambda p: (-p.value, -p.confidence, p.key))
        best = tuple(predicted[: max(MAX_PREDICTED, len(targets))])
        path = graph.influences if kind is InferenceDirection.BRIDGE else ()
        return InferenceResult(best, beliefs.iterations, beliefs.converged, path)

    def _graph(
        self,
        kind: InferenceDirection,
        clamped: Mapping[str, float],
        targets: Sequence[str],
        reader: Influences,
        allowed: Callable[[str], bool],
    ) -> tuple[InfluenceGraph, list[str]]:
        """The influences between the nodes concerned, and the nodes that this kind finds."""
        if kind is InferenceDirection.BRIDGE:
            if len(clamped) != 2:
                raise InvalidParams("Invalid params: clamped_nodes - a bridge has two ends")
            start, end = clamped
            path = self._strongest_path(start, end, reader, allowed)
            between = [step.effect for step in path[:-1]]
            nodes = dict.fromkeys((start, *between, end, *targets))
            return InfluenceGraph(tuple(nodes), path), between
        if kind is InferenceDirection.ABDUCTION:
            return self._explanations(clamped, targets, reader, allowed)
        graph = influence_graph([*clamped, *targets], reader.of, allowed)
        return graph, _reached(
            clamped, graph.influences, forward=kind is InferenceDirection.FORWARD
        )

    def _strongest_path(
        self, start: str, end: str, reader: Influences, allowed: Callable[[str], bool]
    ) -> tuple[Influence, ...]:
        """The strongest path between two nodes (Dijkstra over -log strength, discounted at hubs by
        log2(1 + degree)); empty if none is found within `MAX_VISITED` nodes."""
        best: dict[str, float] = {start: 0.0}
        via: dict[str, Influence] = {}
        heap: list[tuple[float, str]] = [(0.0, start)]
        done: set[str] = set()
        while heap and len(done) < MAX_VISITED:
            cost, key = heappop(heap)
            if key == end:
                break
            if key in done:
                continue
            done.add(key)
            hub = 1.0 if key == start else math.log2(1 + len(self._edges.of(key)))
            for influence in reader.related(key, MAX_RELATIONS):
                neighbour = influence.effect
                if neighbour in done or not (neighbour == end or allowed(neighbour)):
                    continue
                new_cost = cost - math.log(max(1e-9, influence.strength / hub))
                if new_cost < best.get(neighbour, math.inf):
                    best[neighbour], via[neighbour] = new_cost, influence
                    heappush(heap, (new_cost, neighbour))
        return _path_back(start, end, via)

    def _explanations(
        self,
        clamped: Mapping[str, float],
        targets: Sequence[str],
        reader: Influences,
        allowed: Callable[[str], bool],
    ) -> tuple[InfluenceGraph, list[str]]:
        """Candidate explanations: stated causes, and nodes related to several observations."""
        related: dict[str, dict[str, Influence]] = {}
        for observed in clamped:
            causal = {
                i.cause: i
                for i in reader.of(observed)
                if i.effect == observed and not i.between_notes
            }
            for influence in reader.related(observed, MAX_RELATIONS):
                weaker = replace(
                    influence,
                    cause=influence.effect,
                    effect=observed,
                    strength=RELATED_WEIGHT * influence.strength,
                )
                related.setdefault(influence.effect, {})[observed] = causal.get(
                    influence.effect, weaker
                )
        candidates = [
            key
            for key, by_observation in related.items()
            if key not in clamped
            and allowed(key)
            and (
                len(by_observation) > 1
                or any(i in reader.of(s) for s, i in by_observation.items())
                or key in targets
            )
        ]
        degree = {key: math.log2(2 + len(self._edges.of(key))) for key in candidates}
        candidates.sort(
            key=lambda key: (-sum(i.strength for i in related[key].values()) / degree[key], key)
        )
        wanted = (key for key in targets if key not in clamped)
        explaining = list(dict.fromkeys((*wanted, *candidates[:MAX_EXPLAINING])))
        influences = tuple(
            i for key in explaining[:MAX_EXPLAINING] for i in related.get(key, {}).values()
        )
        return InfluenceGraph((*explaining, *clamped), influences), explaining


def _predicted(
    key: str, value: float, reader: Influences, stating: Mapping[str, Mapping[str, float]]
) -> Prediction:
    """The prediction of a node, more confident the more notes state its influences."""
    sources = reader.sources_of(key) + sum(stating.get(key, {}).values())
    low, high = wilson(min(1.0, max(0.0, value)), sources)
    return Prediction(key, value, 1.0 - (high - low))


def _path_back(start: str, end: str, via: Mapping[str, Influence]) -> tuple[Influence, ...]:
    """The influences on the path from start to end; ``via`` has the last one to each node."""
    path: list[Influence] = []
    while end in via and end != start:
        path.append(via[end])
        end = via[end].cause
    return tuple(reversed(path))


def _stating(graph: InfluenceGraph) -> dict[str, dict[str, float]]:
    """The notes that state the influences of each node, with their weights."""
    weights_by_node: dict[str, dict[str, float]] = {}
    for influence in graph.influences:
        for key in (influence.cause, influence.effect):
            weights = weights_by_node.setdefault(key, {})
            weights.update({s.memory_id: s.weight for s in influence.stated if s.memory_id != key})
    return weights_by_node


def _reached(
    clamped: Mapping[str, float], influences: Sequence[Influence], *, forward: bool
) -> list[str]:
    """Nodes reachable from the clamped ones in one direction, nearest first."""
    following: dict[str, list[str]] = defaultdict(list)
    for influence in influences:
        ends = (influence.cause, influence.effect)
        first, second = ends if forward else ends[::-1]
        following[first].append(second)
    return [key for key in reachable(clamped, following.__getitem__) if key not in clamped]
