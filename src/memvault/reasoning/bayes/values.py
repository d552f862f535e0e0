"""Competing values: which of the values that notes state is right.

Each note that states a value is a witness. It is right with the probability of the belief in its
note; otherwise it is uninformed, and every value is equally likely (the truth discovery of Dong,
Berti-Equille and Srivastava, VLDB 2009). "Something else" is always a possible answer, so a single
witness is never certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memvault.reasoning.bayes.network import FALSE, TRUE, Network, Table, Variable
from memvault.reasoning.bayes.weights import HEDGED
from memvault.verification.agreement import independent, same_attribute
from memvault.verification.amounts import Amount, same
from memvault.verification.claims import Claim

VALUE = "value"
SOMETHING_ELSE = "something else"
MOST_VALUES = 6
MOST_WITNESSES = 12


@dataclass(frozen=True, slots=True)
class Witness:
    """A claim for one of the values, by index; only ``share`` of its note's weight counts."""

    claim: Claim
    value: int
    share: float

    @property
    def id(self) -> str:
        return f"claim:{self.claim.source.note_id}:{self.value}"


@dataclass(frozen=True, slots=True)
class Contest:
    """The attribute in question, its competing values, and their witnesses."""

    label: str
    values: tuple[str, ...]
    witnesses: tuple[Witness, ...]


def contest_of(claims: Sequence[Claim]) -> Contest | None:
    """The competing values of the first claim's attribute; None if no note states one.

    A note counts once for a value, and so does a sentence copied into several notes.
    """
    usable = [each for each in claims if not each.outdated]
    if not usable:
        return None
    first = next((each for each in usable if not each.negated), usable[0])
    told = [each for each in usable if each is first or _of_one_matter(first, each)]
    values: list[Claim] = []
    witnesses: list[Witness] = []
    for claim in sorted(told, key=lambda c: (c.negated, not c.asserted)):
        number = next((k for k, each in enumerate(values) if _equal(each, claim)), None)
        if number is None:
            if claim.negated or len(values) == MOST_VALUES:
                continue
            number = len(values)
            values.append(claim)
        known = [each for each in witnesses if each.value == number]
        if all(independent(each.claim, claim) for each in known):
            share = 1.0 if claim.asserted else HEDGED
            witnesses.append(Witness(claim, number, share))
    if not witnesses:
        return None
    return Contest(first.label, tuple(_shown(v) for v in values), tuple(witnesses[:MOST_WITNESSES]))


def add_contest(network: Network, contest: Contest) -> dict[str, int]:
    """Add the values and their witnesses to a network that contains the witnesses' memories.

    Returns the evidence that the witnesses spoke."""
    names = (*contest.values, SOMETHING_ELSE)
    count = len(names)
    network.add(Variable(VALUE, contest.label, names), (), np.full(count, 1.0 / count))
    for witness in contest.witnesses:
        unknown = 1.0 / count
        told = witness.share * _if_right(witness, count) + (1.0 - witness.share) * unknown
        table = np.empty((count, 2, 2))
        table[:, TRUE, TRUE] = told
        table[:, FALSE, TRUE] = unknown
        table[:, :, FALSE] = 1.0 - table[:, :, TRUE]
        note = witness.claim.source.note_id
        network.add(Variable(witness.id, witness.claim.source.title), (VALUE, note), table)
    return {witness.id: TRUE for witness in contest.witnesses}


def _if_right(witness: Witness, count: int) -> Table:
    """The likelihood of a witness's statement under each value."""
    if witness.claim.negated:
        spoken = np.full(count, 1.0 / (count - 1))
        spoken[witness.value] = 0.0
        return spoken
    spoken = np.zeros(count)
    spoken[witness.value] = 1.0
    return spoken


def _of_one_matter(first: Claim, other: Claim) -> bool:
    if not same_attribute(first, other):
        return False
    if isinstance(first.value, Amount) is not isinstance(other.value, Amount):
        return False
    alike = first.subjects & other.subjects
    return bool(alike) or not first.subjects or not other.subjects


def _equal(one: Claim, other: Claim) -> bool:
    if isinstance(one.value, Amount) and isinstance(other.value, Amount):
        return same(one.value, other.value) is True
    return one.value == other.value


def _shown(claim: Claim) -> str:
    return claim.shown.strip(" .*_")
