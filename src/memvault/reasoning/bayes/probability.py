"""Questions about probability, how their text is parsed, and their answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memvault.model.note import LineRange
from memvault.model.search import NodeRef, Scope
from memvault.verification.claims.amount_parsing import amounts_in
from memvault.verification.claims.amounts import Amount, equal_amounts
from memvault.verification.claims.claim_stems import stems_of

Truths = Mapping[str, bool]  # by node id

_CONDITION = re.compile(
    r"(?P<word>\bwhat (?:would happen |happens |will happen )?if\b|\b(?:even )?if\b"
    r"|\bgiven(?: that)?\b|\bassuming(?: that)?\b|\bprovided(?: that)?\b"
    r"|\bsuppos(?:e|ing)(?: that)?\b|\bin case\b|\bwere we to\b|\bwithout\b)"
    r"(?P<clause>.*?)(?=,|\?|;|$|\bthen\b|\bhow (?:likely|probable)\b|\bwhat is the\b)",
    re.IGNORECASE,
)
_INTERVENTION = re.compile(r"^(?:what|suppos|were we to|without)", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:not|never|no longer|without|fails?|failed|refused|rejected|denied|cancel(?:s|led|ed)?"
    r"|abandon(?:s|ed)?|stop(?:s|ped)?|drop(?:s|ped)?|skip(?:s|ped)?|remove[sd]?|wrong|false|untrue)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
_ASKS_CHANCE = re.compile(
    r"^\W*(?:will|would|is|are|was|were|does|do|did|has|have|had|can|could|should|might|may)\b"
    r"|\b(?:how (?:likely|probable|certain|sure|confident)|what are the odds)\b"
    r"|\b(?:likelihood|probability|chances?|odds|risk)\b",
    re.IGNORECASE,
)


_STATEMENT = re.compile(r"\bthat\s+\S", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ProbabilityQuery:
    """A question, or the id of a target node.

    ``given`` are observations by node id; ``interventions`` set nodes to true or false.
    """

    text: str = ""
    target: str | None = None
    given: Truths = field(default_factory=dict)
    interventions: Truths = field(default_factory=dict)
    scope: Scope | None = None

    @property
    def evidence(self) -> Truths:
        return {**self.given, **self.interventions}


@dataclass(frozen=True, slots=True)
class Condition:
    """A clause that sets the nodes it names to true or false.

    ``is_intervention`` is whether it says what is done, rather than what is observed.
    """

    text: str
    holds: bool
    is_intervention: bool


@dataclass(frozen=True, slots=True)
class ProbabilityQuestion:
    """The parts of a question about probability.

    Attributes:
        text: the question without its conditions.
        asks_chance: whether it asks if a statement is true, rather than who, when or how much.
    """

    text: str
    conditions: tuple[Condition, ...]
    asks_chance: bool

    @property
    def is_on_statement(self) -> bool:
        """Whether it asks for the chance that a whole sentence is true: "… that seeds are dry?"."""
        return self.asks_chance and _STATEMENT.search(self.text) is not None

    def names_value_like(self, values: Sequence[str]) -> bool:
        """Whether it names an amount or date of the kind of one of these values, which need not be
        the same, or a word of a value that is neither: "… that the lease ends in 2032?"."""
        words, amounts = stems_of(self.text), amounts_in(self.text)
        return any(
            any(_are_alike(value, own) for value in of_value for own in amounts)
            if (of_value := amounts_in(text))
            else not stems_of(text).isdisjoint(words)
            for text in values
        )


def _are_alike(first: Amount, second: Amount) -> bool:
    return first.kind is second.kind or equal_amounts(first, second) is not None


def read_question(text: str) -> ProbabilityQuestion:
    """Parse a question about probability."""
    conditions: list[Condition] = []
    for match in _CONDITION.finditer(text):
        denied = _DENIED.search(match["word"] + match["clause"]) is not None
        is_intervention = _INTERVENTION.match(match["word"]) is not None
        conditions.append(Condition(match["clause"].strip(), not denied, is_intervention))
    rest = _CONDITION.sub(" ", text).strip(" ,;?.") if conditions else text
    return ProbabilityQuestion(rest, tuple(conditions), _ASKS_CHANCE.search(rest) is not None)


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
class ProbabilityResult:
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
