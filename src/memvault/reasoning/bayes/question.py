"""Parses questions about probability, and weighs the competing values that notes state.

Each note that states a value is a witness. With the probability of the belief in its note it is
informed and right; otherwise every value is equally likely (the truth discovery of Dong,
Berti-Equille and Srivastava, VLDB 2009). "Something else" is always a possible answer, so a single
witness is never certain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memvault.model.graph import NodeKind
from memvault.model.note import LineRange
from memvault.model.search import NodeRef
from memvault.reasoning.bayes.influences import HEDGED
from memvault.reasoning.bayes.network import FALSE, TRUE, Network, Table, Variable
from memvault.text.name_matcher import NameMatcher
from memvault.verification.agreement import independent, same_attribute
from memvault.verification.amounts import Amount, amounts_in, same
from memvault.verification.claims import Claim
from memvault.verification.clause import FindNames, stems_of

_CONDITION = re.compile(
    r"(?P<word>\bwhat (?:would happen |happens |will happen )?if\b|\b(?:even )?if\b"
    r"|\bgiven(?: that)?\b|\bassuming(?: that)?\b|\bprovided(?: that)?\b"
    r"|\bsuppos(?:e|ing)(?: that)?\b|\bin case\b|\bwere we to\b|\bwithout\b)"
    r"(?P<said>.*?)(?=,|\?|;|$|\bthen\b|\bhow (?:likely|probable)\b|\bwhat is the\b)",
    re.IGNORECASE,
)
_DONE = re.compile(r"^(?:what|suppos|were we to|without)", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:not|never|no longer|without|fails?|failed|refused|rejected|denied|cancel(?:s|led|ed)?"
    r"|abandon(?:s|ed)?|stop(?:s|ped)?|drop(?:s|ped)?|skip(?:s|ped)?|remove[sd]?|wrong|false|untrue)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
_OF_CHANCE = re.compile(
    r"^\W*(?:will|would|is|are|was|were|does|do|did|has|have|had|can|could|should|might|may)\b"
    r"|\b(?:how (?:likely|probable|certain|sure|confident)|what are the odds)\b"
    r"|\b(?:likelihood|probability|chances?|odds|risk)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Condition:
    """A clause that sets the nodes it names to true or false; ``done`` for an intervention."""

    text: str
    holds: bool
    done: bool


@dataclass(frozen=True, slots=True)
class Question:
    """A question about probability, as read.

    Attributes:
        matter: the question without its conditions.
        of_chance: whether it asks if a statement is true, rather than who, when or how much.
    """

    matter: str
    conditions: tuple[Condition, ...]
    of_chance: bool


def read_question(text: str) -> Question:
    conditions: list[Condition] = []
    for match in _CONDITION.finditer(text):
        denied = _DENIED.search(match["word"] + match["said"]) is not None
        done = _DONE.match(match["word"]) is not None
        conditions.append(Condition(match["said"].strip(), not denied, done))
    matter = _CONDITION.sub(" ", text).strip(" ,;?.") if conditions else text
    return Question(matter, tuple(conditions), _OF_CHANCE.search(matter) is not None)


def names_asked(rules: NameMatcher) -> FindNames:
    """A function that finds the spans of a question that name nodes, ignoring case and tags."""

    def find(text: str, exclude: str | None) -> list[tuple[int, int, str]]:
        return [
            (mention.start, mention.end, mention.name.target)
            for mention in rules.find(text, exclude=exclude, question=True)
            if mention.name.kind != NodeKind.TAG
        ]

    return find


@dataclass(frozen=True, slots=True)
class Outcome:
    """A possible answer; ``low`` and ``high`` are the 95% interval of its probability."""

    value: str
    probability: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class EvidenceUsed:
    """A statement that informs the answer.

    Attributes:
        bearing: what it states, in words.
        weight: in ordinary sources.
        lines: None if it is the whole note.
    """

    memory_id: str
    title: str
    path: str
    bearing: str
    weight: float
    lines: LineRange | None = None
    sentence: str = ""
    origin: str | None = None  # who stated a value


@dataclass(frozen=True, slots=True)
class ProbabilityAnswer:
    """The outcomes, most probable first; empty if no note concerns the question.

    ``approximate`` means that the probabilities come from samples.
    """

    target: str
    outcomes: tuple[Outcome, ...] = ()
    evidence: tuple[EvidenceUsed, ...] = ()
    given: tuple[tuple[NodeRef, bool], ...] = ()
    done: tuple[tuple[NodeRef, bool], ...] = ()
    approximate: bool = False
    notice: str | None = None


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


def contest_of(
    claims: Sequence[Claim], group_of: Callable[[Claim], str] = lambda _: ""
) -> CompetingValues | None:
    """The competing values of the first claim's attribute; None if no note states one.

    A note counts once for a value, and so does a sentence copied into several notes.

    Args:
        group_of: gives the group that made an unconfirmed claim, "" for the person. A group counts
            once for a value. The person's claims come first.
    """
    usable = sorted((each for each in claims if not each.outdated), key=lambda c: group_of(c) != "")
    if not usable:
        return None
    first = next((each for each in usable if not each.negated), usable[0])
    told = [each for each in usable if each is first or _of_one_matter(first, each)]
    values: list[Claim] = []
    witnesses: list[Witness] = []
    for claim in sorted(told, key=lambda c: (c.negated, group_of(c) != "", not c.asserted)):
        number = next((k for k, each in enumerate(values) if _equal(each, claim)), None)
        if number is None:
            if claim.negated or len(values) == MAX_VALUES:
                continue
            number = len(values)
            values.append(claim)
        known = [each for each in witnesses if each.value == number]
        group = group_of(claim)
        if group and any(each.group == group for each in known):
            continue
        if all(independent(each.claim, claim) for each in known):
            share = (1.0 if claim.asserted else HEDGED) * (CLAIMED if group else 1.0)
            witnesses.append(Witness(claim, number, share, group))
    if not witnesses:
        return None
    return CompetingValues(
        first.label, tuple(_shown(v) for v in values), tuple(witnesses[:MAX_WITNESSES])
    )


def answering(claims: Sequence[Claim], question: str) -> list[Claim]:
    """The claims that answer the question, each with the value that its sentence gives for it.

    A sentence such as "the limit is 5 MB for Standard and 200 MB for Plus" has several values of
    one kind, each with its part of the text. The claim gets the value of the part that has most
    names of the question, then most of its other words; words of the note's title do not count. If
    no part is best, the claim is dropped. A claim is also dropped if another sentence of its note
    on the same attribute fits the question better.
    """
    asked = stems_of(question)
    named = stems_of(" ".join(_CAPITALISED.findall(question)))
    about = [each for each in claims if _is_about(each, asked, named)]
    fitted = (_with_value_of_best_part(each, asked, named) for each in about)
    moved = [each for each in fitted if each is not None]
    return [each for each in moved if not any(_fits_better(o, each, asked) for o in moved)]


def _is_about(claim: Claim, asked: frozenset[str], named: frozenset[str]) -> bool:
    """Whether a claim's sentence, with title and headings, has all names and most words asked."""
    told = stems_of(claim.sentence) | claim.around
    return named <= told and len(asked & told) >= MIN_COVERED * len(asked)


def _with_value_of_best_part(
    claim: Claim, asked: frozenset[str], named: frozenset[str]
) -> Claim | None:
    own = claim.value
    if not isinstance(own, Amount):
        return claim
    rivals = [
        each for each in amounts_in(claim.sentence) if each.kind is own.kind and not each.earlier
    ]
    if len(rivals) < 2:
        return claim
    known = claim.around | stems_of(claim.source.title)
    parts = [stems_of(part) - known for part in _parts(claim.sentence, rivals)]
    values = [(each.unit, each.parts) for each in rivals]
    own_part = parts[values.index((own.unit, own.parts))] if (own.unit, own.parts) in values else ()
    if not claim.attribute & set(own_part):  # the attribute belongs to all values of the sentence
        parts = [part - claim.attribute for part in parts]
    fit = [(len(part & named), len(part & asked)) for part in parts]
    best = max(range(len(rivals)), key=fit.__getitem__)
    if fit.count(fit[best]) > 1:
        return None
    value = rivals[best]
    return replace(claim, value=value, shown=claim.sentence[value.start : value.end])


def _fits_better(other: Claim, claim: Claim, asked: frozenset[str]) -> bool:
    """Whether another sentence of the note on the same attribute fits the question better.

    It must have all words of the question that this sentence has, and more.
    """
    if other.source.note_id != claim.source.note_id or other.sentence == claim.sentence:
        return False
    if not other.attribute & claim.attribute:
        return False
    return stems_of(claim.sentence) & asked < stems_of(other.sentence) & asked


def add_contest(network: Network, contest: CompetingValues) -> dict[str, int]:
    """Add the values and their witnesses to a network that contains the witnesses' memories.

    Returns the evidence that each witness made its statement.
    """
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


# The start of text after the last value that qualifies it: "200 MB for the Plus plan".
_QUALIFIER = re.compile(r"\s*(?:\(|\b(?:for|on|in|with|at|to|by|under|if|as)\b)", re.IGNORECASE)


def _parts(sentence: str, values: Sequence[Amount]) -> list[str]:
    """The text that belongs to each value of a sentence.

    It follows the value if the last one has a qualifier ("2 kg for the Otter and 6 kg for the
    Badger"), else it precedes the value.
    """
    starts = [each.start for each in values]
    ends = [each.end for each in values]
    if _QUALIFIER.match(sentence, ends[-1]):
        return [sentence[a:b] for a, b in zip(ends, [*starts[1:], len(sentence)], strict=True)]
    return [sentence[a:b] for a, b in zip([0, *ends[:-1]], starts, strict=True)]
