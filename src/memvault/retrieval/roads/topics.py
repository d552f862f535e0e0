"""Ordering results by the words before their noun: *storage* decisions, *hiring* choices."""

from __future__ import annotations

import numpy as np

from memvault.retrieval.roads.question import Thing, stems
from memvault.retrieval.roads.steps import Floats, StepGraph
from memvault.retrieval.roads.walking import State
from memvault.retrieval.roads.weights import RoadSettings


def narrow(
    graph: StepGraph,
    state: State,
    thing: Thing,
    *,
    kinds: Floats,
    topic: Floats,
    settings: RoadSettings,
) -> None:
    """Lower the results whose titles fit the thing's modifiers less.

    What all titles of a kind share tells none of them apart, so vectors are compared as they
    differ from the kind's mean.

    Args:
        kinds: weights of the kinds that the thing may be, (n_kinds,).
        topic: vectors of the modifiers with and without the noun, (n, dim).
    """
    found = np.flatnonzero((state.score > settings.seen) & (graph.own_words >= 0))
    if not len(found):
        return
    alike = np.flatnonzero((kinds[graph.kind_of] > 0.5) & graph.noted & (graph.own_words >= 0))
    mean = graph.vectors[graph.own_words[alike]].mean(axis=0) if len(alike) else 0.0
    titles = _apart(graph.vectors[graph.own_words[found]], mean)
    fit = (titles @ _apart(topic, mean).T).mean(axis=1)
    words = stems(" ".join(thing.modifiers))
    for word in words:
        bearing = np.isin(graph.own_words[found], graph.bearing(word))
        fit[bearing] += settings.topic_words / len(words)
    fit = (fit - fit.min()) / max(1e-6, float(fit.max() - fit.min()))
    floor = settings.topic_floor
    state.score[found] *= (floor + (1.0 - floor) * fit).astype(np.float32)


def _apart(vectors: Floats, mean: Floats | float) -> Floats:
    apart = vectors - mean
    lengths = np.linalg.norm(apart, axis=1, keepdims=True)
    return np.asarray(apart / np.maximum(lengths, 1e-6), np.float32)
