"""Spans of days, and how they are counted: by the person's calendar, in days, weeks and months."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass, field
from datetime import date, timedelta

from memvault.config.settings import CalendarSettings
from memvault.model.months import WEEKDAYS

DAYS_OF = {"day": 1, "week": 7, "fortnight": 14}


@dataclass(frozen=True, slots=True)
class Calendar:
    """Today, and how the person counts: ``week_starts`` as in `date.weekday` (0: Monday);
    ``southern``: spring is from September to November; ``day_first``: 4/12/2026 is in December."""

    today: date = field(default_factory=date.today)
    week_starts: int = 0
    southern: bool = False
    day_first: bool = False

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

    def contains(self, other: Span) -> bool:
        return self.has(other.first) and self.has(other.last)

    @property
    def is_open(self) -> bool:
        """Whether it has no beginning or no end: "before March", "since the offsite"."""
        return self.first == date.min or self.last == date.max

    def with_days_after(self, days: int) -> Span:
        """The span, so many days longer, unless it has no beginning or no end."""
        if self.is_open or self.last >= date.max - timedelta(days):
            return self
        return Span(self.first, self.last + timedelta(days))


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


def first_of_week(day: date, calendar: Calendar) -> date:
    """The first day of the week that a day is in."""
    return day - timedelta((day.weekday() - calendar.week_starts) % 7)


def moved_back(day: date, count: int, unit: str) -> date:
    """The day so many units earlier, or later if negative.

    In a month that has no such day it is the last day.
    """
    if unit in DAYS_OF:
        return day - timedelta(count * DAYS_OF[unit])
    months = day.year * 12 + day.month - 1 - count * (12 if unit == "year" else 1)
    year, month = divmod(min(max(months, 12), 12 * date.max.year + 11), 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def month_span(year: int, month: int) -> Span:
    return Span(date(year, month, 1), date(year, month, monthrange(year, month)[1]))
