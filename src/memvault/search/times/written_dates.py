"""The days that a written date means: 2026-03-04, "4 March", "early May", "Q2", "week 12 of 2026".

Without a year, the latest such day or month that is not in the future is meant.
"""

from __future__ import annotations

import re
from calendar import isleap
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta

from dateutil.easter import easter

from memvault.model.moments import full_year, is_near_year
from memvault.model.months import MONTHS, NAMED_MONTHS, WORDS_FOR_IN
from memvault.search.times.time_patterns import DAYS, NO_MONTHS, PARTS
from memvault.search.times.time_spans import Calendar, Span, first_of_week, month_span

_YEARS_AWAY = {"last": -1, "this": 0, "next": 1}


def written_span(match: re.Match[str], calendar: Calendar) -> Span | None:
    """A written date, or the week or weekend of it; None for a match without one."""
    span = _date_of(match, calendar)
    around = (match["around"] or "").lower()
    if span is None or not around:
        return span
    first = first_of_week(span.first, calendar)
    if around == "weekend":
        first += timedelta((5 - calendar.week_starts) % 7)
    return Span(first, first + timedelta(1 if around == "weekend" else 6))


def _date_of(match: re.Match[str], calendar: Calendar) -> Span | None:
    groups, today = match.groupdict(), calendar.today
    if written := groups["iso"] or groups["dotted"] or groups["slashed"]:
        return _in_digits(written, calendar)
    if groups["numbered_week"]:
        return numbered_week(groups["numbered_week"], today)
    if groups["iso_month"]:
        return month_span(int(groups["iso_month"][:4]), int(groups["iso_month"][5:]))
    for form in "12":  # "4 March", "March 4"
        if groups["m" + form]:
            return _day_of_month(groups, form, today)
    if groups["easter"]:
        return easter_span(groups["easter_year"], today)
    if groups["m3"]:
        return _month(groups, today)
    if groups["quarter"]:
        return _quarter(groups["quarter"].lower(), today)
    if groups["year"]:
        return Span(date(int(groups["year"]), 1, 1), date(int(groups["year"]), 12, 31))
    return None


def _day_of_month(groups: Mapping[str, str], form: str, today: date) -> Span:
    month, written_day = NAMED_MONTHS[groups["m" + form].lower()], groups["d" + form].lower()
    number = DAYS.get(written_day) or int(written_day)
    year = _named_year(groups, form, today) or _latest_year(month, number, today)
    return Span(date(year, month, number), date(year, month, number))


def _named_year(groups: Mapping[str, str], form: str, today: date) -> int | None:
    """The year that is written with a day or a month, or named by how near it is.

    Args:
        form: the number of the groups of the match, as in "y1".
    """
    if which := groups["of" + form]:
        return today.year + _YEARS_AWAY[which.lower()]
    return int(groups["y" + form]) if groups["y" + form] else None


def _month(groups: Mapping[str, str], today: date) -> Span | None:
    """A month without a day, or a part of it; None if its name means something else here."""
    named_year = _named_year(groups, "3", today)
    is_time = groups["prep"] or groups["which_year"] or named_year or groups["part"]
    if not is_time or not _is_month(groups):
        return None
    month, which = NAMED_MONTHS[groups["m3"].lower()], (groups["which_year"] or "").lower()
    year = named_year or _latest_year(month, 1, today)
    if which == "this":
        year = today.year
    elif which in ("next", "coming"):
        year += 1
    elif which and month == today.month:
        year -= 1
    return _part_of(month_span(year, month), (groups["part"] or "").lower())


def _is_month(groups: Mapping[str, str]) -> bool:
    """Whether a name without a day means a month, as it is written.

    "in may" does, but not "may" or "march" alone, nor Mars the planet or Mayo the clinic. Only
    English and German write months with a capital, and other languages put no English word before
    them.
    """
    name, preposition = groups["m3"], (groups["prep"] or "").lower()
    words_for_in = WORDS_FOR_IN.get(name.lower(), ())
    if (groups["part"] or "").endswith(" of") or (groups["part"] and name not in NO_MONTHS):
        return True
    if name[0].isupper():
        return name.lower() in MONTHS or ("im" in words_for_in and preposition in ("", "im"))
    if preposition in words_for_in or (
        name in MONTHS and preposition and (name not in NO_MONTHS or preposition == "in")
    ):
        return True
    return not preposition and (name not in MONTHS or groups["which_year"] not in (None, "this"))


def _in_digits(written: str, calendar: Calendar) -> Span | None:
    """A day with its year first, or last: then the day precedes the month, except in 12/31/2026.

    None for 4/12/2026 and 4-12-2026, which in English may be in April or in December, and for a
    year of two digits that is not near: 3.10.12 is rather a version.
    """
    numbers = [int(number) for number in re.findall(r"\d+", written)]
    is_year_first = numbers[0] > 31
    if not is_year_first:
        numbers.reverse()
    year, month, day = numbers
    if "." not in written and not is_year_first:
        if month != day and max(month, day) <= 12 and not calendar.day_first:
            return None
        if month > 12:
            month, day = day, month
    if year < 100:
        if not is_near_year(year, calendar.today.year):
            return None
        year = full_year(year, calendar.today)
    return Span(*[date(year, month, day)] * 2)


def _quarter(written: str, today: date) -> Span:
    """Three months, or six: "Q2", "2026-Q2", "the second quarter of 2026", "H1 2026"."""
    years = re.findall(r"\d{4}", written)
    which = next((n for word, n in PARTS.items() if word in written), None)
    number = which + 1 if which is not None else int(re.findall(r"[qh](\d)", written)[0])
    months = 6 if written[0] == "h" else 3
    first = months * (number - 1) + 1
    year = int(years[0]) if years else _latest_year(first, 1, today)
    return Span(date(year, first, 1), month_span(year, first + months - 1).last)


def easter_span(written_year: str | None, today: date, years_ahead: int = 0) -> Span:
    """Good Friday to Easter Monday of a year.

    Args:
        years_ahead: years after the latest such days that are not in the future, if it has no year.
    """
    which = (written_year or "").lower().removesuffix(" year")
    if which:
        return _easter_of(int(which) if which.isdigit() else today.year + _YEARS_AWAY[which])
    is_past = _easter_of(today.year).first <= today
    return _easter_of(today.year - (not is_past) + years_ahead)


def _easter_of(year: int) -> Span:
    """Good Friday to Easter Monday."""
    sunday = easter(year)
    return Span(sunday - timedelta(2), sunday + timedelta(1))


def numbered_week(written: str, today: date, years_ahead: int = 0) -> Span:
    """A week by its number and year, as ISO 8601 counts them.

    Args:
        years_ahead: years after the latest such week that is not in the future, if it has no year.
    """
    number, *year = sorted(int(digits) for digits in re.findall(r"\d+", written))
    this_year, this_week, _ = today.isocalendar()
    latest_year = this_year - (number > this_week) + years_ahead
    first = date.fromisocalendar(year[0] if year else latest_year, number, 1)
    return Span(first, first + timedelta(6))


def _part_of(month: Span, part: str) -> Span:
    """A half or a week of a month, or its first ten days, the next ten, or the rest."""
    which, *rest = part.split() or [""]
    if "half" in rest:
        middle = month.first + timedelta(15)
        is_first = which == "first"
        return replace(month, last=middle - timedelta(1)) if is_first else Span(middle, month.last)
    if "week" in rest:
        skipped = 7 * PARTS[which]
        first = month.first + timedelta(skipped) if skipped >= 0 else month.last - timedelta(6)
        return Span(first, first + timedelta(6))
    if which in ("beginning", "start", "early", "anfang"):
        return Span(month.first, month.first + timedelta(9))
    if which in ("middle", "mid", "mitte"):
        return Span(month.first + timedelta(10), month.first + timedelta(19))
    return Span(month.first + timedelta(20), month.last) if which else month


def _latest_year(month: int, day: int, today: date) -> int:
    """The latest year in which this day is not in the future, and exists."""
    year = today.year - ((month, day) > (today.month, today.day))
    while (month, day) == (2, 29) and not isleap(year):
        year -= 1
    return year
