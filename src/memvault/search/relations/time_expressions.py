"""Time expressions of a question: cut out of it, as spans of days.

General English and ISO dates, relative to a given day. Without a year, the last such month or day
that is not to come is meant.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

EventDay = Callable[[str], date | None]

_MONTHS = {
    name.lower(): number
    for names in (calendar.month_name, calendar.month_abbr, ("",) * 9 + ("sept",))
    for number, name in enumerate(names)
    if name
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "couple of": 2, "few": 3, "several": 4,
}  # fmt: skip
_COUNT = r"\d{1,3}|(?:a )?couple of|(?:a )?few|" + "|".join(sorted(_COUNTS, key=len, reverse=True))
_UNIT = "day|week|month|year"
_NTH = r"(?:st|nd|rd|th)?"
_POINTS = (
    r"(?P<iso>\d{4}-\d{2}-\d{2})",
    r"(?P<iso_month>\d{4}-\d{2})(?![-\d])",
    rf"(?:the )?(?P<d1>\d{{1,2}}){_NTH}(?: of)? (?P<m1>{_MONTH})\b\.?,?(?: (?P<y1>\d{{4}}))?",
    rf"(?P<m2>{_MONTH})\b\.? (?P<d2>\d{{1,2}}){_NTH}\b(?:,? (?P<y2>\d{{4}}))?",
    rf"(?P<m3>{_MONTH})\b\.?,?(?: (?P<y3>\d{{4}}))?",
    r"q(?P<quarter>[1-4]) (?P<quarter_year>\d{4})",
    r"(?P<year>(?:19|20)\d{2})\b",
    rf"(?P<near>today|yesterday|(?:last|past|this|previous|current) (?:{_UNIT}))\b",
    rf"(?P<count>{_COUNT}) (?P<unit>{_UNIT})s? ago\b",
)
_PREPOSITION = (
    "after|since|before|until|till|by|from|in|on|during|within|as of|up to|starting|throughout"
)
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
    r"\b(?P<prep>after|since|before|until)\s+(?P<event>(?:the\s+)?[^?,.]{3,60})", re.I
)


@dataclass(frozen=True, slots=True)
class Span:
    """From ``first`` to ``last``, both included."""

    first: date
    last: date


@dataclass(frozen=True, slots=True)
class Cut:
    """A time expression that stood after ``at`` characters of the text that is left."""

    at: int
    span: Span


def cut_times(text: str, today: date, event_day: EventDay | None = None) -> tuple[str, list[Cut]]:
    """The text without its time expressions, and what each of them means.

    Args:
        event_day: the day of an event that the text names ("since the offsite"), or None.
    """
    cutter = _Cutter(text, today)
    cutter.last_few()
    cutter.between()
    cutter.points()
    if event_day is not None:
        cutter.events(event_day)
    return cutter.text, cutter.cuts


class _Cutter:
    def __init__(self, text: str, today: date) -> None:
        self.text = text
        self.cuts: list[Cut] = []
        self._today = today

    def _cut(self, start: int, end: int, span: Span) -> None:
        head, tail = self.text[:start].rstrip(), self.text[end:]
        gap = " " if tail and tail[0] not in " ?.,!" else ""
        shrunk = len(self.text) - len(head) - len(gap) - len(tail)
        moved = [Cut(c.at - shrunk if c.at > len(head) else c.at, c.span) for c in self.cuts]
        self.text = head + gap + tail
        self.cuts = [*moved, Cut(len(head), span)]

    def last_few(self) -> None:
        while match := _LAST_FEW.search(self.text):
            first = _back(self._today, _number(match["count"] or "one"), match["unit"].lower())
            self._cut(match.start(), match.end(), Span(first, self._today))

    def between(self) -> None:
        match = _BETWEEN.search(self.text)
        if match is None:
            return
        ends = [_EXPRESSION.search(part) for part in match.groups()]
        spans = [_meant(end, self._today) for end in ends if end is not None]
        if len(spans) == 2 and spans[0] and spans[1]:
            self._cut(match.start(), match.end(), Span(spans[0].first, spans[1].last))

    def points(self) -> None:
        start = 0
        while match := _EXPRESSION.search(self.text, start):
            span = _meant(match, self._today)
            if span is None:
                start = match.end()
                continue
            self._cut(match.start(), match.end(), _bounded(match["prep"], span))
            start = 0

    def events(self, event_day: EventDay) -> None:
        match = _EVENT.search(self.text)
        if match is None:
            return
        words = match["event"].split()
        for count in range(len(words), 0, -1):
            name = " ".join(words[:count])
            day = event_day(name)
            if day is not None:
                end = match.start("event") + match["event"].index(words[count - 1])
                end += len(words[count - 1])
                self._cut(match.start(), end, _bounded(match["prep"], Span(day, day)))
                return


def _number(text: str) -> int:
    text = text.lower().strip()
    if text.isdigit():
        return int(text)
    return _COUNTS.get(text.removeprefix("a ").strip() or "a", 1)


def _back(day: date, count: int, unit: str) -> date:
    """The day so many units earlier; the month's last day where it has no such day."""
    if unit in ("day", "week"):
        return day - timedelta(count * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 - count * (12 if unit == "year" else 1)
    year, month = divmod(max(months, 12), 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _month(year: int, month: int) -> Span:
    return Span(date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1]))


def _meant(match: re.Match[str], today: date) -> Span | None:
    """What a point in time means; None for what is no date (``may``, the 31st of June)."""
    try:
        return _dated(match, today) or _relative(match, today)
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
            month, number = _MONTHS[found["m" + way].lower()], int(found["d" + way])
            year = int(found["y" + way] or _year_of(month, number, today))
            return Span(date(year, month, number), date(year, month, number))
    if found["m3"]:
        # "may" and "march" are months only in capitals, behind a preposition or before a year
        if not found["m3"][0].isupper() or not (found["prep"] or found["y3"]):
            return None
        month = _MONTHS[found["m3"].lower()]
        return _month(int(found["y3"] or _year_of(month, 1, today)), month)
    if found["quarter"]:
        year, last = int(found["quarter_year"]), 3 * int(found["quarter"])
        return Span(date(year, last - 2, 1), _month(year, last).last)
    if found["year"]:
        return Span(date(int(found["year"]), 1, 1), date(int(found["year"]), 12, 31))
    return None


def _year_of(month: int, day: int, today: date) -> int:
    return today.year - ((month, day) > (today.month, today.day))


def _relative(match: re.Match[str], today: date) -> Span | None:
    if match["count"]:
        unit = match["unit"].lower()
        day = _back(today, _number(match["count"]), unit)
        slack = {"day": 0, "week": 3, "month": 15, "year": 183}[unit]  # nobody means the very day
        return Span(day - timedelta(slack), min(today, day + timedelta(slack)))
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
        monday = today - timedelta(today.weekday() + 7 * back)
        return Span(monday, monday + timedelta(6))
    if words[1] == "month":
        day = _back(today.replace(day=1), back, "month")
        return _month(day.year, day.month)
    return Span(date(today.year - back, 1, 1), date(today.year - back, 12, 31))


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
