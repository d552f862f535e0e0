"""A second set of planted contradictions, written before the rules it tries were looked at.

Other subjects, attributes, units, wordings and ways to write a value than `contradictions`, and
kinds that it lacks: another unit, a part of the thing, a denial. The same seed gives the same
vault. Rules were mended after its first run, so `bench_verification` tells both figures apart.
"""

from __future__ import annotations

import calendar
import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.benchmarks.contradictions import Case

_NAMES = (
    "Kestrel", "Juniper", "Oriole", "Basalt", "Tansy", "Lindow", "Quill", "Sorrel", "Vesper",
    "Wren", "Bramley", "Ostler", "Plover", "Garnet", "Hobby", "Larch", "Mallow", "Nettle",
    "Pewter", "Russet", "Sedge", "Thrift", "Umber", "Yarrow",
)  # fmt: skip
_ENTITY_KINDS = (
    "incubator", "oven", "lathe", "kiln", "loom", "centrifuge", "printer", "press", "freezer",
    "telescope", "plotter",
)  # fmt: skip
SUBJECTS = [f"{name} {thing}" for thing in _ENTITY_KINDS for name in _NAMES]
PEOPLE = [
    "Odile Marchetti", "Piet Aalders", "Samira Haddad", "Tobias Unger", "Wanjiru Kamau",
    "Yusuf Demir", "Zofia Krol", "Bea Lindqvist", "Caspar Holm", "Delphine Roux",
]  # fmt: skip
_FIRMS = [
    "Hartwell Instruments", "Nordlys Supply", "Bergmann & Sons", "Tallis Trading", "Oakfield Tools",
]  # fmt: skip


@dataclass(frozen=True)
class Attribute:
    """As in `contradictions`; ``values`` gives two ways to write one value, then two that differ
    from it, ``unlike`` the first with another unit."""

    question: str
    fields: tuple[str, ...]
    sentences: tuple[str, ...]
    values: Callable[[random.Random], tuple[str, str, str]]
    other: str
    unlike: tuple[str, str] | None = None


def _measure(first: str, second: str, low: int, high: int) -> Callable[..., tuple[str, str, str]]:
    def values(dice: random.Random) -> tuple[str, str, str]:
        number = dice.randint(low, high)
        ways = (first, second)
        one, two = dice.sample(ways, 2)
        return (
            one.format(number),
            two.format(number),
            dice.choice(ways).format(number + dice.randint(1, 9)),
        )

    return values


def _version(dice: random.Random) -> tuple[str, str, str]:
    major, minor, patch = dice.randint(1, 6), dice.randint(0, 12), dice.randint(0, 9)
    version = f"{major}.{minor}.{patch}"
    later = dice.choice((f"{major}.{minor}.{patch + 1}", f"{major}.{minor + 1}.{patch}"))
    return f"v{version}", dice.choice((version, f"version {version}")), f"v{later}"


def _clock(dice: random.Random) -> tuple[str, str, str]:
    hour, half = dice.randint(1, 11), dice.choice((0, 30))
    spoken = f"{hour}:{half:02d} pm" if half else f"{hour} pm"
    return f"{hour + 12}:{half:02d}", spoken, f"{(hour + 1) % 12 + 12}:{half:02d}"


def _money(dice: random.Random) -> tuple[str, str, str]:
    amount = dice.randint(120, 980) * 10
    ways = ("£{:,}", "{:,} GBP", "{} pounds sterling", "GBP {}")
    one, two, three = (dice.choice(ways) for _ in range(3))
    return one.format(amount), two.format(amount), three.format(amount + dice.randint(1, 8) * 50)


def _date(dice: random.Random) -> tuple[str, str, str]:
    day, month, year = dice.randint(13, 27), dice.randint(1, 12), dice.choice((2027, 2028))
    name = calendar.month_name[month]
    ways = (
        f"{year}-{month:02d}-{day:02d}",
        f"{day}.{month:02d}.{year}",
        f"{name} {day}th, {year}",
        f"{day} {name[:3]} {year}",
        f"the {day}th of {name} {year}",
    )
    one, two = dice.sample(ways, 2)
    return one, two, f"{day + 1} {name} {year}"


def _of(*choices: tuple[str, str, str]) -> Callable[[random.Random], tuple[str, str, str]]:
    return lambda dice: dice.choice(choices)


def _names(names: list[str]) -> Callable[[random.Random], tuple[str, str, str]]:
    def values(dice: random.Random) -> tuple[str, str, str]:
        one, other = dice.sample(names, 2)
        return one, one, other

    return values


ATTRIBUTES = (
    Attribute(
        "What is the capacity of {s}?",
        ("Capacity", "Volume"),
        ("{s} has a capacity of {v}.", "The capacity of {s} is {v}.",
         "We measured it: the capacity of {s} comes to {v}."),
        _measure("{} litres", "{} l", 20, 90),
        "Cleaning {s} takes {v} of water.",
        ("l", "gallons"),
    ),
    Attribute(
        "Which firmware does {s} run?",
        ("Firmware", "Firmware version"),
        ("{s} runs firmware {v}.", "The firmware of {s} is {v}.", "{s} is on firmware {v}."),
        _version,
        "The phone app that talks to {s} is at {v}.",
    ),
    Attribute(
        "When does {s} start each day?",
        ("Start", "Daily start"),
        ("{s} starts at {v}.", "The daily start of {s} is {v}."),
        _clock,
        "The guided tour past {s} ends at {v}.",
    ),
    Attribute(
        "What is the target temperature of {s}?",
        ("Target temperature", "Set point"),
        ("The target temperature of {s} is {v}.", "{s} has a target temperature of {v}.",
         "The target temperature for {s} was set to {v}."),
        _measure("{} °C", "{} degrees Celsius", 28, 80),
        "The room around {s} reached {v} in July.",
        ("°C", "°F"),
    ),
    Attribute(
        "Who is the caretaker of {s}?",
        ("Caretaker", "Keeper"),
        ("{v} is the caretaker of {s}.", "The caretaker of {s} is {v}.",
         "{v} took over as caretaker of {s}."),
        _names(PEOPLE),
        "{v} once broke the door of {s}.",
    ),
    Attribute(
        "Who supplies {s}?",
        ("Supplier", "Supplied by"),
        ("{s} is supplied by {v}.", "{v} supplies {s}.", "The supplier of {s} is {v}."),
        _names(_FIRMS),
        "{v} asked us for a photo of {s}.",
    ),
    Attribute(
        "When is {s} due for service?",
        ("Service due", "Next service"),
        ("{s} is due for service on {v}.", "The next service of {s} is on {v}.",
         "Service of {s} is due on {v}."),
        _date,
        "The lease of the room with {s} ends on {v}.",
    ),
    Attribute(
        "What did {s} cost?",
        ("Price", "Cost"),
        ("{s} cost {v}.", "We paid {v} for {s}.", "The price of {s} was {v}."),
        _money,
        "The insurance of {s} pays up to {v}.",
        ("£", "$"),
    ),
    Attribute(
        "How heavy is {s}?",
        ("Weight", "Mass"),
        ("{s} weighs {v}.", "The weight of {s} is {v}."),
        _measure("{} kg", "{} kilograms", 40, 300),
        "The shelf above {s} carries {v}.",
        ("kg", "lb"),
    ),
    Attribute(
        "How long is the warranty of {s}?",
        ("Warranty", "Guarantee"),
        ("{s} has a warranty of {v}.", "The warranty of {s} is {v}.",
         "The warranty on {s} lasts {v}."),
        _of(("24 months", "two years", "three years"), ("5 years", "60 months", "4 years"),
            ("eighteen months", "18 months", "1 year")),
        "The delivery of {s} took {v}.",
    ),
    Attribute(
        "Where is {s} kept?",
        ("Location", "Room"),
        ("{s} is kept in {v}.", "{s} stands in {v}.", "The location of {s} is {v}."),
        _of(("Room 12", "room 12", "Room 21"), ("Hall B", "hall B", "Hall D"),
            ("Studio 3", "studio 3", "Studio 8")),
        "The manual for {s} lies in {v}.",
    ),
    Attribute(
        "What is the discount on {s}?",
        ("Discount", "Member discount"),
        ("The discount on {s} is {v}.", "{s} comes with a discount of {v}."),
        _measure("{}%", "{} per cent", 4, 45),
        "The dealer of {s} raised his rent by {v}.",
    ),
)  # fmt: skip
KINDS = (
    "confirmed", "contradicted", "changed later", "superseded", "hedged", "other attribute",
    "other subject", "earlier", "copied", "alone", "denied", "other unit", "part",
)  # fmt: skip
MUST_NOT_BE_VERIFIED = frozenset(KINDS) - {"confirmed"}
CONTRADICTED = frozenset(("contradicted", "changed later", "superseded"))
_HEDGES = (
    "Can anybody tell me whether {x}", "The leaflet claims that {x} I doubt it.",
    "My guess, without looking: {x}", "Suppose for a moment that {x}",
    "It would be nice if {x}", "Apparently {x} To be checked.", "TBC: {x}",
)  # fmt: skip
_DENIALS = (
    "It is not true that {x}", "{x} That turned out to be wrong.",
    "Contrary to the label, it is false that {x}", "I wrote that {x} That was a mistake.",
)  # fmt: skip
_EARLIER = (
    "Back in 2017, {x}", "Until the move, {x}", "Originally {x}", "{x} This was under the old club.",
)  # fmt: skip
_PARTS = ("the lid of {s}", "the spare unit beside {s}", "the old model of {s}")
_OCCASIONS = ("Workshop diary", "Open evening", "Voice memo", "Stocktaking", "Chat with neighbours")
_SMALL_TALK = (
    "Rain all afternoon.", "Nine people came, two of them new.", "The key stuck again.",
    "We should water the plants more often.", "Cake from the bakery at the corner.",
)  # fmt: skip


def cases(count: int = 200, seed: int = 1) -> list[Case]:
    """So many cases, the kinds in turn, each about a thing of its own."""
    dice = random.Random(seed)
    subjects = dice.sample(SUBJECTS, len(SUBJECTS))
    unused = subjects[count:]
    return [_case(number, subjects[number], unused, dice) for number in range(count)]


def _case(number: int, subject: str, unused: list[str], dice: random.Random) -> Case:
    kind = KINDS[number % len(KINDS)]
    attribute = ATTRIBUTES[(number // len(KINDS) + number) % len(ATTRIBUTES)]
    value, same, another = attribute.values(dice)
    case = Case(kind, attribute.question.format(s=subject), f"inventory/{subject}.md")
    dated = kind == "changed later"
    case.notes[case.candidate] = _candidate(attribute, subject, value, dice, dated=dated)
    for n, text in enumerate(_others(kind, attribute, subject, (same, another), unused, dice)):
        title = f"{dice.choice(_OCCASIONS)} {number}{'ab'[n]}"
        head = "---\ndate: 2026-01-20\n---\n" if dated else ""
        case.notes[f"log/{title}.md"] = f"{head}{dice.choice(_SMALL_TALK)} {text}\n"
    if kind == "copied":
        body = case.notes[case.candidate].split("---\n")[-1].strip()
        quoted = "\n".join(f"> {line}" for line in body.splitlines())
        title = f"{dice.choice(_OCCASIONS)} {number}"
        case.notes[f"log/{title}.md"] = f"Forwarded from the inventory:\n\n{quoted}\n"
    return case


def _candidate(
    attribute: Attribute, subject: str, value: str, dice: random.Random, *, dated: bool
) -> str:
    """A note on the thing: its value in the frontmatter, on a line, in a table or in prose."""
    head, name = ("date: 2025-05-06\n" if dated else ""), dice.choice(attribute.fields)
    way = dice.choice(("frontmatter", "line", "table", "prose"))
    body = dice.choice(_SMALL_TALK)
    if way == "frontmatter":
        head += f'{name.lower().replace(" ", "_")}: "{value}"\n'
    elif way == "line":
        body += "\n\n" + dice.choice(("{}: {}", "* {}: {}", "**{}**: {}")).format(name, value)
    elif way == "table":
        body += f"\n\n| what | value |\n| --- | --- |\n| Colour | grey |\n| {name} | {value} |"
    else:
        body += " " + dice.choice(attribute.sentences).format(s=subject, v=value)
    return f"---\ntags: [inventory]\n{head}---\n# {subject}\n\n{body}\n"


def _others(
    kind: str,
    attribute: Attribute,
    subject: str,
    values: tuple[str, str],
    unused: list[str],
    dice: random.Random,
) -> list[str]:
    same, another = values

    def said(what: str, of: str = subject) -> str:
        text = dice.choice(attribute.sentences).format(s=of, v=what)
        return text[0].upper() + text[1:]

    def within(frames: tuple[str, ...]) -> list[str]:
        return [dice.choice(frames).format(x=said(same))]

    if kind == "confirmed":
        return [said(same)]
    if kind == "contradicted":
        return [said(another), said(same)][: dice.randint(1, 2)]
    if kind == "changed later":
        return [said(another)]
    if kind == "superseded":
        return [f"\n\nsupersedes:: [[{subject}]]\n\n{said(another)}"]
    if kind == "other attribute":
        return [attribute.other.format(s=subject, v=same)]
    if kind == "other subject":
        return [said(same, dice.choice(unused))]
    if kind == "other unit":
        return [said(_other_unit(attribute, same, another))]
    if kind == "part":
        return [said(same, dice.choice(_PARTS).format(s=subject))]
    frames = {"hedged": _HEDGES, "denied": _DENIALS, "earlier": _EARLIER}.get(kind)
    return within(frames) if frames else []


def _other_unit(attribute: Attribute, same: str, another: str) -> str:
    """The same number with another unit; another value where the attribute has no unit."""
    if attribute.unlike is None:
        return another
    number = "".join(c for c in same if c.isdigit() or c == ",")
    unit = attribute.unlike[1]
    return f"{unit}{number}" if unit == "$" else f"{number} {unit}"
