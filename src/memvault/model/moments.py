"""Moments in UTC, as days, and as text."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

WEEK_IN_NAME = re.compile(r"(\d{4})-?K?W ?(\d{2})(?!\w)")  # "2026-KW14" in German
YEARS_AHEAD = 10  # latest year that two digits can mean, from today
YEARS_NEAR = 2  # difference from another year, up to which two digits are probably a year


def in_utc(moment: datetime) -> datetime:
    """The moment in UTC; one without a time zone, or at the ends of the calendar, counts as UTC."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return moment.replace(tzinfo=UTC)


def iso_utc(value: datetime) -> str:
    """The time as ``2026-03-01T10:20:30Z``, in UTC."""
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def day_of(value: datetime) -> date:
    """The day of a moment in local time."""
    return value.astimezone().date()


def full_year(year: int, today: date) -> int:
    """The year that two digits mean, in the last 90 years or the next ten; a full year stays."""
    latest = today.year + YEARS_AHEAD
    return year if year > 99 else latest - (latest - year) % 100


def is_near_year(year: int, other: int) -> bool:
    """Whether the year that two digits mean is near another year, as in most dates. Otherwise
    3.10.12 is more likely a version."""
    return abs((year - other + 50) % 100 - 50) <= YEARS_NEAR


def is_day(name: str) -> bool:
    """Whether a name is just a day, such as that of a daily note.

    Daily notes link to neighbouring days before those notes are written.
    """
    try:
        return bool(date.fromisoformat(name.replace("_", "-")))
    except ValueError:
        return False


def days_of_note(name: str, day: date) -> list[date]:
    """The day of a note, or all days of its week if the note is named after it ("2026-W35")."""
    match = WEEK_IN_NAME.match(name)
    if match is None or day.isocalendar()[:2] != (int(match[1]), int(match[2])):
        return [day]
    monday = day - timedelta(day.weekday())
    return [monday + timedelta(number) for number in range(7)]
