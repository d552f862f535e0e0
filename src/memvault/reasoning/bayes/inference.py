"""Inference in a Bayesian network: exact if that is quick, otherwise by sampling.

pgmpy does the exact inference. Sampling and belief propagation are our own, for these reasons
(measured with 40 variables of up to 3 parents each, as in `tests/unit/test_bayes.py`):

- pgmpy takes 7 s and 175 MB to load; until then sampling answers in 40 ms. pgmpy's own sampling
  needs PyTorch.
- One call of pgmpy's belief propagation took 11.7 s (it builds a junction tree), ours 18 ms for all
  variables at once.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from math import prod

import numpy as np
import numpy.typing as npt

from memvault.model.errors import CausalInferenceError
from memvault.reasoning.bayes.network import IMPOSSIBLE, Network
from memvault.reasoning.bayes.pgmpy_loader import Pgmpy, pgmpy_if_loaded

ENTRIES_PER_SECOND = 10_000_000  # least number of table entries that elimination processes
LARGEST_TABLE = 1 << 22  # entries, 32 MB
BATCH = 2_000  # samples
ENOUGH = 20_000.0  # effective samples; then a probability is accurate to 0.01
SEED = 20_260_301  # fixed, so that equal questions about equal notes get equal answers

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Posterior:
    """The ``probabilities`` of a variable's states, in order."""

    probabilities: tuple[float, ...]
    approximate: bool


def posterior(
    network: Network, target: str, evidence: Mapping[str, int], seconds: float
) -> Posterior:
    """The distribution of a variable given evidence.

    Exact by variable elimination if its tables are small enough for the time limit; otherwise, and
    while pgmpy loads, by likelihood weighting (Fung and Chang 1990) until the limit.

    Args:
        seconds: time limit.

    Raises:
        CausalInferenceError: the evidence is impossible.
    """
    relevant = network.restricted([target, *evidence])
    if any(_is_impossible(relevant, key, evidence) for key in evidence):
        raise CausalInferenceError(IMPOSSIBLE)
    if target in evidence:
        _refuse_impossible(relevant, target, evidence, seconds)
        certain = np.eye(relevant.cardinality(target))[evidence[target]]
        return Posterior(tuple(map(float, certain)), approximate=False)
    total, largest = elimination_cost(relevant, target, evidence)
    pgmpy = pgmpy_if_loaded()
    in_time = largest <= LARGEST_TABLE and total <= seconds * ENTRIES_PER_SECOND
    if pgmpy is not None and in_time:
        return Posterior(_exact(pgmpy, relevant, target, evidence), approximate=False)
    return Posterior(_sampled(relevant, target, evidence, seconds), approximate=True)


def _is_impossible(network: Network, key: str, evidence: Mapping[str, int]) -> bool:
    """Whether an observed value is impossible for every value of its unobserved parents.

    Variable elimination skips fully observed factors, so it does not notice this.
    """
    parents = network.parents[key]
    indices = tuple(evidence.get(parent, slice(None)) for parent in parents)
    return not np.any(network.tables[key][(*indices, evidence[key])])


def _refuse_impossible(
    network: Network, target: str, evidence: Mapping[str, int], seconds: float
) -> None:
    others = {key: value for key, value in evidence.items() if key != target}
    if posterior(network, target, others, seconds).probabilities[evidence[target]] <= 0.0:
        raise CausalInferenceError(IMPOSSIBLE)


def elimination_cost(network: Network, target: str, evidence: Mapping[str, int]) -> tuple[int, int]:
    """The number of entries of all tables that variable elimination creates, and of the largest.

    The elimination order is greedy by the size of the created table (MinWeight; Koller and Friedman
    2009, 9.4.3).
    """
    neighbours: dict[str, set[str]] = {
        key: set() for key in network.variables if key not in evidence
    }
    for key, parents in network.parents.items():
        family = [variable for variable in (key, *parents) if variable in neighbours]
        for variable in family:
            neighbours[variable].update(family)
    size = {key: network.cardinality(key) for key in neighbours}
    total = largest = 0
    remaining = {key for key in neighbours if key != target}
    while remaining:
        cost = {
            key: prod(size[variable] for variable in neighbours[key] | {key}) for key in remaining
        }
        best = min(remaining, key=lambda key: (cost[key], key))
        total += cost[best]
        largest = max(largest, cost[best])
        around = neighbours.pop(best) - {best}
        for variable in around:
            neighbours[variable] |= around
            neighbours[variable].discard(best)
        remaining.remove(best)
    return total, largest


def _exact(
    pgmpy: Pgmpy, network: Network, target: str, evidence: Mapping[str, int]
) -> tuple[float, ...]:
    model = pgmpy.models.DiscreteBayesianNetwork()
    model.add_nodes_from(network.variables)
    for key, parents in network.parents.items():
        model.add_edges_from((parent, key) for parent in parents)
    for key, table in network.tables.items():
        parents = network.parents[key]
        model.add_cpds(
            pgmpy.factors.TabularCPD(
                key,
                network.cardinality(key),
                table.reshape(-1, table.shape[-1]).T,
                evidence=list(parents) or None,
                evidence_card=[network.cardinality(parent) for parent in parents] or None,
            )
        )
    with np.errstate(invalid="ignore", divide="ignore"):
        result = pgmpy.inference.VariableElimination(model).query(
            [target], dict(evidence), show_progress=False
        )
    values = np.asarray(result.values, dtype=float)
    if not np.all(np.isfinite(values)):
        raise CausalInferenceError(IMPOSSIBLE)
    return tuple(map(float, values))


def _sampled(
    network: Network, target: str, evidence: Mapping[str, int], seconds: float
) -> tuple[float, ...]:
    """Likelihood weighting: samples, each weighted by the likelihood of the evidence."""
    rng = np.random.default_rng(SEED)
    order = list(TopologicalSorter(network.parents).static_order())  # parents first
    sums = np.zeros(network.cardinality(target))
    weights = squares = 0.0
    end = time.monotonic() + seconds
    while squares == 0.0 or (weights**2 / squares < ENOUGH and time.monotonic() < end):
        drawn, likelihoods = _batch(network, order, evidence, rng)
        sums += np.bincount(drawn[target], weights=likelihoods, minlength=len(sums))
        weights += float(likelihoods.sum())
        squares += float((likelihoods**2).sum())
        if squares == 0.0 and time.monotonic() > end:
            raise CausalInferenceError(IMPOSSIBLE)
    return tuple(map(float, sums / weights))


def _batch(
    network: Network, order: list[str], evidence: Mapping[str, int], rng: np.random.Generator
) -> tuple[dict[str, npt.NDArray[np.intp]], Floats]:
    drawn: dict[str, npt.NDArray[np.intp]] = {}
    likelihoods = np.ones(BATCH)
    for key in order:
        rows = network.tables[key][tuple(drawn[parent] for parent in network.parents[key])]
        rows = np.broadcast_to(rows, (BATCH, network.cardinality(key)))
        if key in evidence:
            drawn[key] = np.full(BATCH, evidence[key], dtype=np.intp)
            likelihoods = likelihoods * rows[:, evidence[key]]
        else:
            below = rng.random((BATCH, 1)) > np.cumsum(rows, axis=1)
            drawn[key] = np.minimum(below.sum(axis=1), rows.shape[1] - 1)
    return drawn, likelihoods
