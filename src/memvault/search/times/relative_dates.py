"""The days that a time relative to today means: "tomorrow", "last Monday", "this spring"."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from itertools import islice

from memvault.model.months import WEEKDAYS
from memvault.search.times.time_patterns import COUNTS, DAYS_FROM_TODAY, SEASONS
from memvault.search.times.time_spans import (
    DAYS_OF,
    Calendar,
    Span,
    first_of_week,
    month_span,
    moved_back,
)

SLACK = {
    "day": 0,
    "week": 3,
    "fortnight": 3,
    "month": 15,
    "year": 183,
}  # days before and after "a month ago", which rarely means the exact day


def season_span(match: re.Match[str], calendar: Calendar) -> Span | None:
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

    def in_year(year: int) -> Span:
        start = date(year, first, 1)
        return Span(start, moved_back(start, -3, "month") - timedelta(1))

    if written := match["season_year"]:
        year = None if written.isdigit() else _near_span(written.lower(), calendar)
        return in_year(year.first.year if year else int(written))
    seasons = map(in_year, range(today.year + 1, date.min.year, -1))
    which = (match["whose"] or "").lower()
    if which in ("next", "coming"):
        return [span for span in islice(seasons, 3) if span.first > today][-1]
    if which == "this":
        return _current_season(today, in_year)
    is_over = which in ("last", "past")
    return next(span for span in seasons if (span.last < today if is_over else span.first <= today))


def _current_season(today: date, in_year: Callable[[int], Span]) -> Span:
    """The season of this year, or the nearest if it begins in one year and ends in the next."""
    this_year, last_year = in_year(today.year), in_year(today.year - 1)
    ends_next_year = this_year.last.year > this_year.first.year
    is_nearer = abs(last_year.last - today) < abs(this_year.first - today)
    is_last = ends_next_year and (last_year.has(today) or is_nearer)
    return last_year if is_last else this_year


def relative_span(match: re.Match[str], calendar: Calendar) -> Span | None:
    """A time counted from today, or named by how near it is; None for a match without one."""
    today = calendar.today
    if match["count"]:
        return _counted_span(match, today)
    if match["weekday"]:
        return _weekday(match, calendar)
    if match["to_come"]:
        return Span(today, date.max)
    if match["ending"]:
        *which, unit = match["ending"].lower().split()
        span = _near_span(f"{'this' if which in ([], ['the']) else which[0]} {unit}", calendar)
        return span and _end_of(span, match["end"].lower(), today)
    if match["near"]:
        words = match["near"].lower().removeprefix("the ")
        return _near_span("this weekend" if words == "weekend" else words, calendar)
    return None


def _counted_span(match: re.Match[str], today: date) -> Span:
    """The days about "two weeks ago" or "a month from now"."""
    unit, is_ahead = match["unit"].lower(), match["side"].lower() == "from now"
    count = number_of(match["count"])
    if unit == "weekend":
        return _weekend(-count if is_ahead else count, today)
    is_round = unit == "day" and count >= DAYS_OF["fortnight"] and not is_ahead
    slack = timedelta(SLACK["week" if is_round else unit])
    day = moved_back(today, -count if is_ahead else count, unit)
    first, last = day - slack, day + slack
    return Span(max(today, first), last) if is_ahead else Span(first, min(today, last))


def _end_of(span: Span, part: str, today: date) -> Span:
    """The end or the rest of a time; for its beginning and its middle a third of it."""
    if part in ("end", "rest"):
        return Span(max(today, span.first) if part == "rest" else span.last, span.last)
    third = (span.last - span.first + timedelta(1)) // 3
    first = span.first + (third if part == "middle" else timedelta(0))
    return Span(first, first + third - timedelta(1))


def _near_span(words: str, calendar: Calendar) -> Span | None:
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
        first = first_of_week(today, calendar) - timedelta(7 * back)
        return Span(first, first + timedelta(6))
    if unit == "weekend":
        return _weekend(back, today)
    if unit == "quarter":
        start = today.replace(month=today.month - (today.month - 1) % 3, day=1)
        day = moved_back(start, 3 * back, "month")
        return Span(day, moved_back(day, -3, "month") - timedelta(1))
    if unit == "month":
        day = moved_back(today.replace(day=1), back, "month")
        return month_span(day.year, day.month)
    if unit == "year":
        return Span(date(today.year - back, 1, 1), date(today.year - back, 12, 31))
    return None


def _weekend(back: int, today: date) -> Span:
    """The weekend ``back`` weekends before this one; during a week, 1 is the one just past."""
    saturday = today - timedelta((today.weekday() - 5) % 7)
    is_during_week = today.weekday() < 5 and back > 0
    saturday -= timedelta(7 * (back - is_during_week))
    return Span(saturday, saturday + timedelta(1))


def _weekday(match: re.Match[str], calendar: Calendar) -> Span | None:
    """The last such day before today, unless the text says which.

    "Monday" alone is no time, except where a clause ends.
    """
    which, number = (match["which"] or "").lower(), WEEKDAYS[match["weekday"].lower()]
    days_into_week = timedelta((number - calendar.week_starts) % 7)
    if match["week"] and (week := _near_span(match["week"].lower(), calendar)) is not None:
        return Span(*[week.first + days_into_week] * 2)
    if not (which or match["prep"] or match["bare"] is not None):
        return None
    back = (calendar.today.weekday() - number) % 7 or 7
    day = calendar.today - timedelta(back)
    if which in ("next", "coming", "this coming"):
        day += timedelta(7 if back < 7 else 14)
    elif which == "this":
        day = first_of_week(calendar.today, calendar) + days_into_week
    return Span(day, day)


def number_of(text: str) -> int:
    """The number that a count means: "2", "two", "a couple of"."""
    text = text.lower().strip()
    if text.isdigit():
        return int(text)
    return COUNTS.get(text.removeprefix("a ").strip() or "a", 1)
