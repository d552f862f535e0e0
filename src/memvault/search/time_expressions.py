"""Time expressions of a question: cut out of it, as spans of days.

English and ISO dates, relative to today, and days and months as six other languages name them.
Without a year the last such day, month or season that is not to come is meant.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from memvault.config.settings import CalendarSettings

EventDay = Callable[[str], date | None]


def _any_of(words: Iterable[str]) -> str:
    """A pattern of any of these words, the longest first; grouped by their first letters, it is
    matched twice as fast."""
    groups: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        groups.setdefault(word[0], []).append(word[1:])
    return "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in groups.items())


_MONTHS = {
    name.lower(): number
    for names in (calendar.month_name, calendar.month_abbr, ("",) * 9 + ("sept",))
    for number, name in enumerate(names)
    if name
}
# January to December in German, French, Spanish, Italian, Portuguese and Russian, each with the
# words that say "in" before a month there.
_MONTHS_ELSEWHERE = (
    ("im", "januar|jänner februar märz april mai juni juli august september oktober november"
     " dezember"),
    ("en", "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
    ("en", "enero febrero marzo abril mayo junio julio agosto septiembre|setiembre octubre"
     " noviembre diciembre"),
    ("in", "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre"
     " dicembre"),
    ("em", "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro"
     " dezembro"),
    ("в во", "январь|января|январе февраль|февраля|феврале март|марта|марте апрель|апреля|апреле"
     " май|мая|мае июнь|июня|июне июль|июля|июле август|августа|августе"
     " сентябрь|сентября|сентябре октябрь|октября|октябре ноябрь|ноября|ноябре"
     " декабрь|декабря|декабре"),
)  # fmt: skip
_SPELLINGS = [
    (name, number, words_for_in.split())
    for words_for_in, names in _MONTHS_ELSEWHERE
    for number, spellings in enumerate(names.split(), 1)
    for name in spellings.split("|")
]
_NAMED_MONTHS = _MONTHS | {name: number for name, number, _ in _SPELLINGS}
_WORDS_FOR_IN = {
    name: {word for other, _, words in _SPELLINGS if other == name for word in words}
    for name, _, _ in _SPELLINGS
}
_ENGLISH_MONTH = _any_of(_MONTHS)
_MONTH = _any_of(_NAMED_MONTHS)
_ORDINALS = dict(enumerate((
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth",
    "eighteenth", "nineteenth", "twentieth",
), 1))  # fmt: skip
_DAYS = {name: number for number, name in _ORDINALS.items()} | {"thirtieth": 30}
_DAYS |= {f"twenty-{_ORDINALS[n]}": 20 + n for n in range(1, 10)} | {"thirty-first": 31}
_DAY = _any_of(_DAYS)
_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "couple of": 2, "few": 3, "several": 4,
}  # fmt: skip
_COUNT = r"\d{1,3}|(?:a )?couple of|(?:a )?few|" + _any_of(_COUNTS)
_UNIT = "day|week|month|year"
_WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}
_WEEKDAY = "|".join(_WEEKDAYS)
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # their first months
_SEASON = "|".join(_SEASONS)
_NTH = r"(?:st|nd|rd|th|er|º|°|\.(?! (?:May|March)\b))?"
_POINTS = (
    r"(?P<iso>\d{4}-\d{2}-\d{2})",
    r"(?P<iso_month>\d{4}-\d{2})(?![-\d])",
    rf"(?:the )?(?P<d1>\d{{1,2}}|(?:{_DAY})(?= of )){_NTH}(?: of| de)? (?P<m1>{_MONTH})\b\.?,?"
    r"(?:(?: del?)? (?P<y1>\d{4}))?",
    rf"(?P<m2>{_ENGLISH_MONTH})\b\.? (?P<d2>\d{{1,2}}){_NTH}\b(?:,? (?P<y2>\d{{4}}))?",
    rf"(?P<m3>{_MONTH})\b\.?,?(?:(?: del?)? (?P<y3>\d{{4}}))?",
    r"q(?P<quarter>[1-4]) (?P<quarter_year>\d{4})",
    r"(?P<year>(?:19|20)\d{2})\b",
    rf"(?P<near>today|yesterday|(?:last|past|this|previous|current) (?:{_UNIT}|weekend))\b",
    rf"(?:(?P<which>last|past|this) )?(?P<weekday>{_WEEKDAY})\b",
    rf"(?:the )?(?:(?P<whose>last|past|this) )?(?P<season>{_SEASON})\b"
    r"(?: (?:of )?(?P<season_year>\d{4})\b)?",
    rf"(?P<count>{_COUNT}) (?P<unit>{_UNIT})s? ago\b",
)
_PREPOSITION = _any_of(
    ("after", "since", "before", "until", "till", "by", "from", "in", "on", "during", "within",
     "as of", "up to", "starting", "throughout", "im", "en", "em", "в", "во")
)  # fmt: skip
_EXPRESSION = re.compile(
    rf"(?:\b(?P<prep>{_PREPOSITION})\s+)?(?<![\w-])(?:{'|'.join(_POINTS)})",
    re.IGNORECASE,
)
_LAST_FEW = re.compile(
    rf"\b(?:(?:in|over|during|within)\s+)?the (?:last|past) (?:(?P<count>{_COUNT}) )?"
    rf"(?P<unit>{_UNIT})s?\b",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"\b(?:between|from) (.{4,20}?) (?:and|to|until) (.{4,20}?)(?=[?,.]| \w+ed\b|$)", re.IGNORECASE
)
_EVENT = re.compile(
    r"\b(?:(?:in |on )?the (?P<unit>day|week|month|year) )?"
    r"(?P<prep>after|since|before|until)\s+(?P<event>(?:the\s+)?[^?,.]{3,60})",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Calendar:
    """Today, and how the person counts: ``week_starts`` as in `date.weekday` (0: Monday);
    ``southern``: spring is from September to November."""

    today: date = field(default_factory=date.today)
    week_starts: int = 0
    southern: bool = False

    @classmethod
    def of(cls, settings: CalendarSettings) -> Calendar:
        """Today, as the person has set their calendar."""
        first = _WEEKDAYS[settings.week_starts]
        return cls(week_starts=first, southern=settings.hemisphere == "south")


@dataclass(frozen=True, slots=True)
class Span:
    """From ``first`` to ``last``, both included."""

    first: date
    last: date

    def earlier(self, years: int) -> Span:
        """The same days so many years before."""
        return Span(_back(self.first, years, "year"), _back(self.last, years, "year"))

    def has(self, day: date) -> bool:
        return self.first <= day <= self.last

    @property
    def is_open(self) -> bool:
        """Whether it has no beginning or no end: "before March", "since the offsite"."""
        return self.first == date.min or self.last == date.max

    def with_days_after(self, days: int) -> Span:
        """So many days longer, unless it has no beginning or no end."""
        if self.is_open or self.last >= date.max - timedelta(days):
            return self
        return Span(self.first, self.last + timedelta(days))


@dataclass(frozen=True, slots=True)
class Cut:
    """A time expression that stood after ``at`` characters of the text that is left.
    ``any_year``: it names no year."""

    at: int
    span: Span
    any_year: bool = False


def cut_times(
    text: str, today: Calendar, event_day: EventDay | None = None
) -> tuple[str, list[Cut]]:
    """The text without its time expressions, and what each of them means.

    Args:
        event_day: the day of an event that the text names ("since the offsite"), or None.
    """
    cutter = _Cutter(text, today)
    cutter.last_few()
    cutter.between()
    if event_day is not None:
        cutter.events(event_day)
    cutter.points()
    if event_day is not None:
        cutter.events(event_day)
    return cutter.text, cutter.cuts


def days_named(text: str, written: date) -> list[Span]:
    """The days and months that a text names, which was written on that day."""
    calendar = Calendar(written)
    spans = (_meant(match, calendar) for match in _EXPRESSION.finditer(text))
    return [span for span in spans if span is not None]


class _Cutter:
    def __init__(self, text: str, calendar: Calendar) -> None:
        self.text = text
        self.cuts: list[Cut] = []
        self._calendar = calendar

    def _cut(self, start: int, end: int, span: Span, *, any_year: bool = False) -> None:
        head, tail = self.text[:start].rstrip(), self.text[end:]
        gap = " " if tail and tail[0] not in " ?.,!" else ""
        shrunk = len(self.text) - len(head) - len(gap) - len(tail)
        moved = [replace(c, at=c.at - shrunk if c.at > len(head) else c.at) for c in self.cuts]
        self.text = head + gap + tail
        self.cuts = [*moved, Cut(len(head), span, any_year)]

    def last_few(self) -> None:
        today = self._calendar.today
        while match := _LAST_FEW.search(self.text):
            first = _back(today, _number(match["count"] or "one"), match["unit"].lower())
            self._cut(match.start(), match.end(), Span(first, today))

    def between(self) -> None:
        match = _BETWEEN.search(self.text)
        if match is None:
            return
        ends = [_EXPRESSION.search(part) for part in match.groups()]
        spans = [_meant(end, self._calendar) for end in ends if end is not None]
        if len(spans) == 2 and spans[0] and spans[1]:
            self._cut(match.start(), match.end(), Span(spans[0].first, spans[1].last))

    def points(self) -> None:
        start = 0
        while match := _EXPRESSION.search(self.text, start):
            span = _meant(match, self._calendar)
            if span is None:
                start = match.end()
                continue
            bounded = _bounded(match["prep"], span)
            any_year = bounded == span and _names_no_year(match)
            self._cut(match.start(), match.end(), bounded, any_year=any_year)
            start = 0

    def events(self, event_day: EventDay) -> None:
        """Times beside an event or a day: "since the offsite", "the week after 3 March"."""
        match = _EVENT.search(self.text)
        if match is None:
            return
        beside, unit = match["prep"], match["unit"]
        if unit and (point := _EXPRESSION.match(match["event"])):
            span = _meant(point, self._calendar)
            if span is not None:
                end = match.start("event") + point.end()
                self._cut(match.start(), end, _beside(beside, unit, span))
                return
        words = match["event"].split()
        for count in range(len(words), 0, -1):
            day = event_day(" ".join(words[:count]))
            if day is not None:
                span = Span(day, day)
                meant = _beside(beside, unit, span) if unit else _bounded(beside, span)
                end = match.start("event")
                for word in words[:count]:
                    end = self.text.index(word, end) + len(word)
                self._cut(match.start(), end, meant)
                return


def _number(text: str) -> int:
    text = text.lower().strip()
    if text.isdigit():
        return int(text)
    return _COUNTS.get(text.removeprefix("a ").strip() or "a", 1)


def _back(day: date, count: int, unit: str) -> date:
    """The day so many units earlier, or later if negative; the month's last day where it has no
    such day."""
    if unit in ("day", "week"):
        return day - timedelta(count * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 - count * (12 if unit == "year" else 1)
    year, month = divmod(min(max(months, 12), 12 * date.max.year + 11), 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _month(year: int, month: int) -> Span:
    return Span(date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1]))


def _is_month(found: Mapping[str, str]) -> bool:
    """Whether a name without a day is written as a month: "may" and "march" are none, nor are the
    planet Mars and the clinic Mayo; only English and German write months in capitals, and other
    languages put no English word before them."""
    name, before = found["m3"], (found["prep"] or "").lower()
    words_for_in = _WORDS_FOR_IN.get(name.lower(), ())
    if name[0].isupper():
        return name.lower() in _MONTHS or ("im" in words_for_in and before in ("", "im"))
    return before in words_for_in if before else name not in _MONTHS


def _meant(match: re.Match[str], today: Calendar) -> Span | None:
    """What a point in time means; None for what is no date (``may``, the 31st of June)."""
    try:
        return _dated(match, today.today) or _seasonal(match, today) or _relative(match, today)
    except (ValueError, OverflowError):
        return None


def _dated(match: re.Match[str], today: date) -> Span | None:
    found = match.groupdict()
    if found["iso"]:
        day = date.fromisoformat(found["iso"])
        return Span(day, day)
    if found["iso_month"]:
        return _month(int(found["iso_month"][:4]), int(found["iso_month"][5:]))
    for way in "12":
        if found["m" + way]:
            month, named = _NAMED_MONTHS[found["m" + way].lower()], found["d" + way].lower()
            number = _DAYS.get(named) or int(named)
            year = int(found["y" + way] or _year_of(month, number, today))
            return Span(date(year, month, number), date(year, month, number))
    if found["m3"]:
        if not (found["prep"] or found["y3"]) or not _is_month(found):
            return None
        name = found["m3"].lower()
        month = _NAMED_MONTHS[name]
        return _month(int(found["y3"] or _year_of(month, 1, today)), month)
    if found["quarter"]:
        year, last = int(found["quarter_year"]), 3 * int(found["quarter"])
        return Span(date(year, last - 2, 1), _month(year, last).last)
    if found["year"]:
        return Span(date(int(found["year"]), 1, 1), date(int(found["year"]), 12, 31))
    return None


def _year_of(month: int, day: int, today: date) -> int:
    return today.year - ((month, day) > (today.month, today.day))


def _names_no_year(match: re.Match[str]) -> bool:
    found = match.groupdict()
    return any(
        found[named] and not found[year]
        for named, year in (("m1", "y1"), ("m2", "y2"), ("m3", "y3"))
    ) or bool(found["season"] and not found["season_year"] and not found["whose"])


def _seasonal(match: re.Match[str], calendar: Calendar) -> Span | None:
    """A season of three months; "spring" by itself is no time."""
    if not match["season"]:
        return None
    if not (match["whose"] or match["season_year"] or match["prep"]):
        return None
    if match["season"][0].isupper() and re.match(r" [A-Z]", match.string[match.end() :]):
        return None  # a name: "used in Spring Regatta"
    first = _SEASONS[match["season"].lower()]
    if calendar.southern:
        first = (first + 5) % 12 + 1
    today = calendar.today

    def of_year(year: int) -> Span:
        start = date(year, first, 1)
        return Span(start, _back(start, -3, "month") - timedelta(1))

    if match["season_year"]:
        return of_year(int(match["season_year"]))
    span = of_year(today.year)
    while span.first > today or (span.last >= today and match["whose"] in ("last", "past")):
        span = of_year(span.first.year - 1)
    return span


def _relative(match: re.Match[str], calendar: Calendar) -> Span | None:
    today = calendar.today
    if match["count"]:
        unit = match["unit"].lower()
        day = _back(today, _number(match["count"]), unit)
        slack = {"day": 0, "week": 3, "month": 15, "year": 183}[unit]  # nobody means the very day
        return Span(day - timedelta(slack), min(today, day + timedelta(slack)))
    if match["weekday"]:
        if not (match["which"] or match["prep"]):
            return None
        back = (today.weekday() - _WEEKDAYS[match["weekday"].lower()]) % 7
        day = today - timedelta(back or 7)
        return Span(day, day)
    if not match["near"]:
        return None
    words = match["near"].lower().split()
    if words == ["today"]:
        return Span(today, today)
    if words in (["yesterday"], ["last", "day"], ["past", "day"], ["previous", "day"]):
        return Span(today - timedelta(1), today - timedelta(1))
    back = 0 if words[0] in ("this", "current") else 1
    if words[1] == "day":
        return Span(today, today)
    if words[1] == "week":
        first = _week_of(today, calendar) - timedelta(7 * back)
        return Span(first, first + timedelta(6))
    if words[1] == "weekend":
        saturday = today - timedelta((today.weekday() - 5) % 7)
        saturday -= timedelta(7 * back if today.weekday() >= 5 else 0)
        return Span(saturday, saturday + timedelta(1))
    if words[1] == "month":
        day = _back(today.replace(day=1), back, "month")
        return _month(day.year, day.month)
    return Span(date(today.year - back, 1, 1), date(today.year - back, 12, 31))


def _week_of(day: date, calendar: Calendar) -> date:
    """The first day of the week."""
    return day - timedelta((day.weekday() - calendar.week_starts) % 7)


def _beside(side: str, unit: str, span: Span) -> Span:
    """The day, week, month or year directly after or before a time."""
    if side.lower() in ("after", "since"):
        first = span.last + timedelta(1)
        return Span(first, _back(first, -1, unit.lower()) - timedelta(1))
    last = span.first - timedelta(1)
    return Span(_back(span.first, 1, unit.lower()), last)


def _bounded(preposition: str | None, span: Span) -> Span:
    match (preposition or "").lower():
        case "after":
            return Span(min(span.last, date.max - timedelta(1)) + timedelta(1), date.max)
        case "since" | "from" | "as of" | "starting":
            return Span(span.first, date.max)
        case "before":
            return Span(date.min, max(span.first, date.min + timedelta(1)) - timedelta(1))
        case "until" | "till" | "by" | "up to":
            return Span(date.min, span.last)
    return span
