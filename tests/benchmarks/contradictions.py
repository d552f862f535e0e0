"""Notes with planted contradictions, worded in many ways, and what is to be made of each.

Every case has a question, a candidate note that answers it, and other notes that confirm it,
contradict it or only seem to. The same seed gives the same vault.
"""

from __future__ import annotations

import calendar
import random
from dataclasses import dataclass, field
from pathlib import Path

SUBJECTS = [
    f"{first} {last}"
    for first in (
        "Amber", "Birch", "Cobalt", "Dune", "Elder", "Fjord", "Garnet", "Hazel", "Indigo", "Jasper",
        "Kestrel", "Linden", "Mistral", "Nimbus", "Opal", "Pewter", "Quill", "Rowan", "Saffron",
        "Teal", "Umber", "Velvet", "Willow", "Yarrow", "Zephyr",
    )
    for last in ("Lane", "Works", "Ridge", "House", "Point", "Yard", "Field", "Court", "Bay", "Gate")
]  # fmt: skip
PEOPLE = [
    f"{first} {last}"
    for first in (
        "Maja",
        "Oskar",
        "Lena",
        "Tariq",
        "Ines",
        "Pavel",
        "Ruth",
        "Samir",
        "Vera",
        "Hugo",
    )
    for last in ("Lindholm", "Petrov", "Okafor", "Marsh", "Delgado", "Novotny")
]


@dataclass(frozen=True)
class Attribute:
    """``fields`` are names of a field, ``sentences`` ways to say it; {s} subject, {v} value."""

    question: str
    fields: tuple[str, ...]
    sentences: tuple[str, ...]
    values: str
    other: str  # a sentence of another attribute with the same value


ATTRIBUTES = (
    Attribute(
        "What is the budget of {s}?",
        ("Budget", "Total budget", "Approved budget"),
        (
            "The budget of {s} is {v}.",
            "{s} has a budget of {v}.",
            "We agreed on a {v} budget for {s}.",
            "{s}'s budget was set at {v}.",
            "For {s} the board approved a budget of {v}.",
        ),
        "money",
        "The marketing budget of {s} is {v}.",
    ),
    Attribute(
        "How much is the rent of {s}?",
        ("Rent", "Monthly rent"),
        (
            "The rent for {s} is {v} a month.",
            "Rent at {s} comes to {v} per month.",
            "{s} costs us {v} a month in rent.",
        ),
        "rent",
        "The deposit for {s} is {v}.",
    ),
    Attribute(
        "When does the contract for {s} end?",
        ("Contract end", "Contract ends", "Contract end date"),
        (
            "The contract for {s} ends on {v}.",
            "{s}: the contract expires on {v}.",
            "The contract of {s} terminates on {v}.",
        ),
        "date",
        "The contract for {s} starts on {v}.",
    ),
    Attribute(
        "When does {s} launch?",
        ("Launch", "Launch date"),
        ("{s} launches on {v}.", "The launch of {s} is on {v}.", "We will launch {s} on {v}."),
        "date",
        "The review of {s} is on {v}.",
    ),
    Attribute(
        "What is the notice period for {s}?",
        ("Notice period",),
        (
            "The notice period for {s} is {v}.",
            "{s} has a notice period of {v}.",
            "The notice period of {s} was agreed to be {v}.",
        ),
        "span",
        "The trial period for {s} is {v}.",
    ),
    Attribute(
        "What discount do we get at {s}?",
        ("Discount",),
        ("Our discount at {s} is {v}.", "{s} gives us a {v} discount.", "{s}'s discount is {v}."),
        "share",
        "The commission at {s} is {v}.",
    ),
    Attribute(
        "Who leads {s}?",
        ("Lead", "Led by"),
        ("{v} leads {s}.", "{s} is led by {v}.", "The lead of {s} is {v}.", "{v} is {s}'s lead."),
        "person",
        "{v} sponsors {s}.",
    ),
)
KINDS = (
    "confirmed", "contradicted", "changed later", "superseded", "hedged", "other attribute",
    "other subject", "other year", "repeated", "alone",
)  # fmt: skip
# A sentence of the person's that is repeated as a claim is stated by them.
MUST_NOT_BE_VERIFIED = frozenset(KINDS) - {"confirmed", "repeated"}
CONTRADICTED = frozenset(("contradicted", "changed later", "superseded"))
_HEDGES = (
    "We might say that {x}", "Someone suggested that {x}", "If all goes well, {x}",
    "I heard a rumour that {x}", "Draft, not sure yet: {x}",
)  # fmt: skip
_OCCASIONS = ("Weekly call", "Phone note", "Minutes", "Planning round", "Letter from the office")


@dataclass
class Case:
    """``candidate`` is the path of the note that answers ``question``."""

    kind: str
    question: str
    candidate: str
    notes: dict[str, str] = field(default_factory=dict)


def cases(count: int = 200, seed: int = 1) -> list[Case]:
    """So many cases, the kinds in turn, each about a subject of its own."""
    dice = random.Random(seed)
    subjects = dice.sample(SUBJECTS, count)
    return [_case(number, subjects[number], subjects, dice) for number in range(count)]


def write(folder: Path, some: list[Case], people: list[str]) -> None:
    for case in some:
        for path, text in case.notes.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    for person in people:
        file = folder / "people" / f"{person}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"---\ntype: person\n---\nNotes on {person}.\n", encoding="utf-8")


def _case(number: int, subject: str, subjects: list[str], dice: random.Random) -> Case:
    # two strides, so that every kind meets every attribute
    kind = KINDS[number % len(KINDS)]
    attribute = ATTRIBUTES[(number // len(KINDS) + number) % len(ATTRIBUTES)]
    value, another = _values(attribute.values, dice)
    case = Case(kind, attribute.question.format(s=subject), f"things/{subject}.md")
    dated = kind == "changed later"
    head = "---\ntype: project\n" + ("date: 2025-03-04\n" if dated else "") + "---\n"
    if dice.random() < 0.6 or attribute.values == "rent":
        line = f"{dice.choice(attribute.fields)}: {_field_value(attribute, value)}"
        line = dice.choice(("{}", "- **{}", "- {}")).format(line)
        line = line.replace(":", ":**", 1) if "**" in line else line
    else:
        line = dice.choice(attribute.sentences).format(s=subject, v=value)
    case.notes[case.candidate] = f"{head}# {subject}\n\n{_filler(dice)}\n\n{line}\n"
    for n, text in enumerate(_others(kind, attribute, subject, value, another, subjects, dice)):
        title = f"{dice.choice(_OCCASIONS)} {number}{'ab'[n]}"
        day = "2025-09-10" if dated else ""
        header = "---\ntype: meeting\n" + (f"date: {day}\n" if day else "") + "---\n"
        case.notes[f"notes/{title}.md"] = f"{header}{_filler(dice)} {text}\n"
    if kind == "repeated":
        case.notes[case.candidate] = case.notes[f"notes/{title}.md"].replace("meeting", "project")
    return case


def _others(
    kind: str,
    attribute: Attribute,
    subject: str,
    value: str,
    another: str,
    subjects: list[str],
    dice: random.Random,
) -> list[str]:
    def said(what: str, of: str = subject) -> str:
        return dice.choice(attribute.sentences).format(s=of, v=what)

    if kind == "confirmed":
        return [said(value)]
    if kind == "contradicted":
        return [said(another), said(value)][: dice.randint(1, 2)]
    if kind == "changed later":
        return [said(another)]
    if kind == "superseded":
        return [f"This replaces what we had: supersedes:: [[{subject}]]\n\n{said(another)}"]
    if kind == "hedged":
        sentence = said(value)
        return [dice.choice(_HEDGES).format(x=sentence)]
    if kind == "other attribute":
        return [attribute.other.format(s=subject, v=value)]
    if kind == "other subject":
        return [said(value, dice.choice([s for s in SUBJECTS if s not in subjects]))]
    if kind == "other year":
        return [f"In 2019: {said(value)}" if dice.random() < 0.5 else
                said(value).rstrip(".") + ", but that was in 2019, formerly."]  # fmt: skip
    if kind == "repeated":
        return [f"For the record and without any change to what was agreed, {said(value)}"]
    return []


def _field_value(attribute: Attribute, value: str) -> str:
    return f"{value} per month" if attribute.values == "rent" else value


def _values(kind: str, dice: random.Random) -> tuple[str, str]:
    if kind in ("money", "rent"):
        base = dice.randint(11, 95) * (1_000 if kind == "money" else 10)
        ways = (
            ("{:,} EUR", "€{:,}", "{} euros")
            if dice.random() < 0.7
            else ("${:,}", "{:,} USD", "{} dollars")
        )
        way = dice.choice(ways)
        return way.format(base), dice.choice(ways).format(base + dice.randint(1, 9) * base // 20)
    if kind == "date":
        day, month, year = dice.randint(1, 27), dice.randint(1, 12), dice.choice((2026, 2027))
        return _date(day, month, year, dice), _date(day, month % 12 + 1, year, dice)
    if kind == "span":
        return dice.choice((("three months", "6 months"), ("30 days", "60 days"),
                            ("2 weeks", "four weeks"), ("90 days", "30 days")))  # fmt: skip
    if kind == "share":
        part = dice.randint(5, 40)
        return f"{part}%", f"{part + dice.randint(1, 9)} percent"
    one, other = dice.sample(PEOPLE, 2)
    return one, other


def _date(day: int, month: int, year: int, dice: random.Random) -> str:
    name = calendar.month_name[month]
    return dice.choice((f"{year}-{month:02d}-{day:02d}", f"{day} {name} {year}",
                        f"{name} {day}, {year}"))  # fmt: skip


def _filler(dice: random.Random) -> str:
    return dice.choice(
        (
            "The light in the hall still flickers.",
            "Coffee was better than last time.",
            "We began late and sat by the window.",
            "Some loose thoughts, to be sorted.",
            "It rained all morning.",
        )
    )
