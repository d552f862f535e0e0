"""Loopy belief propagation: the beliefs in all variables of a network at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memvault.model.errors import CausalInferenceError
from memvault.reasoning.bayes.network import IMPOSSIBLE, Network

Floats = npt.NDArray[np.float64]
CONVERGED = 1e-6  # a smaller change of every message counts as convergence
DAMPED_AFTER = 20  # rounds after which changing messages probably oscillate in a loop
DAMPING = 0.2  # share of its previous value that a message keeps from then on

Messages = dict[tuple[int, str], Floats]


@dataclass(frozen=True, slots=True)
class Beliefs:
    """The result of belief propagation.

    Attributes:
        probabilities: by variable, those of its states.
        iterations: number of rounds of messages.
        converged: whether the messages stopped changing.
    """

    probabilities: dict[str, Floats]
    iterations: int
    converged: bool


def propagate(
    network: Network, likelihoods: Mapping[str, Sequence[float]], max_iterations: int
) -> Beliefs:
    """Loopy belief propagation (sum-product; Koller and Friedman 2009, 11.3).

    Args:
        likelihoods: for a variable, the likelihood of the observation under each of its states; a
            single 1 and otherwise zeros is certain evidence.

    Raises:
        CausalInferenceError: the observations are impossible.
    """
    scopes = [(*network.parents[key], key) for key in network.tables]
    tables = list(network.tables.values())
    observed = {
        key: np.asarray(likelihoods.get(key, np.ones(network.cardinality(key))), dtype=float)
        for key in network.variables
    }
    to_variables: Messages = {
        (number, key): np.full(network.cardinality(key), 1.0 / network.cardinality(key))
        for number, scope in enumerate(scopes)
        for key in scope
    }
    touching: dict[str, list[int]] = {key: [] for key in network.variables}
    for number, key in to_variables:
        touching[key].append(number)

    def belief(key: str, apart_from: int | None = None) -> Floats:
        """The belief of a variable, without the message of one factor."""
        numbers = (number for number in touching[key] if number != apart_from)
        return _product(observed[key], [to_variables[number, key] for number in numbers])

    iterations, converged = 0, False
    while iterations < max_iterations and not converged:
        iterations += 1
        to_factors = {(number, key): belief(key, apart_from=number) for number, key in to_variables}
        updated = {
            (number, key): _summed(tables[number], scopes[number], key, number, to_factors)
            for number, key in to_variables
        }
        change = max(
            float(np.abs(updated[message] - to_variables[message]).max())
            for message in to_variables
        )
        converged = change < CONVERGED
        damping = DAMPING if iterations > DAMPED_AFTER else 0.0
        to_variables = {
            message: damping * to_variables[message] + (1.0 - damping) * updated[message]
            for message in to_variables
        }
    return Beliefs({key: belief(key) for key in touching}, iterations, converged)


def _product(likelihood: Floats, messages: Sequence[Floats]) -> Floats:
    value = likelihood
    for message in messages:
        value = value * message
    return _normal(value)


def _summed(
    table: Floats, scope: tuple[str, ...], target: str, number: int, to_factors: Messages
) -> Floats:
    """A factor's message: its table times incoming messages, summed over other variables."""
    value = table
    for axis, key in enumerate(scope):
        if key != target:
            shape = [1] * len(scope)
            shape[axis] = -1
            value = value * to_factors[number, key].reshape(shape)
    others = tuple(axis for axis, key in enumerate(scope) if key != target)
    return _normal(value.sum(axis=others))


def _normal(value: Floats) -> Floats:
    total = float(value.sum())
    if total <= 0.0:
        raise CausalInferenceError(IMPOSSIBLE)
    return value / total
