"""The days that a time expression means, relative to today.

Without a year ("on Thursday", "in December") the latest such day, month or season that is not in
the future is meant, and the next one is an alternative, unless the text says which.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import islice

from memvault.config.settings import CalendarSettings
from memvault.model.months import MONTHS, NAMED_MONTHS, WORDS_FOR_IN
from memvault.search.time_patterns import (
    COUNTS,
    DAYS,
    DAYS_FROM_TODAY,
    NO_MONTHS,
    PARTS,
    SEASONS,
    WEEKDAYS,
)

SLACK = {
    "day": 0,
    "week": 3,
    "fortnight": 3,
    "month": 15,
    "year": 183,
}  # days before and after "a month ago", which rarely means the exact day
DAYS_OF = {"day": 1, "week": 7, "fortnight": 14}


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
        first = WEEKDAYS[settings.week_starts]
        return cls(week_starts=first, southern=settings.hemisphere == "south")


@dataclass(frozen=True, slots=True)
class Span:
    """From ``first`` to ``last``, both included."""

    first: date
    last: date

    def earlier(self, years: int) -> Span:
        """The same days so many years earlier."""
        return Span(moved_back(self.first, years, "year"), moved_back(self.last, years, "year"))

    def later(self, days: int) -> Span:
        return Span(self.first + timedelta(days), self.last + timedelta(days))

    def has(self, day: date) -> bool:
        return self.first <= day <= self.last

    @property
    def is_open(self) -> bool:
        """Whether it has no beginning or no end: "before March", "since the offsite"."""
        return self.first == date.min or self.last == date.max

    def with_days_after(self, days: int) -> Span:
        """The span, so many days longer, unless it has no beginning or no end."""
        if self.is_open or self.last >= date.max - timedelta(days):
            return self
        return Span(self.first, self.last + timedelta(days))


def span_of(match: re.Match[str], today: Calendar) -> Span | None:
    """The days that a match of `EXPRESSION` means; None if it is no date (``may``, 31 June)."""
    try:
        return _around(match, today) or _seasonal(match, today) or _relative(match, today)
    except (ValueError, OverflowError):
        return None


def next_such(match: re.Match[str], span: Span, today: date) -> Span | None:
    """The next such day, month or season, if a text does not say which one it means."""
    weekend = (match["near"] or "").lower() in ("this weekend", "the weekend") and span.last < today
    if weekend or (match["weekday"] and not (match["which"] or match["week"])):
        return None if span.last > date.max - timedelta(7) else span.later(7)
    return span.earlier(-1) if names_no_year(match) and span.last < today else None


def names_no_year(match: re.Match[str]) -> bool:
    """Whether a match is a day, a month or a season without a year."""
    found = match.groupdict()
    if found["season"]:
        return not (found["season_year"] or found["whose"])
    return not found["which_year"] and any(
        found["m" + way] and not (found["y" + way] or found["of" + way]) for way in "123"
    )


def may_be_last_years(match: re.Match[str], span: Span, today: date) -> bool:
    """Whether it is a season of this year that is to come: "this summer", asked in January."""
    return (match["whose"] or "").lower() == "this" and span.first > today


def on_side_of(preposition: str, span: Span, today: date) -> Span:
    """The days on that side of a time; before a future time, the days between today and it."""
    start = today if span.first > today else date.min
    match preposition:
        case "after":
            return Span(min(span.last, date.max - timedelta(1)) + timedelta(1), date.max)
        case "since" | "as of" | "starting":
            return Span(span.first, date.max)
        case "before":
            return Span(start, max(span.first, date.min + timedelta(1)) - timedelta(1))
        case "until" | "till" | "by" | "up to":
            return Span(start, span.last)
    return span


def next_to(side: str, unit: str, span: Span) -> Span:
    """The day, week, month or year directly after or before a time."""
    if side.lower() in ("after", "since"):
        first = span.last + timedelta(1)
        return Span(first, moved_back(first, -1, unit.lower()) - timedelta(1))
    last = span.first - timedelta(1)
    return Span(moved_back(span.first, 1, unit.lower()), last)


def _around(match: re.Match[str], calendar: Calendar) -> Span | None:
    """A written time, or the week or weekend of a written day."""
    span = _dated(match, calendar.today)
    around = (match["around"] or "").lower()
    if span is None or not around:
        return span
    first = _week_of(span.first, calendar)
    if around == "weekend":
        first += timedelta((5 - calendar.week_starts) % 7)
    return Span(first, first + timedelta(1 if around == "weekend" else 6))


def _dated(match: re.Match[str], today: date) -> Span | None:
    found = match.groupdict()
    if written := found["iso"] or found["dotted"] or found["slashed"]:
        return _in_digits(written)
    if found["numbered_week"]:
        return _numbered_week(found["numbered_week"])
    if found["iso_month"]:
        return _month(int(found["iso_month"][:4]), int(found["iso_month"][5:]))
    for way in "12":
        if found["m" + way]:
            month, named = NAMED_MONTHS[found["m" + way].lower()], found["d" + way].lower()
            number = DAYS.get(named) or int(named)
            year = _year(found, way, today) or _year_of(month, number, today)
            return Span(date(year, month, number), date(year, month, number))
    if found["m3"]:
        stands = found["prep"] or found["which_year"] or _year(found, "3", today) or found["part"]
        if not stands or not _is_month(found):
            return None
        month, which = NAMED_MONTHS[found["m3"].lower()], (found["which_year"] or "").lower()
        year = _year(found, "3", today) or _year_of(month, 1, today)
        if which == "this":
            year = today.year
        elif which in ("next", "coming"):
            year += 1
        elif which and month == today.month:
            year -= 1
        return _part_of(_month(year, month), (found["part"] or "").lower())
    if found["quarter"]:
        return _quarter(found["quarter"].lower(), today)
    if found["year"]:
        return Span(date(int(found["year"]), 1, 1), date(int(found["year"]), 12, 31))
    return None


def _year(found: Mapping[str, str], way: str, today: date) -> int | None:
    """The year that is written with a day or a month, or named by how near it is."""
    if which := found["of" + way]:
        return today.year + {"last": -1, "this": 0, "next": 1}[which.lower()]
    return int(found["y" + way]) if found["y" + way] else None


def _is_month(found: Mapping[str, str]) -> bool:
    """Whether a name without a day means a month, as it is written.

    "in may" does, but not "may" or "march" alone, nor Mars the planet or Mayo the clinic. Only
    English and German write months with a capital, and other languages put no English word before
    them.
    """
    name, before = found["m3"], (found["prep"] or "").lower()
    words_for_in = WORDS_FOR_IN.get(name.lower(), ())
    if (found["part"] or "").endswith(" of") or (found["part"] and name not in NO_MONTHS):
        return True
    if name[0].isupper():
        return name.lower() in MONTHS or ("im" in words_for_in and before in ("", "im"))
    if before in words_for_in or (
        name in MONTHS and before and (name not in NO_MONTHS or before == "in")
    ):
        return True
    return not before and (name not in MONTHS or found["which_year"] not in (None, "this"))


def _in_digits(written: str) -> Span | None:
    """A day with its year first, or last: then the day precedes the month, except in 12/31/2026.
    None for 4/12/2026, which may be in April or in December."""
    numbers = [int(number) for number in re.findall(r"\d+", written)]
    if "-" not in written:
        numbers.reverse()
    year, month, day = numbers
    if "/" in written and month != day and max(month, day) <= 12:
        return None
    if "/" in written and month > 12:
        month, day = day, month
    return Span(*[date(year, month, day)] * 2)


def _quarter(written: str, today: date) -> Span:
    """Three months, or six: "Q2", "2026-Q2", "the second quarter of 2026", "H1 2026"."""
    years = re.findall(r"\d{4}", written)
    which = next((n for word, n in PARTS.items() if word in written), None)
    number = which + 1 if which is not None else int(re.findall(r"[qh](\d)", written)[0])
    months = 6 if written[0] == "h" else 3
    first = months * (number - 1) + 1
    year = int(years[0]) if years else _year_of(first, 1, today)
    return Span(date(year, first, 1), _month(year, first + months - 1).last)


def _numbered_week(written: str) -> Span:
    """A week by its number and year, as ISO 8601 counts them."""
    number, year = sorted(int(each) for each in re.findall(r"\d+", written))
    first = date.fromisocalendar(year, number, 1)
    return Span(first, first + timedelta(6))


def _part_of(month: Span, part: str) -> Span:
    """A half or a week of a month, or its first ten days, the next ten, or the rest."""
    which, *rest = part.split() or [""]
    if "half" in rest:
        middle = month.first + timedelta(15)
        is_first = which == "first"
        return replace(month, last=middle - timedelta(1)) if is_first else Span(middle, month.last)
    if "week" in rest:
        after = 7 * PARTS[which]
        first = month.first + timedelta(after) if after >= 0 else month.last - timedelta(6)
        return Span(first, first + timedelta(6))
    if which in ("beginning", "start", "early", "anfang"):
        return Span(month.first, month.first + timedelta(9))
    if which in ("middle", "mid", "mitte"):
        return Span(month.first + timedelta(10), month.first + timedelta(19))
    return Span(month.first + timedelta(20), month.last) if which else month


def _year_of(month: int, day: int, today: date) -> int:
    year = today.year - ((month, day) > (today.month, today.day))
    while (month, day) == (2, 29) and not calendar.isleap(year):
        year -= 1
    return year


def _seasonal(match: re.Match[str], calendar: Calendar) -> Span | None:
    """A season of three months; "spring" by itself is no time."""
    if not match["season"]:
        return None
    if not (match["whose"] or match["season_year"] or match["prep"]):
        return None
    if match["season"][0].isupper() and re.match(r" [A-Z]", match.string[match.end() :]):
        return None  # a name: "used in Spring Regatta"
    first = SEASONS[match["season"].lower()]
    if calendar.southern:
        first = (first + 5) % 12 + 1
    today = calendar.today

    def of_year(year: int) -> Span:
        start = date(year, first, 1)
        return Span(start, moved_back(start, -3, "month") - timedelta(1))

    if written := match["season_year"]:
        near = None if written.isdigit() else _near(written.lower(), calendar)
        return of_year(near.first.year if near else int(written))
    years = map(of_year, range(today.year + 1, date.min.year, -1))
    whose = (match["whose"] or "").lower()
    if whose in ("next", "coming"):
        return [span for span in islice(years, 3) if span.first > today][-1]
    if whose == "this":
        return _season_of_now(today, of_year)
    over = whose in ("last", "past")
    return next(span for span in years if (span.last < today if over else span.first <= today))


def _season_of_now(today: date, of_year: Callable[[int], Span]) -> Span:
    """That of this year; of a season that begins in one year and ends in the next, the nearest."""
    span, before = of_year(today.year), of_year(today.year - 1)
    ends_next_year = span.last.year > span.first.year
    is_nearer = abs(before.last - today) < abs(span.first - today)
    return before if ends_next_year and (before.has(today) or is_nearer) else span


def _relative(match: re.Match[str], calendar: Calendar) -> Span | None:
    today = calendar.today
    if match["count"]:
        unit, ahead = match["unit"].lower(), match["side"].lower() == "from now"
        count = number_of(match["count"])
        if unit == "weekend":
            return _weekend(-count if ahead else count, today)
        is_round = unit == "day" and count >= DAYS_OF["fortnight"] and not ahead
        slack = timedelta(SLACK["week" if is_round else unit])
        day = moved_back(today, -count if ahead else count, unit)
        first, last = day - slack, day + slack
        return Span(max(today, first), last) if ahead else Span(first, min(today, last))
    if match["weekday"]:
        return _weekday(match, calendar)
    if match["to_come"]:
        return Span(today, date.max)
    if match["ending"]:
        *which, unit = match["ending"].lower().split()
        span = _near(f"{'this' if which in ([], ['the']) else which[0]} {unit}", calendar)
        return span and _end_of(span, match["end"].lower(), today)
    if match["near"]:
        words = match["near"].lower().removeprefix("the ")
        return _near("this weekend" if words == "weekend" else words, calendar)
    return None


def _end_of(span: Span, end: str, today: date) -> Span:
    """The end or the rest of a time; for its beginning and its middle a third of it."""
    if end in ("end", "rest"):
        return Span(max(today, span.first) if end == "rest" else span.last, span.last)
    third = (span.last - span.first + timedelta(1)) // 3
    first = span.first + (third if end == "middle" else timedelta(0))
    return Span(first, first + third - timedelta(1))


def _near(words: str, calendar: Calendar) -> Span | None:
    """Times by how near they are to today: "tomorrow", "this week", "next month"."""
    today, (which, *rest) = calendar.today, words.split()
    unit = rest[-1] if rest else which
    days = DAYS_FROM_TODAY.get(words)
    if days is not None:
        return Span(today + timedelta(days), today + timedelta(days))
    back = {"this": 0, "current": 0, "next": -1, "coming": -1}.get(which, 1)
    if rest[:1] in (["before"], ["after"]):  # "the week before last", "the week after next"
        unit, back = which, 2 if rest[0] == "before" else -2
    if unit == "week":
        first = _week_of(today, calendar) - timedelta(7 * back)
        return Span(first, first + timedelta(6))
    if unit == "weekend":
        return _weekend(back, today)
    if unit == "quarter":
        begun = today.replace(month=today.month - (today.month - 1) % 3, day=1)
        day = moved_back(begun, 3 * back, "month")
        return Span(day, moved_back(day, -3, "month") - timedelta(1))
    if unit == "month":
        day = moved_back(today.replace(day=1), back, "month")
        return _month(day.year, day.month)
    if unit == "year":
        return Span(date(today.year - back, 1, 1), date(today.year - back, 12, 31))
    return None


def _weekend(back: int, today: date) -> Span:
    """The weekend ``back`` weekends before this one; during a week, 1 is the one just past."""
    saturday = today - timedelta((today.weekday() - 5) % 7)
    amid = today.weekday() < 5 and back > 0
    saturday -= timedelta(7 * (back - amid))
    return Span(saturday, saturday + timedelta(1))


def _weekday(match: re.Match[str], calendar: Calendar) -> Span | None:
    """The last such day before today, unless the text says which; "Monday" alone is no time, except
    where a clause ends."""
    which, number = (match["which"] or "").lower(), WEEKDAYS[match["weekday"].lower()]
    if match["week"] and (week := _near(match["week"].lower(), calendar)) is not None:
        return Span(*[week.first + timedelta((number - calendar.week_starts) % 7)] * 2)
    if not (which or match["prep"] or match["bare"] is not None):
        return None
    back = (calendar.today.weekday() - number) % 7 or 7
    day = calendar.today - timedelta(back)
    if which in ("next", "coming", "this coming"):
        day += timedelta(7 if back < 7 else 14)
    elif which == "this":
        day = _week_of(calendar.today, calendar) + timedelta((number - calendar.week_starts) % 7)
    return Span(day, day)


def _week_of(day: date, calendar: Calendar) -> date:
    """The first day of the week."""
    return day - timedelta((day.weekday() - calendar.week_starts) % 7)


def number_of(text: str) -> int:
    text = text.lower().strip()
    if text.isdigit():
        return int(text)
    return COUNTS.get(text.removeprefix("a ").strip() or "a", 1)


def moved_back(day: date, count: int, unit: str) -> date:
    """The day so many units earlier, or later if negative; the month's last day if it has no such
    day."""
    if unit in DAYS_OF:
        return day - timedelta(count * DAYS_OF[unit])
    months = day.year * 12 + day.month - 1 - count * (12 if unit == "year" else 1)
    year, month = divmod(min(max(months, 12), 12 * date.max.year + 11), 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _month(year: int, month: int) -> Span:
    return Span(date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1]))
