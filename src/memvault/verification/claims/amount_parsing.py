"""Finds values in a text: money, shares, dates, times, spans of time, counts, versions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from memvault.model.months import MONTHS
from memvault.text.stems import stem
from memvault.text.words import any_of
from memvault.verification.claims.amount_words import (
    ABBREVIATED_PERIODS,
    ALL_NUMBER_WORDS,
    CURRENCIES,
    MEASURES,
    MONTH_NUMBERS,
    NUMBER_WORDS,
    NUMBER_WORDS_ELSEWHERE,
    PERIODS,
    PERIODS_ELSEWHERE,
    REPEATED,
    SCALES,
    SIGNS,
    SPANS,
    SPANS_ELSEWHERE,
    STOPS,
    number_named,
)
from memvault.verification.claims.amounts import Amount, AmountKind

_MONTH = any_of(MONTH_NUMBERS)
_ENGLISH_MONTH = any_of(MONTHS)
_DEGREE = r"°\s?[CF]|degrees? (?:celsius|centigrade|fahrenheit)"

# "1,200.50", "1.200,50", "1 200", "1200.5"; no value has more than nine groups of digits.
_DIGITS = (
    r"\d{1,3}(?:[,'\u202f\u00a0 ]\d{3}){1,9}(?:\.\d{1,2})?|\d{1,3}(?:\.\d{3}){1,9},\d{1,2}"
    r"|\d{1,3}(?:\.\d{3}){2,9}|\d+(?:[.,]\d+)?"
)
_SCALE = r"(?:\s?(?:thousand|million|billion|mio|mrd|mn|bn|k|m|b)(?![^\W\d_]))?"
_CODE = (
    r"(?:[$€£¥₹]|(?:USD|EUR|GBP|CHF|JPY|INR|SEK|NOK|DKK|PLN|CZK|CAD|AUD|CNY|dollars?|euros?|"
    r"pounds?(?: sterling)?|francs?|yen|rupees?|kr|kron(?:a|or|er?))(?!\w))"
)
_WORD_NUMBER = any_of(NUMBER_WORDS)

_WORD_NUMBER_ELSEWHERE = any_of(NUMBER_WORDS_ELSEWHERE)
_SPAN_ELSEWHERE = any_of(SPANS_ELSEWHERE)

# Places where a match can start, so that not every pattern is tried at every letter.
_AT_DIGIT = re.compile(r"(?<!\w)\d")
_AT_NUMBER = re.compile(rf"(?<![\w.])(?:\d|(?:{_WORD_NUMBER})\b)", re.IGNORECASE)
_AT_NUMBER_ELSEWHERE = re.compile(rf"(?<![\w.])(?:\d|(?:{_WORD_NUMBER_ELSEWHERE})\b)", re.I)
_AT_MONTH = re.compile(rf"\b(?:{_MONTH})\b", re.IGNORECASE)
_AT_CURRENCY = re.compile(r"[$€£¥₹]|\b(?:USD|EUR|GBP|CHF)\s", re.IGNORECASE)
_AT_VERSION = re.compile(r"\b(?:v|\d)", re.IGNORECASE)

PATTERNS: tuple[tuple[AmountKind, re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (kind, starts, re.compile(pattern, re.IGNORECASE))
    for kind, starts, pattern in (
        (AmountKind.DATE, _AT_DIGIT, r"\b(?P<y>(?:19|20)\d\d)-(?P<m>\d\d)(?:-(?P<d>\d\d))?\b"),
        (
            AmountKind.DATE,
            _AT_DIGIT,
            r"\b(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.\s?(?P<y>(?:19|20)\d\d)\b",
        ),
        (
            AmountKind.DATE,
            _AT_DIGIT,
            rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th|er|\.|º|°)?(?: of| de)? (?P<m>{_MONTH})\b\.?"
            r"(?:,?(?: del?)? (?P<y>(?:19|20)\d\d)\b)?",
        ),
        (
            AmountKind.DATE,
            _AT_MONTH,
            rf"\b(?P<m>{_ENGLISH_MONTH})\b\.? (?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)"
            r"(?:,? (?P<y>(?:19|20)\d\d)\b)?",
        ),
        (AmountKind.DATE, _AT_MONTH, rf"\b(?P<m>{_MONTH})\b\.?,?(?: del?)? (?P<y>(?:19|20)\d\d)\b"),
        (
            AmountKind.MONEY,
            _AT_CURRENCY,
            rf"(?P<c>[$€£¥₹]|\b(?:USD|EUR|GBP|CHF)\s)\s?(?P<n>{_DIGITS})(?P<s>{_SCALE})",
        ),
        (
            AmountKind.MONEY,
            _AT_NUMBER,
            rf"(?<![\w.])(?P<n>{_DIGITS})(?P<s>{_SCALE})\s?(?P<c>{_CODE})",
        ),
        (AmountKind.SHARE, _AT_NUMBER, rf"(?<![\w.])(?P<n>{_DIGITS})\s?(?:%|percent\b|per cent\b)"),
        (
            AmountKind.VERSION,
            _AT_VERSION,
            r"\bv(?:ersion )?\s?(?P<v>\d+(?:\.\d+)*)\b|\b(?P<w>\d+(?:\.\d+){2,})\b",
        ),
        (AmountKind.TIME, _AT_DIGIT, r"\b(?P<h>\d{1,2}):(?P<i>\d{2})(?:\s?(?P<p>[ap])\.?m\b\.?)?"),
        (AmountKind.TIME, _AT_DIGIT, r"\b(?P<h>\d{1,2})\s?(?P<p>[ap])\.?m\b"),
        # "14h30", "15 Uhr", "19.45 uur", "alle 14.30", "à 15h"
        (
            AmountKind.TIME,
            _AT_DIGIT,
            r"\b(?P<h>[01]?\d|2[0-4])(?:\s?h\s?(?P<i>[0-5]\d)|(?:[.:](?P<j>[0-5]\d))?\s?uhr"
            r"|[.:](?P<k>[0-5]\d)\s?u(?:ur)?)\b",
        ),
        (
            AmountKind.TIME,
            _AT_DIGIT,
            r"(?:(?<=\bà )|(?<=\balle )|(?<=\bore )|(?<=\bàs )|(?<=\ba las )|(?<=\bom ))"
            r"(?P<h>[01]?\d|2[0-4])(?:[.:](?P<i>[0-5]\d)\b|\s?(?:h|uur)\b|(?=[.,;!?)]?\s*$))",
        ),
        (
            AmountKind.SPAN,
            _AT_NUMBER_ELSEWHERE,
            rf"(?<![\w.])(?P<n>{_DIGITS}|\b(?:{_WORD_NUMBER_ELSEWHERE})\b)[\s-]?"
            rf"(?P<u>{_SPAN_ELSEWHERE})\b",
        ),
        (
            AmountKind.SPAN,
            _AT_NUMBER,
            rf"(?<![\w.])(?P<n>{_DIGITS}|\b(?:{_WORD_NUMBER})\b)[\s-]?(?P<a>[a-z]{{4,}} )?"
            rf"(?P<u>{'|'.join(SPANS)})s?\b",
        ),
        (
            AmountKind.MEASURE,
            _AT_NUMBER,
            rf"(?<![\w.])(?P<n>{_DIGITS}|\b(?:{_WORD_NUMBER})\b)[\s-]?(?:(?P<deg>{_DEGREE})|"
            rf"(?P<u>{'|'.join(sorted(MEASURES, key=len, reverse=True))}))(?![\w²³])",
        ),
        (
            AmountKind.COUNT,
            _AT_NUMBER,
            rf"(?<![\w.])(?P<n>{_DIGITS}|\b(?:{_WORD_NUMBER})\b)[ -](?P<u>[a-z]{{3,}})\b",
        ),
        (
            AmountKind.NUMBER,
            _AT_NUMBER,
            # Does not match in "2026-W28".
            rf"(?<![\w.])(?P<n>{_DIGITS})(?P<s>{_SCALE})(?![\w%]|-[A-Za-z])",
        ),
    )
)
_YEAR_AFTER = (
    "in since until by from during year of en depuis jusqu'en seit bis jahr desde hasta nel dal em "
    "sinds année año anno ano с в"
)
_DATE_YEAR = re.compile(rf"\b(?:{any_of(_YEAR_AFTER.split())})\s+(?P<y>(?:19|20)\d\d)\b", re.I)
_ROUGH = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|some|circa|ca\.?|up to|"
    r"at least|at most|over|under|more than|less than|between|environ|env\.|à peu près|plus de|"
    r"moins de|au moins|au plus|jusqu'à|etwa|ungefähr|rund|mindestens|höchstens|bis zu|mehr als|"
    r"weniger als|più di|meno di|almeno|fino a|quasi|unos|unas|alrededor de|cerca de|más de|"
    r"menos de|al menos|hasta|mais de|pelo menos|até|ongeveer|meer dan|minder dan|minstens|около|"
    r"примерно|более|менее|почти|до)|~|≈|<|>)\s?$",
    re.IGNORECASE,
)
_EARLIER = re.compile(
    r"\b(?:(?:up|down|(?:raise|move|change|increase|reduce|postpone)[sd]?|cuts?|goes|went|grows?|"
    r"grew|falls?|fell|rises?|rose|br(?:ings?|ought) forward|(?:lower|shift|extend|shorten|delay)"
    r"(?:s|ed)?|(?:push|switch)(?:es|ed)?|(?:drop|slip)(?:s|ped)?)\s+(?:\w+\s+){0,4}from|"
    r"instead of|rather than|formerly|previously|originally|used to be|was once)\s+(?:the )?$",
    re.IGNORECASE,
)
_EARLIER_ENDS = (
    "from", "of", "than", "formerly", "previously", "originally", "be", "once", "the",
)  # fmt: skip
_LOOK_BACK = 20  # characters searched before a value; longer than any word searched for
_LOOK_FURTHER_BACK = 200  # the same, for some words: "raised the monthly fee from"
_LOOK_AHEAD = 50  # characters after a value that may name what it is per
_RANGE = re.compile(r"\s?(?:[-–—]|to|and)\s?[$€£]?\d")
_RANGE_BEFORE = re.compile(r"\d\s?[-–—]\s?[$€£]?$")
_PER = re.compile(
    rf"^\s?(?:(?:(?:/|per|an?|each|every)\s?)?(?P<p>{any_of(PERIODS)})\b"
    r"|(?:/|par|au|à l['’]|pro|je|im|am|die|al|alla|all['’]|a la|por|ao|à|per|в|за|на)\s?"
    rf"(?P<q>{any_of(PERIODS_ELSEWHERE)})\b"
    rf"|(?P<r>{any_of(REPEATED)})\w{{0,3}}\b"
    rf"|p(?P<sign>[./])\s?(?P<a>[{''.join(ABBREVIATED_PERIODS)}])\b\.?)",
    re.IGNORECASE,
)
_REPEATS = re.compile(rf"\b({any_of(REPEATED)})\w{{0,3}}\b", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
# Thousands separated by points, as in Europe.
_POINTED = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+(?:,\d{1,2})?")
_SPELLED = re.compile(
    rf"\b(?:{any_of(NUMBER_WORDS.keys() | NUMBER_WORDS_ELSEWHERE.keys())})\b", re.IGNORECASE
)


def may_state_amount(text: str, words: Iterable[str]) -> bool:
    """Whether a text has a digit or a number word, without which it states no amount.

    Args:
        words: the words of the text, in lower case.
    """
    return _DIGIT.search(text) is not None or not ALL_NUMBER_WORDS.isdisjoint(words)


def amounts_in(text: str) -> list[Amount]:
    """The values of a sentence, in order and without overlaps; ranges are left out."""
    amounts: list[Amount] = []
    taken = bytearray(len(text))  # 1 for each character of an amount
    repeats = list(_REPEATS.finditer(text))
    for candidate in _candidates(text):
        if 1 not in taken[candidate.start : candidate.end]:
            amount = _with_context(text, candidate, repeats)
            if 1 not in taken[amount.start : amount.end]:
                amounts.append(amount)
                taken[amount.start : amount.end] = bytes([1]) * (amount.end - amount.start)
    return sorted((a for a in amounts if not _is_range(text, a)), key=lambda a: a.start)


def _candidates(text: str) -> Iterator[Amount]:
    has_digits = _DIGIT.search(text) is not None
    if not has_digits and not _SPELLED.search(text):
        return
    places: dict[re.Pattern[str], list[int]] = {}
    for kind, starts, pattern in PATTERNS:
        if not has_digits and kind not in (AmountKind.SPAN, AmountKind.MEASURE, AmountKind.COUNT):
            continue
        if kind is AmountKind.COUNT:  # "since 2019 we": a year, not a count
            for match in _DATE_YEAR.finditer(text):
                year = (float(match["y"]), None, None)
                yield Amount(AmountKind.DATE, "", year, *match.span("y"))
        if starts not in places:
            places[starts] = [match.start() for match in starts.finditer(text)]
        for match in matches(pattern, text, places[starts]):
            amount = _amount_of(kind, match)
            if amount is not None:
                yield amount


def matches(pattern: re.Pattern[str], text: str, starts: Sequence[int]) -> Iterator[re.Match[str]]:
    """The matches of a pattern that begin at these places, without overlaps."""
    end = 0
    for start in starts:
        if start >= end and (match := pattern.match(text, start)) is not None:
            end = match.end()
            yield match


def _amount_of(kind: AmountKind, match: re.Match[str]) -> Amount | None:
    """The amount that a pattern of this kind matched; None if it is none after all."""
    start, end = match.span()
    groups = match.groupdict()
    if kind is AmountKind.DATE:
        parts = _date_parts(groups)
        return None if parts is None else Amount(kind, "", parts, start, end)
    if kind is AmountKind.TIME:
        return Amount(kind, "", (_minutes(groups),), start, end)
    if kind is AmountKind.VERSION:
        numbers = (groups["v"] or groups["w"]).split(".")
        return Amount(kind, "", tuple(float(n) for n in numbers), start, end)
    number = _number(_digits(kind, match), groups.get("s") or "")
    if kind is AmountKind.MONEY:
        return Amount(kind, _currency(groups["c"]), (number,), start, end)
    if kind is AmountKind.SPAN:
        return _span(number, groups, start, end)
    if kind is AmountKind.MEASURE:
        return _measure(number, groups, start, end)
    if kind is AmountKind.COUNT:
        noun = groups["u"].lower()
        is_noun = noun not in STOPS and noun not in PERIODS and noun not in SCALES
        return Amount(kind, stem(noun), (number,), start, match.end("n")) if is_noun else None
    return Amount(kind, "", (number,), start, end)


def _minutes(groups: Mapping[str, str | None]) -> float:
    """The time of day, in minutes after midnight."""
    hour = float(groups["h"] or 0)
    if half := groups.get("p"):
        hour = hour % 12 + (12 if half.lower() == "p" else 0)
    return hour * 60 + float(groups.get("i") or groups.get("j") or groups.get("k") or 0)


def _digits(kind: AmountKind, match: re.Match[str]) -> str:
    """The digits of the number, without points that mark thousands."""
    groups, digits = match.groupdict(), match["n"]
    code_follows = kind is AmountKind.MONEY and match.start("c") > match.start("n")
    # Not in "$1.859", whose point is a decimal point.
    is_euro = groups.get("c") == "€"
    has_thousands = is_euro or code_follows or "," in digits or digits.count(".") > 1
    return digits.replace(".", "") if has_thousands and _POINTED.fullmatch(digits) else digits


def _currency(text: str) -> str:
    code = text.lower().split()[0]
    return SIGNS.get(code) or CURRENCIES.get(code) or CURRENCIES.get(code.rstrip("s"), "")


def _span(number: float, groups: Mapping[str, str], start: int, end: int) -> Amount:
    """The amount of a span of time; working days are units of their own."""
    unit_word = groups["u"].lower()
    unit, factor = SPANS.get(unit_word) or SPANS_ELSEWHERE[unit_word]
    adjective = (groups.get("a") or "").strip().lower()
    if adjective in ("business", "working"):
        unit, adjective = f"working {unit}", ""
    noun = "" if adjective in ("calendar", "full", "more") else adjective
    return Amount(AmountKind.SPAN, unit, (number * factor,), start, end, noun=noun)


def _measure(number: float, groups: dict[str, str | None], start: int, end: int) -> Amount:
    """The amount in base units; degrees Fahrenheit are converted to degrees Celsius."""
    degree = (groups["deg"] or "").lower()
    if degree:
        celsius = (
            (number - 32.0) / 1.8 if degree.endswith("f") or "fahrenheit" in degree else number
        )
        return Amount(AmountKind.MEASURE, "celsius", (round(celsius, 6),), start, end)
    base, factor = MEASURES[(groups["u"] or "").lower()]
    return Amount(AmountKind.MEASURE, base, (round(number * factor, 6),), start, end)


def _number(digits: str, scale: str) -> float:
    word = number_named(digits)
    if word is not None:
        return word
    compact = re.sub(r"['\s\u202f\u00a0]", "", digits)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", compact):
        compact = compact.replace(",", "")
    marks = re.findall(r"[.,]", compact)
    if len(marks) > 1:  # the last one is a decimal point if it is unlike the others
        whole, mark, last = compact.rpartition(marks[-1])
        point = "." if mark not in marks[:-1] else ""
        compact = re.sub(r"[.,]", "", whole) + point + last
    return float(compact.replace(",", ".")) * SCALES.get(scale.strip().lower(), 1.0)


def _date_parts(groups: dict[str, str | None]) -> tuple[float | None, ...] | None:
    year, month, day = groups.get("y"), groups.get("m") or "", groups.get("d")
    number = int(month) if month.isdigit() else MONTH_NUMBERS[month.lower()]
    return (float(year) if year else None, float(number), float(day) if day else None)


def _with_context(text: str, amount: Amount, repeats: Sequence[re.Match[str]]) -> Amount:
    """The amount with what the words around it say: per what, how exact, whether a former value.

    Args:
        repeats: the words of the text that name a period, as "monthly" does.
    """
    window = max(0, amount.start - _LOOK_BACK)
    amount = replace(
        amount,
        rough=_ROUGH.search(text, window, amount.start) is not None,
        earlier=_is_earlier(text, amount.start),
    )
    if amount.kind not in (AmountKind.MONEY, AmountKind.NUMBER):
        return amount
    per = _PER.match(text[amount.end : amount.end + _LOOK_AHEAD])
    if per is None or (per["sign"] == "." and amount.kind is AmountKind.NUMBER):  # "5 p.m."
        return replace(amount, per=_period_before(amount.start, repeats))
    return replace(amount, per=_period(per), end=amount.end + per.end())


def _is_earlier(text: str, start: int) -> bool:
    before = text[max(0, start - _LOOK_FURTHER_BACK) : start]
    may_be = before.rstrip().lower().endswith(_EARLIER_ENDS)  # quicker than the pattern
    return may_be and _EARLIER.search(before) is not None


def _period_before(start: int, repeats: Sequence[re.Match[str]]) -> str:
    """The period named before a value, as in "the monthly rent is 900"; empty without one."""
    number = bisect_right(repeats, start, key=lambda match: match.end())
    return REPEATED[repeats[number - 1][1].lower()] if number else ""


def _period(per: re.Match[str]) -> str:
    if per["p"]:
        return PERIODS[per["p"].lower()]
    if per["a"]:
        return ABBREVIATED_PERIODS[per["a"].lower()]
    return PERIODS_ELSEWHERE[per["q"].lower()] if per["q"] else REPEATED[per["r"].lower()]


def _is_range(text: str, amount: Amount) -> bool:
    after = _RANGE.match(text, amount.end)
    has_dash = after is not None and "to" not in after[0] and "and" not in after[0]
    before = _RANGE_BEFORE.search(text, max(0, amount.start - _LOOK_BACK), amount.start)
    return has_dash or before is not None
