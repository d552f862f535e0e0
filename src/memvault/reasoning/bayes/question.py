"""Questions about probability, parsed, and the shape of their answers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memvault.model.graph import NodeKind
from memvault.model.note import LineRange
from memvault.model.search import Thing
from memvault.text.entities import NameMatcher
from memvault.verification.clause import FindNames

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
    """A condition on the nodes that a clause names: true or false; ``done`` for interventions."""

    text: str
    holds: bool
    done: bool


@dataclass(frozen=True, slots=True)
class Question:
    """``matter`` is the question without its conditions; ``of_chance`` is whether it asks if
    something is true, rather than who, when or how much."""

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
    """The spans of a question that name nodes of the vault, ignoring case; tags excepted."""

    def find(text: str, exclude: str | None) -> list[tuple[int, int, str]]:
        return [
            (mention.start, mention.end, mention.name.target)
            for mention in rules.find(text, exclude=exclude, question=True)
            if mention.name.kind != NodeKind.TAG
        ]

    return find


@dataclass(frozen=True, slots=True)
class Outcome:
    """``low`` and ``high`` bound the probability at 95%."""

    value: str
    probability: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class EvidenceUsed:
    """A statement that supports the answer. ``bearing`` says what it supports; ``weight`` is in
    ordinary sources; without ``lines`` it is the whole note."""

    memory_id: str
    title: str
    path: str
    bearing: str
    weight: float
    lines: LineRange | None = None
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Probable:
    """Outcomes, most probable first; empty if nothing in the vault concerns the question.

    ``beliefs`` cover the whole network; ``approximate`` means that they come from samples.
    """

    target: str
    outcomes: tuple[Outcome, ...] = ()
    evidence: tuple[EvidenceUsed, ...] = ()
    given: tuple[tuple[Thing, bool], ...] = ()
    done: tuple[tuple[Thing, bool], ...] = ()
    approximate: bool = False
    notice: str | None = None
