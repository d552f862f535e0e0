"""The days that a match of a time expression means, and which other days it may mean.

Without a year ("on Thursday", "in December") the latest such day, month or season that is not in
the future is meant, and the next one is an alternative, unless the text says which.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from memvault.search.times.relative_dates import relative_span, season_span
from memvault.search.times.time_spans import Calendar, Span
from memvault.search.times.written_dates import easter_span, numbered_week, written_span

_SOON = timedelta(60)
_LONG_AGO = timedelta(240)


def span_of(match: re.Match[str], calendar: Calendar) -> Span | None:
    """The days that a match of `EXPRESSION` means; None if it is no date (``may``, 31 June)."""
    try:
        return (
            written_span(match, calendar)
            or season_span(match, calendar)
            or relative_span(match, calendar)
        )
    except (ValueError, OverflowError):
        return None


def next_such(match: re.Match[str], span: Span, today: date) -> Span | None:
    """The next such day, month or season, if a text does not say which one it means."""
    near = (match["near"] or "").lower()
    is_past_weekend = near in ("this weekend", "the weekend") and span.last < today
    if is_past_weekend or (match["weekday"] and not (match["which"] or match["week"])):
        return None if span.last > date.max - timedelta(7) else span.later(7)
    if span.last >= today:
        return None
    week = match["numbered_week"]
    if week and re.search(r"\d{4}", week) is None:
        return numbered_week(week, today, years_ahead=1)
    if match["easter"]:
        return None if match["easter_year"] else easter_span(None, today, years_ahead=1)
    return span.earlier(-1) if names_no_year(match) else None


def either_or_coming(past: Span, coming: Span, written: date) -> list[Span]:
    """Which of two such times a text may mean: only the coming one if that is soon and the past one
    is about a year ago. "1 December" in a note of November is not the one of last year.

    The coming one always counts, since birthdays and holidays come again.
    """
    is_soon = coming.first - written <= _SOON
    is_long_ago = written - past.last >= _LONG_AGO
    return [coming] if is_soon and is_long_ago else [past, coming]


def names_no_year(match: re.Match[str]) -> bool:
    """Whether a match is a day, a month or a season without a year."""
    groups = match.groupdict()
    if groups["season"]:
        return not (groups["season_year"] or groups["whose"])
    return not groups["which_year"] and any(
        groups["m" + form] and not (groups["y" + form] or groups["of" + form]) for form in "123"
    )


def may_be_last_years(match: re.Match[str], span: Span, today: date) -> bool:
    """Whether a match is a coming season of this year: "this summer" in January."""
    return (match["whose"] or "").lower() == "this" and span.first > today
