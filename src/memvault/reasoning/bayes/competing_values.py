"""Weighs the competing values that notes state of one attribute.

Each note that states a value is a witness. With the probability of the belief in its note it is
informed and right; otherwise every value is equally likely (the truth discovery of Dong,
Berti-Equille and Srivastava, VLDB 2009). "Something else" is always a possible answer, so a single
witness is never certain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from memvault.model.memory import MemoryOf
from memvault.reasoning.bayes.network import FALSE, TRUE, Network, Table, Variable
from memvault.reasoning.bayes.source_weights import (
    HEDGED,
    REPLACED,
    moment_of,
    recency,
    weight,
)
from memvault.verification.agreement import day_of_claim, independent, is_older, same_attribute
from memvault.verification.claims.amount_parsing import amounts_in
from memvault.verification.claims.amounts import Amount, equal_amounts
from memvault.verification.claims.claim_stems import stems_of
from memvault.verification.claims.claims import Claim

VALUE = "value"
SOMETHING_ELSE = "something else"
MAX_VALUES = 6
MAX_WITNESSES = 12
CLAIMED = 0.2  # factor of the weight of a statement that the person neither made nor verified
MIN_COVERED = 0.6  # least share of the question's words that a claim and its headings have
_CAPITALISED = re.compile(r"(?<=\s)[^\W\d_a-z]\w*")


@dataclass(frozen=True, slots=True)
class Witness:
    """A claim for one of the values.

    Attributes:
        value: the index of the value.
        share: the share of its note's weight that counts.
        group: who made the unconfirmed claim; "" for the person.
    """

    claim: Claim
    value: int
    share: float
    group: str = ""

    @property
    def id(self) -> str:
        return f"claim:{self.claim.source.note_id}:{self.value}"


@dataclass(frozen=True, slots=True)
class CompetingValues:
    """The attribute in question, its competing values, and their witnesses."""

    label: str
    values: tuple[str, ...]
    witnesses: tuple[Witness, ...]


def competing_values_of(
    claims: Sequence[Claim], group_of: Callable[[Claim], str] = lambda _: ""
) -> CompetingValues | None:
    """The competing values of the first claim's attribute; None if no note states one.

    A note counts once for a value, and so does a sentence copied into several notes.

    Args:
        group_of: gives the group that made an unconfirmed claim, "" for the person. A group counts
            once for a value. The person's claims come first.
    """
    usable = sorted(
        (claim for claim in claims if not claim.outdated), key=lambda c: group_of(c) != ""
    )
    if not usable:
        return None
    first = next((claim for claim in usable if not claim.negated), usable[0])
    comparable = [c for c in usable if c is first or _have_same_attribute(first, c)]
    values: list[Claim] = []
    witnesses: list[Witness] = []
    for claim in sorted(comparable, key=lambda c: (c.negated, group_of(c) != "", not c.asserted)):
        index = next((k for k, value in enumerate(values) if _equal(value, claim)), None)
        if index is None:
            if claim.negated or len(values) == MAX_VALUES:
                continue
            index = len(values)
            values.append(claim)
        witness = _witness(claim, index, group_of(claim))
        if all(_both_count(other, witness) for other in witnesses if other.value == index):
            witnesses.append(witness)
    if not witnesses:
        return None
    return CompetingValues(
        first.label,
        tuple(claim.value_text.strip(" .*_") for claim in values),
        tuple(witnesses[:MAX_WITNESSES]),
    )


def _witness(claim: Claim, value: int, group: str) -> Witness:
    share = (1.0 if claim.asserted else HEDGED) * (CLAIMED if group else 1.0)
    return Witness(claim, value, share, group)


def _both_count(first: Witness, second: Witness) -> bool:
    """Whether two claims for one value are neither copies nor made by one group."""
    is_other_group = not second.group or first.group != second.group
    return is_other_group and independent(first.claim, second.claim)


def claims_answering(claims: Sequence[Claim], question: str) -> list[Claim]:
    """The claims that answer the question, each with the value that its sentence gives for it.

    A sentence such as "the limit is 5 MB for Standard and 200 MB for Plus" has several values of
    one kind, each with its part of the text. The claim gets the value of the part that has most
    names of the question, then most of its other words; words of the note's title do not count. If
    no part is best, the claim is dropped. A claim is also dropped if another sentence of its note
    on the same attribute fits the question better.
    """
    stems = stems_of(question)
    names = stems_of(" ".join(_CAPITALISED.findall(question)))
    about = [claim for claim in claims if _is_about(claim, stems, names)]
    corrected = (_with_value_of_best_part(claim, stems, names) for claim in about)
    answering = [claim for claim in corrected if claim is not None]
    return [c for c in answering if not any(_fits_better(other, c, stems) for other in answering)]


def _is_about(claim: Claim, stems: frozenset[str], names: frozenset[str]) -> bool:
    """Whether a claim's sentence, with title and headings, has all names and most words."""
    present = stems_of(claim.sentence) | claim.heading_stems
    return names <= present and len(stems & present) >= MIN_COVERED * len(stems)


def _with_value_of_best_part(
    claim: Claim, stems: frozenset[str], names: frozenset[str]
) -> Claim | None:
    stated = claim.value
    if not isinstance(stated, Amount):
        return claim
    rivals = [
        amount
        for amount in amounts_in(claim.sentence)
        if amount.kind is stated.kind and not amount.earlier
    ]
    if len(rivals) < 2:
        return claim
    heading_words = claim.heading_stems | stems_of(claim.source.title)
    parts = [stems_of(part) - heading_words for part in _parts(claim.sentence, rivals)]
    values = [(rival.unit, rival.parts) for rival in rivals]
    own_words = (
        parts[values.index((stated.unit, stated.parts))]
        if (stated.unit, stated.parts) in values
        else ()
    )
    if not claim.attribute & set(own_words):  # the attribute belongs to all values of the sentence
        parts = [part - claim.attribute for part in parts]
    fit = [(len(part & names), len(part & stems)) for part in parts]
    best = max(range(len(rivals)), key=fit.__getitem__)
    if fit.count(fit[best]) > 1:
        return None
    value = rivals[best]
    return replace(claim, value=value, value_text=claim.sentence[value.start : value.end])


def _fits_better(other: Claim, claim: Claim, stems: frozenset[str]) -> bool:
    """Whether another sentence of the note on the same attribute fits the question better.

    It must have all words of the question that this sentence has, and more.
    """
    if other.source.note_id != claim.source.note_id or other.sentence == claim.sentence:
        return False
    if not other.attribute & claim.attribute:
        return False
    return stems_of(claim.sentence) & stems < stems_of(other.sentence) & stems


def weighed_witnesses(
    competing: CompetingValues,
    memory_of: MemoryOf,
    half_life_days: float,
) -> list[tuple[Witness, float]]:
    """Each witness with the weight of its note; ages count from the latest witness.

    An unconfirmed claim weighs no more than any claim of the person.
    """
    dated = [
        (witness, memory, moment_of(memory, day_of_claim(witness.claim)))
        for witness in competing.witnesses
        if (memory := memory_of(witness.claim.source.note_id)) is not None
    ]
    latest = max((moment for *_, moment in dated), default=datetime.now(UTC))
    weights = [
        (
            witness,
            weight(memory, recency(moment, latest, half_life_days))
            * _share_kept(witness, competing),
        )
        for witness, memory, moment in dated
    ]
    least = min((w for witness, w in weights if not witness.group), default=None)
    return [
        (witness, w if least is None or not witness.group else min(w, least))
        for witness, w in weights
    ]


def _share_kept(witness: Witness, competing: CompetingValues) -> float:
    """The share of its weight that a statement keeps after a later note states a change."""
    replaced = any(
        other.claim.updates
        and other.value != witness.value
        and is_older(witness.claim, other.claim)
        for other in competing.witnesses
    )
    return REPLACED if replaced else 1.0


def add_competing_values(network: Network, competing: CompetingValues) -> dict[str, int]:
    """Add the values and their witnesses to a network that contains the witnesses' memories.

    Returns the evidence that each witness made its statement.
    """
    names = (*competing.values, SOMETHING_ELSE)
    count = len(names)
    network.add(Variable(VALUE, competing.label, names), (), np.full(count, 1.0 / count))
    for witness in competing.witnesses:
        unknown = 1.0 / count
        likelihood = witness.share * _if_right(witness, count) + (1.0 - witness.share) * unknown
        table = np.empty((count, 2, 2))
        table[:, TRUE, TRUE] = likelihood
        table[:, FALSE, TRUE] = unknown
        table[:, :, FALSE] = 1.0 - table[:, :, TRUE]
        note = witness.claim.source.note_id
        network.add(Variable(witness.id, witness.claim.source.title), (VALUE, note), table)
    return {witness.id: TRUE for witness in competing.witnesses}


def _if_right(witness: Witness, count: int) -> Table:
    """The likelihood of a witness's statement under each value."""
    if witness.claim.negated:
        likelihoods = np.full(count, 1.0 / (count - 1))
        likelihoods[witness.value] = 0.0
        return likelihoods
    likelihoods = np.zeros(count)
    likelihoods[witness.value] = 1.0
    return likelihoods


def _have_same_attribute(first: Claim, other: Claim) -> bool:
    if not same_attribute(first, other):
        return False
    if isinstance(first.value, Amount) is not isinstance(other.value, Amount):
        return False
    shared = first.subjects & other.subjects
    return bool(shared) or not first.subjects or not other.subjects


def _equal(first: Claim, second: Claim) -> bool:
    if isinstance(first.value, Amount) and isinstance(second.value, Amount):
        return equal_amounts(first.value, second.value) is True
    return first.value == second.value


# The start of text after the last value that qualifies it: "200 MB for the Plus plan".
_QUALIFIER = re.compile(r"\s*(?:\(|\b(?:for|on|in|with|at|to|by|under|if|as)\b)", re.IGNORECASE)


def _parts(sentence: str, values: Sequence[Amount]) -> list[str]:
    """The text that belongs to each value of a sentence.

    It follows the value if the last one has a qualifier ("2 kg for the Otter and 6 kg for the
    Badger"), else it precedes the value.
    """
    starts = [amount.start for amount in values]
    ends = [amount.end for amount in values]
    if _QUALIFIER.match(sentence, ends[-1]):
        return [sentence[a:b] for a, b in zip(ends, [*starts[1:], len(sentence)], strict=True)]
    return [sentence[a:b] for a, b in zip([0, *ends[:-1]], starts, strict=True)]
