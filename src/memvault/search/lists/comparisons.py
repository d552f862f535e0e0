"""Comparisons in questions: limits for a number ("over 200", "between 50 and 100 EUR"), and
superlatives."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from memvault.text.words import some_words

LARGEST = frozenset(
    ("biggest", "costliest", "deepest", "farthest", "furthest", "greatest", "heaviest", "highest",
     "largest", "longest", "most", "steepest", "tallest", "top", "widest")
)  # fmt: skip
SMALLEST = frozenset(["least", "lowest", "shortest", "smallest", "fewest", "cheapest", "lightest"])
_SUPERLATIVE = re.compile(
    r"\b(?:most|least|best|worst|first|last|\w{3,}est|am \w+sten|l[ae]s? (?:plus|moins)|"
    r"(?:el|la|l[oa]s) (?:más|menos)|(?:il|la|i|le) (?:più|meno)|[oa]s? (?:mais|menos)|"
    r"het (?:meest|minst)|сам(?:ый|ая|ое|ые))\b",
    re.IGNORECASE,
)
_BEST = re.compile(r"\b(best|worst)(?=[- ]\w+ed\b)", re.IGNORECASE)
_OVER = (
    "more than|over|above|exceeding|(?:great|larg|bigg|high|long|heavi|dear)er than|"
    "more expensive than|mehr als|über|(?:größ|läng|höh|teur)er als|plus de|supérieure?s? à|"
    "au-dessus de|plus chers? que|más de|mayor(?:es)? (?:de|que)|superior(?:es)? a|por encima de|"
    "più di|oltre|superior[ei] a|mais de|acima de|maior(?:es)? (?:do )?que|meer dan|boven|"
    "(?:hog|grot|lang|duurd)er dan|больше|более|свыше|>"
)
_AT_LEAST = (
    "at least|(?:no|not) (?:less|fewer) than|mindestens|wenigstens|au moins|al menos|por lo menos|"
    "como mínimo|almeno|pelo menos|no mínimo|minstens|ten minste|не менее|>=|≥"
)
_UNDER = (
    "less than|under|below|fewer than|(?:small|low|short|cheap|light)er than|weniger als|unter|"
    "(?:klein|kürz|niedrig|billig)er als|moins de|inférieure?s? à|en dessous de|moins chers? que|"
    "menos de|menor(?:es)? (?:de|que)|inferior(?:es)? a|por debajo de|meno di|sotto|inferior[ei] a|"
    "abaixo de|menor(?:es)? (?:do )?que|minder dan|onder|(?:lag|klein|kort|goedkop)er dan|"
    "меньше|менее|ниже|<"
)
_AT_MOST = (
    "at most|up to|(?:no|not) more than|höchstens|maximal|bis zu|au plus|au maximum|como mucho|"
    "como máximo|al massimo|fino a|no máximo|hoogstens|maximaal|не более|<=|≤"
)
_OR_MORE = (
    "(?:or|and) (?:more|over|above|higher|up)|oder mehr|und mehr|ou plus|et plus|o más|y más|o più|"
    "ou mais|of meer|en meer|или больше|или более"
)
_OR_LESS = (
    "(?:or|and) (?:less|fewer|under|below|lower)|oder weniger|ou moins|o menos|o meno|ou menos|"
    "of minder|или меньше|или менее"
)
_BETWEEN = "between|zwischen|entre|tra|fra|tussen|между"
_AND = "and|und|et|y|e|en|и|-|–"
_UNIT = (
    r"(?:[€$£¥₽%]|\b(?:percent|per cent|prozent|eur|euros?|usd|dollars?|gbp|pounds?|chf|francs?|"
    r"franken|jpy|yen|rub)\b)"
)
# The minutes of units of time, by which a limit is compared with a value in another unit.
_MINUTES = {
    "second": 1 / 60, "sec": 1 / 60, "sekunden": 1 / 60, "secondes": 1 / 60,
    "minute": 1, "minutes": 1, "min": 1, "mins": 1, "minuten": 1, "minutos": 1, "minuti": 1,
    "hour": 60, "hours": 60, "h": 60, "hr": 60, "hrs": 60, "stunden": 60, "std": 60, "heures": 60,
    "horas": 60, "ore": 60, "uur": 60,
    "day": 1_440, "days": 1_440, "d": 1_440, "tage": 1_440, "tagen": 1_440, "jours": 1_440,
    "días": 1_440, "dias": 1_440, "giorni": 1_440, "dagen": 1_440,
    "week": 10_080, "weeks": 10_080, "wochen": 10_080, "semaines": 10_080, "semanas": 10_080,
    "settimane": 10_080, "weken": 10_080,
    "month": 43_800, "months": 43_800, "monate": 43_800, "monaten": 43_800, "mois": 43_800,
    "meses": 43_800, "mesi": 43_800, "maanden": 43_800,
}  # fmt: skip
_UNIT_OF_TIME = re.compile(rf"\A\W*(?:{'|'.join(_MINUTES)})(?!\w)", re.IGNORECASE)
_FACTORS = {"k": 1e3, "tsd": 1e3, "thousand": 1e3, "mil": 1e3, "million": 1e6, "mio": 1e6}
NUMBER_WORDS = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip
_NUMBER = (
    rf"{_UNIT}?\s*((?!0\d)\d{{1,15}}(?:[.,' ]\d{{1,15}}){{0,5}}|{'|'.join(NUMBER_WORDS)})"
    rf"\s*(?:({'|'.join(_FACTORS)})\b)?\.?\s*{_UNIT}?"
)
_ANY_NUMBER = re.compile(rf"\d|\b(?:{'|'.join(NUMBER_WORDS)})\b", re.IGNORECASE)
_FIRST_NUMBER = re.compile(rf"\D{{0,3}}?{_NUMBER}", re.IGNORECASE)
_SPACES = re.compile(r"\s{2,}")
_THOUSANDS = re.compile(r"[.,' ](?=\d{3}(?!\d))")


def _pattern(phrases: str, behind: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{phrases})\s*{behind}(?![\w/:]|[.,]\d)", re.IGNORECASE)


_START, _END = r"(?<![\w.,])", r"(?!\w)"
# The longer phrases first: "no more than 5" contains "more than 5".
_LIMITS = (
    (_pattern(_AT_LEAST, _NUMBER), True, True),
    (_pattern(_AT_MOST, _NUMBER), False, True),
    (_pattern(_OVER, _NUMBER), True, False),
    (_pattern(_UNDER, _NUMBER), False, False),
    (re.compile(rf"{_START}{_NUMBER}\s*(?:{_OR_MORE}){_END}", re.IGNORECASE), True, True),
    (re.compile(rf"{_START}{_NUMBER}\s*(?:{_OR_LESS}){_END}", re.IGNORECASE), False, True),
)
_RANGE = _pattern(_BETWEEN, rf"{_NUMBER}\s*(?:{_AND})\s*{_NUMBER}")


@dataclass(frozen=True, slots=True)
class NumberLimits:
    """The numbers from ``low`` to ``high``, both included.

    Attributes:
        rest: the question without them.
        minutes: in the unit of time that follows the numbers; None without a unit.
    """

    low: float
    high: float
    rest: str
    minutes: float | None = None

    def has(self, number: float, text: str = "") -> bool:
        """Whether a number is within the limits.

        Args:
            text: the key and the value that it is from, which may name another unit of time.
        """
        if self.minutes is not None and (minutes_of_text := minutes_in(text)) is not None:
            number *= minutes_of_text / self.minutes
        return self.low <= number <= self.high

    @property
    def may_be_year(self) -> bool:
        """Whether a limit has four digits, so that it may be taken for a year."""
        return any(1_000 <= limit < 10_000 for limit in (self.low, self.high))


def comparison_in(question: str) -> NumberLimits | None:
    """The limits that a question sets for a number; None if it sets none."""
    if _ANY_NUMBER.search(question) is None:  # as in most questions
        return None
    question = _SPACES.sub(" ", question)  # the patterns would take cubic time for a long run
    if range_match := _RANGE.search(question):
        low, high = sorted(
            (_number_of(*range_match.group(1, 2)), _number_of(*range_match.group(3, 4)))
        )
        minutes = minutes_in(question[range_match.end() :])
        return NumberLimits(low, high, _without(question, range_match, minutes), minutes)
    low, high, rest, minutes = -math.inf, math.inf, question, None
    for pattern, is_least, is_included in _LIMITS:
        if match := pattern.search(rest):
            limit = _number_of(*match.group(1, 2))
            if is_least:
                low = max(low, limit if is_included else math.nextafter(limit, math.inf))
            else:
                high = min(high, limit if is_included else math.nextafter(limit, -math.inf))
            minutes = minutes_in(rest[match.end() :])
            rest = _without(rest, match, minutes)
    return NumberLimits(low, high, rest, minutes) if rest != question else None


def with_highest(question: str) -> str:
    """The question with "highest rated" for "best rated", and "lowest" for "worst"."""
    return _BEST.sub(lambda found: "highest" if found[0].lower() == "best" else "lowest", question)


def asks_to_compare(question: str) -> bool:
    """Whether a question sets a limit for a number, or asks for the most or the first of anything,
    so that it compares all rows of a table."""
    return comparison_in(question) is not None or _SUPERLATIVE.search(question) is not None


@lru_cache(maxsize=256)  # an answer asks for each of its notes
def compares_numbers(question: str) -> bool:
    """Whether a question sets a limit for a number, or asks for the largest or smallest."""
    words = some_words(with_highest(question).casefold())
    return not (LARGEST | SMALLEST).isdisjoint(words) or comparison_in(question) is not None


def minutes_in(text: str) -> float | None:
    """The minutes of the first unit of time that a text names; None if it names none."""
    words = some_words(text.replace("_", " "))
    return next((_MINUTES[word] for word in words if word in _MINUTES), None)


@lru_cache(maxsize=20_000)
def first_number(value: str) -> float | None:
    """The number at the start of a value: "1,200 EUR", "€ 1.200,50", "3.5", "2k"."""
    match = _FIRST_NUMBER.match(value)
    if match is None or math.isnan(number := _number_of(*match.group(1, 2))):
        return None
    return number


def _number_of(digits: str, factor: str | None) -> float:
    """The number that its digits write, with points or commas; NaN for "1.2.3"."""
    plain = _THOUSANDS.sub("", NUMBER_WORDS.get(digits.casefold(), digits)).replace(",", ".")
    with suppress(ValueError):
        return float(plain) * _FACTORS.get((factor or "").casefold(), 1.0)
    return math.nan


def _without(question: str, limit: re.Match[str], minutes: float | None) -> str:
    """The question without the limit, and without the unit of time behind it, if it has one."""
    after_limit = question[limit.end() :]
    if minutes is not None:
        after_limit = _UNIT_OF_TIME.sub("", after_limit)
    return f"{question[: limit.start()]} {after_limit}"
