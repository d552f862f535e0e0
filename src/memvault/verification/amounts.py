"""Values that can be compared: money, shares, dates, times, spans of time, counts, versions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memvault.model.months import MONTHS, NAMED_MONTHS
from memvault.text.stems import stem
from memvault.text.words import without_accents


class AmountKind(StrEnum):
    MONEY = "money"
    SHARE = "share"
    DATE = "date"
    TIME = "time"
    SPAN = "span"
    MEASURE = "measure"
    COUNT = "count"
    VERSION = "version"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Amount:
    """A value in a text.

    Attributes:
        unit: a currency, ``day``, a measure's base unit, or a noun's stem; empty if missing.
        parts: (amount,); for a date (year, month, day), with None for a missing part.
        rough: whether the text says "about" or the like.
        earlier: whether it is a former value (changed *from* it).
        per: the period or unit per which it counts ("a month"); empty if missing.
        noun: other words between number and unit ("28 *vacation* days").
    """

    kind: AmountKind
    unit: str
    parts: tuple[float | None, ...]
    start: int
    end: int
    rough: bool = False
    earlier: bool = False
    per: str = ""
    noun: str = ""


# Words that can name neither an attribute nor the unit of a count.
_STOPS = (
    "a an the this that these those it its he she they we i you our my your their his her them us "
    "who whom which what when where why how there here and or but if so as than then not no nor "
    "of to in on at by for from with without into onto over under about around after before "
    "between during until till since per via within up down out off "
    "is are was were be been being am has have had do does did will would shall should can could "
    "may might must also just only now still yet already again later ago each every all both some "
    "any such same other another very more most less least too cannot never s 's ’s"
)
STOPS = frozenset(_STOPS.split())


def _any_of(words: Iterable[str]) -> str:
    """An expression of these words, the longest first; the first letter stands once for all that
    begin with it, so that most are not tried."""
    by_first: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        by_first.setdefault(word[0], []).append(re.escape(word[1:]))
    return "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in by_first.items())


_MONTH_NUMBERS = NAMED_MONTHS | {without_accents(m): n for m, n in NAMED_MONTHS.items()}
_MONTH = _any_of(_MONTH_NUMBERS)
_ENGLISH_MONTH = _any_of(MONTHS)
_NUMBER_WORDS = {
    "zero": 0.0, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "six": 6.0,
    "seven": 7.0, "eight": 8.0, "nine": 9.0, "ten": 10.0, "eleven": 11.0, "twelve": 12.0,
    "thirteen": 13.0, "fourteen": 14.0, "fifteen": 15.0, "sixteen": 16.0, "seventeen": 17.0,
    "eighteen": 18.0, "nineteen": 19.0, "twenty": 20.0, "thirty": 30.0, "forty": 40.0,
    "fifty": 50.0, "sixty": 60.0, "ninety": 90.0, "dozen": 12.0,
}  # fmt: skip
# Those of other languages count only before that language's units of time: Italian "due" is no
# number in "due dates", nor Spanish "once" in "once a week".
_NUMBER_WORDS_ELSEWHERE = {
    word: float(number)
    for number, words in {
        2: "deux zwei dos due dois duas twee два две", 3: "trois drei tres tre três три",
        4: "quatre vier cuatro quattro quatro четыре", 5: "cinq fünf cinco cinque vijf пять",
        6: "six sechs seis sei zes шесть", 7: "sept sieben siete sette sete zeven семь",
        8: "huit acht ocho otto oito восемь", 9: "neuf neun nueve nove negen девять",
        10: "dix zehn diez dieci dez tien десять", 11: "onze elf once undici",
        12: "douze zwölf doce dodici doze twaalf двенадцать", 14: "quatorze vierzehn catorce",
        15: "quinze fünfzehn quince quindici vijftien пятнадцать",
        20: "vingt zwanzig veinte venti vinte twintig двадцать",
        24: "vierundzwanzig ventiquattro veinticuatro", 30: "trente dreißig dreissig treinta "
        "trenta trinta dertig тридцать", 40: "quarante vierzig cuarenta quaranta quarenta",
        45: "quarantacinque fünfundvierzig", 48: "achtundvierzig quarantotto",
        50: "cinquante fünfzig cincuenta cinquanta vijftig пятьдесят",
        60: "soixante sechzig sesenta sessanta sessenta zestig шестьдесят",
        90: "neunzig noventa novanta negentig девяносто", 100: "cent hundert cien cento honderd",
    }.items()
    for word in words.split()
}  # fmt: skip
_SCALES = {
    "k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "million": 1e6, "b": 1e9, "bn": 1e9,
    "billion": 1e9, "mrd": 1e9,
}  # fmt: skip
_SIGNS = {"$": "usd", "€": "eur", "£": "gbp", "¥": "jpy", "₹": "inr"}
_CURRENCIES = {
    "dollar": "usd", "euro": "eur", "pound": "gbp", "franc": "chf", "yen": "jpy", "rupee": "inr",
    "usd": "usd", "eur": "eur", "gbp": "gbp", "chf": "chf", "jpy": "jpy", "inr": "inr",
    "sek": "sek", "nok": "nok", "dkk": "dkk", "pln": "pln", "czk": "czk", "cad": "cad",
    "aud": "aud", "cny": "cny", "kr": "kr", "krona": "kr", "kronor": "kr", "krone": "kr",
    "kroner": "kr",
}  # fmt: skip
_SPANS = {
    "second": ("second", 1.0), "minute": ("second", 60.0), "hour": ("second", 3600.0),
    "day": ("day", 1.0), "week": ("day", 7.0), "fortnight": ("day", 14.0),
    "month": ("month", 1.0), "quarter": ("month", 3.0), "year": ("month", 12.0),
}  # fmt: skip
_SPANS_ELSEWHERE = {
    word: (unit, factor)
    for unit, factor, words in (
        ("second", 1.0, "seconde secondes sekunde sekunden segundo segundos secondi seconden"
         " секунда секунды секунд"),
        ("second", 60.0, "minuten minuto minutos minuti minuut минута минуты минут"),
        ("second", 3600.0, "heure heures stunde stunden hora horas ora ore uur uren"
         " час часа часов"),
        ("day", 1.0, "jour jours tage tagen día días dia dias giorno giorni dagen день дня дней"),
        ("day", 7.0, "semaine semaines woche wochen semana semanas settimana settimane weken"
         " неделя недели неделю недель"),
        ("month", 1.0, "mois monat monate monaten mes meses mese mesi mês maand maanden"
         " месяц месяца месяцев"),
        ("month", 3.0, "trimestre trimestres trimestri quartal quartale kwartaal квартал"),
        ("month", 12.0, "ans année années jahr jahre jahren año años anno anni ano anos jaar jaren "
         "год года лет"),
    )
    for word in words.split()
}  # fmt: skip
_PERIODS = {
    "month": "month", "monthly": "month", "mo": "month", "year": "year", "yearly": "year",
    "annual": "year", "annually": "year", "annum": "year", "week": "week", "weekly": "week",
    "day": "day", "daily": "day", "hour": "hour", "hourly": "hour", "night": "night",
    "person": "person", "user": "user", "seat": "seat", "head": "person", "unit": "unit",
    "quarter": "quarter", "quarterly": "quarter",
}  # fmt: skip
# Behind "par", "pro", "al" and their like: "an" alone is an English article.
_PERIODS_ELSEWHERE = {
    word: period
    for period, words in {
        "hour": "h heure stunde hora ora uur час",
        "day": "jour tag día dia giorno dag день сутки",
        "night": "nuit nacht noche notte noite ночь",
        "week": "semaine woche semana settimana неделю",
        "month": "mois monat mes mese mês maand месяц мес",
        "quarter": "trimestre quartal kwartaal квартал",
        "year": "an année jahr año anno ano jaar год",
        "person": "personne person persona pessoa persoon человека",
    }.items()
    for word in words.split()
}
# What is so each time: "monthly". The stems of other languages take endings.
_REPEATED = {
    word: period
    for period, words in {
        "day": "daily quotidien journalier täglich giornalier dagelijks ежедневн",
        "week": "weekly hebdomadaire wöchentlich settimanal semanal wekelijks еженедельн",
        "month": "monthly mensuel monatlich mensil mensual mensal mensai maandelijks ежемесячн",
        "quarter": "quarterly trimestriel vierteljährlich trimestral ежеквартальн",
        "year": "yearly annual annually annuel jährlich annuo annua annui anual anuai jaarlijks "
        "ежегодн годов",
        "hour": "hourly horaire",
    }.items()
    for word in words.split()
}

# Base unit and factor, exact by definition (SI brochure; NIST SP 811, appendix B).
_MEASURES = {
    name: (base, factor)
    for names, base, factor in (
        ("mg milligram milligrams milligramme milligrammes", "g", 1e-3),
        ("g gram grams gramme grammes", "g", 1.0),
        ("kg kilo kilos kilogram kilograms kilogramme kilogrammes", "g", 1e3),
        ("t tonne tonnes", "g", 1e6),
        ("oz ounce ounces", "g", 28.349523125),
        ("lb lbs", "g", 453.59237),
        ("mm millimetre millimetres millimeter millimeters", "metre", 1e-3),
        ("cm centimetre centimetres centimeter centimeters", "metre", 1e-2),
        ("metre metres meter meters", "metre", 1.0),
        ("km kilometre kilometres kilometer kilometers", "metre", 1e3),
        ("inch inches", "metre", 0.0254),
        ("ft foot feet", "metre", 0.3048),
        ("mile miles", "metre", 1609.344),
        ("ml millilitre millilitres milliliter milliliters", "litre", 1e-3),
        ("cl centilitre centilitres", "litre", 1e-2),
        ("l litre litres liter liters", "litre", 1.0),
        ("gallon gallons", "gallon", 1.0),
        ("watt watts", "watt", 1.0),
        ("kw kilowatt kilowatts", "watt", 1e3),
        ("kwh", "kwh", 1.0),
        ("volt volts", "volt", 1.0),
        ("mb megabyte megabytes", "byte", 1e6),
        ("gb gigabyte gigabytes", "byte", 1e9),
        ("tb terabyte terabytes", "byte", 1e12),
    )
    for name in names.split()
}  # fmt: skip
_DEGREE = r"°\s?[CF]|degrees? (?:celsius|centigrade|fahrenheit)"

# "1,200.50", "1.200,50", "1 200", "1200.5"
_DIGITS = (
    r"\d{1,3}(?:[,'\u202f\u00a0 ]\d{3})+(?:\.\d{1,2})?|\d{1,3}(?:\.\d{3})+,\d{1,2}"
    r"|\d{1,3}(?:\.\d{3}){2,}|\d+(?:[.,]\d+)?"
)
_SCALE = r"(?:\s?(?:thousand|million|billion|mio|mrd|mn|bn|k|m|b)(?![^\W\d_]))?"
_CODE = (
    r"(?:[$€£¥₹]|(?:USD|EUR|GBP|CHF|JPY|INR|SEK|NOK|DKK|PLN|CZK|CAD|AUD|CNY|dollars?|euros?|"
    r"pounds?(?: sterling)?|francs?|yen|rupees?|kr|kron(?:a|or|er?))(?!\w))"
)
_WORD_NUMBER = _any_of(_NUMBER_WORDS)

_WORD_NUMBER_ELSEWHERE = _any_of(_NUMBER_WORDS_ELSEWHERE)
_SPAN_ELSEWHERE = _any_of(_SPANS_ELSEWHERE)

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
        # "14h30", "15 Uhr", "alle 14.30", "à 15h"
        (
            AmountKind.TIME,
            _AT_DIGIT,
            r"\b(?P<h>[01]?\d|2[0-4])(?:\s?h\s?(?P<i>[0-5]\d)|(?:[.:](?P<j>[0-5]\d))?\s?uhr)\b",
        ),
        (
            AmountKind.TIME,
            _AT_DIGIT,
            r"(?:(?<=\bà )|(?<=\balle )|(?<=\bore )|(?<=\bàs )|(?<=\ba las ))"
            r"(?P<h>[01]?\d|2[0-4])(?:[.:](?P<i>[0-5]\d)\b|\s?h\b|(?=[.,;!?)]?\s*$))",
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
            rf"(?P<u>{'|'.join(_SPANS)})s?\b",
        ),
        (
            AmountKind.MEASURE,
            _AT_NUMBER,
            rf"(?<![\w.])(?P<n>{_DIGITS}|\b(?:{_WORD_NUMBER})\b)[\s-]?(?:(?P<deg>{_DEGREE})|"
            rf"(?P<u>{'|'.join(sorted(_MEASURES, key=len, reverse=True))}))(?![\w²³])",
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
_DATE_YEAR = re.compile(rf"\b(?:{_any_of(_YEAR_AFTER.split())})\s+(?P<y>(?:19|20)\d\d)\b", re.I)
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
    r"\b(?:(?:up|down|raised|cut|moved|changed|increased|reduced|lowered|shifted|went|grew|fell|"
    r"postponed|brought forward|switched|extended|shortened)\s+(?:\w+\s+){0,4}from|"
    r"instead of|rather than|formerly|previously|originally|used to be|was once)\s+(?:the )?$",
    re.IGNORECASE,
)
_EARLIER_ENDS = (
    "from", "of", "than", "formerly", "previously", "originally", "be", "once", "the",
)  # fmt: skip
_NEAR = 20  # characters before a value that are searched; longer than any word searched for
_RANGE = re.compile(r"\s?(?:[-–—]|to|and)\s?[$€£]?\d")
_RANGE_BEFORE = re.compile(r"\d\s?[-–—]\s?[$€£]?$")
_PERIOD = "|".join(sorted(_PERIODS, key=len, reverse=True))
_PER = re.compile(
    rf"^\s?(?:(?:(?:/|per|an?|each|every)\s?)?(?P<p>{_PERIOD})\b"
    r"|(?:/|par|au|à l['’]|pro|je|im|am|die|al|alla|all['’]|a la|por|ao|à|per|в|за|на)\s?"
    rf"(?P<q>{_any_of(_PERIODS_ELSEWHERE)})\b"
    rf"|(?P<r>{_any_of(_REPEATED)})\w{{0,3}}\b)",
    re.IGNORECASE,
)
_REPEATS = re.compile(rf"\b({_any_of(_REPEATED)})\w{{0,3}}\b", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
# Thousands separated by points, as in Europe.
_POINTED = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+(?:,\d{1,2})?")
_SPELLED = re.compile(
    rf"\b(?:{_any_of(_NUMBER_WORDS.keys() | _NUMBER_WORDS_ELSEWHERE.keys())})\b", re.IGNORECASE
)


_ALL_NUMBER_WORDS = _NUMBER_WORDS.keys() | _NUMBER_WORDS_ELSEWHERE.keys()


def is_unit(word: str) -> bool:
    """Whether a word, in any case, names a currency or a unit of measure."""
    low = word.lower()
    return low in _CURRENCIES or low in _MEASURES or low in ("celsius", "fahrenheit", "sterling")


def month_named(word: str) -> int | None:
    """The number of the month that a word names in any of seven languages."""
    return _MONTH_NUMBERS.get(word.lower())


def number_named(word: str) -> float | None:
    """The number that a word names in front of a unit, in any of nine languages."""
    return _NUMBER_WORDS.get(word.lower(), _NUMBER_WORDS_ELSEWHERE.get(word.lower()))


def may_state_amount(text: str, words: Iterable[str]) -> bool:
    """Whether a text has a digit or, among its words in lower case, a number's: without, it states
    no amount."""
    return _DIGIT.search(text) is not None or not _ALL_NUMBER_WORDS.isdisjoint(words)


def amounts_in(text: str) -> list[Amount]:
    """The values of a sentence, in order and without overlaps; ranges are left out."""
    found: list[Amount] = []
    for plain in _candidates(text):
        if all(plain.end <= other.start or other.end <= plain.start for other in found):
            amount = _seen_in(text, plain)
            if all(amount.end <= other.start or other.end <= amount.start for other in found):
                found.append(amount)
    return sorted((each for each in found if not _is_range(text, each)), key=lambda a: a.start)


def _candidates(text: str) -> Iterator[Amount]:
    digits = _DIGIT.search(text) is not None
    if not digits and not _SPELLED.search(text):
        return
    places: dict[re.Pattern[str], list[int]] = {}
    for kind, starts, pattern in PATTERNS:
        if not digits and kind not in (AmountKind.SPAN, AmountKind.MEASURE, AmountKind.COUNT):
            continue
        if kind is AmountKind.COUNT:  # "since 2019 we": a year, not a count
            for match in _DATE_YEAR.finditer(text):
                year = (float(match["y"]), None, None)
                yield Amount(AmountKind.DATE, "", year, *match.span("y"))
        if starts not in places:
            places[starts] = [match.start() for match in starts.finditer(text)]
        for match in matches(pattern, text, places[starts]):
            amount = _read(kind, match)
            if amount is not None:
                yield amount


def matches(pattern: re.Pattern[str], text: str, starts: Sequence[int]) -> Iterator[re.Match[str]]:
    """The matches of a pattern that begin at these places, without overlaps."""
    end = 0
    for start in starts:
        if start >= end and (match := pattern.match(text, start)) is not None:
            end = match.end()
            yield match


def _read(kind: AmountKind, match: re.Match[str]) -> Amount | None:
    start, end = match.span()
    groups = match.groupdict()
    if kind is AmountKind.DATE:
        parts = _date_parts(groups)
        return None if parts is None else Amount(kind, "", parts, start, end)
    if kind is AmountKind.TIME:
        hour, minute = float(groups["h"]), float(groups.get("i") or groups.get("j") or 0)
        if groups.get("p"):
            hour = hour % 12 + (12 if groups["p"].lower() == "p" else 0)
        return Amount(kind, "", (hour * 60 + minute,), start, end)
    if kind is AmountKind.VERSION:
        numbers = (groups["v"] or groups["w"]).split(".")
        return Amount(kind, "", tuple(float(n) for n in numbers), start, end)
    written = groups["n"]
    behind = kind is AmountKind.MONEY and match.start("c") > match.start("n")
    sure = behind or "," in written or written.count(".") > 1  # not "$1.859"
    if sure and _POINTED.fullmatch(written):
        written = written.replace(".", "")
    number = _number(written, groups.get("s") or "")
    if kind is AmountKind.MONEY:
        code = groups["c"].lower().split()[0]
        unit = _SIGNS.get(code) or _CURRENCIES.get(code) or _CURRENCIES.get(code.rstrip("s"), "")
        return Amount(kind, unit, (number,), start, end)
    if kind is AmountKind.SPAN:
        written_unit = groups["u"].lower()
        unit, factor = _SPANS.get(written_unit) or _SPANS_ELSEWHERE[written_unit]
        special = (groups.get("a") or "").strip().lower()
        if special in ("business", "working"):
            return Amount(kind, f"working {unit}", (number * factor,), start, end)
        noun = "" if special in ("calendar", "full", "more") else special
        return Amount(kind, unit, (number * factor,), start, end, noun=noun)
    if kind is AmountKind.MEASURE:
        return _measure(number, groups, start, end)
    if kind is AmountKind.COUNT:
        noun = groups["u"].lower()
        if noun in STOPS or noun in _PERIODS or noun in _SCALES:
            return None
        return Amount(kind, stem(noun), (number,), start, match.end("n"))
    return Amount(kind, "", (number,), start, end)


def _measure(number: float, groups: dict[str, str | None], start: int, end: int) -> Amount:
    """The amount in base units; degrees Fahrenheit are converted to degrees Celsius."""
    degree = (groups["deg"] or "").lower()
    if degree:
        warm = (number - 32.0) / 1.8 if degree.endswith("f") or "fahrenheit" in degree else number
        return Amount(AmountKind.MEASURE, "celsius", (round(warm, 6),), start, end)
    base, factor = _MEASURES[(groups["u"] or "").lower()]
    return Amount(AmountKind.MEASURE, base, (round(number * factor, 6),), start, end)


def _number(digits: str, scale: str) -> float:
    word = number_named(digits)
    if word is not None:
        return word
    plain = re.sub(r"['\s\u202f\u00a0]", "", digits)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain):
        plain = plain.replace(",", "")
    return float(plain.replace(",", ".")) * _SCALES.get(scale.strip().lower(), 1.0)


def _date_parts(groups: dict[str, str | None]) -> tuple[float | None, ...] | None:
    year, month, day = groups.get("y"), groups.get("m") or "", groups.get("d")
    number = int(month) if month.isdigit() else _MONTH_NUMBERS[month.lower()]
    return (float(year) if year else None, float(number), float(day) if day else None)


def _seen_in(text: str, amount: Amount) -> Amount:
    per = None
    if amount.kind in (AmountKind.MONEY, AmountKind.NUMBER):
        per = _PER.match(text[amount.end :])
    near = max(0, amount.start - _NEAR)
    return Amount(
        amount.kind,
        amount.unit,
        amount.parts,
        amount.start,
        amount.end + (per.end() if per else 0),
        rough=_ROUGH.search(text, near, amount.start) is not None,
        earlier=_is_earlier(text[: amount.start]),
        per=_period(per) if per else _said_before(text[: amount.start], amount.kind),
        noun=amount.noun,
    )


def _is_earlier(before: str) -> bool:
    ends = before.rstrip().lower().endswith(_EARLIER_ENDS)
    return ends and _EARLIER.search(before) is not None


def _said_before(before: str, kind: AmountKind) -> str:
    """The period named before a value, as in "the monthly rent is 900"; empty without one."""
    if kind not in (AmountKind.MONEY, AmountKind.NUMBER):
        return ""
    repeats = _REPEATS.findall(before.lower())
    return _REPEATED[repeats[-1]] if repeats else ""


def _period(per: re.Match[str]) -> str:
    if per["p"]:
        return _PERIODS[per["p"].lower()]
    return _PERIODS_ELSEWHERE[per["q"].lower()] if per["q"] else _REPEATED[per["r"].lower()]


def _is_range(text: str, amount: Amount) -> bool:
    after = _RANGE.match(text, amount.end)
    joined = after is not None and "to" not in after[0] and "and" not in after[0]
    before = _RANGE_BEFORE.search(text, max(0, amount.start - _NEAR), amount.start)
    return joined or before is not None


def same(one: Amount, other: Amount) -> bool | None:
    """Whether two values are equal; None if that is uncertain or they cannot be compared."""
    if one.kind is AmountKind.DATE and other.kind is AmountKind.DATE:
        return _same_date(one.parts, other.parts)
    money = {AmountKind.MONEY, AmountKind.NUMBER}
    if one.kind is not other.kind and not {one.kind, other.kind} <= money:
        return None
    if one.unit != other.unit and one.unit and other.unit:
        return None
    if one.kind is other.kind and one.kind is not AmountKind.MONEY and one.unit != other.unit:
        return None
    if one.per != other.per:
        return None
    if one.kind is AmountKind.VERSION:
        shorter = min(len(one.parts), len(other.parts))
        if one.parts[:shorter] != other.parts[:shorter]:
            return False
        return True if len(one.parts) == len(other.parts) else None
    first, second = one.parts[0] or 0.0, other.parts[0] or 0.0
    if first == second:
        return None if one.rough or other.rough else True
    near = abs(first - second) <= 0.15 * max(abs(first), abs(second))
    return None if (one.rough or other.rough) and near else False


def _same_date(one: tuple[float | None, ...], other: tuple[float | None, ...]) -> bool | None:
    """Whether two dates are equal; None if that is uncertain.

    Different common parts make them unequal. They are equal if they have the same parts or both
    have a day.
    """
    both = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    if any(a != b for a, b in both):
        return False
    said_alike = all((a is None) == (b is None) for a, b in zip(one, other, strict=True))
    return True if both and (said_alike or (one[2] is not None and other[2] is not None)) else None
